// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"io"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
	"github.com/txtrace/txtrace/internal/model"
)

// list is a capture of records that anybody made up.
type list struct {
	header  capture.Header
	records []event.Any
}

func (l *list) Header() *capture.Header { return &l.header }

func (l *list) Next() (capture.Item, error) {
	if len(l.records) == 0 {
		return capture.Item{}, io.EOF
	}
	r := l.records[0]
	l.records = l.records[1:]
	return capture.Item{Record: r}, nil
}

// number draws one that is small, or any.
func number(t *rapid.T) uint32 {
	return rapid.OneOf(rapid.Uint32Range(0, 300), rapid.Uint32Range(0, 1<<20), rapid.SampledFrom([]uint32{0, 1, math.MaxUint32}), rapid.Uint32()).Draw(t, "number")
}

func madeUp(t *rapid.T) event.Any {
	n := func() uint32 { return number(t) }
	b := func() uint8 { return uint8(n() & 3) }
	h := event.Header{
		CPU: uint16(n()), Txq: uint16(b()), Time: 1_000_000_000 + uint64(n())*uint64(n()&0xfff), Dur: n(), Ifindex: 2, Netns: 7, Parent: n(), Flags: b(),
	}
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		h.Kind = event.KindDequeue
		return &event.Dequeue{Header: h, Packets: n(), Walked: n(), Bytes: n(), FirstLen: n(), LastLen: n(), GsoSegs: n(), Qlen: n(), GsoQlen: n(), NumQueued: n()}
	case 1:
		h.Kind = event.KindDirect
		d := &event.Direct{Header: h, Packets: n(), Bytes: n(), GsoSegs: n(), GsoQlenEnd: n(), Handovers: n() & 1, From: b(), TxqStateEnd: b()}
		d.Hand = event.Hand{Packets: n(), Bytes: n(), Attempts: n(), NumQueuedBegin: n(), NumQueuedEnd: n(), NumComplEnd: n(), TxqStateLast: b()}
		return d
	case 2:
		h.Kind = event.KindRun
		return &event.Run{Header: h, QlenBegin: n(), QlenEnd: n(), GsoQlenEnd: n(), Who: b(), QdiscStateBegin: b(), QdiscStateEnd: b(), TxqStateEnd: b()}
	case 3:
		h.Kind = event.KindQuiet
		return &event.Quiet{Header: h, Packets: n(), Bytes: n()}
	}
	h.Kind = event.KindComplete
	return &event.Complete{Header: h, NumQueued: n(), NumCompleted: n(), MinLimit: n(), MaxLimit: n(), TxqState: b(), Source: b()}
}

// Whatever a file says, reading it ends, and so does its replay.
func TestHostile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &list{header: capture.Header{
			Clock:   capture.Clock{Monotonic: 1_000_000_000},
			Kernel:  capture.Kernel{CPUs: 1 + number(t)&3, HZ: 250, Emulated: rapid.Bool().Draw(t, "emulated")},
			Devices: []capture.Device{{Netns: 7, Ifindex: 2, TxRing: number(t), Offloads: map[string]bool{"tx-tcp-segmentation": rapid.Bool().Draw(t, "tso")}}},
		}}
		for range rapid.IntRange(0, 40).Draw(t, "records") {
			l.records = append(l.records, madeUp(t))
		}
		queues, err := Read(l)
		if err != nil {
			if !errors.Is(err, ErrLong) {
				t.Fatal(err)
			}
			return
		}
		for _, q := range queues {
			c := q.Configure(&l.header)
			if len(q.Load.Arrivals) == 0 || len(q.Load.Arrivals) > 20_000 || c.Validate() != nil {
				continue
			}
			if _, err := Run(context.Background(), c, io.Discard); err != nil && !errors.Is(err, ErrStuck) && !errors.Is(err, model.ErrBug) {
				t.Fatalf("%v", err)
			}
		}
	})
}
