// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io/fs"
	"os"
)

// readyText is what a ready file holds.
const readyText = "ready\n"

// clearReady removes the ready file of an earlier recording, so that it
// cannot be taken for this one's. A file of another kind is left alone.
func clearReady(path string, force bool) error {
	if path == "" {
		return nil
	}
	path = followed(path)
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeType&^fs.ModeDir != 0 {
		return nil // there is none, or it is a pipe, which holds nothing
	}
	old, err := os.ReadFile(path)
	switch {
	case err != nil:
		return usage(path, "not written", reasonOf(err), "name another file with --ready-file")
	case string(old) != readyText && !force:
		return usage(path, "not written", "the file exists and is no ready file",
			"add --force to overwrite it, or name another with --ready-file")
	}
	return os.Remove(path)
}
