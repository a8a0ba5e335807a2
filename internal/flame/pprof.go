// SPDX-License-Identifier: Apache-2.0

package flame

import (
	"io"
	"slices"

	"github.com/google/pprof/profile"

	"github.com/txtrace/txtrace/internal/capture"
)

// Pprof writes a gzipped profile for go tool pprof. A module of the kernel is the
// file of its functions, vmlinux that of all others.
func Pprof(w io.Writer, s *Stacks) error {
	unit := map[string]string{capture.ByBytes: "bytes", capture.ByNS: "nanoseconds"}[s.Weight]
	if unit == "" {
		unit = "count"
	}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: s.Moment.Name, Unit: unit}},
		Comments:   []string{s.Title()},
	}
	places := map[capture.StackFunction]*profile.Location{}
	for _, way := range s.Ways {
		sample := &profile.Sample{Value: []int64{int64(way.Value)}}
		for _, c := range slices.Backward(way.Calls) {
			at := places[c]
			if at == nil {
				file := c.Module
				if file == "" {
					file = "vmlinux"
				}
				f := &profile.Function{ID: uint64(len(places)) + 1, Name: c.Name, SystemName: c.Name, Filename: file}
				at = &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
				places[c] = at
				p.Function, p.Location = append(p.Function, f), append(p.Location, at)
			}
			sample.Location = append(sample.Location, at)
		}
		p.Sample = append(p.Sample, sample)
	}
	return p.Write(w)
}
