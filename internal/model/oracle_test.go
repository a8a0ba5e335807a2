// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Environment of the oracle test: kernel source trees, separated like PATH, of
// which only include/linux/dynamic_queue_limits.h and
// lib/dynamic_queue_limits.c are read.
const envKernelSrc = "TXTRACE_KERNEL_SRC"

// The shim that lets the kernel's file be compiled in user space. Empty headers
// stand for what the shim defines before it includes the file.
const oracleShim = `
#include <limits.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
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

struct op { uint32_t what, arg; uint64_t now; };
struct state { uint32_t v[12]; uint32_t bug; uint64_t slack_start_time; };

int main(void)
{
	struct dql d;
	struct op op;

	memset(&d, 0, sizeof(d));
	while (fread(&op, sizeof(op), 1, stdin) == 1) {
		struct state s = { .bug = 0 };

		jiffies = op.now;
		if (setjmp(bug)) {
			s.bug = 1;
		} else switch (op.what) {
		case 0: dql_init(&d, op.arg); break;
		case 1: dql_queued(&d, op.arg); break;
		case 2: dql_completed(&d, op.arg); break;
		case 3: dql_reset(&d); break;
		case 4: d.limit = op.arg; break;
		case 5: d.min_limit = op.arg; break;
		case 6: d.max_limit = op.arg; break;
		case 7: d.num_queued = d.num_completed = d.prev_num_queued = d.adj_limit = op.arg; break;
		}
		uint32_t v[12] = { d.num_queued, d.adj_limit, d.last_obj_cnt, d.limit, d.num_completed,
			d.prev_ovlimit, d.prev_num_queued, d.prev_last_obj_cnt, d.lowest_slack,
			d.max_limit, d.min_limit, d.slack_hold_time };
		memcpy(s.v, v, sizeof(v));
		s.slack_start_time = d.slack_start_time;
		fwrite(&s, sizeof(s), 1, stdout);
	}
	return 0;
}
`

type (
	oracleOp struct {
		What, Arg uint32
		Now       uint64
	}
	oracleState struct {
		NumQueued, AdjLimit, LastObjCnt, Limit, NumCompleted, PrevOvlimit, PrevNumQueued, PrevLastObjCnt, LowestSlack uint32
		MaxLimit, MinLimit, SlackHoldTime                                                                             uint32
		Bug, _                                                                                                        uint32
		SlackStartTime                                                                                                uint64
	}
)

// The model does what the kernel's own file does, under exactly one variant of
// each switch, on random operations with totals that wrap.
func TestDQLOracle(t *testing.T) {
	trees := filepath.SplitList(os.Getenv(envKernelSrc))
	if len(trees) == 0 {
		t.Skipf("%s is not set: no kernel source to compare with; unpack linux-source and set it", envKernelSrc)
	}
	for _, tree := range trees {
		t.Run(filepath.Base(tree), func(t *testing.T) { compareWithKernel(t, tree) })
	}
}

func compareWithKernel(t *testing.T, tree string) {
	oracle := buildOracle(t, tree)
	ops := randomOps(rand.New(rand.NewPCG(1, 2)), 3_000_000)
	want := runOracle(t, oracle, ops)
	same := 0
	for _, reset := range []Variant{DQLResetZero, DQLResetMin} {
		for _, object := range []Variant{DQLObjectBug, DQLObjectWarn} {
			if i := firstDifference(ops, want, reset, object); i < 0 {
				same++
				t.Logf("%d operations: dql-reset=%s dql-object=%s", len(ops), reset, object)
			} else {
				t.Logf("dql-reset=%s dql-object=%s differs at operation %d, %+v: kernel %+v", reset, object, i, ops[i], want[i])
			}
		}
	}
	if same != 1 {
		t.Errorf("%d pairs of variants agree with the kernel, want 1", same)
	}
}

// buildOracle compiles the kernel's file with the shim. Nothing but the two
// files of the tree is visible to it.
func buildOracle(t *testing.T, tree string) string {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler: ", err)
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
	for _, name := range []string{"lib/dynamic_queue_limits.c", "include/linux/dynamic_queue_limits.h"} {
		data, err := os.ReadFile(filepath.Join(tree, name))
		if err != nil {
			t.Skipf("%s: no kernel source: %v", envKernelSrc, err)
		}
		write(name, data)
	}
	for _, name := range []string{"linux/types.h", "linux/kernel.h", "linux/jiffies.h", "linux/compiler.h", "linux/export.h", "linux/bitops.h", "asm/bug.h", "trace/events/napi.h"} {
		write("include/"+name, nil)
	}
	write("oracle.c", []byte(oracleShim))
	out := filepath.Join(dir, "oracle")
	cmd := exec.Command(cc, "-O1", "-w", "-I", dir, "-I", filepath.Join(dir, "include"), "-o", out, filepath.Join(dir, "oracle.c"))
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the oracle: %v\n%s", err, msg)
	}
	return out
}

