// SPDX-License-Identifier: Apache-2.0

package report

import "github.com/txtrace/txtrace/internal/analysis"

// list is l, or an empty one that JSON shows as such: null is no list.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// table is m, or an empty one.
func table[T any](m map[string]T) map[string]T {
	if m == nil {
		return map[string]T{}
	}
	return m
}

// filledQueue is q with lists and tables where there is nothing.
func filledQueue(q analysis.QueueReport) analysis.QueueReport {
	q.Qdiscs = list(q.Qdiscs)
	q.Batches.Size = list(q.Batches.Size)
	q.Batches.Stop = table(q.Batches.Stop)
	q.Batches.Origin = table(q.Batches.Origin)
	q.Runs.Packets = list(q.Runs.Packets)
	q.Runs.Restarts = list(q.Runs.Restarts)
	q.Runs.Who = table(q.Runs.Who)
	q.Handovers.Size = list(q.Handovers.Size)
	q.Requeues.Cause = table(q.Requeues.Cause)
	return q
}
