// SPDX-License-Identifier: Apache-2.0

package analysis

import "errors"

// Analyze reads a capture to its end, in one pass and constant memory, and
// returns verdicts and reports. The error is the input's, or a wrong rule id;
// what a bad capture still shows is in the Result's Cut and Lost.
func Analyze(src Source, opt Options) (*Result, error) {
	return nil, errors.New("analysis is not built yet")
}
