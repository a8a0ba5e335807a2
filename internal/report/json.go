// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"io"
)

// JSON writes a document as one object on one line.
func JSON(w io.Writer, doc any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}
