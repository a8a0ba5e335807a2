// SPDX-License-Identifier: Apache-2.0

// Vm boots a kernel in QEMU and runs something in it.
//
//	go run ./testenv/vm -kernel 6.1 -nic e1000e -out DIR -- COMMAND...
//
// Decision: the launcher is our own, of a few hundred lines over the
// standard library. hugelgupf/vmtest's qemu package was weighed: it had
// its last change in March 2024, brings u-root with it, and has none of
// what is particular here, which is the hub between two NICs behind root
// ports, the 9p shares, and the console that is read for a panic.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/txtrace/txtrace/testenv/internal/debian"
	"github.com/txtrace/txtrace/testenv/internal/outcome"
)

type options struct {
	kernel, modules string
	nic             string
	out             string
	timeout         time.Duration
	smp             int
	memory          string
	accel           string
	icount          bool
	append          string
	trace           string
	qemuArgs        []string
	verbose, quiet  bool
	env             []string
	command         []string

	// With scenarios instead of a command:
	scenarios []string
	tools     []string
	txtrace   string
	seed      int
	seconds   int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:])
	if ctx.Err() != nil {
		code, err = outcome.ExitSignal, errors.New("interrupted")
	}
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "vm: %v\n", err)
	}
	os.Exit(code)
}

func parse(args []string) (*options, error) {
	var o options
	fs := flag.NewFlagSet("vm", flag.ContinueOnError)
	fs.StringVar(&o.kernel, "kernel", "6.1", "row of testenv/kernels, or path of a bzImage (with a slash)")
	fs.StringVar(&o.modules, "modules", "", "lib/modules/<version> folder of a bzImage; empty when all is built in")
	fs.StringVar(&o.nic, "nic", "e1000e", strings.Join(nicNames(), ", "))
	fs.StringVar(&o.out, "out", "", "folder that the guest writes to as /out")
	fs.DurationVar(&o.timeout, "timeout", 0, "limit of one boot (default 5m, and 2m for each scenario)")
	fs.IntVar(&o.smp, "smp", 2, "processors")
	fs.StringVar(&o.memory, "mem", "2G", "memory")
	fs.StringVar(&o.accel, "accel", "auto", "auto, kvm or tcg")
	fs.BoolVar(&o.icount, "icount", false, "one processor whose time is a count of instructions")
	fs.StringVar(&o.append, "append", "", "more words for the kernel's command line")
	fs.StringVar(&o.trace, "trace", "", "QEMU trace events to log into OUT/qemu-trace.log")
	fs.Func("qemu-arg", "one more argument for QEMU; may be repeated", func(s string) error {
		o.qemuArgs = append(o.qemuArgs, s)
		return nil
	})
	fs.Func("env", "NAME=VALUE for the guest; may be repeated", func(s string) error {
		if name, _, ok := strings.Cut(s, "="); !ok || name == "" {
			return fmt.Errorf("want NAME=VALUE")
		}
		o.env = append(o.env, s)
		return nil
	})
	fs.BoolVar(&o.verbose, "v", false, "copy the console to stderr")
	fs.BoolVar(&o.quiet, "q", false, "do not print verdicts at the end")
	scenarios := fs.String("scenario", "", "instead of a command: "+strings.Join(scenarioNames(), ",")+", or several with commas, or all")
	tools := fs.String("tools", "txtrace", "what records in the scenarios, with commas: "+strings.Join(toolNames, ",")+", or none")
	fs.StringVar(&o.txtrace, "txtrace", "bin/txtrace", "the txtrace that records and verifies")
	fs.IntVar(&o.seed, "seed", 1, "of the load: its ports follow from it")
	fs.IntVar(&o.seconds, "seconds", 4, "how long the load lasts")
	fs.SetOutput(io.Discard)
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Println("vm [flags] -out DIR -scenario NAMES | vm [flags] -out DIR -- COMMAND...")
		fs.SetOutput(os.Stdout)
		fs.PrintDefaults()
		return nil, err
	} else if err != nil {
		return nil, err
	}
	o.command = fs.Args()
	switch *scenarios {
	case "":
	case "all":
		o.scenarios = scenarioNames()
	default:
		o.scenarios = strings.Split(*scenarios, ",")
	}
	if *tools != "none" {
		o.tools = strings.Split(*tools, ",")
	}
	if o.timeout == 0 {
		o.timeout = 5*time.Minute + time.Duration(len(o.scenarios))*2*time.Minute
	}
	return &o, o.check()
}

func (o *options) check() error {
	switch {
	case o.nic == faultnic && strings.Contains(o.kernel, "/"):
		return errors.New("-nic faultnic: its module is built for kernels of testenv/kernels only")
	case !slices.Contains(nicNames(), o.nic):
		return checkNames("-nic", []string{o.nic}, nicNames())
	case !slices.Contains([]string{"auto", "kvm", "tcg"}, o.accel):
		return checkNames("-accel", []string{o.accel}, []string{"auto", "kvm", "tcg"})
	case o.out == "":
		return errors.New("-out: a folder is needed")
	case (len(o.command) == 0) == (len(o.scenarios) == 0):
		return errors.New("give either -scenario or a command after --")
	case o.seed < 0:
		return errors.New("-seed: must not be negative")
	case o.smp < 1 || o.seconds < 1:
		return errors.New("-smp, -seconds: at least 1")
	}
	if err := checkNames("-scenario", o.scenarios, scenarioNames()); err != nil {
		return err
	}
	return checkNames("-tools", o.tools, toolNames)
}

