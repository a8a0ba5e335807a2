// SPDX-License-Identifier: Apache-2.0

package analysis

// fan hands each decision to every check that looks at its kind.
type fan struct {
	record     []func(*Record)
	run        []func(*Run)
	batch      []func(*Batch)
	direct     []func(*Direct)
	handover   []func(*Handover)
	completion []func(*Completion)
	throttle   []func(*Throttle)
	wfree      []func(*Wfree)
	resume     []func(*Resume)
	notice     []func(*Notice)
	ledger     []func(*Ledger)
	quiet      []func(*Quiet)
	pick       []func(*Pick)
	picks      []func(*Picks)
	list       []func(*List)
	sample     []func(*Sampled)
	sojourn    []func(*Sojourn)
	call       []func(*Call)
	schedule   []func(*Schedule)
	delivery   []func(*Delivery)
	life       []func(*Life)
	transmit   []func(*Transmit)
	steer      []func(*Steer)
	ring       []func(*Ring)
	end        []func(*End)
}

func (f *fan) add(c Checks) {
	add(&f.record, c.Record)
	add(&f.run, c.Run)
	add(&f.batch, c.Batch)
	add(&f.direct, c.Direct)
	add(&f.handover, c.Handover)
	add(&f.completion, c.Completion)
	add(&f.throttle, c.Throttle)
	add(&f.wfree, c.Wfree)
	add(&f.resume, c.Resume)
	add(&f.notice, c.Notice)
	add(&f.ledger, c.Ledger)
	add(&f.quiet, c.Quiet)
	add(&f.pick, c.Pick)
	add(&f.picks, c.Picks)
	add(&f.list, c.List)
	add(&f.sample, c.Sample)
	add(&f.sojourn, c.Sojourn)
	add(&f.call, c.Call)
	add(&f.schedule, c.Schedule)
	add(&f.delivery, c.Delivery)
	add(&f.life, c.Life)
	add(&f.transmit, c.Transmit)
	add(&f.steer, c.Steer)
	add(&f.ring, c.Ring)
	add(&f.end, c.End)
}

func add[T any](to *[]func(*T), check func(*T)) {
	if check != nil {
		*to = append(*to, check)
	}
}

func give[T any](to []func(*T), what *T) {
	for _, check := range to {
		check(what)
	}
}
