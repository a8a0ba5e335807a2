// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"errors"

	"github.com/txtrace/txtrace/internal/event"
)

// quiet writes the bypass sends that the programs still hold.
func (r *recorder) quiet() error {
	left, err := r.ledger.quietLeft()
	if err != nil {
		return err
	}
	return write(r, left...)
}

// picked writes what the programs counted of picks since the last time.
func (r *recorder) picked() error {
	counts, err := r.picks.changed()
	if err != nil {
		return err
	}
	return write(r, counts...)
}

// notices writes what the watcher saw. Where it lost messages a record is
// missing, and what is there now is seen by looking.
func (r *recorder) notices() error {
	seen, lost := r.watch.take()
	if lost {
		r.seq++
		if all, err := namespaces(); err == nil {
			r.watch.again(all)
			closeAll(all)
		}
		more, _ := r.watch.take() // another loss is another time's
		seen = append(seen, more...)
	}
	var errs []error
	for _, n := range seen {
		errs = append(errs, write(r, n))
	}
	return errors.Join(errs...)
}

func (r *recorder) note(subtype uint8, name string, before, after uint64) error {
	n := event.Notice{Subtype: subtype, Before: before, After: after}
	n.Txq = event.NoQueue
	copy(n.Name[:], name)
	return write(r, n)
}

// write makes records the recorder's own and appends them.
func write[T event.Record](r *recorder, recs ...T) error {
	for i := range recs {
		rec := &recs[i]
		r.own(any(rec).(event.Any).Head())
		if err := r.w.Append(event.Append(nil, rec)); err != nil {
			return err
		}
	}
	return nil
}

// own makes a header the recorder's: its own CPU number and sequence, in which
// no time lies before the one of the record before.
func (r *recorder) own(h *event.Header) {
	h.CPU, h.Seq = event.UserCPU, r.seq
	r.seq++
	if h.Time == 0 {
		h.Time = clocks().Monotonic
	}
	h.Time = max(h.Time, r.last)
	r.last = h.Time
}
