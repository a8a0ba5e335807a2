// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

func completionVerb() verb {
	var o outputFlags
	return verb{
		name:     "completion",
		operands: "bash|zsh|fish",
		summary:  "print what completes txtrace in a shell",
		example:  "txtrace completion bash",
		flags:    o.addPlain,
		run: func(_ context.Context, t *tool, operands []string) error {
			if len(operands) != 1 {
				return usage("completion", fmt.Sprintf("%d shells named", len(operands)), "it is for one", "name bash, zsh or fish")
			}
			print := map[string]func(io.Writer, []verb) error{"bash": completeBash, "zsh": completeZsh, "fish": completeFish}[operands[0]]
			if print == nil {
				return usage(operands[0], "unknown shell", "it is not one of bash, zsh and fish", "see txtrace completion --help")
			}
			return t.emit(&o, func(w io.Writer) error { return print(w, verbs()) })
		},
	}
}

// addPlain defines the flags of what has one form only.
func (o *outputFlags) addPlain(fs *pflag.FlagSet) {
	fs.StringVarP(&o.output, "output", "o", "", "`FILE` to write, else stdout")
	fs.BoolVar(&o.force, "force", false, "overwrite what is there")
}

func names(all []verb) string {
	list := make([]string, len(all))
	for i, v := range all {
		list[i] = v.name
	}
	return strings.Join(list, " ")
}

// completeBash: verbs, then a verb's flags, their values, and files.
func completeBash(w io.Writer, all []verb) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# bash completion of txtrace\n_txtrace() {\n\tlocal word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} flag=${COMP_WORDS[COMP_CWORD-1]} words=\n")
	fmt.Fprintf(&b, "\tif [ \"$COMP_CWORD\" = 1 ]; then\n\t\tCOMPREPLY=($(compgen -W %s -- \"$word\"))\n\t\treturn\n\tfi\n", quoted(names(all)))
	b.WriteString("\tcase $verb:$flag in\n")
	var flags strings.Builder
	for _, v := range all {
		var list []string
		for _, r := range flagTable(flagSet(v)) {
			list = append(list, "--"+r.name)
			if r.values != nil {
				fmt.Fprintf(&b, "\t%s:--%s) words=%s ;;\n", v.name, r.name, quoted(strings.Join(r.values, " ")))
			}
		}
		fmt.Fprintf(&flags, "\t\t%s) words=%s ;;\n", v.name, quoted(strings.Join(list, " ")))
	}
	b.WriteString("\tesac\n\tcase $word in\n\t-*)\n\t\tcase $verb in\n" + flags.String() + "\t\tesac\n\t\t;;\n\tesac\n")
	b.WriteString("\tif [ -n \"$words\" ]; then\n\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n\telse\n\t\tCOMPREPLY=($(compgen -f -- \"$word\"))\n\tfi\n}\ncomplete -o filenames -F _txtrace txtrace\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func completeZsh(w io.Writer, all []verb) error {
	var b strings.Builder
	b.WriteString("#compdef txtrace\nlocal -a verbs\nverbs=(\n")
	for _, v := range all {
		fmt.Fprintf(&b, "\t%s\n", quoted(v.name+":"+v.summary))
	}
	b.WriteString(")\nif (( CURRENT == 2 )); then\n\t_describe verb verbs\n\treturn\nfi\nlocal verb=$words[2]\nshift words\n(( CURRENT-- ))\ncase $verb in\n")
	for _, v := range all {
		fmt.Fprintf(&b, "%s)\n\t_arguments -S", v.name)
		for _, r := range flagTable(flagSet(v)) {
			text := strings.NewReplacer("[", "(", "]", ")", ":", " -").Replace(r.text)
			arg := "--" + r.name + "[" + text + "]"
			switch {
			case r.values != nil:
				arg += ":" + r.operand + ":(" + strings.Join(r.values, " ") + ")"
			case r.operand != "":
				arg += ":" + r.operand + ":_files"
			}
			fmt.Fprintf(&b, " \\\n\t\t%s", quoted(arg))
		}
		b.WriteString(" \\\n\t\t'*:file:_files'\n\t;;\n")
	}
	b.WriteString("esac\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func completeFish(w io.Writer, all []verb) error {
	var b strings.Builder
	b.WriteString("# fish completion of txtrace\n")
	for _, v := range all {
		fmt.Fprintf(&b, "complete -c txtrace -n __fish_use_subcommand -f -a %s -d %s\n", v.name, quoted(v.summary))
		for _, r := range flagTable(flagSet(v)) {
			fmt.Fprintf(&b, "complete -c txtrace -n '__fish_seen_subcommand_from %s' -l %s", v.name, r.name)
			if r.short != "" {
				fmt.Fprintf(&b, " -s %s", r.short)
			}
			switch {
			case r.values != nil:
				fmt.Fprintf(&b, " -x -a %s", quoted(strings.Join(r.values, " ")))
			case r.operand != "":
				b.WriteString(" -r")
			}
			fmt.Fprintf(&b, " -d %s\n", quoted(r.text))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// quoted for a shell. fish takes \' inside of quotes, the others do not.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "") + "'" }
