// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// moduleTree is what depmod knows about a lib/modules/<version> folder.
type moduleTree struct {
	dir     string
	files   map[string]string   // module name to file
	deps    map[string][]string // file to the files it needs
	builtin map[string]bool     // module names inside the image
}

// moduleName is the name the kernel uses: dashes are underscores to it.
func moduleName(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".ko")
	return strings.ReplaceAll(name, "-", "_")
}

func openModules(dir string) (*moduleTree, error) {
	dep, err := os.ReadFile(filepath.Join(dir, "modules.dep"))
	if err != nil {
		return nil, fmt.Errorf("-modules %s: no modules.dep is read: %w; run depmod -b DIR VERSION, where DIR holds lib/modules/VERSION", dir, err)
	}
	builtin, err := os.ReadFile(filepath.Join(dir, "modules.builtin"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	t := parseModules(string(dep), string(builtin))
	t.dir = dir
	return t, nil
}

func parseModules(dep, builtin string) *moduleTree {
	t := &moduleTree{
		files:   make(map[string]string),
		deps:    make(map[string][]string),
		builtin: make(map[string]bool),
	}
	for line := range strings.Lines(dep) {
		file, deps, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		t.files[moduleName(file)] = file
		t.deps[file] = strings.Fields(deps)
	}
	for line := range strings.Lines(builtin) {
		if file := strings.TrimSpace(line); file != "" {
			t.builtin[moduleName(file)] = true
		}
	}
	return t
}

// order lists the files to load for some modules, each after what it
// needs. A module that is neither a file nor built in is left out: the
// kernel may have it built in without listing it, and the guest says what
// it misses.
func (t *moduleTree) order(names ...string) []string {
	var files []string
	done := make(map[string]bool)
	var add func(file string)
	add = func(file string) {
		if done[file] {
			return
		}
		done[file] = true
		for _, dep := range t.deps[file] {
			add(dep)
		}
		files = append(files, file)
	}
	for _, name := range names {
		if file, ok := t.files[moduleName(name)]; ok {
			add(file)
		}
	}
	return files
}

// read returns a module's ELF file, unpacked.
func (t *moduleTree) read(file string) ([]byte, error) {
	file = filepath.Join(t.dir, file)
	unpack := map[string]string{".xz": "xz", ".zst": "zstd", ".gz": "gzip"}[filepath.Ext(file)]
	if unpack == "" {
		return os.ReadFile(file)
	}
	cmd := exec.Command(unpack, "-dc", file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w: %s", file, unpack, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}
