// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// tick is how long a record may wait in the ring when nothing wakes the
// reader. Waking costs the traced machine more than the record itself.
const tick = 50 * time.Millisecond

// slow things (ledger rows, the weights) happen once per this many ticks.
const ticksPerLook = 20

// Hooks are the moments of a recording that its caller takes part in. Either
// may be nil.
type Hooks struct {
	// Ready is called once every program is attached and armed. An error ends
	// the recording.
	Ready func() error
	// Child is called after the programs are disarmed and the ring is empty,
	// and gives the command that ran meanwhile, nil when there was none.
	Child func() *capture.Child
	// Ended names what ended the recording when it was not the recorder.
	Ended func() string
}

// Record writes a capture of the running kernel to out until ctx is done. It
// disarms, drains and writes the footer before it returns; what was recorded
// so far is in out whatever happens. The error is an *Error where a person can
// do something about it.
//
// Decision: it does not wait until the programs, which do nothing any more,
// are detached. The kernel takes some 0.1 s for each hook, one after the
// other even when they are closed at once or the process is killed (1.9 s in
// guests of 6.1 and 6.12), and a report need not wait for that.
func Record(ctx context.Context, c Config, out io.Writer, hooks Hooks) (*capture.Footer, error) {
	f, err := Gather(c.KernelBTF)
	if err != nil {
		return nil, err
	}
	if err := f.Permitted(); err != nil {
		return nil, err
	}
	p, err := NewPlan(f, c.Backend, c.With)
	if err != nil {
		return nil, err
	}
	if err := p.takesStacks(c.Stacks); err != nil {
		return nil, err
	}
	r, err := newRecorder(p, f, &c)
	if err != nil {
		return nil, err
	}
	defer func() { go r.free() }()
	return r.run(ctx, out, hooks)
}

// recorder is one recording.
type recorder struct {
	plan    *Plan
	facts   *Facts
	config  *Config
	before  world
	s       *session
	ledger  ledger
	picks   pickCounts
	watch   *watcher
	new     strangers
	numbers *numbering
	w       *capture.Writer
	weights capture.Settings // as last seen
	seq     uint32           // of records written here, CPU event.UserCPU
	last    uint64           // time in ns of the last of them
}

func newRecorder(p *Plan, f *Facts, c *Config) (r *recorder, err error) {
	r = &recorder{plan: p, facts: f, config: c, numbers: newNumbering(f)}
	defer func() {
		if err != nil {
			r.free()
		}
	}()
	if r.watch, err = newWatcher(); err != nil {
		return r, err
	}
	all, err := namespaces()
	if err != nil {
		return r, err
	}
	defer closeAll(all)
	for _, ns := range all {
		r.watch.add(ns)
	}
	r.watch.take() // the header has it
	r.before = lookAround(all, false)
	ids, err := resolve(c.Filter.Ifnames, r.before.devices, c.Filter.Netns)
	if err != nil {
		return r, err
	}
	b, err := c.kernelSide(f, p, ids)
	if err != nil {
		return r, err
	}
	spec, err := loadTxtrace()
	if err != nil {
		return r, err
	}
	layout, err := layoutOf(spec)
	if err != nil {
		return r, err
	}
	if r.s, err = open(p, f, c, b); err != nil {
		return r, err
	}
	r.picks = pickCounts{s: r.s}
	r.ledger = ledger{s: r.s, layout: layout, last: map[[2]int]capture.LedgerRow{}}
	return r, nil
}

func (r *recorder) free() {
	if r.watch != nil {
		r.watch.close()
	}
	if r.s != nil {
		r.s.close()
	}
}

// run is the recording from the header to the footer.
func (r *recorder) run(ctx context.Context, out io.Writer, hooks Hooks) (*capture.Footer, error) {
	h, err := r.header()
	if err != nil {
		return nil, err
	}
	if r.w, err = capture.NewWriter(out, h); err != nil {
		return nil, outputError(err)
	}
	relearn := func() { _ = r.s.relearn() } // as r.look does soon
	r.watch.follow(relearn)
	r.picks.time = h.Clock.Monotonic
	if err := r.s.arm(true); err != nil {
		return nil, err
	}
	err = r.note(event.NoticeArmed, "", 0, 0)
	if err == nil && hooks.Ready != nil {
		err = hooks.Ready()
	}
	ended := "error"
	if err == nil {
		err = errors.Join(r.drain(ctx), r.s.sample())
		if err == nil {
			ended = "signal"
			if hooks.Ended != nil {
				ended = hooks.Ended()
			}
		} else if errors.Is(err, unix.ENOSPC) {
			ended = "disk"
		}
	}
	err = errors.Join(err, r.note(event.NoticeDisarmed, "", 0, 0), r.s.disarm(r.ledger.adds), r.rest())
	foot, ferr := r.footer(ended, hooks)
	err = errors.Join(err, ferr, r.w.Close(foot))
	if err != nil {
		return foot, outputError(err)
	}
	return foot, nil
}

