// SPDX-License-Identifier: Apache-2.0

package event

// Steer is a packet whose queue a filter set at egress (tc's skbedit, 5.19 and
// later), so that none was chosen. Txq is the queue that it was given. Of those
// that were given what the filter said, a CPU records one in a jiffy.
type Steer struct {
	Header
	Index       uint32 // of the queue, from its pointer
	QueuesBegin uint32 // real_num_tx_queues when the packet came out of the filters
	QueuesEnd   uint32 // and when it had a queue
	Wanted      uint16 // the queue that the filter set
	Pad         [2]uint8
}
