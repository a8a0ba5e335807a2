// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/capture"

// meter counts what reports print.
type meter struct{}

func newMeter(*capture.Header) *meter { return &meter{} }

func (m *meter) checks() Checks { return Checks{} }

func (m *meter) report(*Result, *End) {}
