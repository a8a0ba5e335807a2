// SPDX-License-Identifier: Apache-2.0

// Package comparison sets two sets of captures side by side: A before and B
// after a change. A set is what one kernel did with one load, run by run; each
// capture gives one value of each metric, and the values of a set are its
// sample.
//
// Decision: the captures of a set must be of one kernel and one load, and all
// of both sets of one kind (real, emulated, simulated): else the set is no
// sample of anything, and it is refused. What else differs is said, and what
// differs between A and B is said always: that is what was changed.
//
// Decision: a metric that one of the captures does not have is not applicable,
// and the reason names that capture. A mean over the others would be of
// another set.
//
// Decision: the p value of a metric is Welch's; where results were held at a
// limit (--ceiling) it is Mann and Whitney's. Holm's correction is over all
// metrics that are compared, so who looks at few of them (--metrics) is
// corrected less.
//
// Decision: a bound (--fail-on) is broken when the whole 95 % interval of the
// change is beyond it, holds when none of it is, and is not decided otherwise,
// nor where a capture lost records and the metric is counted from them. One
// run has no interval: it decides nothing.
package comparison
