// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

func TestParse(t *testing.T) {
	const text = `goos: linux
BenchmarkRead/full         	  300	       190.0 ns/op	  9 B/op
BenchmarkRead/full         	  300	       180.0 ns/op	  8 B/op
BenchmarkRules  	      20	  45733612 ns/op	   3600697 records/cpu-s	   2186582 records/s
BenchmarkRules  	      20	  45733600 ns/op	   3500697 records/cpu-s	   2286582 records/s
PASS
`
	best := parse(text)
	if len(best) != 2 || best["BenchmarkRead/full"]["ns/op"] != 180 || best["BenchmarkRules"]["records/s"] != 2286582 ||
		best["BenchmarkRules"]["records/cpu-s"] != 3600697 {
		t.Error(best)
	}
}
