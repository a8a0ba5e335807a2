// SPDX-License-Identifier: Apache-2.0

package accept

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txtrace/txtrace/internal/analysis"
)

// TestChanges holds the report to a world that changes under it: what each of
// several qdiscs did is what tc said before it was replaced, namespaces that
// came have names, and no rule takes a device's new name, place or life for a
// fault. Nothing is left open for what is gone.
func TestChanges(t *testing.T) {
	g := newGuest(t)
	dir := g.boot(t, "boot", "6.1", "-scenario", "changes")
	file := filepath.Join(dir, "capture.txtrace")
	v, r := g.verify(t, file), g.report(t, file)
	clean(t, file, v, r)
	exercised(t, v, map[string]analysis.U64{"L1": 300, "L2": 100}) // and N5 some ten times

	ours := make(map[string]analysis.QdiscReport)
	names := make(map[string]bool)
	for i := range r.Queues {
		q := &r.Queues[i]
		names[q.Ifname] = true
		if q.Ifname == "eth0" {
			for _, d := range q.Qdiscs {
				ours[fmt.Sprintf("%s %x:", d.Kind, d.Handle>>16)] = d
			}
		}
	}
	for stage := 1; stage <= 4; stage++ { // the fifth is replaced under load
		var qs []struct {
			Kind, Handle             string
			Packets, Bytes, Requeues analysis.U64
		}
		readJSON(t, filepath.Join(dir, fmt.Sprintf("qdisc-%d.json", stage)), &qs)
		for _, k := range qs {
			o := ours[k.Kind+" "+k.Handle]
			same(t, k.Kind+" "+k.Handle+" and tc", [3]analysis.U64{o.Packets, o.Bytes, o.Requeues}, [3]analysis.U64{k.Packets, k.Bytes, k.Requeues})
		}
	}
	// A device is listed by its last name in each namespace.
	if want := []string{"eth0", "eth1", "far1", "far2", "far3", "second", "third"}; !slices.Equal(slices.Sorted(maps.Keys(names)), want) {
		t.Errorf("devices %v, want %v", names, want)
	}

	b, err := os.ReadFile(filepath.Join(dir, "files"))
	if err != nil {
		t.Fatal(err)
	}
	if files := strings.Fields(string(b)); len(files) != 2 || files[0] != files[1] {
		t.Errorf("open files before and after the namespaces: %v", files)
	}
}
