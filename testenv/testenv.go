// SPDX-License-Identifier: Apache-2.0

package testenv

import "embed"

// Files holds the kernels table, the scripts that run in a guest, and the
// sources of faultnic.
//
//go:embed kernels kernel.config guest scenarios faultnic
var Files embed.FS
