// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The oracle is the kernel's own lib/dynamic_queue_limits.c, compiled for user
// space. `make test` brings it; see testenv/setup. This names further trees,
// separated like PATH, of which two files are read.
const envKernelSrc = "TXTRACE_KERNEL_SRC"

// The files of a kernel tree that the oracle is made of.
var oracleFiles = []string{"lib/dynamic_queue_limits.c", "include/linux/dynamic_queue_limits.h"}

const (
	oracleSequences = 1_000_000 // of 10 to 29 operations, each on a fresh queue
	oracleBlock     = 1000      // sequences of one digest
)

// The shim that lets the kernel's file be compiled in user space, and plays on
// it the sequences that sequence below plays on the model. Empty headers stand
// for what the shim defines before it includes the file.
//
// It prints a digest of all states of each block of sequences, or with a third
// argument every state.
const oracleShim = `
#include <limits.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef _Bool bool;
enum { false, true };
static unsigned long jiffies;
static jmp_buf bug;

#define BUG_ON(c) do { if (c) longjmp(bug, 1); } while (0)
#define WARN_ON_ONCE(c) (c)
#define unlikely(c) (c)
#define likely(c) (c)
#define barrier() __asm__ __volatile__("" ::: "memory")
#define smp_wmb() barrier()
#define smp_rmb() barrier()
#define READ_ONCE(x) (x)
#define WRITE_ONCE(x, v) ((x) = (v))
#define ____cacheline_aligned_in_smp
#define EXPORT_SYMBOL(x)
#define BITS_PER_LONG 64
#define BIT_MASK(n) (1UL << ((n) % BITS_PER_LONG))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define max_t(t, a, b) max((t)(a), (t)(b))
#define clamp(v, lo, hi) ((v) >= (hi) ? (hi) : ((v) <= (lo) ? (lo) : (v)))
#define time_after(a, b) ((long)((b) - (a)) < 0)
#define time_before(a, b) time_after(b, a)
#define time_after_eq(a, b) ((long)((a) - (b)) >= 0)
#define time_before_eq(a, b) time_after_eq(b, a)
#define test_bit(n, p) (((p)[(n) / 64] >> ((n) % 64)) & 1)
#define trace_dql_stall_detected(...) do { } while (0)
#define __KERNEL__

#include <lib/dynamic_queue_limits.c>

static struct dql d;
static uint64_t x, digest;
static uint32_t in_flight;
static int verbose;

static uint64_t rnd(void)
{
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static uint32_t under(uint32_t n)
{
	return (uint32_t)(rnd() >> 32) % n;
}

#define PICK(...) ({ const uint32_t of_[] = { __VA_ARGS__ }; of_[under(sizeof(of_) / sizeof(of_[0]))]; })

static void op(const char *what, uint32_t arg)
{
	volatile uint64_t bugs = 0;

	if (setjmp(bug)) {
		bugs = 1;
	} else switch (*what) {
	case 'i': dql_init(&d, arg); break;
	case 'q': dql_queued(&d, arg); break;
	case 'c': dql_completed(&d, arg); break;
	case 'r': dql_reset(&d); break;
	case 'l': d.limit = arg; break;
	case 'm': d.min_limit = arg; break;
	case 'M': d.max_limit = arg; break;
	case 'b': d.num_queued = d.num_completed = d.prev_num_queued = d.adj_limit = arg; break;
#ifdef DQL_HIST_LEN
	case 's': d.stall_thrs = arg; break;
#endif
	}
	const uint64_t v[] = {
		bugs, d.num_queued, d.adj_limit, d.last_obj_cnt, d.limit, d.num_completed,
		d.prev_ovlimit, d.prev_num_queued, d.prev_last_obj_cnt, d.lowest_slack,
		d.slack_start_time, d.max_limit, d.min_limit, d.slack_hold_time,
#ifdef DQL_HIST_LEN
		d.stall_thrs, d.stall_max, d.stall_cnt, d.last_reap, d.history_head,
		d.history[0], d.history[1], d.history[2], d.history[3],
#endif
	};
	if (verbose)
		printf("%s %u at %lu:", what, arg, jiffies);
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		digest = (digest ^ v[i]) * 0x9e3779b97f4a7c15;
		digest ^= digest >> 29;
		if (verbose)
			printf(" %lu", v[i]);
	}
	if (verbose)
		printf("\n");
}

static void sequence(uint64_t number)
{
	memset(&d, 0, sizeof(d));
	in_flight = 0;
	x = (number + 1) * 0x9e3779b97f4a7c15;
	jiffies = under(4) ? rnd() >> 24 : -(uint64_t)under(2000);
	op("init", PICK(1, 10, 250));
	op("base", PICK(0, 0x7ffff448, 0x80000000, 0xffffffff, 0xffff63c0, (uint32_t)rnd()));
	if (under(3) == 0)
		op("stall_thrs", PICK(1, 10, 60, 300, 65535));
	const uint32_t kinds = under(8) ? 100 : 52; /* some complete little */
	for (uint32_t n = 10 + under(20); n > 0; n--) {
		jiffies += PICK(0, 0, 0, 1, 1, 2, 12, 70, 300);
		uint32_t c = under(kinds), arg;
		if (c < 50) {
			arg = PICK(0, 1, 60, 1514, 1514, 9014, 64000, 70000);
			in_flight += arg;
			op("queued", arg);
		} else if (c < 88) {
			arg = under(3) ? under(in_flight + 1) : in_flight;
			in_flight -= arg;
			op("completed", arg);
		} else if (c < 89) {
			op("completed", in_flight + 1 + under(9));
		} else if (c < 91) {
			op("queued", PICK(0x0fffffff, 0x10000000, 0xffffffff));
			op("reset", 0);
			in_flight = 0;
		} else if (c < 93) {
			op("reset", 0);
			in_flight = 0;
		} else if (c < 95) {
			op("limit", PICK(0, 0x70000000, 1514, 30000, under(200000)));
		} else if (c < 97) {
			op("min_limit", PICK(0, 0, 1000, 60000, 0x70000000));
		} else if (c < 99) {
			op("Max_limit", PICK(0, 1000, 0x70000000, 0x70000000, under(200000)));
		} else {
			op("stall_thrs", PICK(0, 5, 100));
		}
	}
}

int main(int argc, char **argv)
{
	uint64_t from = strtoull(argv[1], NULL, 10), to = strtoull(argv[2], NULL, 10);

	verbose = argc > 3;
	for (uint64_t i = from; i < to; i++) {
		sequence(i);
		if (!verbose && (i + 1) % 1000 == 0) {
			printf("%016lx\n", digest);
			digest = 0;
		}
	}
	return 0;
}
`

