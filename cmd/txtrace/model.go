// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/txtrace/txtrace/internal/analysis"
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/model"
	"github.com/txtrace/txtrace/internal/report"
	"github.com/txtrace/txtrace/internal/sim"
)

const modelDefault = "model.txtrace"

func modelVerb() verb {
	var o outputFlags
	var text textFlags
	m := newModelFlags()
	return verb{
		name:     "model",
		operands: "[CAPTURE]",
		summary:  "simulate a transmit path, or a recorded load under another kernel",
		example:  "txtrace model --what-if quota=stop out.txtrace",
		flags: func(fs *pflag.FlagSet) {
			o.add(fs, "capture, or table of --what-if: a `FILE`")
			m.add(fs)
			text.add(fs)
		},
		run: func(ctx context.Context, t *tool, operands []string) error {
			if len(operands) > 1 {
				_, err := oneFile("model", operands)
				return err
			}
			if len(operands) == 0 && m.whatIf != "" {
				return usage("--what-if", "no capture", "it replays the load of a recording", "name one, as in txtrace model --what-if quota=stop "+captureDefault)
			}
			if m.whatIf != "" {
				return m.compare(ctx, t, &o, text, operands[0])
			}
			if o.output == "" {
				o.output = modelDefault
			}
			c, err := m.config(ctx, t, &o, operands)
			if err != nil {
				return err
			}
			return m.write(ctx, t, &o, c)
		},
	}
}

// config is the simulation that the flags, and the capture if there is one,
// ask for.
func (m *modelFlags) config(ctx context.Context, t *tool, o *outputFlags, operands []string) (sim.Config, error) {
	if len(operands) == 0 {
		m.conf.Kernel = m.variants
		return m.conf, m.check(&m.conf)
	}
	if err := o.notOnto(operands[0], "the capture that is read"); err != nil {
		return sim.Config{}, err
	}
	l, err := m.load(ctx, t, o, operands[0])
	if err != nil {
		return sim.Config{}, err
	}
	return l.config, nil
}

// write simulates into the file of -o, which is made whole or not at all.
func (m *modelFlags) write(ctx context.Context, t *tool, o *outputFlags, c sim.Config) error {
	out, err := newWholeCapture(t, o.output, o.force)
	if err != nil {
		return err
	}
	defer out.discard()
	sum, err := sim.Run(ctx, c, out)
	if err != nil {
		return m.failed(out, err)
	}
	if err := out.keep(); err != nil {
		return notWritten(o.output, err)
	}
	if !o.quiet {
		t.say("%s: %d packets in %v of virtual time, %d dropped; txtrace report %s shows them", o.output, sum.Sent, sum.Virtual, sum.Dropped, o.output)
	}
	return nil
}

// failed words an error of a simulation.
func (m *modelFlags) failed(out *wholeCapture, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return &failure{exitSkip, "model", "not finished", "interrupted", "run it again, or shorten --duration", err}
	case errors.Is(err, sim.ErrStuck), errors.Is(err, model.ErrBug):
		return usage("model", "the simulation cannot end", err.Error(), "change the ring, the limits or the variants")
	case out != nil && out.bad != nil:
		return notWritten(out.name(), out.bad)
	}
	return modelFailure(err)
}

// modelFailure words an impossible parameter.
func modelFailure(err error) error {
	var e *sim.Error
	if !errors.As(err, &e) {
		return err
	}
	return usage("--"+e.Parameter, "impossible", e.What, e.Next)
}

// load is a recording's load, and how to simulate it as it was recorded.
type load struct {
	queue  *sim.Recorded
	header *capture.Header
	result *analysis.Result
	shape  *analysis.Shape
	config sim.Config
}

// load reads a capture twice: for its arrivals, and for what the analysis says
// of its kernel.
func (m *modelFlags) load(ctx context.Context, t *tool, o *outputFlags, path string) (*load, error) {
	if path == "-" {
		return nil, usage("-", "not read", "a recording is read twice", "name a file")
	}
	l, err := m.arrivals(ctx, t, path)
	if err != nil {
		return nil, err
	}
	l.shape = &analysis.Shape{Netns: l.queue.Netns, Ifindex: l.queue.Ifindex, Txq: l.queue.Txq}
	opt, err := (&verifyFlags{variant: "auto", timeScale: 1}).options()
	if err != nil {
		return nil, err
	}
	opt.Watch = []analysis.Checks{l.shape.Checks()}
	if l.result, err = analyze(ctx, t, path, opt); err != nil {
		return nil, err
	}
	t.warnCut(path, o.quiet, l.result)
	l.config = l.queue.Configure(l.header)
	l.config.Tool = version()
	for _, v := range l.result.Verify.Variants {
		if v.Variant != "" {
			l.config.Kernel[model.Switch(v.Switch)] = model.Variant(v.Variant)
		}
	}
	for s, v := range m.variants {
		l.config.Kernel[s] = v
	}
	if err := m.override(&l.config); err != nil {
		return nil, err
	}
	return l, m.check(&l.config)
}

