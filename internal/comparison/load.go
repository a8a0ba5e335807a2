// SPDX-License-Identifier: Apache-2.0

package comparison

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

const noResult = absence("its command printed no result of netperf or iperf3")

func (r *run) load() (float64, absence) {
	mbit, _ := loadOf(r.output())
	if mbit == nil {
		return 0, noResult
	}
	return *mbit, ""
}

func (r *run) loadRate() (float64, absence) {
	_, rate := loadOf(r.output())
	if rate == nil {
		return 0, "its command printed no result of a netperf of requests"
	}
	return *rate, ""
}

func (r *run) output() string {
	if r.Footer == nil || r.Footer.Child == nil {
		return ""
	}
	return r.Footer.Child.Output
}

// loadOf reads the result of a load: iperf3 with and without --json, netperf's
// tables, and what its omni tests print as KEY=value. Of a sender's figure and
// a receiver's it is the receiver's: what got through.
func loadOf(output string) (mbit, rate *float64) {
	if v := iperfJSON(output); v != nil {
		return v, nil
	}
	if v := iperfText(output); v != nil {
		return v, nil
	}
	if v, unit := netperfKeys(output); v != nil {
		if unit == "" || strings.Contains(unit, "bits/s") {
			return v, nil
		}
		return nil, v
	}
	return netperfTable(output)
}

func iperfJSON(output string) *float64 {
	type sum struct {
		Bits *float64 `json:"bits_per_second"`
	}
	var doc struct {
		End struct {
			Received sum `json:"sum_received"`
			Sum      sum `json:"sum"`
			Sent     sum `json:"sum_sent"`
		} `json:"end"`
	}
	if json.Unmarshal([]byte(output), &doc) != nil {
		return nil
	}
	for _, s := range []sum{doc.End.Received, doc.End.Sum, doc.End.Sent} {
		if s.Bits != nil {
			return scaledBy(*s.Bits, 1e-6)
		}
	}
	return nil
}

var iperfLine = regexp.MustCompile(`^\[ *(\d+|SUM)\].* ([0-9.]+) ([KMGT]?)bits/sec.* (sender|receiver) *$`)

func iperfText(output string) (v *float64) {
	scale := map[string]float64{"": 1e-6, "K": 1e-3, "M": 1, "G": 1e3, "T": 1e6}
	ofSum := false
	for line := range strings.Lines(output) {
		m := iperfLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil || ofSum && m[1] != "SUM" {
			continue
		}
		n, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			continue
		}
		ofSum = m[1] == "SUM"
		v = scaledBy(n, scale[m[3]]) // the receiver's comes last
	}
	return v
}

func netperfKeys(output string) (v *float64, unit string) {
	for line := range strings.Lines(output) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "THROUGHPUT":
			if n, err := strconv.ParseFloat(value, 64); err == nil {
				v = &n
			}
		case "THROUGHPUT_UNITS":
			unit = value
		}
	}
	return v, unit
}

// netperfTable reads the table under a line of units. Of a stream its last
// figure counts, which is the receiver's; of requests its first.
func netperfTable(output string) (mbit, rate *float64) {
	var unit string
	for line := range strings.Lines(output) {
		fields := strings.Fields(line)
		switch {
		case strings.Contains(line, "10^6bits/sec"):
			unit = "mbit"
		case strings.HasSuffix(strings.TrimSpace(line), "per sec"):
			unit = "rate"
		case unit == "" || len(fields) < 4:
		default:
			n, err := strconv.ParseFloat(fields[len(fields)-1], 64)
			if _, first := strconv.ParseFloat(fields[0], 64); err != nil || first != nil {
				continue
			}
			if unit == "mbit" {
				mbit = &n
			} else if rate == nil {
				rate = &n
			}
		}
	}
	return mbit, rate
}

func scaledBy(v, scale float64) *float64 {
	v *= scale
	return &v
}