// oracleRun is the same on the model, under a variant of each switch.
type oracleRun struct {
	reset, object Variant
	detector      bool // the kernel has the stall detector

	d        DQL
	s        Stall
	now      uint64
	x        uint64
	digest   uint64
	inFlight uint32
	say      func(line string)
}

func (o *oracleRun) rnd() uint64 {
	o.x ^= o.x << 13
	o.x ^= o.x >> 7
	o.x ^= o.x << 17
	return o.x
}

func (o *oracleRun) under(n uint32) uint32 {
	return uint32(o.rnd()>>32) % n
}

func (o *oracleRun) pick(of ...uint32) uint32 {
	return of[o.under(uint32(len(of)))]
}

func (o *oracleRun) op(what string, arg uint32) {
	d, s := &o.d, &o.s
	var err error
	switch what {
	case "init":
		*d = NewDQL(arg, o.now)
		s.Threshold = 0
		s.Reset(o.now)
	case "queued":
		if err = d.Queued(o.object, arg); arg <= DQLMaxObject {
			s.Queued(o.now)
		}
	case "completed":
		if err = d.Completed(arg, o.now); err == nil {
			s.Completed(o.now)
		}
	case "reset":
		d.Reset(o.reset, o.now)
		s.Reset(o.now)
	case "limit":
		d.Limit = arg
	case "min_limit":
		d.MinLimit = arg
	case "Max_limit":
		d.MaxLimit = arg
	case "base":
		d.NumQueued, d.NumCompleted, d.PrevNumQueued, d.AdjLimit = arg, arg, arg, arg
	case "stall_thrs":
		s.Threshold = uint16(arg)
	}
	var bug uint64
	if errors.Is(err, ErrBug) {
		bug = 1
	}
	v := [...]uint64{
		bug, uint64(d.NumQueued), uint64(d.AdjLimit), uint64(d.LastObjCnt), uint64(d.Limit), uint64(d.NumCompleted),
		uint64(d.PrevOvlimit), uint64(d.PrevNumQueued), uint64(d.PrevLastObjCnt), uint64(d.LowestSlack),
		d.SlackStartTime, uint64(d.MaxLimit), uint64(d.MinLimit), uint64(d.SlackHoldTime),
		uint64(s.Threshold), uint64(s.Max), s.Count, s.LastReap, s.Head,
		s.History[0], s.History[1], s.History[2], s.History[3],
	}
	state := v[:]
	if !o.detector {
		state = v[:14]
	}
	for _, v := range state {
		o.digest = (o.digest ^ v) * 0x9e3779b97f4a7c15
		o.digest ^= o.digest >> 29
	}
	if o.say != nil {
		o.say(fmt.Sprintf("%s %d at %d: %s", what, arg, o.now, strings.Trim(fmt.Sprint(state), "[]")))
	}
}

