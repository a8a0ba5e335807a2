// SPDX-License-Identifier: Apache-2.0

// Package sim plays a transmit path in virtual time: senders, a qdisc, a
// driver's ring and a link, in which every decision is made by
// internal/model. It writes an ordinary capture, so report and verify work on
// it as on a recording. It knows nothing of rules.
//
// A CPU is a coroutine that goes through the kernel's steps and lets time pass
// between them; whatever is due meanwhile happens at its time: other CPUs
// enqueue while one runs the qdisc, completions come between any two steps.
// The same Config gives the same capture, byte for byte.
//
// Decision: a CPU is a coroutine (iter.Pull) and not a table of states,
// because the model's functions call back (Take, HandOver, RunQdisc): the
// kernel's code can be followed line by line, and time passes inside the
// callbacks.
//
// Decision: the records are those that internal/probes makes of a kernel, one
// per decision, with bypass sends that went as they should counted (Quiet).
// What a program of BPF reads at one moment is read at one moment here.
//
// Decision: fq_codel stands for its queueing only: one FIFO, no CoDel drops and
// no fairness between flows. What a dequeue gives does not depend on which flow
// a packet is of.
//
// Decision: where the choice of queues is played, half of the sockets have
// lived before the simulation, with a queue that may be old or gone by now: a
// short one would never come to either.
package sim
