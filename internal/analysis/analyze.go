// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"errors"
	"io"

	"github.com/txtrace/txtrace/internal/capture"
)

// Analyze reads a capture to its end, in one pass and constant memory, and
// returns verdicts and reports. The error is a wrong rule id, before anything
// is read, or the input's: then the Result covers what could be read. What a
// damaged capture lacks is in the Result's Cut and Verify.Lost.
func Analyze(src Source, opt Options) (*Result, error) {
	rules, err := opt.choose()
	if err != nil {
		return nil, err
	}
	p := newPass(src.Header(), rules, opt.TimeScale)
	var m *meter
	if !opt.NoReport {
		m = newMeter(src.Header())
		p.rebuild.fan.add(m.checks())
	}
	for _, w := range opt.Watch {
		p.rebuild.fan.add(w)
	}
	err = p.read(src)
	res := &Result{Header: src.Header(), Footer: src.Footer(), Cut: src.Cut(), Stats: src.Stats()}
	end := p.end(res)
	res.Verify = p.verify(res, end, opt)
	if m != nil {
		m.report(res, end)
	}
	return res, err
}

// pass is one reading of a capture.
type pass struct {
	header  *capture.Header
	gaps    gaps
	skips   *skips
	judges  []*Judge
	rebuild *rebuild
	records uint64
}

func newPass(h *capture.Header, rules []Rule, scale float64) *pass {
	p := &pass{header: h}
	p.rebuild = newRebuild(h, &p.gaps)
	for i := range rules {
		r := rules[i]
		j := newJudge(&r, &p.gaps, &p.rebuild.lastNS)
		if scale > 0 {
			j.scale = scale
		}
		p.judges = append(p.judges, j)
		p.rebuild.fan.add(r.New(j))
	}
	p.rebuild.lost = func(s Span) {
		for _, j := range p.judges {
			j.lost(s)
		}
	}
	p.rebuild.changed = func(s Span) {
		for _, j := range p.judges {
			j.changed(s)
		}
	}
	p.skips = newSkips(h)
	p.skips.tell = func(hook string, s Span) {
		for _, j := range p.judges {
			j.skipped(hook, s)
		}
	}
	p.rebuild.fan.add(Checks{Ledger: func(l *Ledger) { p.skips.ledger(&l.Ledger) }})
	return p
}

func (p *pass) read(src Source) error {
	for {
		it, err := src.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if it.Gap == nil {
			p.records++
		}
		p.rebuild.item(it)
	}
}

func (p *pass) end(res *Result) *End {
	p.rebuild.end()
	end := &End{
		Header: p.header, Footer: res.Footer, Cut: res.Footer == nil, Stats: res.Stats,
		LastNS: p.rebuild.lastNS, lostOn: p.rebuild.lostOn(), Queues: p.rebuild.world.queues,
	}
	give(p.rebuild.fan.end, end)
	p.skips.footer(res.Footer)
	for _, j := range p.judges {
		if res.Stats.Late+res.Stats.Unordered > 0 {
			j.late()
		}
		j.end()
	}
	return end
}

func (p *pass) verify(res *Result, end *End, opt Options) Verify {
	fs := findAll(p.judges, opt.Variant)
	v := Verify{
		V: 1, Type: "verify",
		Capture: p.info(end, opt),
		Rules:   rulings(p.judges, fs, p.header),
		Lost:    lostInfo(res),
	}
	for _, f := range fs {
		v.Variants = append(v.Variants, f.document())
	}
	v.Exit = exitCode(v.Rules, opt.Strict, opt.ChildFailed)
	return v
}

func (p *pass) info(end *End, opt Options) CaptureInfo {
	h := p.header
	return CaptureInfo{
		Tool: h.Tool, Release: h.Kernel.Release, Version: h.Kernel.Version, Machine: h.Kernel.Machine,
		Commit: h.Kernel.Commit, Emulated: h.Kernel.Emulated, Simulated: h.Simulated,
		BeginNS: U64(h.Clock.Monotonic), EndNS: U64(end.LastNS), Records: U64(p.records),
		Variant: opt.Variant.String(),
	}
}

func lostInfo(res *Result) LostInfo {
	l := LostInfo{
		Records: U64(res.Stats.Lost), Gaps: U64(res.Stats.Gaps), Late: U64(res.Stats.Late),
		Corrupt: U64(res.Stats.Corrupt), Unknown: U64(res.Stats.Unknown),
	}
	if f := res.Footer; f != nil {
		l.Orphans = U64(f.Orphans)
		for _, row := range f.Ledger {
			l.Missed += U64(row.Missed)
		}
	}
	if res.Cut != nil {
		l.Cut = res.Cut.Reason
	}
	return l
}
