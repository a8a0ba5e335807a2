// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// resume makes a player take over cells of an earlier run: those that ended
// well, of the same programs, kernel, scenarios and settings. The scripts of the
// guest are in vm.
type resume struct {
	wanted   bool
	programs string // a digest
}

// know digests the programs that play, once.
func (r *resume) know(paths ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, path := range append(paths, self) {
		sum, err := digest(path)
		if err != nil {
			return fmt.Errorf("%w: make matrix builds it", err)
		}
		r.programs += sum
	}
	return nil
}

// key names all that a cell depends on.
func (p *player) key(t planned, src *source) string {
	all := strings.Join([]string{p.resume.programs, src.digest, t.kernel, p.modules, t.nic,
		strings.Join(t.scenarios, ","), fmt.Sprint(p.seconds, p.seed), fmt.Sprint(src.expect)}, "\n")
	return fmt.Sprintf("%x", sha256.Sum256([]byte(all)))
}

// takeOver returns the cell of an earlier run, or nil.
func (p *player) takeOver(dir, key string) *cell {
	if !p.resume.wanted {
		return nil
	}
	c, err := readCell(dir)
	if err != nil || c.Key != key || c.State != ok {
		return nil
	}
	c.tookOver = true
	return c
}

// digest is the SHA-256 of a file.
func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum(nil)), errors.Join(err, f.Close())
}