func (o *oracleRun) sequence(number uint64) {
	o.d, o.s, o.inFlight = DQL{}, Stall{}, 0
	o.x = (number + 1) * 0x9e3779b97f4a7c15
	if o.under(4) != 0 {
		o.now = o.rnd() >> 24
	} else {
		o.now = -uint64(o.under(2000))
	}
	o.op("init", o.pick(1, 10, 250))
	random := uint32(o.rnd())
	o.op("base", o.pick(0, 1<<31-3000, 1<<31, 1<<32-1, 1<<32-40000, random))
	if o.under(3) == 0 {
		o.op("stall_thrs", o.pick(1, 10, 60, 300, 65535))
	}
	kinds := uint32(100)
	if o.under(8) == 0 {
		kinds = 52
	}
	for n := 10 + o.under(20); n > 0; n-- {
		o.now += uint64(o.pick(0, 0, 0, 1, 1, 2, 12, 70, 300))
		switch c := o.under(kinds); {
		case c < 50:
			arg := o.pick(0, 1, 60, 1514, 1514, 9014, 64000, 70000)
			o.inFlight += arg
			o.op("queued", arg)
		case c < 88:
			arg := o.inFlight
			if o.under(3) != 0 {
				arg = o.under(o.inFlight + 1)
			}
			o.inFlight -= arg
			o.op("completed", arg)
		case c < 89:
			o.op("completed", o.inFlight+1+o.under(9)) // more than there is
		case c < 91:
			o.op("queued", o.pick(DQLMaxObject, DQLMaxObject+1, 1<<32-1))
			o.op("reset", 0)
			o.inFlight = 0
		case c < 93:
			o.op("reset", 0)
			o.inFlight = 0
		case c < 95:
			random := o.under(200000)
			o.op("limit", o.pick(0, DQLMaxLimit, 1514, 30000, random))
		case c < 97:
			o.op("min_limit", o.pick(0, 0, 1000, 60000, DQLMaxLimit))
		case c < 99:
			random := o.under(200000)
			o.op("Max_limit", o.pick(0, 1000, DQLMaxLimit, DQLMaxLimit, random))
		default:
			o.op("stall_thrs", o.pick(0, 5, 100))
		}
	}
}

