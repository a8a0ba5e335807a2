// SPDX-License-Identifier: Apache-2.0

package capture

import "errors"

// Errors of Open, to be told apart with errors.Is. The caller puts the file's
// name in front: each text goes on with the likely cause and the next step.
var (
	ErrForeign = errors.New("not a txtrace capture")
	ErrNewer   = errors.New("made by a newer txtrace")
	ErrHeader  = errors.New("capture header is unusable")
	ErrTables  = errors.New("capture has another record layout")
)

// Errors of Writer.Append: the record was refused, the writer stays usable.
var ErrRecord = errors.New("not a record")
