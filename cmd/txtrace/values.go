// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// given is the value of any flag: what is typed may not be blank, nor may a
// name in a list. A script whose variable is unset is told so; the default is
// what a flag that was left out has.
type given struct{ pflag.Value }

func (g given) Set(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("it is empty")
	}
	if err := g.Value.Set(text); err != nil {
		return err
	}
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	if l, ok := g.Value.(pflag.SliceValue); ok && slices.ContainsFunc(l.GetSlice(), blank) {
		return errors.New("a name in it is empty")
	}
	return nil
}

// choice is a flag with a fixed set of values.
type choice struct {
	value *string
	names []string
}

// oneOf makes *p a choice between names, the first of which is the default.
func oneOf(p *string, names ...string) choice {
	*p = names[0]
	return choice{p, names}
}

func (c choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c choice) Type() string { return strings.Join(c.names, "|") }

func (c choice) Set(s string) error {
	if !slices.Contains(c.names, s) {
		return fmt.Errorf("it is one of %s", strings.Join(c.names, ", "))
	}
	*c.value = s
	return nil
}

// unit is what may stand behind a number.
type unit struct {
	name string
	size uint64
}

// scaled reads a number with one of the units behind it, up to most. A unit
// comes before those that it ends with.
func scaled(text string, units []unit, most uint64) (n uint64, ok bool) {
	for _, u := range units {
		if digits, has := strings.CutSuffix(text, u.name); has {
			n, err := strconv.ParseUint(digits, 10, 64)
			return n * u.size, err == nil && n <= most/u.size
		}
	}
	return 0, false
}

// size is a number of bytes, typed as 65536, 64KiB or 32MiB.
type size uint64

var sizeUnits = []unit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}, {"", 1}}

func (s size) String() string {
	for _, u := range sizeUnits {
		if s != 0 && u.size != 1 && uint64(s)%u.size == 0 {
			return strconv.FormatUint(uint64(s)/u.size, 10) + u.name
		}
	}
	return strconv.FormatUint(uint64(s), 10)
}

func (s *size) Type() string { return "SIZE" }

func (s *size) Set(text string) error {
	n, ok := scaled(text, sizeUnits, math.MaxUint64)
	if !ok {
		return errors.New("a size is a number with nothing, KiB, MiB or GiB behind it")
	}
	*s = size(n)
	return nil
}

// ringSize is the size of a BPF ring, which the kernel limits.
type ringSize struct{ size }

func (s *ringSize) Set(text string) error {
	var n size
	if err := n.Set(text); err != nil {
		return err
	}
	if n < 4096 || n > 1<<31 || n&(n-1) != 0 {
		return errors.New("a ring is a power of two from 4KiB to 2GiB")
	}
	s.size = n
	return nil
}

// span is a length of time, above 0 when it is given.
type span struct{ time.Duration }

func (s *span) Type() string { return "TIME" }

func (s *span) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err := lacksUnit(text, err); err != nil {
		return err
	}
	if err != nil || d <= 0 {
		return errors.New("a time is above 0, as in 30s or 5m")
	}
	s.Duration = d
	return nil
}

// lacksUnit is an error for a time that was refused for having no unit.
func lacksUnit(text string, refused error) error {
	if _, err := strconv.ParseUint(text, 10, 64); refused == nil || err != nil {
		return nil
	}
	return fmt.Errorf("a time needs a unit, as %ss", text)
}

// process is a process's number, 0 when it is not given.
type process int

func (p *process) String() string { return strconv.Itoa(int(*p)) }

func (p *process) Type() string { return "PID" }

func (p *process) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n <= 0 {
		return errors.New("a process has a number above 0")
	}
	*p = process(n)
	return nil
}

// numbers is a flag that lists numbers and ranges: 0,2-5.
type numbers struct{ list *[]uint32 }

func (n numbers) String() string {
	if n.list == nil {
		return ""
	}
	var s []string
	for _, v := range *n.list {
		s = append(s, strconv.FormatUint(uint64(v), 10))
	}
	return strings.Join(s, ",")
}

func (n numbers) Type() string { return "NUMBERS" }

// maxQueue is the highest queue index a record can carry.
const maxQueue = 0xfffe

func (n numbers) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		low, high, ranged := strings.Cut(part, "-")
		if !ranged {
			high = low
		}
		from, err1 := strconv.ParseUint(low, 10, 16)
		to, err2 := strconv.ParseUint(high, 10, 16)
		if err1 != nil || err2 != nil || from > to || to > maxQueue {
			return errors.New("it lists queues as in 0,2-5")
		}
		for v := from; v <= to; v++ {
			*n.list = append(*n.list, uint32(v))
		}
	}
	return nil
}
