// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/pflag"

	"github.com/txtrace/txtrace/internal/report"
)

// buildVersion is set by the Makefile from git describe.
var buildVersion string

// licences are those of everything the binary links.
//
//go:generate go run ./licences -o licences.txt
//go:embed licences.txt
var licences string

// version of this build: the Makefile's, else that of go install, else devel.
func version() string {
	if buildVersion != "" {
		return buildVersion
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

func versionVerb() verb {
	var o outputFlags
	var all bool
	return verb{
		name:    "version",
		summary: "print the version, or the licences of what is linked",
		example: "txtrace version --licenses",
		flags: func(fs *pflag.FlagSet) {
			o.add(fs, "`FILE` to write, else stdout")
			fs.BoolVar(&all, "licenses", false, "print the licences of all linked modules")
		},
		run: func(_ context.Context, t *tool, operands []string) error {
			if err := noOperands("version", operands); err != nil {
				return err
			}
			return t.emit(&o, func(w io.Writer) error {
				return printVersion(w, o.format, all)
			})
		},
	}
}

func printVersion(w io.Writer, format string, all bool) error {
	if format == "json" {
		doc := struct {
			V        int    `json:"v"`
			Type     string `json:"type"`
			Version  string `json:"version"`
			Go       string `json:"go"`
			Platform string `json:"platform"`
			Licences string `json:"licenses,omitempty"`
		}{V: 1, Type: "version", Version: version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
		if all {
			doc.Licences = licences
		}
		return report.JSON(w, doc)
	}
	if all {
		_, err := io.WriteString(w, licences)
		return err
	}
	_, err := fmt.Fprintf(w, "txtrace %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
