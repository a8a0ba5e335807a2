// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// checkImage says whether QEMU can boot a file as Linux for x86: the boot
// protocol (Documentation/arch/x86/boot.rst) puts two signatures into it. Of
// another file, as vmlinux, QEMU says too little, or boots and says nothing.
func checkImage(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("-kernel: %w", err)
	}
	defer f.Close()
	const boot, header = 0x1fe, 0x202
	b := make([]byte, header+4)
	_, err = io.ReadFull(f, b)
	short := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && !short {
		return fmt.Errorf("-kernel: %w", err)
	}
	if short || !bytes.Equal(b[boot:boot+2], []byte{0x55, 0xaa}) || string(b[header:]) != "HdrS" {
		return fmt.Errorf("-kernel %s: not a bzImage; make bzImage leaves one in arch/x86/boot", path)
	}
	return nil
}
