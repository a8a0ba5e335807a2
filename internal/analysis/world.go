// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// deviceID names a device at one moment.
type deviceID struct{ netns, ifindex uint32 }

// world is what the capture says of devices and their queues.
type world struct {
	devices map[deviceID]*Device // the living generation
	all     []*Device            // every generation, in the order they were met
	queues  []*Queue             // of all devices, by Queue.ID

	lastID deviceID // of the record before: most records name the same device
	last   *Device
}

func newWorld(h *capture.Header) *world {
	w := &world{devices: make(map[deviceID]*Device)}
	for i := range h.Devices {
		d := &h.Devices[i]
		w.add(deviceID{d.Netns, d.Ifindex}, d.Ifname).describe(d)
	}
	return w
}

// describe copies what the header knows of a device.
func (d *Device) describe(c *capture.Device) {
	d.Driver, d.Offloads = c.Driver, c.Offloads
}

func (w *world) add(id deviceID, name string) *Device {
	d := &Device{Netns: id.netns, Ifindex: id.ifindex, Ifname: name, index: len(w.all)}
	if old := w.devices[id]; old != nil {
		d.Generation = old.Generation + 1
	}
	w.devices[id] = d
	w.all = append(w.all, d)
	w.last = nil
	return d
}

// device is the one that a record names, nil when it names none. A device that
// nobody announced gets no name.
func (w *world) device(h *event.Header) *Device {
	if h.Ifindex == 0 {
		return nil
	}
	id := deviceID{h.Netns, h.Ifindex}
	if w.last != nil && w.lastID == id {
		return w.last
	}
	d := w.devices[id]
	if d == nil {
		d = w.add(id, "")
	}
	w.lastID, w.last = id, d
	return d
}

// queue is the device's queue that a record names.
func (w *world) queue(h *event.Header) *Queue {
	d := w.device(h)
	if d == nil {
		return nil
	}
	if h.Txq == event.NoQueue {
		if d.shared == nil {
			d.shared = w.newQueue(d, h.Txq)
		}
		return d.shared
	}
	for int(h.Txq) >= len(d.queues) {
		d.queues = append(d.queues, nil)
	}
	if d.queues[h.Txq] == nil {
		d.queues[h.Txq] = w.newQueue(d, h.Txq)
	}
	return d.queues[h.Txq]
}

func (w *world) newQueue(d *Device, txq uint16) *Queue {
	q := &Queue{Device: d, Txq: txq, ID: len(w.queues)}
	w.queues = append(w.queues, q)
	return q
}

// notice follows what a notice tells of devices.
func (w *world) notice(n *event.Notice, name string) {
	id := deviceID{n.Netns, n.Ifindex}
	switch d := w.devices[id]; n.Subtype {
	case event.NoticeDevRemoved:
		if d != nil {
			d.Removed = true
		}
	case event.NoticeDevAdded:
		switch {
		case d == nil || d.Removed:
			w.add(id, name)
		case d.Ifname == "":
			d.Ifname = name // its first records came before the notice
		}
	}
}
