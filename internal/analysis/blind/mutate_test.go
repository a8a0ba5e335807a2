// SPDX-License-Identifier: Apache-2.0

package blind

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/txtrace/txtrace/internal/event"
)

// mutation is one change of a tape, made without looking at what it means.
type mutation struct {
	tape   *tape
	index  int    // of the record
	kind   string // of the record
	what   string // the field, or drop, twice, swap
	how    string // of a field: +1, 0, ...
	before uint64
	after  uint64
	recs   []event.Any

	changed event.Any     // the record with a field changed, nil for others
	swapped *event.Header // the next one of its CPU, with which it was swapped
}

// place names what was changed, whatever its value.
func (m *mutation) place() string { return m.kind + "." + m.what }

func (m *mutation) String() string {
	return fmt.Sprintf("%s, record %d: %s %s (%d, was %d)", m.tape.name, m.index, m.place(), m.how, m.after, m.before)
}

// field is one that can be changed.
type field struct {
	name string
	at   []int
}

// fieldsOf are those of a record type, but for its kind and number.
func fieldsOf(t reflect.Type, prefix string, at []int) (list []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		where := append(slices.Clone(at), i)
		switch {
		case f.Type.Kind() == reflect.Struct && f.Name == "Hand":
			list = append(list, fieldsOf(f.Type, "Hand.", where)...)
		case f.Type.Kind() == reflect.Struct:
			list = append(list, fieldsOf(f.Type, prefix, where)...)
		case f.Type.Kind() == reflect.Array, f.Name == "Kind", f.Name == "CPU", f.Name == "Seq", f.Name == "Pad": // text and padding; what the reader checks
		default:
			list = append(list, field{prefix + f.Name, where})
		}
	}
	return list
}

// hows change a value.
var hows = []struct {
	name   string
	change func(v uint64, width int, r *rand.Rand) uint64
}{
	{"+1", func(v uint64, _ int, _ *rand.Rand) uint64 { return v + 1 }},
	{"-1", func(v uint64, _ int, _ *rand.Rand) uint64 { return v - 1 }},
	{"+1000", func(v uint64, _ int, _ *rand.Rand) uint64 { return v + 1000 }},
	{"-1000", func(v uint64, _ int, _ *rand.Rand) uint64 { return v - 1000 }},
	{"twice", func(v uint64, _ int, _ *rand.Rand) uint64 { return 2 * v }},
	{"0", func(uint64, int, *rand.Rand) uint64 { return 0 }},
	{"bit", func(v uint64, width int, r *rand.Rand) uint64 { return v ^ 1<<r.IntN(min(width, 4)) }},
	{"any", func(_ uint64, _ int, r *rand.Rand) uint64 { return r.Uint64() }},
}

// draw gives a record: any, or any of a kind, for some kinds are rare.
func (t *tape) draw(r *rand.Rand) int {
	if r.IntN(2) == 0 {
		return r.IntN(len(t.recs))
	}
	if t.kinds == nil {
		by := make(map[event.Kind]int)
		for i, rec := range t.recs {
			k, known := by[rec.Head().Kind]
			if !known {
				k = len(t.kinds)
				by[rec.Head().Kind] = k
				t.kinds = append(t.kinds, nil)
			}
			t.kinds[k] = append(t.kinds[k], i)
		}
	}
	kind := t.kinds[r.IntN(len(t.kinds))]
	return kind[r.IntN(len(kind))]
}

// mutate makes one change, nil if it changes nothing.
func mutate(t *tape, r *rand.Rand) *mutation {
	m := &mutation{tape: t, index: t.draw(r)}
	was := t.recs[m.index]
	m.kind = reflect.TypeOf(was).Elem().Name()
	switch r.IntN(20) {
	case 0:
		m.what = "drop"
		m.recs = slices.Delete(slices.Clone(t.recs), m.index, m.index+1)
		m.renumber(was.Head().CPU)
		return m
	case 1:
		m.what = "twice"
		m.recs = slices.Insert(slices.Clone(t.recs), m.index, copyOf(was))
		m.renumber(was.Head().CPU)
		return m
	case 2:
		return m.swap()
	}
	fields := fieldsOf(reflect.TypeOf(was).Elem(), "", nil)
	f, how := fields[r.IntN(len(fields))], hows[r.IntN(len(hows))]
	now := copyOf(was)
	v := reflect.ValueOf(now).Elem().FieldByIndex(f.at)
	m.what, m.how = f.name, how.name
	width := v.Type().Bits()
	if v.CanInt() {
		m.before = uint64(v.Int())
		v.SetInt(int64(how.change(m.before, width, r)) << (64 - width) >> (64 - width))
		m.after = uint64(v.Int())
	} else {
		m.before = v.Uint()
		v.SetUint(how.change(m.before, width, r) & (1<<width - 1))
		m.after = v.Uint()
	}
	m.recs = slices.Clone(t.recs)
	m.recs[m.index], m.changed = now, now
	if m.before == m.after {
		return nil
	}
	return m
}

// renumber closes or makes the gap that a drop or a copy leaves: the change is
// not a loss that says so.
func (m *mutation) renumber(cpu uint16) {
	seq := uint32(0)
	for i, r := range m.recs {
		if h := r.Head(); h.CPU == cpu {
			if h.Seq != seq {
				r = copyOf(r)
				r.Head().Seq = seq
				m.recs[i] = r
			}
			seq++
		}
	}
}

// swap exchanges a record with the next one of its CPU.
func (m *mutation) swap() *mutation {
	was := m.tape.recs[m.index]
	for j := m.index + 1; j < len(m.tape.recs); j++ {
		other := m.tape.recs[j]
		if other.Head().CPU != was.Head().CPU {
			continue
		}
		a, b := copyOf(was), copyOf(other)
		a.Head().Seq, b.Head().Seq = b.Head().Seq, a.Head().Seq
		m.what, m.swapped = "swap", other.Head()
		m.recs = slices.Clone(m.tape.recs)
		m.recs[m.index], m.recs[j] = b, a
		return m
	}
	return nil
}

func (m *mutation) mutated() *tape {
	t := *m.tape
	t.name, t.recs, t.kinds = m.String(), m.recs, nil
	return &t
}
