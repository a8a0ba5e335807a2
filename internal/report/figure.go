// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strconv"
)

// figure prints a measured value within 8 columns: as many digits as anybody
// reads.
func figure(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 1e8 || a < 1e-3:
		return fmt.Sprintf("%.1e", v)
	case a >= 1000:
		return fmt.Sprintf("%.0f", v)
	case a >= 100:
		return fmt.Sprintf("%.1f", v)
	case a >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.4f", v)
}

// deviation is a deviation in percent of its mean.
func deviation(mean float64, sd *float64) string {
	if sd == nil || mean == 0 {
		return "-"
	}
	s := 100 * *sd / math.Abs(mean)
	if s >= 99.95 {
		return fmt.Sprintf("%.0f", s)
	}
	return fmt.Sprintf("%.1f", s)
}

// percent is a change, with its sign.
func percent(v *float64) string {
	switch {
	case v == nil:
		return "-"
	case math.Abs(*v) < 99.95:
		return fmt.Sprintf("%+.1f", *v)
	case math.Abs(*v) < 9999:
		return fmt.Sprintf("%+.0f", *v)
	}
	return fmt.Sprintf("%+.0e", *v)
}

// probability is a p value to three places.
func probability(p *float64) string {
	switch {
	case p == nil:
		return "-"
	case *p < 0.001:
		return "<0.001"
	}
	return strconv.FormatFloat(*p, 'f', 3, 64)
}

// exactly is a number with all of its digits, "" for none.
func exactly(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}
