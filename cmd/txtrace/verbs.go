// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// verb is one subcommand. The value is made for one use: its flags write into
// variables that its run function sees.
type verb struct {
	name     string
	operands string // as the usage line prints them
	summary  string
	example  string // one line that works
	command  bool   // operands are a command of its own: flags end at the first
	flags    func(*pflag.FlagSet)
	run      func(ctx context.Context, t *tool, operands []string) error
}

// verbs are all verbs, in the order in which help prints them.
func verbs() []verb {
	return []verb{
		runVerb(), recordVerb(), verifyVerb(), reportVerb(), compareVerb(), flameVerb(), exportVerb(), rulesVerb(), modelVerb(), doctorVerb(),
		completionVerb(), manVerb(), versionVerb(),
	}
}

// dispatch finds the verb, reads its flags and runs it.
func (t *tool) dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return usage("verb", "none given", "txtrace needs to be told what to do", "see txtrace --help")
	}
	name, args, all := args[0], args[1:], verbs()
	switch name {
	case "-h", "--help", "help":
		switch len(args) {
		case 0:
			return t.show(func(w io.Writer) error { return printHelp(w, all) })
		case 1:
			name, args = args[0], []string{"--help"}
		default:
			return usage(args[1], "not expected", "help tells of one verb", "see txtrace --help")
		}
	case "--version":
		name = "version"
	}
	for _, v := range all {
		if v.name == name {
			return t.start(ctx, v, args)
		}
	}
	if strings.HasPrefix(name, "-") {
		return usage(name, "unknown flag before the verb", "the verb comes first", "see txtrace --help")
	}
	cause := "not a verb of this version"
	if near := nearest(name, all); near != "" {
		cause = "did you mean " + near + "?"
	}
	return usage(name, "unknown verb", cause, "see txtrace --help")
}

func (t *tool) start(ctx context.Context, v verb, args []string) error {
	fs := flagSet(v)
	switch err := fs.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return t.show(func(w io.Writer) error { return printVerbHelp(w, v, fs) })
	case err != nil:
		return flagFailure(v, err)
	}
	return v.run(ctx, t, fs.Args())
}

// flagFailure words what pflag refused.
func flagFailure(v verb, err error) error {
	see := "see txtrace " + v.name + " --help"
	var (
		unknown  *pflag.NotExistError
		noValue  *pflag.ValueRequiredError
		badValue *pflag.InvalidValueError
		syntax   *pflag.InvalidSyntaxError
	)
	switch {
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			name = "-" + unknown.GetSpecifiedName()
		}
		return usage(name, "unknown flag", v.name+" has no such flag", see)
	case errors.As(err, &noValue):
		return usage(flagName(noValue.GetFlag()), "no value given", "the flag needs one", see)
	case errors.As(err, &badValue):
		cause := badValue.GetValue()
		if inner := badValue.Unwrap(); inner != nil {
			cause = inner.Error()
		}
		return usage(flagName(badValue.GetFlag()), fmt.Sprintf("%q is refused", badValue.GetValue()), cause, see)
	case errors.As(err, &syntax):
		return usage(syntax.GetSpecifiedFlag(), "not a flag", "a typing error", see)
	}
	return usage(v.name, err.Error(), "a typing error", see)
}

func flagName(f *pflag.Flag) string { return "--" + f.Name }

// nearest is the verb one typing error away from name, or "".
func nearest(name string, all []verb) string {
	for _, v := range all {
		if distance(name, v.name) <= 2 {
			return v.name
		}
	}
	return ""
}

// distance counts the letters to insert, delete or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
