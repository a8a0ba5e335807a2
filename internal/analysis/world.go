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

	lastID    deviceID // of the record before: most records name the same device
	last      *Device
	lastQueue *Queue
}

// maxDevices bounds the devices that are followed.
const maxDevices = 1 << 14

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
	d.describeQdiscs(c.Qdiscs)
}

func (w *world) add(id deviceID, name string) *Device {
	if len(w.all) >= maxDevices {
		return w.all[maxDevices-1]
	}
	d := &Device{Netns: id.netns, Ifindex: id.ifindex, Ifname: name, queues: make(map[uint16]*Queue)}
	if old := w.devices[id]; old != nil {
		d.Generation = old.Generation + 1
	}
	w.devices[id] = d
	w.all = append(w.all, d)
	w.last = nil
	return d
}

// device is the one that a record names, nil when it names none.
func (w *world) device(h *event.Header) *Device {
	if h.Ifindex == 0 {
		return nil
	}
	return w.named(h)
}

// named is the device of a record, one without a name when nobody announced
// it; beyond maxDevices it is the last one.
func (w *world) named(h *event.Header) *Device {
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

// maxQueues bounds the queues that are followed; a capture that names more is
// not from a kernel, and shares the last one.
const maxQueues = 1 << 15

// queue is the device's queue that a record names.
func (w *world) queue(h *event.Header) *Queue {
	d := w.named(h)
	if q := w.lastQueue; q != nil && q.Device == d && q.Txq == h.Txq {
		return q
	}
	q := d.queues[h.Txq]
	if q == nil {
		if len(w.queues) >= maxQueues {
			return w.queues[maxQueues-1]
		}
		q = &Queue{Device: d, Txq: h.Txq, ID: len(w.queues)}
		d.queues[h.Txq] = q
		w.queues = append(w.queues, q)
	}
	w.lastQueue = q
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
	case event.NoticeDevChanged:
		switch {
		case d == nil:
			w.add(id, name)
		case !d.Removed && name != "":
			d.Ifname = name // the last one is what it is called by now
		}
	case event.NoticeQdisc:
		if d == nil {
			d = w.add(id, "")
		}
		d.qdisc(n, name)
	}
}
