// SPDX-License-Identifier: Apache-2.0

package model

// Sizes of the stall detector's history.
const (
	stallWords = 4
	stallSlots = 64 // jiffies of a word
)

// Stall is the stall detector of struct dql (6025b9135f7a, 6.9), which counts
// the times that nothing was completed for long although bytes had been queued.
// It runs beside DQL and changes nothing of it. Times are jiffies.
type Stall struct {
	Threshold uint16 // stall_thrs, set through sysfs; 0 is off
	Max       uint16 // longest stall seen
	Count     uint64 // stalls seen

	LastReap uint64             // time of the last completion
	Head     uint64             // history_head: the newest word, by number
	History  [stallWords]uint64 // one bit a jiffy in which bytes were queued
}

// Reset is dql_reset's part. What was counted stays.
func (s *Stall) Reset(now uint64) {
	s.LastReap, s.Head, s.History = now, now/stallSlots, [stallWords]uint64{}
}

// Queued notes that bytes were queued at time now.
func (s *Stall) Queued(now uint64) {
	if s.Threshold == 0 {
		return
	}
	word := now / stallSlots
	// Words between the last one used and this one are stale, all at most. Their
	// numbers wrap with the time.
	for old, i := s.Head, 0; old*stallSlots != word*stallSlots && i < stallWords; old, i = old+1, i+1 {
		s.History[(old+1)%stallWords] = 0
	}
	s.Head = word
	s.History[word%stallWords] |= 1 << (now % stallSlots)
}

// Completed notes a completion at time now and says for how long nothing had
// been completed, counted from the first bytes queued since the last one; 0 if
// that is no stall. A stall needs Threshold jiffies without a completion, and
// bytes queued in the first half of them. A link that is down looks the same
// (rule B14).
func (s *Stall) Completed(now uint64) (stalled uint64) {
	if s.Threshold == 0 {
		return 0
	}
	defer func() { s.LastReap = now }()
	if int64(now-s.LastReap-uint64(s.Threshold)) < 0 {
		return 0
	}
	half := uint64(s.Threshold) / 2
	start := (s.Head - stallWords + 1) * stallSlots // the oldest slot there is
	if int64(start-s.LastReap-1) < 0 {
		start = s.LastReap + 1
	}
	end := s.Head*stallSlots + stallSlots - 1
	if int64(now-end-half) < 0 {
		end = now - half
	}
	for t := start; int64(end-t) >= 0; t++ {
		if slot := t % (stallWords * stallSlots); s.History[slot/stallSlots]>>(slot%stallSlots)&1 != 0 {
			s.Count++
			s.Max = max(s.Max, uint16(now-t))
			return now - t
		}
	}
	return 0
}
