// SPDX-License-Identifier: Apache-2.0

// Package testenv boots kernels in QEMU and makes traffic in them, for
// txtrace's demonstration and its guest tests. Nothing imports it but what
// lies below it.
//
// An arbitrary command in a guest (after `go run ./testenv/setup demo` as
// root, once):
//
//	go run ./testenv/vm -kernel 6.1 -nic e1000e -out DIR -- sh -c '...'
//
// -kernel is a row of testenv/kernels. The command sees the host's folders
// read-only at their own paths (but /tmp, which is the guest's own; the
// host's is at /host/tmp), starts in the folder vm was started in, and
// writes to DIR as /out. The two NICs are in the network namespaces tx
// ($DEV, $TX_ADDR) and rx ($PEER, $RX_ADDR): `ip netns exec tx ...`.
// modprobe works. Its output is vm's output, its exit code vm's exit code;
// the console is in DIR/console.log. -h lists the other flags.
package testenv
