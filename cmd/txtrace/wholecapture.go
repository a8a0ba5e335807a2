// SPDX-License-Identifier: Apache-2.0

package main

import "os"

// wholeCapture is a capture that is made whole or not at all: beside its name,
// and then renamed. An older capture is kept, as record does.
type wholeCapture struct {
	captureFile
	temp *os.File
}

func newWholeCapture(t *tool, path string, force bool) (*wholeCapture, error) {
	c, err := openCapture(t, path, force)
	if err != nil {
		return nil, err
	}
	w := &wholeCapture{captureFile: *c}
	info, err := os.Stat(path)
	if path == "-" || err == nil && !info.Mode().IsRegular() {
		return w, nil // a pipe, /dev/null: as it is
	}
	w.temp, err = createBeside(path)
	if err != nil {
		return nil, notWritten(path, err)
	}
	w.out = w.temp
	return w, nil
}

// keep gives the file its name.
func (w *wholeCapture) keep() error {
	if w.temp == nil {
		return w.captureFile.Close()
	}
	temp := w.temp
	w.temp = nil
	defer os.Remove(temp.Name()) // in vain once it has its name
	if err := w.tool.finish(temp); err != nil {
		return err
	}
	if isCapture(w.path) {
		if err := os.Rename(w.path, w.old()); err != nil {
			return err
		}
	}
	return os.Rename(temp.Name(), w.path)
}

// discard removes what was not kept.
func (w *wholeCapture) discard() {
	if w.temp != nil {
		w.temp.Close()
		os.Remove(w.temp.Name())
	}
}
