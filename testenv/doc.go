// SPDX-License-Identifier: Apache-2.0

// Package testenv boots kernels in QEMU and makes traffic in them, for
// txtrace's demonstration and its guest tests. Nothing imports it but what
// lies below it.
//
//	setup/          installs what guests and tests need from Debian
//	vm/             boots a kernel and runs scenarios or a command in it
//	kernels         the kernels that vm knows by name
//	matrix/         vm for every kernel and NIC, and what it all showed
//	kernel.config   what a kernel of one's own needs
//	guest/          the scripts of the guest: first and second stage, NICs
//	faultnic/       a driver that breaks rules of the transmit path
//	branches/       how often captures took each branch of internal/model
//	scenarios/      one file per load, and lib.sh, which runs them
//	internal/debian packages through private apt configurations
//
// # Scenarios
//
//	go run ./testenv/vm -kernel 6.1 -nic e1000e -scenario bulk-udp -out DIR
//
// is `make vm`. One boot runs all scenarios that are named; a single one
// has DIR to itself, several have a folder each. A scenario's folder gets
//
//	capture.txtrace record.log        from txtrace record in the guest
//	verify.txt verify.json            from txtrace on the host,
//	report.txt report.json            after the guest's end
//	before/ after/                    the kernel's counters, tx and rx
//	netperf-N.txt                     the load's own words
//	memory.txt                        what the recorder has resident (churn)
//	result.json                       kernel, NIC, exit code and seconds
//	                                  of each step, QEMU's command line
//
// and DIR gets console.log. -tools names what records, several at once if
// wanted: txtrace, perf, trace-cmd. Around the load there are two quiet
// moments, in which nothing is queued, in flight or sent: see
// scenarios/lib.sh. The exit code is that of txtrace verify, the worst of
// several; 4 for a kernel or scenario that cannot be had; 70 when the
// guest itself failed: a panic, the time limit, a load that did not run.
//
// A guest without KVM has the word txtrace.emulated=1 on its kernel's
// command line: its counts are real, its times are not.
//
// # Any command
//
//	go run ./testenv/vm -kernel 6.1 -nic e1000e -out DIR -- sh -c '...'
//
// The command sees the host's folders read-only at their own paths (but
// /tmp, /run, /mnt and /media, which are the guest's own; the host's are
// below /host), starts in the folder that vm was started in, and writes to
// DIR as /out. The two NICs are in the network namespaces tx ($DEV,
// $TX_ADDR) and rx ($PEER, $RX_ADDR): `ip netns exec tx ...`. modprobe
// works. Its output is vm's output and its exit code is vm's. (go run
// makes 1 of every exit code; go build vm where it matters.)
//
// # A NIC that lies
//
// -nic faultnic is a pair of devices of a driver of our own, with a wire
// between them. It has a ring that a timer drains at a set rate, byte queue
// limits and TSO, and completes in a NAPI poll, in a hard interrupt or in
// ndo_start_xmit, as its parameters say (FAULTNIC_PARAMS in -env, or
// /sys/module/faultnic/parameters while it runs). Its parameter fault breaks
// one rule at a time; the scenario faults records each word. It is built for
// a kernel of the table whose headers are in the same suite and whose compiler
// is on the machine, as bookworm's are; for another kernel vm exits with 4.
//
// # Other flags
//
// -icount makes guest time a count of instructions, for comparing costs;
// -trace logs QEMU's own events, such as the register writes of a NIC,
// which are the truth about doorbells; -env hands a variable to the guest;
// -h lists the rest.
//
// # Limits
//
// Processors of type x86-64 only. QEMU's hub between the NICs carries no
// offloads of virtio-net, so virtio has no TSO here; veth has.
package testenv
