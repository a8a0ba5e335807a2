// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
)

// cpioFile is one member of an initramfs.
type cpioFile struct {
	name string // without a leading slash
	mode uint32 // type and permission bits
	data []byte
}

const (
	cpioDir     = 0o040000
	cpioRegular = 0o100000
)

// writeCPIO writes an archive in the "newc" form that the kernel unpacks
// (Documentation/driver-api/early-userspace/buffer-format.rst). Parents
// must come before what they hold.
func writeCPIO(w io.Writer, files []cpioFile) error {
	for i, f := range files {
		if err := writeMember(w, i+1, f); err != nil {
			return err
		}
	}
	return writeMember(w, 0, cpioFile{name: "TRAILER!!!"})
}

func writeMember(w io.Writer, inode int, f cpioFile) error {
	links := 1
	if f.mode&cpioDir != 0 {
		links = 2
	}
	header := fmt.Sprintf("070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s\x00",
		inode, f.mode, 0, 0, links, 0, len(f.data), 0, 0, 0, 0, len(f.name)+1, 0, f.name)
	for _, part := range [][]byte{[]byte(header), f.data} {
		pad := make([]byte, -len(part)&3)
		if _, err := w.Write(append(part[:len(part):len(part)], pad...)); err != nil {
			return err
		}
	}
	return nil
}
