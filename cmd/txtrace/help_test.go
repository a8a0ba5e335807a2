// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/txtrace/txtrace/internal/report"
)

// Help fits into a mail, and its example is the verb's own and takes only
// flags that are there.
func TestHelp(t *testing.T) {
	for _, v := range verbs() {
		var out, errs bytes.Buffer
		if code := run(context.Background(), []string{v.name, "--help"}, &out, &errs); code != exitOK || errs.Len() > 0 {
			t.Errorf("%s --help: exit %d, %s", v.name, code, &errs)
		}
		for l := range strings.Lines(out.String()) {
			if len(l) > report.Width+1 {
				t.Errorf("%s --help: %d columns: %s", v.name, len(l)-1, l)
			}
		}
		words := strings.Fields(v.example)
		if len(words) < 2 || words[0] != "txtrace" || words[1] != v.name {
			t.Errorf("%s: example %q", v.name, v.example)
			continue
		}
		fs := pflag.NewFlagSet(v.name, pflag.ContinueOnError)
		fs.SetInterspersed(!v.command)
		v.flags(fs)
		if err := fs.Parse(words[2:]); err != nil {
			t.Errorf("%s: example %q: %v", v.name, v.example, err)
		}
	}
}
