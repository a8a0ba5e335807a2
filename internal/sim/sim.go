// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/txtrace/txtrace/internal/capture"
)

// Summary is what a simulation did.
type Summary struct {
	Sent    uint64 // packets that the driver took
	Dropped uint64 // by a full qdisc, or a stopped queue without one
	Records uint64
	Virtual time.Duration
}

// ErrStuck says that packets wait and nothing will ever send them.
var ErrStuck = errors.New("packets wait and nothing will send them")

// beginNS is CLOCK_MONOTONIC when a simulation begins.
const beginNS = 1_000_000_000

// sim is one simulation under way.
type sim struct {
	cfg    *Config
	now    uint64 // virtual CLOCK_MONOTONIC, ns
	agenda agenda
	random random

	kernel kernel

	cpus    []*cpu
	queues  []*queue
	qdiscs  []*qdisc // by queue, or one for all
	senders []*sender
	link    uint64 // when the link is free again
	left    uint64 // packets that may still be made
	until   uint64 // when senders stop
	made    uint64
	skb     uint64 // address of the last packet
	load    loadState
	choice  chooser
	receive *receiver

	out     *recorder
	summary Summary
	err     error // of the output
}

// Run simulates and writes the capture. The error is ctx's, the output's, an
// *Error of the Config, before anything is written, or ErrStuck.
func Run(ctx context.Context, c Config, out io.Writer) (Summary, error) {
	if err := c.Validate(); err != nil {
		return Summary{}, err
	}
	s := newSim(&c)
	w, err := capture.NewWriter(out, s.header())
	if err != nil {
		return Summary{}, err
	}
	s.out = newRecorder(s, w)
	defer s.close()
	if err := s.play(ctx); err != nil {
		return s.summary, err
	}
	f := s.footer()
	f.Self.Written = uint64(w.Stats().Written)
	if err := w.Close(f); err != nil {
		return s.summary, err
	}
	s.summary.Records = s.out.written
	s.summary.Virtual = time.Duration(s.now - beginNS)
	return s.summary, nil
}

func newSim(c *Config) *sim {
	s := &sim{
		cfg: c, now: beginNS, random: random(c.Seed), link: beginNS, skb: skbBase,
		kernel: newKernel(c),
	}
	s.until, s.left = ^uint64(0), ^uint64(0)
	if c.Duration > 0 {
		s.until = beginNS + uint64(c.Duration)
	}
	if c.Packets > 0 {
		s.left = c.Packets
	}
	for i := range c.CPUs {
		p := &cpu{s: s, id: i, idle: true}
		p.lane.begin()
		s.cpus = append(s.cpus, p)
	}
	for i := range c.Device.Queues {
		s.queues = append(s.queues, newQueue(s, i))
	}
	s.choice = newChooser(c)
	s.qdiscs = newQdiscs(s)
	if c.Load != nil {
		s.load.begin(s)
		return s
	}
	for i := range c.Senders.Count {
		s.senders = append(s.senders, newSender(s, i))
	}
	s.receive = newReceiver(s)
	return s
}

// play runs to the end: nothing is due any more.
func (s *sim) play(ctx context.Context) error {
	for _, c := range s.cpus {
		c.start()
		c.resume() // to its first idle moment
	}
	s.out.armed()
	for n := 0; len(s.agenda.list) > 0; n++ {
		if s.err != nil {
			return s.err
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		d := s.agenda.take()
		s.now = d.at
		s.happen(d)
	}
	for _, q := range s.qdiscs {
		if n := q.waiting(); n > 0 {
			return fmt.Errorf("%w: %d in the qdisc of queue %d", ErrStuck, n, q.index)
		}
	}
	s.out.disarmed()
	return s.err
}

// close ends the coroutines.
func (s *sim) close() {
	for _, c := range s.cpus {
		if c.stop != nil {
			c.stop()
		}
	}
}

// happen lets something happen at its time.
func (s *sim) happen(d due) {
	s.now = d.at
	switch d.kind {
	case evResume:
		s.cpus[d.who].resume()
	case evSend:
		s.senders[d.who].due()
	case evDone:
		s.queues[d.who].interrupt()
	case evAck:
		c := s.cpus[s.cfg.IRQ]
		c.acked = append(c.acked, s.senders[d.who])
		c.wake()
	case evPace:
		s.senders[d.who].makeReady()
	case evArrive:
		s.load.arrive(s)
	case evAction:
		s.load.action(s)
	case evReceive:
		s.receive.arrive()
	case evLimit:
		s.load.bounds(s)
	}
}

// jitter makes a cost vary.
func (s *sim) jitter(cost time.Duration) uint64 {
	n := uint64(cost)
	if j := n * uint64(s.cfg.Costs.Jitter) / 100; j > 0 {
		n += s.random.below(2*j+1) - j
	}
	return n
}

// jiffies at the moment.
func (s *sim) jiffies() uint64 {
	return 1<<32 - 300*uint64(s.cfg.HZ) + (s.now-beginNS)/(1_000_000_000/uint64(s.cfg.HZ))
}

// address of n new packets that follow each other.
func (s *sim) address() uint64 {
	s.skb += skbSize
	return s.skb
}

const (
	skbBase = 0xffff_8880_0000_0000
	skbSize = 1 << 12 // room for the segments of a packet
)
