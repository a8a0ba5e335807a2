// SPDX-License-Identifier: Apache-2.0

package main

import "strings"

// width of all text that txtrace prints.
const width = 72

// fold breaks lines that are too long at blanks. What is over goes to the
// front of the next line of the paragraph. Words, their order and the empty
// lines stay; a ruled line is made as short as the others.
func fold(text string) string {
	var out []string
	over := ""
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = ruled(line)
	}
	for i, line := range lines {
		words := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(words)]
		if over != "" {
			line = strings.TrimRight(indent+over+" "+words, " ")
		}
		line, over = cut(line, len(indent))
		out = append(out, line)
		for over != "" && (i+1 == len(lines) || strings.TrimSpace(lines[i+1]) == "") {
			line, over = cut(indent+over, len(indent))
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// cut splits a line at the last blank that keeps it within width; a word that
// is longer than that stays whole.
func cut(line string, indent int) (head, rest string) {
	if len(line) <= width {
		return line, ""
	}
	at := strings.LastIndexByte(line[indent:width+1], ' ')
	if at <= 0 {
		at = strings.IndexByte(line[indent:], ' ')
	}
	if at <= 0 {
		return line, ""
	}
	return strings.TrimRight(line[:indent+at], " "), strings.TrimLeft(line[indent+at:], " ")
}

// ruled shortens a line that is one of dashes or the like.
func ruled(line string) string {
	if len(line) > width && strings.Trim(line, line[:1]) == "" && strings.Contains("-=*_#", line[:1]) {
		return line[:width]
	}
	return line
}
