// SPDX-License-Identifier: Apache-2.0

// Package flame prints the stacks of a capture in the forms that tools for flame
// graphs read: folded lines, pprof, and a graph of its own as SVG.
//
// Decision: a difference is of shares, not of counts, since two recordings are
// seldom equally long: a frame's colour tells how its share of the whole changed.
//
// Decision: the SVG holds no script and loads nothing, so that it can be put into
// a mail or a page as it is; a frame says the rest of itself as a title.
package flame
