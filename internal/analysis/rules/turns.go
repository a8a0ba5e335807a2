// SPDX-License-Identifier: Apache-2.0

package rules

// turns follows which CPUs work on a qdisc. Only one does at a time, but where
// two follow each other within the error of their clocks, which was first is not
// known.
type turns map[uint64]*turn // by qdisc

type turn struct {
	cpu   uint16
	time  uint64 // when it did last
	doubt uint64 // when two last followed each other so closely
}

// took notes that a CPU worked on the qdisc.
func (t turns) took(qdisc uint64, cpu uint16, begin, end uint64) {
	last := t[qdisc]
	if last == nil {
		if len(t) >= maxQdiscs {
			return
		}
		last = &turn{cpu: cpu, time: end}
		t[qdisc] = last
	}
	if last.cpu != cpu && int64(begin-last.time) <= clockError {
		last.doubt = max(end, last.time)
	}
	last.cpu, last.time = cpu, end
}

// sure says whether the order in which CPUs worked on the qdisc is known since.
func (t turns) sure(qdisc, since uint64) bool {
	last := t[qdisc]
	return last != nil && last.doubt < since
}