// drain copies records from the ring to the capture until ctx is done.
func (r *recorder) drain(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { r.s.ring.Flush() })
	defer stop()
	var rec ringbuf.Record
	next := time.Now().Add(tick)
	r.s.ring.SetDeadline(next)
	for looks := 1; ; {
		err := r.s.ring.ReadInto(&rec)
		switch {
		case err == nil:
			r.new.record(rec.RawSample)
			r.numbers.record(rec.RawSample)
			if err := r.w.Append(rec.RawSample); err != nil {
				return err
			}
			continue
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, ringbuf.ErrFlushed):
			// Whatever was in the ring has been read.
		default:
			return fmt.Errorf("read the ring: %w", err)
		}
		if ctx.Err() != nil {
			return nil
		}
		now := time.Now()
		looks++
		slow := looks%ticksPerLook == 0
		r.arrivals(slow)
		if err := errors.Join(r.w.Tick(now), r.notices()); err != nil {
			return err
		}
		if slow {
			if err := r.look(); err != nil {
				return err
			}
		}
		r.s.ring.SetDeadline(now.Add(tick))
	}
}

// rest empties the ring after the programs are disarmed.
func (r *recorder) rest() error {
	var rec ringbuf.Record
	r.s.ring.SetDeadline(time.Time{})
	if err := r.s.ring.Flush(); err != nil {
		return fmt.Errorf("flush the ring: %w", err)
	}
	for {
		err := r.s.ring.ReadInto(&rec)
		if errors.Is(err, ringbuf.ErrFlushed) {
			return errors.Join(r.quiet(), r.picked(), r.notices())
		}
		if err != nil {
			return fmt.Errorf("read the ring: %w", err)
		}
		r.numbers.record(rec.RawSample)
		if err := r.w.Append(rec.RawSample); err != nil {
			return err
		}
	}
}

// look writes the ledger rows that moved, and the quota when it did. Queues
// are learned again, for what happened where nobody watches.
func (r *recorder) look() error {
	if err := r.s.relearn(); err != nil {
		return err
	}
	rows, err := r.ledger.changed()
	if err != nil {
		return err
	}
	now := weights()
	if now.DevWeight != 0 && (now.DevWeight != r.weights.DevWeight || now.DevWeightTxBias != r.weights.DevWeightTxBias) {
		err := errors.Join(
			r.note(event.NoticeSysctl, "net.core.dev_weight", uint64(r.weights.DevWeight), uint64(now.DevWeight)),
			r.note(event.NoticeSysctl, "net.core.dev_weight_tx_bias", uint64(r.weights.DevWeightTxBias), uint64(now.DevWeightTxBias)))
		if err != nil {
			return err
		}
		r.weights = now
	}
	if err := write(r, rows...); err != nil {
		return err
	}
	return errors.Join(r.s.sample(), r.picked())
}

// arrivals looks for namespaces that are not watched yet.
func (r *recorder) arrivals(again bool) {
	if !r.new.due(r.watch.watches, again) {
		return
	}
	all, err := namespaces()
	if err != nil {
		return // looked for again
	}
	defer closeAll(all)
	for _, ns := range all {
		if !r.watch.watches(ns.inode) {
			r.watch.add(ns)
		}
	}
}

// clocks reads three clocks as close together as can be.
func clocks() capture.Clock {
	read := func(id int32) uint64 {
		var ts unix.Timespec
		_ = unix.ClockGettime(id, &ts) // cannot fail for these clocks
		return uint64(ts.Nano())
	}
	return capture.Clock{Monotonic: read(unix.CLOCK_MONOTONIC), Boot: read(unix.CLOCK_BOOTTIME), Real: read(unix.CLOCK_REALTIME)}
}

func outputError(err error) error {
	if errors.Is(err, unix.ENOSPC) {
		return &Error{Object: "capture", What: "the disk is full", Cause: "no space left where the capture is written",
			Next: "the file is readable up to that moment; make room or write elsewhere with -o", Kind: Broken, Err: err}
	}
	return err
}
