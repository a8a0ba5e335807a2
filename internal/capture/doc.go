// SPDX-License-Identifier: Apache-2.0

// Package capture writes and reads the capture file (.txtrace): a stream of
// records as the BPF programs submitted them, with what is known when
// recording begins (Header) and when it ends (Footer).
//
// The format is being settled: the public API below it is what other packages
// build on.
package capture
