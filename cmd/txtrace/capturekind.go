// SPDX-License-Identifier: Apache-2.0

package main

// isCapture says whether a file begins as a capture does.
func isCapture(string) bool { return false }
