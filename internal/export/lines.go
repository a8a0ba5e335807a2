// SPDX-License-Identifier: Apache-2.0

package export

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

const version = 1

// head begins every line.
type head struct {
	V    int    `json:"v"`
	Type string `json:"type"`
}

type metaLine struct {
	head
	*capture.Header
	Tables  any `json:"tables,omitempty"`  // the schema says the same
	Packing any `json:"packing,omitempty"` // of the file, not of what it holds
}

type gapLine struct {
	head
	CPU       uint16 `json:"cpu"`
	AfterSeq  uint32 `json:"after_seq"`
	BeforeSeq uint32 `json:"before_seq"`
	Lost      uint32 `json:"lost"`
	FromNS    uint64 `json:"from_ns"`
	ToNS      uint64 `json:"to_ns"`
}

type summaryLine struct {
	head
	Records uint64          `json:"records"`       // that are above
	Gaps    uint64          `json:"gaps"`          //
	Lost    uint64          `json:"lost"`          // records in gaps
	Cut     string          `json:"cut,omitempty"` // why the file ends early: then there is no footer
	Footer  *capture.Footer `json:"footer,omitempty"`
}

// Lines writes a capture as JSON Lines. It reads in to its end and keeps no more
// of it than the reader does.
func Lines(w io.Writer, in *capture.Reader) error {
	out := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(out)
	columns := columnsOf()
	if err := enc.Encode(metaLine{head: head{version, "meta"}, Header: in.Header()}); err != nil {
		return err
	}
	sum := summaryLine{head: head{version, "summary"}}
	var line []byte
	err := walk(in, func(g *capture.Gap) error {
		sum.Gaps++
		sum.Lost += uint64(g.Lost)
		return enc.Encode(gapLine{head{version, "gap"}, g.CPU, g.AfterSeq, g.BeforeSeq, g.Lost, g.FromNS, g.ToNS})
	}, func(kind event.Kind, record []byte) error {
		line = fmt.Appendf(line[:0], `{"v":%d,"type":"%s"`, version, kind)
		for i := range columns[kind] {
			c := &columns[kind][i]
			line = append(append(append(line, ',', '"'), c.Name...), '"', ':')
			line = c.append(line, record)
		}
		sum.Records++
		_, err := out.Write(append(line, '}', '\n'))
		return err
	})
	if err != nil {
		return err
	}
	sum.Footer = in.Footer()
	if cut := in.Cut(); cut != nil {
		sum.Cut = cut.Reason
	}
	return errors.Join(enc.Encode(sum), out.Flush())
}

// appendText adds text as a JSON string, whatever it holds.
func appendText(dst []byte, text string) []byte {
	b, _ := json.Marshal(strings.ToValidUTF8(text, "?")) // a string can be marshalled
	return append(dst, b...)
}
