// SPDX-License-Identifier: Apache-2.0

package probes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/txtrace/txtrace/internal/capture"
)

// What is said of a filter that cannot be, and of what the kernel answers.
// UPDATE=1 writes testdata/errors.txt anew.
func TestErrors(t *testing.T) {
	filtered := func(f Filter) error {
		_, err := (&Config{Filter: f}).kernelSide(&Facts{}, &Plan{}, make([]DeviceID, len(f.Ifnames)))
		return err
	}
	all := map[string]bool{"CAP_BPF": true, "CAP_PERFMON": true, "CAP_SYSLOG": true, "CAP_NET_ADMIN": true}
	attach := func(err error) error { return (&Facts{Caps: all}).explain("attach run_begin", err) }
	_, unknown := resolve([]string{"eth7"}, []capture.Device{{Ifname: "lo"}, {Ifname: "eth0"}, {Ifname: "eth0", Netns: 2}}, nil)
	var b strings.Builder
	for _, c := range []struct {
		what string
		err  error
	}{
		{"a device that is not there", unknown},
		{"too many devices", filtered(Filter{Ifnames: make([]string, 17)})},
		{"too many namespaces", filtered(Filter{Netns: make([]uint32, 9)})},
		{"too many kinds of qdisc", filtered(Filter{Qdiscs: make([]string, 5)})},
		{"a long kind of qdisc", filtered(Filter{Qdiscs: []string{"fq_codel_and_more"}})},
		{"a high queue", filtered(Filter{Queues: []uint32{1024}})},
		{"hidden symbols", attach(errors.New("kptr_restrict is set"))},
		{"no capability", (&Facts{}).explain("load", unix.EPERM)},
		{"refused with all capabilities", attach(unix.EACCES)},
		{"refused by lockdown", (&Facts{Caps: all, Lockdown: "confidentiality"}).explain("load", unix.EPERM)},
		{"no memory", attach(fmt.Errorf("map create: %w", unix.ENOMEM))},
		{"an answer of no known reason", attach(unix.EBUSY)},
		{"the verifier", attach(&ebpf.VerifierError{Cause: unix.EINVAL, Log: []string{"R1 invalid mem access"}})},
		{"a full disk", outputError(unix.ENOSPC)},
	} {
		var e *Error
		if !errors.As(c.err, &e) {
			t.Errorf("%s: %v", c.what, c.err)
			continue
		}
		kind := map[Kind]string{CannotRun: "cannot run", Usage: "usage", Broken: "broken"}[e.Kind]
		fmt.Fprintf(&b, "%s\n%v\n(%s)\n\n", c.what, e, kind)
		if slices.Contains([]string{e.Object, e.What, e.Cause, e.Next}, "") || strings.Contains(e.Error(), "\n") {
			t.Errorf("%s: not one whole line: %q", c.what, e)
		}
	}
	golden := filepath.Join("testdata", "errors.txt")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}
