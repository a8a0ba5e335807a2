// SPDX-License-Identifier: Apache-2.0

// Package report prints: as text for people and as JSON for programs. A
// document is one struct with JSON tags; the text is printed from the same
// struct, so the two cannot tell different things.
//
// Text is ASCII and at most Width columns, so that it survives a mail, and is
// the same in a pipe as on a terminal but for colour. Integers are printed in
// full. What comes from a kernel or a file is cleaned first.
//
// JSON is one object on one line, snake_case, with units in the keys. What is
// not known is left out. Each document has a JSON Schema in folder schema.
package report
