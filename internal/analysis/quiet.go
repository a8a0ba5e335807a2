// SPDX-License-Identifier: Apache-2.0

package analysis

import "github.com/txtrace/txtrace/internal/event"

// Quiet is a number of bypass sends that went as they should and were counted
// instead of recorded.
type Quiet struct {
	event.Quiet
	Queue *Queue
}
