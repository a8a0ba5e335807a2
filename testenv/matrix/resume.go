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

// resume makes a player take over boots of an earlier run, of the same programs,
// kernel, scenarios and settings; the scripts of the guest are in vm. What they
// left is judged anew.
type resume struct {
	what     string // "", "1" for cells that ended well, "all" for all that ended
	programs string // a digest
}

// know digests the programs that play, once.
func (r *resume) know(paths ...string) error {
	for _, path := range paths {
		sum, err := digest(path)
		if err != nil {
			return fmt.Errorf("%w: make matrix builds it", err)
		}
		r.programs += sum
	}
	return nil
}

// with names all that a boot depends on.
func (p *player) with(t planned, src *source) string {
	return strings.Join([]string{p.resume.programs, src.digest, p.modules, t.nic, strings.Join(t.scenarios, ","),
		fmt.Sprint(p.seconds, p.seed)}, "\n")
}

// key is with for cell.json.
func (p *player) key(t planned, src *source) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(p.with(t, src))))
}

// takeOver returns the cell of an earlier run, or nil.
func (p *player) takeOver(dir, key string) *cell {
	if p.resume.what == "" {
		return nil
	}
	c, err := readCell(dir)
	if err != nil || c.Key != key || c.As != "" || p.resume.what != "all" && c.State != ok {
		return nil
	}
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
