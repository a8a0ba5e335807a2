// SPDX-License-Identifier: Apache-2.0

package testenv

import "embed"

// Files holds the kernels table and the scripts that run in a guest.
//
//go:embed kernels kernel.config guest scenarios
var Files embed.FS