// The model does what the kernel's own file does, under exactly one variant of
// each switch, on random operations with totals, and times, that wrap.
func TestDQLOracle(t *testing.T) {
	trees := filepath.SplitList(os.Getenv(envKernelSrc))
	cached, err := filepath.Glob(filepath.Join(cacheDir(t), "sources", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if trees = append(trees, cached...); len(trees) == 0 {
		t.Skipf("no kernel source to compare with: `go run ./testenv/setup oracle` fetches it, or set %s", envKernelSrc)
	}
	for _, tree := range trees {
		t.Run(filepath.Base(tree), func(t *testing.T) { compareWithKernel(t, tree) })
	}
}

// cacheDir is where testenv keeps what it fetched.
func cacheDir(t *testing.T) string {
	if dir := os.Getenv("TXTRACE_CACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Skip("no cache folder, so no kernel source to compare with: ", err)
	}
	return filepath.Join(dir, "txtrace")
}

func compareWithKernel(t *testing.T, tree string) {
	oracle, detector := buildOracle(t, tree)
	sequences := oracleSequences
	if testing.Short() {
		sequences /= 100
	}
	want := lines(t, oracle, 0, sequences)
	same := 0
	for _, reset := range []Variant{DQLResetZero, DQLResetMin} {
		for _, object := range []Variant{DQLObjectBug, DQLObjectWarn} {
			o := oracleRun{reset: reset, object: object, detector: detector}
			block := firstDifference(&o, want)
			if block < 0 {
				same++
				t.Logf("dql-reset=%s dql-object=%s, stall detector %t: %d sequences equal", reset, object, detector, sequences)
				continue
			}
			t.Logf("dql-reset=%s dql-object=%s differs in sequences %d to %d: %s",
				reset, object, block*oracleBlock, (block+1)*oracleBlock-1, explainDifference(t, oracle, &o, block))
		}
	}
	if same != 1 {
		t.Errorf("%d pairs of variants agree with the kernel, want 1", same)
	}
}

// firstDifference returns the first block at which the model leaves the kernel,
// or -1.
func firstDifference(o *oracleRun, want []string) int {
	for block, want := range want {
		o.digest = 0
		for i := range oracleBlock {
			o.sequence(uint64(block*oracleBlock + i))
		}
		if fmt.Sprintf("%016x", o.digest) != want {
			return block
		}
	}
	return -1
}

// explainDifference plays a block again and returns the first operation after
// which the states differ.
func explainDifference(t *testing.T, oracle string, o *oracleRun, block int) string {
	from := block * oracleBlock
	want := lines(t, oracle, from, from+oracleBlock, "verbose")
	said, at := "", 0
	o.say = func(line string) {
		if said == "" && at < len(want) && line != want[at] {
			said = "kernel: " + want[at] + "; model: " + line
		}
		at++
	}
	for i := range oracleBlock {
		o.sequence(uint64(from + i))
	}
	if said == "" {
		return fmt.Sprintf("%d operations, the kernel %d", at, len(want))
	}
	return said
}

// buildOracle compiles the kernel's file with the shim. Nothing but the two
// files of the tree is visible to it.
func buildOracle(t *testing.T, tree string) (program string, detector bool) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler to build the kernel's file with: ", err)
	}
	dir := t.TempDir()
	write := func(name string, data []byte) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range oracleFiles {
		data, err := os.ReadFile(filepath.Join(tree, name))
		if err != nil {
			t.Skip("no kernel source: ", err)
		}
		detector = detector || strings.Contains(string(data), "DQL_HIST_LEN")
		write(name, data)
	}
	for _, name := range []string{"linux/types.h", "linux/kernel.h", "linux/jiffies.h", "linux/compiler.h", "linux/export.h", "linux/bitops.h", "asm/bug.h", "trace/events/napi.h"} {
		write("include/"+name, nil)
	}
	write("oracle.c", []byte(oracleShim))
	program = filepath.Join(dir, "oracle")
	cmd := exec.Command(cc, "-O1", "-w", "-I", dir, "-I", filepath.Join(dir, "include"), "-o", program, filepath.Join(dir, "oracle.c"))
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the oracle: %v\n%s", err, msg)
	}
	return program, detector
}

// lines runs the oracle over sequences and returns what it prints.
func lines(t *testing.T, oracle string, from, to int, verbose ...string) (said []string) {
	args := append([]string{fmt.Sprint(from), fmt.Sprint(to)}, verbose...)
	out, err := exec.Command(oracle, args...).Output()
	if err != nil {
		t.Fatalf("running the oracle: %v", err)
	}
	for scan := bufio.NewScanner(strings.NewReader(string(out))); scan.Scan(); {
		said = append(said, scan.Text())
	}
	return said
}