// arrivals of the queue that was asked for, or the busiest.
func (m *modelFlags) arrivals(ctx context.Context, t *tool, path string) (*load, error) {
	r, file, err := openReader(ctx, t, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	list, err := sim.Read(r)
	switch {
	case errors.Is(err, sim.ErrLong):
		f := usage(path, "not replayed", err.Error(), "record for a shorter time")
		f.code = exitSkip
		return nil, f
	case err != nil:
		return nil, notRead(path, err)
	}
	f := usage(path, "no arrivals", "nothing was sent on such a queue", "record while something is sent, or name another queue")
	for _, q := range list {
		if !m.wants(q) || len(q.Load.Arrivals) == 0 {
			continue
		}
		if !q.Shared {
			return &load{queue: q, header: r.Header()}, nil
		}
		f = usage(path, "not replayed", "one qdisc serves several queues, so the load of each is not known", "record with a qdisc for each queue (mq), or name another queue")
		break
	}
	f.code = exitInconclusive
	return nil, f
}

// compare replays a load as it was recorded and under another kernel, and
// prints both beside the recording.
func (m *modelFlags) compare(ctx context.Context, t *tool, o *outputFlags, text textFlags, path string) error {
	p, err := model.ParseWhatIf(m.whatIf)
	if err != nil {
		return whatIfFailure(err)
	}
	for s := range p.Set {
		if !sim.Replays(s) {
			return usage("--what-if", string(s), "no replay comes to it", "choose from "+switchesThat(sim.Replays)+", xmit_more_limit, byte_cap")
		}
	}
	if err := o.notOnto(path, "the capture that is read"); err != nil {
		return err
	}
	l, err := m.load(ctx, t, o, path)
	if err != nil {
		return err
	}
	inputs := []report.ModelInput{{Name: "recorded", Result: l.result, Shape: l.shape, OwedByStop: ringsAtStop(&l.config)}}
	other := l.config.Under(p)
	for _, c := range []struct {
		name   string
		config sim.Config
	}{{"as recorded", l.config}, {m.whatIf, other}} {
		in, err := m.replay(ctx, c.config)
		if err != nil {
			return err
		}
		in.Name = c.name
		inputs = append(inputs, *in)
	}
	q := l.queue
	doc := report.NewModel(m.whatIf, report.ModelQueue{
		Netns: q.Netns, Ifindex: q.Ifindex, Ifname: q.Device.Ifname, Txq: q.Txq, Qdisc: q.Kind,
	}, uint64(m.link), inputs)
	return t.emit(o, o.document(doc, func(w io.Writer) error { return doc.Text(w, o.text(t, text), l.header) }))
}

// replay simulates and analyzes what came out, without a file in between.
func (m *modelFlags) replay(ctx context.Context, c sim.Config) (*report.ModelInput, error) {
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := sim.Run(ctx, c, out)
		out.CloseWithError(err)
		done <- err
	}()
	s := &analysis.Shape{Netns: sim.Netns, Ifindex: sim.Ifindex}
	var res *analysis.Result
	r, err := capture.Open(in)
	if err == nil {
		res, err = analysis.Analyze(r, analysis.Options{Watch: []analysis.Checks{s.Checks()}})
	}
	in.CloseWithError(io.ErrClosedPipe)
	if failed := <-done; failed != nil && !errors.Is(failed, io.ErrClosedPipe) {
		return nil, m.failed(nil, failed)
	}
	if err != nil {
		return nil, fmt.Errorf("read what was simulated: %w", err)
	}
	return &report.ModelInput{Result: res, Shape: s, OwedByStop: ringsAtStop(&c)}, nil
}

// ringsAtStop says that the driver rings its doorbell when BQL stops it.
func ringsAtStop(c *sim.Config) bool {
	return model.Rings(c.Kernel[model.SwitchDoorbell], true, model.QueueStack)
}