func run(ctx context.Context, args []string) (int, error) {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return 0, nil
	}
	if err != nil {
		return outcome.ExitUsage, err
	}
	if o.out, err = filepath.Abs(o.out); err != nil {
		return outcome.ExitInternal, err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return outcome.ExitInternal, err
	}
	if err := checkModel(ctx, o.nic); err != nil {
		return outcome.ExitSkip, fmt.Errorf("skip: NIC %s: %w", o.nic, err)
	}
	kernel, err := findKernel(ctx, o)
	if errors.Is(err, debian.ErrNotFound) {
		return outcome.ExitSkip, fmt.Errorf("skip: kernel %s: %w", o.kernel, err)
	}
	if err != nil {
		return outcome.ExitUsage, err
	}
	g, err := newGuest(o, kernel)
	if err != nil {
		return outcome.ExitInternal, err
	}
	if o.nic == faultnic {
		ko, err := buildFaultnic(ctx, o.kernel, kernel)
		if errors.Is(err, debian.ErrNotFound) || errors.Is(err, debian.ErrNoCompiler) {
			return outcome.ExitSkip, fmt.Errorf("skip: kernel %s: %w", o.kernel, err)
		}
		if err != nil {
			return outcome.ExitInternal, err
		}
		g.files = map[string][]byte{"faultnic.ko": ko}
	}
	if len(o.scenarios) > 0 {
		return runScenarios(ctx, o, g)
	}
	g.job, err = commandJob(o.command)
	if err != nil {
		return outcome.ExitInternal, err
	}
	res, err := g.boot(ctx)
	var f *failure
	if errors.As(err, &f) {
		return outcome.ExitGuest, fmt.Errorf("%w; the console is in %s", err, g.console)
	}
	if err != nil {
		return outcome.ExitInternal, err
	}
	return res.Exit, nil
}

func logf(format string, args ...any) { fmt.Fprintf(os.Stderr, "vm: "+format+"\n", args...) }

func findKernel(ctx context.Context, o *options) (debian.Kernel, error) {
	if strings.Contains(o.kernel, "/") {
		if err := checkImage(o.kernel); err != nil {
			return debian.Kernel{}, err
		}
		if o.modules != "" {
			if _, err := openModules(o.modules); err != nil {
				return debian.Kernel{}, err
			}
		}
		return debian.Kernel{Image: o.kernel, Modules: o.modules}, nil
	}
	row, cache, err := debian.FindRow(o.kernel)
	if err != nil {
		return debian.Kernel{}, err
	}
	return debian.Fetch(ctx, cache, row, logf)
}

func newGuest(o *options, kernel debian.Kernel) (*guest, error) {
	kvm := !o.icount && (o.accel == "kvm" || o.accel == "auto" && hasKVM())
	g := &guest{
		machine: machine{
			kernel:    kernel.Image,
			append:    "console=ttyS0 panic=-1 oops=panic net.ifnames=0",
			nic:       o.nic,
			smp:       o.smp,
			memory:    o.memory,
			kvm:       kvm,
			icount:    o.icount,
			trace:     o.trace,
			traceFile: filepath.Join(o.out, "qemu-trace.log"),
			extra:     o.qemuArgs,
		},
		modules: kernel.Modules,
		out:     o.out,
		console: filepath.Join(o.out, "console.log"),
		limit:   o.timeout,
		output:  os.Stdout,
	}
	if !kvm {
		// On a busy host the kernel's checks of emulated clocks fail now and
		// then: it panics over the timer, or leaves the TSC for the HPET,
		// which costs an exit to QEMU at each reading.
		g.append += " no_timer_check tsc=reliable txtrace.emulated=1"
	}
	if o.append != "" {
		g.append += " " + o.append
	}
	if o.verbose {
		g.verbose = os.Stderr
	}
	g.env = map[string]string{
		"TXTRACE_NIC":    o.nic,
		"TXTRACE_DRIVER": nicDrivers[o.nic],
	}
	if kernel.Modules != "" {
		modules, err := filepath.Abs(kernel.Modules)
		if err != nil {
			return nil, err
		}
		// modprobe wants the folder that holds lib/modules.
		g.env["TXTRACE_MODULES"] = filepath.Join("/host", filepath.Dir(filepath.Dir(filepath.Dir(modules))))
	}
	for _, e := range o.env {
		name, value, _ := strings.Cut(e, "=")
		g.env[name] = value
	}
	return g, nil
}

// commandJob runs a command with the NICs set up, in the folder that vm
// was started in.
func commandJob(command []string) (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`. /run/txtrace/net
net_up || exit %d
export DEV PEER TX_ADDR RX_ADDR
cd %s
%s
`, outcome.ExitGuest, shellQuote([]string{"/host" + wd}), shellQuote(command)), nil
}
