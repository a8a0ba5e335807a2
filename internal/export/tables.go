// SPDX-License-Identifier: Apache-2.0

package export

import (
	"cmp"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"

	"github.com/txtrace/txtrace/internal/capture"
	"github.com/txtrace/txtrace/internal/event"
)

// table is the Parquet file of one kind of record.
type table struct {
	file    *os.File
	w       *parquet.GenericWriter[any]
	columns []column // in the order of the file, which is that of their names
	rows    []parquet.Row
}

const (
	rowsAtOnce = 1024
	rowsOfRun  = 1 << 18 // of a row group, which a table keeps in memory
)

// Tables writes a capture into a folder that is there: KIND.parquet for each kind
// of record that it holds, and gap.parquet where records are missing.
func Tables(dir string, in *capture.Reader) (err error) {
	tables := map[string]*table{}
	defer func() {
		for _, t := range tables {
			err = errors.Join(err, t.close())
		}
	}()
	add := func(name string, columns []column, row []byte) error {
		t := tables[name]
		if t == nil {
			var err error
			if t, err = newTable(dir, name, columns); err != nil {
				return err
			}
			tables[name] = t
		}
		return t.add(row)
	}
	columns, gaps := columnsOf(), gapColumns()
	var row []byte
	return walk(in, func(g *capture.Gap) error {
		row = gapRow(row[:0], g)
		return add("gap", gaps, row)
	}, func(kind event.Kind, record []byte) error {
		return add(kind.String(), columns[kind], record)
	})
}

// gapColumns and gapRow give a gap the form of a record.
func gapColumns() []column {
	var all []column
	at := 0
	for _, f := range []struct {
		name string
		size int
	}{{"cpu", 2}, {"after_seq", 4}, {"before_seq", 4}, {"lost", 4}, {"from_ns", 8}, {"to_ns", 8}} {
		all = append(all, column{Field: event.Field{Name: f.name, Offset: at, Size: f.size, Count: 1}})
		at += f.size
	}
	return all
}

func gapRow(dst []byte, g *capture.Gap) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, g.CPU)
	dst = binary.LittleEndian.AppendUint32(dst, g.AfterSeq)
	dst = binary.LittleEndian.AppendUint32(dst, g.BeforeSeq)
	dst = binary.LittleEndian.AppendUint32(dst, g.Lost)
	dst = binary.LittleEndian.AppendUint64(dst, g.FromNS)
	return binary.LittleEndian.AppendUint64(dst, g.ToNS)
}

func newTable(dir, name string, columns []column) (*table, error) {
	f, err := os.Create(filepath.Join(dir, name+".parquet"))
	if err != nil {
		return nil, err
	}
	t := &table{file: f, columns: slices.Clone(columns)}
	for range rowsAtOnce {
		t.rows = append(t.rows, make(parquet.Row, len(columns)))
	}
	t.rows = t.rows[:0]
	slices.SortFunc(t.columns, func(a, b column) int { return cmp.Compare(a.Name, b.Name) })
	group := parquet.Group{}
	for _, c := range t.columns {
		group[c.Name] = c.node()
	}
	t.w = parquet.NewGenericWriter[any](f, parquet.NewSchema(name, group), parquet.MaxRowsPerRowGroup(rowsOfRun), parquet.Compression(&snappy.Codec{}))
	return t, nil
}

func (c *column) node() parquet.Node {
	bits := 32
	if c.Size == 8 {
		bits = 64
	}
	switch {
	case c.text:
		return parquet.String()
	case c.signed:
		return parquet.Int(bits)
	}
	return parquet.Uint(bits)
}

func (t *table) add(b []byte) error {
	if len(t.rows) == rowsAtOnce {
		if err := t.flush(); err != nil {
			return err
		}
	}
	n := len(t.rows)
	t.rows = t.rows[:n+1] // over one that is written
	for i := range t.columns {
		t.rows[n][i] = t.columns[i].value(b).Level(0, 0, i)
	}
	return nil
}

func (c *column) value(b []byte) parquet.Value {
	switch {
	case c.text:
		text, _, _ := strings.Cut(string(b[c.Offset:c.Offset+c.Count]), "\x00")
		return parquet.ByteArrayValue([]byte(strings.ToValidUTF8(text, "?")))
	case c.Size == 8:
		return parquet.Int64Value(int64(c.bits(b)))
	case c.signed:
		return parquet.Int32Value(int32(c.signedBits(b)))
	}
	return parquet.Int32Value(int32(uint32(c.bits(b))))
}

func (t *table) flush() error {
	_, err := t.w.WriteRows(t.rows)
	t.rows = t.rows[:0]
	return err
}

func (t *table) close() error {
	return errors.Join(t.flush(), t.w.Close(), t.file.Close())
}
