// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/capture"

// Source is where records come from: a *capture.Reader, or a test's slice.
// Next ends with io.EOF; Footer, Cut and Stats are asked after that.
type Source interface {
	Header() *capture.Header
	Next() (capture.Item, error)
	Footer() *capture.Footer
	Cut() *capture.CutInfo
	Stats() capture.ReaderStats
}

var _ Source = (*capture.Reader)(nil)
