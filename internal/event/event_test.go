// SPDX-License-Identifier: Apache-2.0

package event

import (
	"errors"
	"reflect"
	"testing"
)

// Every byte of a record belongs to exactly one field: no padding that BPF
// would leave unset, and every record is a multiple of 8 as the ring is.
func TestNoPadding(t *testing.T) {
	for _, tab := range Tables() {
		off := 0
		for _, f := range tab.Fields {
			if f.Offset != off {
				t.Errorf("%s.%s at %d, want %d", tab.Name, f.Name, f.Offset, off)
			}
			off += f.Size * f.Count
		}
		if off != tab.Size || tab.Size%8 != 0 {
			t.Errorf("%s: fields cover %d of %d bytes", tab.Name, off, tab.Size)
		}
	}
}

func TestSnake(t *testing.T) {
	for in, want := range map[string]string{
		"NumQueuedBegin": "num_queued_begin", "TSQEnd": "tsq_end", "RC": "rc",
		"DriverRC": "driver_rc", "CPU": "cpu", "Txq": "txq", "QdiscKind": "qdisc_kind",
	} {
		if got := snake(in); got != want {
			t.Errorf("snake(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	in := Dequeue{Packets: 65, Bytes: 9230, AdjLimit: 15854}
	in.CPU, in.Seq, in.Time, in.Dur = 1, 7, 1000, 10
	b := Append(nil, &in)
	out, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if got := out.(*Dequeue); !reflect.DeepEqual(*got, in) || got.Kind != KindDequeue {
		t.Errorf("got %+v, want %+v", got, in)
	}
	if out.Head().Begin() != 990 || out.Head().ID() != 990 {
		t.Errorf("begin %d id %d", out.Head().Begin(), out.Head().ID())
	}
}

func TestDecodeRefuses(t *testing.T) {
	if _, err := Decode(nil); !errors.Is(err, ErrShort) {
		t.Error(err)
	}
	if _, err := Decode([]byte{200, 0}); !errors.Is(err, ErrKind) {
		t.Error(err)
	}
	if _, err := Decode([]byte{byte(KindRun), 0, 0}); !errors.Is(err, ErrShort) {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Append(nil, &Run{}))
	f.Add([]byte{byte(KindLedger)})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Decode(b)
		if (r == nil) == (err == nil) {
			t.Fatalf("record %v, error %v", r, err)
		}
		if err == nil && r.Head().Kind != Kind(b[0]) {
			t.Fatal("kind changed")
		}
	})
}
