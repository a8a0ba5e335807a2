// SPDX-License-Identifier: Apache-2.0

package flame

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"html"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/txtrace/txtrace/internal/capture"
)

// Measures of the graph, in pixels.
const (
	width     = 1200
	rowHeight = 17
	margin    = 10
	heading   = 44
	letter    = 6.6 // of the font's 11
	narrowest = 0.1 // frames below it are left out
)

// Title says what the graph shows.
func (s *Stacks) Title() string {
	unit := s.Weight
	if unit == capture.ByCount {
		unit = "times"
	}
	t := fmt.Sprintf("%s: %s, by %s: %d", s.Moment.Name, s.Moment.Meaning, s.Weight, s.Total())
	if unit != "times" {
		t += " " + unit
	}
	if s.Lost > 0 {
		t += fmt.Sprintf("; %d of %d stacks are not known", s.Lost, s.Seen)
	}
	return t
}

// SVG draws the graph, the outermost call at the bottom. With a base, red is a
// share that grew and blue one that shrank. Under says what it was made of, such
// as the kernel and the command.
func SVG(w io.Writer, s, base *Stacks, under string) error {
	root := tree(s, base)
	rows := root.depth() - 1
	height := heading + rows*rowHeight + margin
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="monospace" font-size="11">
<style>
svg{background:#fff;color-scheme:light dark} text{fill:#111} rect{stroke:#fff;stroke-width:.5} rect+text{fill:#111;pointer-events:none}
@media (prefers-color-scheme:dark){svg{background:#16181d} text{fill:#ddd} rect{stroke:#16181d}}
g:hover rect{stroke:#000;stroke-width:1}
</style>
`, width, height, width, height)
	fmt.Fprintf(out, "<title>%s</title>\n", escaped(s.Title()))
	fmt.Fprintf(out, `<text x="%d" y="16" font-size="13">%s</text>`+"\n", margin, escaped(fit(s.Title(), width-2*margin, 7.9)))
	fmt.Fprintf(out, `<text x="%d" y="33">%s</text>`+"\n", margin, escaped(fit(under, width-2*margin, letter)))
	d := drawing{out: out, s: s, base: base, bottom: height - margin}
	d.frames(root.calls, margin, float64(width-2*margin)/float64(max(s.Total(), 1)), 0)
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

// escaped makes text of XML: names of a capture may hold anything.
func escaped(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError || r == 0xfffe || r == 0xffff {
			return '?'
		}
		return r
	}, text))
}

type drawing struct {
	out     *bufio.Writer
	s, base *Stacks
	bottom  int
}

// frames draws calls of one frame side by side, from x on.
func (d *drawing) frames(calls []*frame, x, scale float64, row int) {
	for _, f := range calls {
		wide := float64(f.value) * scale
		if wide >= narrowest {
			y := d.bottom - (row+1)*rowHeight
			fmt.Fprintf(d.out, `<g><title>%s</title><rect x="%.1f" y="%d" width="%.1f" height="%d" rx="1" fill="%s"/>`,
				escaped(d.says(f)), x, y, wide, rowHeight-1, d.colour(f))
			if text := fit(f.Name, wide-4, letter); text != "" {
				fmt.Fprintf(d.out, `<text x="%.1f" y="%d" style="fill:#111">%s</text>`, x+2, y+12, escaped(text))
			}
			fmt.Fprintln(d.out, "</g>")
			d.frames(f.calls, x, scale, row+1)
		}
		x += wide
	}
}

func share(n, of uint64) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

// says is the title of a frame.
func (d *drawing) says(f *frame) string {
	name := f.Name
	if f.Module != "" {
		name += " [" + f.Module + "]"
	}
	now := share(f.value, d.s.Total())
	t := fmt.Sprintf("%s: %d, %.2f %%", name, f.value, now)
	if d.base != nil {
		was := share(f.before, d.base.Total())
		t += fmt.Sprintf("; before %d, %.2f %%: %+.2f points", f.before, was, now-was)
	}
	return t
}

// colour: warm by name; with a base, red or blue by how far its share moved.
func (d *drawing) colour(f *frame) string {
	if d.base == nil {
		h := fnv.New32a()
		io.WriteString(h, f.Name)
		n := h.Sum32()
		return "rgb(" + strconv.Itoa(int(225+n%30)) + "," + strconv.Itoa(int(120+n>>8%100)) + "," + strconv.Itoa(int(50+n>>16%50)) + ")"
	}
	moved := share(f.value, d.s.Total()) - share(f.before, d.base.Total())
	pale := 255 - int(min(max(moved, -moved)*8, 160))
	switch {
	case moved > 0.005:
		return fmt.Sprintf("rgb(255,%d,%d)", pale, pale)
	case moved < -0.005:
		return fmt.Sprintf("rgb(%d,%d,255)", pale, pale)
	}
	return "rgb(235,235,235)"
}

// fit cuts text to a width; less than three letters say nothing.
func fit(text string, wide, letter float64) string {
	most := int(wide / letter)
	letters := []rune(text)
	switch {
	case len(letters) <= most:
		return text
	case most < 3:
		return ""
	}
	return string(letters[:most-2]) + ".."
}
