// SPDX-License-Identifier: Apache-2.0

package main

// oneFile is the capture that a verb was given.
func oneFile(verb string, operands []string) (string, error) {
	see := "see txtrace " + verb + " --help"
	switch len(operands) {
	case 0:
		return "", usage(verb, "no file", "it reads a capture", "name one, as in txtrace "+verb+" "+captureDefault)
	case 1:
		return operands[0], nil
	}
	return "", usage(operands[1], "one file too many", verb+" reads one capture", see)
}

// noOperands refuses operands.
func noOperands(verb string, operands []string) error {
	if len(operands) == 0 {
		return nil
	}
	return usage(operands[0], "not expected", verb+" takes flags only", "see txtrace "+verb+" --help")
}
