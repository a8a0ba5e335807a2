// SPDX-License-Identifier: Apache-2.0

// Licences collects the licence texts of everything txtrace links into one
// file, which the binary embeds.
//
//	go run ./licences -o licences.txt
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	out := flag.String("o", "licences.txt", "file to write")
	flag.Parse()
	if err := write(*out); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

// part is one thing that is linked, and the folder of its licence.
type part struct{ name, dir string }

func write(out string) error {
	parts, err := linked("github.com/txtrace/txtrace/cmd/txtrace")
	if err != nil {
		return err
	}
	var doc bytes.Buffer
	for _, p := range parts {
		texts, err := licenceFiles(p.dir)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		for _, path := range texts {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rule := strings.Repeat("=", width)
			fmt.Fprintf(&doc, "%s\n%s: %s\n%s\n\n%s\n\n", rule, p.name, filepath.Base(path), rule, fold(string(bytes.TrimSpace(text))))
		}
	}
	return os.WriteFile(out, doc.Bytes(), 0o644)
}

// linked are this module, Go's own library, and every module of which a
// package is linked. Every platform that is released links the same ones.
func linked(pkg string) ([]part, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Module", pkg)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	list, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	var own part
	var others []part
	for dec := json.NewDecoder(bytes.NewReader(list)); ; {
		var p struct {
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		switch m := p.Module; {
		case m == nil: // Go's own library
		case m.Main:
			own = part{m.Path, m.Dir}
		default:
			others = append(others, part{m.Path + " " + m.Version, m.Dir})
		}
	}
	slices.SortFunc(others, func(a, b part) int { return strings.Compare(a.name, b.name) })
	std := part{"Go standard library", strings.TrimSpace(string(root))}
	return append([]part{own, std}, slices.Compact(others)...), nil
}

// licenceFiles are the files in dir that hold a licence or a notice.
func licenceFiles(dir string) ([]string, error) {
	var files []string
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "COPYING*", "NOTICE*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, errors.New("no licence file")
	}
	return files, nil
}