func runOracle(t *testing.T, oracle string, ops []oracleOp) []oracleState {
	var in, out bytes.Buffer
	if err := binary.Write(&in, binary.LittleEndian, ops); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(oracle)
	cmd.Stdin, cmd.Stdout = &in, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("running the oracle: %v", err)
	}
	states := make([]oracleState, len(ops))
	if err := binary.Read(bufio.NewReader(&out), binary.LittleEndian, states); err != nil {
		t.Fatalf("reading the oracle's answer: %v", err)
	}
	return states
}

// randomOps makes sequences of some 30 operations on fresh queues. It follows
// the totals roughly, so that most completions are possible and some are not.
func randomOps(r *rand.Rand, n int) []oracleOp {
	pick := func(of ...uint32) uint32 { return of[r.IntN(len(of))] }
	now := uint64(r.Uint32())
	ops := make([]oracleOp, 0, n)
	add := func(what, arg uint32) { ops = append(ops, oracleOp{what, arg, now}) }
	for len(ops) < n {
		var inFlight uint32
		add(0, pick(1, 10, 250))
		add(7, pick(0, 1<<31-3000, 1<<31, 1<<32-1, 1<<32-40000, r.Uint32()))
		for range 10 + r.IntN(40) {
			now += uint64(pick(0, 0, 0, 1, 1, 2, 12, 300))
			switch c := r.IntN(100); {
			case c < 50:
				arg := pick(0, 1, 60, 1514, 1514, 9014, 64000, r.Uint32N(70000))
				inFlight += arg
				add(1, arg)
			case c < 90:
				arg := inFlight
				if inFlight > 0 && r.IntN(3) > 0 {
					arg = r.Uint32N(inFlight + 1)
				}
				inFlight -= arg
				add(2, arg)
			case c < 91:
				add(2, inFlight+1+r.Uint32N(9)) // more than there is
			case c < 92:
				add(1, pick(DQLMaxObject, DQLMaxObject+1, 1<<32-1))
				add(3, 0)
				inFlight = 0
			case c < 94:
				add(3, 0)
				inFlight = 0
			case c < 96:
				add(4, pick(0, DQLMaxLimit, r.Uint32N(200000)))
			case c < 98:
				add(5, pick(0, 0, DQLMaxLimit, r.Uint32N(60000)))
			default:
				add(6, pick(0, DQLMaxLimit, DQLMaxLimit, r.Uint32N(200000)))
			}
		}
	}
	return ops
}

// firstDifference returns the first operation at which the model leaves the
// kernel, or -1.
func firstDifference(ops []oracleOp, want []oracleState, reset, object Variant) int {
	var d DQL
	for i, op := range ops {
		var err error
		switch op.What {
		case 0:
			old := d.AdjLimit
			d = NewDQL(op.Arg, op.Now)
			d.AdjLimit = old // the shim does not clear it, nor does dql_init
		case 1:
			err = d.Queued(object, op.Arg)
		case 2:
			err = d.Completed(op.Arg, op.Now)
		case 3:
			d.Reset(reset, op.Now)
		case 4:
			d.Limit = op.Arg
		case 5:
			d.MinLimit = op.Arg
		case 6:
			d.MaxLimit = op.Arg
		case 7:
			d.NumQueued, d.NumCompleted, d.PrevNumQueued, d.AdjLimit = op.Arg, op.Arg, op.Arg, op.Arg
		}
		w := want[i]
		got := oracleState{
			d.NumQueued, d.AdjLimit, d.LastObjCnt, d.Limit, d.NumCompleted, d.PrevOvlimit, d.PrevNumQueued, d.PrevLastObjCnt, d.LowestSlack,
			d.MaxLimit, d.MinLimit, d.SlackHoldTime, 0, 0, d.SlackStartTime,
		}
		if errors.Is(err, ErrBug) {
			got.Bug = 1
		}
		if got != w {
			return i
		}
	}
	return -1
}
