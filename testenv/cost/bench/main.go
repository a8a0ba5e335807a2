// SPDX-License-Identifier: Apache-2.0

// Bench says how fast a capture is read and judged, and in how much memory.
//
//	go run ./testenv/cost/bench -records 2e7
//
// is `make bench`. It runs the benchmarks of internal/capture and
// internal/analysis/rules with one processor, the best of three, and then
// one trace again and again, shifted in time, to -records records, and
// watches the memory that is resident meanwhile. If there are captures below
// the folder -captures, it also takes the largest of them all the way, from
// bytes to verdicts.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	records := flag.Float64("records", 2e7, "records to watch the memory over")
	captures := flag.String("captures", "out", "folder in which to look for a real capture")
	flag.Parse()
	if *records < 1 || *records > 1e12 {
		fmt.Fprintln(os.Stderr, "bench: -records: from 1 to 1e12")
		os.Exit(2)
	}
	if err := bench(ctx, int64(*records), *captures); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

// compile makes the test binary of a package; its tests expect its folder.
func compile(ctx context.Context, tmp, pkg string) (*exec.Cmd, error) {
	bin := filepath.Join(tmp, strings.ReplaceAll(pkg, "/", "-"))
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", bin, "./"+pkg)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("build the tests of %s: %w", pkg, err)
	}
	cmd := exec.CommandContext(ctx, bin, "-test.run", "^$", "-test.cpu", "1")
	cmd.Dir = pkg
	cmd.Stderr = os.Stderr
	return cmd, nil
}

func bench(ctx context.Context, records int64, captures string) error {
	tmp, err := os.MkdirTemp("", "txtrace-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)

	fmt.Println("records per second on one core, best of three")
	fmt.Println()
	fmt.Println("                                         by the clock  by use of CPU")
	row := func(name string, wall, cpu float64) {
		fmt.Printf("%-40s %12.0f", name, wall)
		if cpu > 0 {
			fmt.Printf(" %14.0f", cpu)
		}
		fmt.Println()
	}
	read, err := measure(ctx, tmp, "internal/capture", "^BenchmarkRead$", nil)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(read)) {
		_, load, _ := strings.Cut(name, "/")
		row("decode, capture of load "+load, 1e9/read[name]["ns/op"], 0)
	}
	judged, err := measure(ctx, tmp, "internal/analysis/rules", "^Benchmark(Rules|Detail|All)$", nil)
	if err != nil {
		return err
	}
	row("rebuild and all rules", judged["BenchmarkRules"]["records/s"], judged["BenchmarkRules"]["records/cpu-s"])
	row("the same, with picks, lists and calls", judged["BenchmarkDetail"]["records/s"], judged["BenchmarkDetail"]["records/cpu-s"])
	row("rebuild, all rules and the report", judged["BenchmarkAll"]["records/s"], judged["BenchmarkAll"]["records/cpu-s"])
	capture, err := largest(captures)
	if err != nil {
		return err
	}
	if capture != "" {
		abs, err := filepath.Abs(capture)
		if err != nil {
			return err
		}
		real, err := measure(ctx, tmp, "testenv/cost", "^BenchmarkCapture$", []string{"TXTRACE_CAPTURE=" + abs})
		if err != nil {
			return err
		}
		m := real["BenchmarkCapture"]
		row("decode, rebuild, all rules: real [1]", m["records/s"], m["records/cpu-s"])
		fmt.Printf("\n[1] %s, %.0f records\n", capture, m["records/op"])
	}
	fmt.Println()
	return memory(ctx, tmp, records)
}

// largest is the path of the largest capture below a folder, or empty.
func largest(dir string) (string, error) {
	var path string
	var size int64
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(p) != ".txtrace" {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > size {
			path, size = p, info.Size()
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if path == "" || err != nil {
		return "", err
	}
	return path, nil
}

// measure runs benchmarks and keeps the best of each value: the least of
// those per operation, the most of the others.
func measure(ctx context.Context, tmp, pkg, pattern string, env []string) (map[string]map[string]float64, error) {
	cmd, err := compile(ctx, tmp, pkg)
	if err != nil {
		return nil, err
	}
	cmd.Args = append(cmd.Args, "-test.bench", pattern, "-test.count", "3")
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", pkg, err, out)
	}
	best := parse(string(out))
	if len(best) == 0 {
		return nil, fmt.Errorf("%s: no benchmark %s", pkg, pattern)
	}
	return best, nil
}

func parse(text string) map[string]map[string]float64 {
	best := make(map[string]map[string]float64)
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		values := best[f[0]]
		if values == nil {
			values = make(map[string]float64)
			best[f[0]] = values
		}
		for i := 2; i+1 < len(f); i += 2 {
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				continue
			}
			old, ok := values[f[i+1]]
			switch {
			case !ok:
			case strings.HasSuffix(f[i+1], "/op"):
				v = min(v, old)
			default:
				v = max(v, old)
			}
			values[f[i+1]] = v
		}
	}
	return best
}

// memory runs one trace to many records and samples what is resident.
func memory(ctx context.Context, tmp string, records int64) error {
	cmd, err := compile(ctx, tmp, "internal/analysis/rules")
	if err != nil {
		return err
	}
	cmd.Args = append(cmd.Args, "-test.bench", "^BenchmarkFlat$", "-test.benchtime", fmt.Sprintf("%dx", records), "-test.timeout", "0")
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	begin := time.Now()
	go func() { done <- cmd.Wait() }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var kib []float64
	for running := true; running; {
		select {
		case err = <-done:
			running = false
		case <-tick.C:
			n, readErr := resident(cmd.Process.Pid)
			if readErr == nil {
				kib = append(kib, n)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("BenchmarkFlat: %w: %s", err, out.String())
	}
	if len(kib) < 10 {
		return errors.New("too few records to say anything about memory: give more")
	}
	heap := parse(out.String())["BenchmarkFlat"]["heap-bytes"]
	fmt.Printf("resident memory over %d records, one trace again and again\n", records)
	fmt.Printf("(%.1f s; rebuild, all rules and the report)\n\n", time.Since(begin).Seconds())
	for _, part := range []int{10, 25, 50, 75, 100} {
		i := max(len(kib)*part/100-1, 0)
		fmt.Printf("at %3d %% of the time %32.1f MiB\n", part, kib[i]/1024)
	}
	fmt.Printf("most %48.1f MiB\n", slices.Max(kib)/1024)
	fmt.Printf("heap at the end, less that at the begin %13.1f MiB\n", math.Max(heap, 0)/(1<<20))
	return nil
}

// resident is a process's resident memory in KiB.
func resident(pid int) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmRSS:" {
			return strconv.ParseFloat(f[1], 64)
		}
	}
	return 0, fs.ErrNotExist
}
