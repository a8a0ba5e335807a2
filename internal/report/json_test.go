// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"testing"
)

// What JSON shows on a terminal is harmless, and what a program reads of it is
// what was there.
func TestJSONIsASCII(t *testing.T) {
	for in, want := range map[string]string{
		"eth0":               `{"s":"eth0"}`,
		"<&>":                `{"s":"<&>"}`,
		"a\x1b[31m\u009b31m": `{"s":"a\u001b[31m\u009b31m"}`,
		"\u202etxt.exe\x7f":  `{"s":"\u202etxt.exe\u007f"}`,
		"\u2028\u00e9":       `{"s":"\u2028\u00e9"}`,
		"\U0001f600":         `{"s":"\ud83d\ude00"}`,
		"\xff":               `{"s":"\ufffd"}`,
	} {
		var b bytes.Buffer
		if err := JSON(&b, map[string]string{"s": in}); err != nil {
			t.Fatal(err)
		}
		if b.String() != want+"\n" {
			t.Errorf("%q: %s", in, &b)
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add("\u202e\u009b\x7f\U0010ffff")
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		if err := JSON(&b, s); err != nil {
			t.Fatal(err)
		}
		for _, c := range bytes.TrimSuffix(b.Bytes(), []byte("\n")) {
			if c < ' ' || c > '~' {
				t.Fatalf("%q: %s", s, &b)
			}
		}
		var back string
		if err := json.Unmarshal(b.Bytes(), &back); err != nil || back != string([]rune(s)) {
			t.Fatalf("%q: %q, %v", s, back, err)
		}
	})
}
