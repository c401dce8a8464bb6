package postgres

import (
	"encoding/binary"
	"io"
	"math"
	"strings"
)

// copySource is what COPY … FROM STDIN BINARY reads (the PostgreSQL manual, COPY,
// Binary Format).
type copySource struct {
	rows  int
	add   func(b copyRow, i int) copyRow // appends a row's columns
	width int

	next int
	buf  []byte // made and not read yet
	room []byte
	done bool
}

// copyRow grows by a column at a time.
type copyRow []byte

var copyHeader = []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")

// copyPiece is about how much is made at once.
const copyPiece = 64 << 10

// Read implements io.Reader.
func (c *copySource) Read(p []byte) (int, error) {
	if len(c.buf) == 0 {
		if c.done {
			return 0, io.EOF
		}
		c.fill()
	}
	n := copy(p, c.buf)
	c.buf = c.buf[n:]
	return n, nil
}

func (c *copySource) fill() {
	b := c.room[:0]
	if c.next == 0 {
		b = append(b, copyHeader...)
	}
	for ; c.next < c.rows && len(b) < copyPiece; c.next++ {
		b = binary.BigEndian.AppendUint16(b, uint16(c.width))
		b = c.add(b, c.next)
	}
	if c.next == c.rows {
		b = binary.BigEndian.AppendUint16(b, math.MaxUint16) // the end
		c.done = true
	}
	c.room, c.buf = b, b
}

func (b copyRow) text(s string) copyRow {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

func (b copyRow) int8(n int64) copyRow {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, 8), uint64(n))
}

func (b copyRow) float8(f float64) copyRow { return b.int8(int64(math.Float64bits(f))) }

func (b copyRow) bool(v bool) copyRow {
	b = append(b, 0, 0, 0, 1, 0)
	if v {
		b[len(b)-1] = 1
	}
	return b
}

func (b copyRow) tsvector(v tsvector) copyRow {
	at := len(b)
	b = v.append(append(b, 0, 0, 0, 0))
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// copyInto names the columns of a COPY.
func copyInto(table string, columns []string) string {
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = quote(c)
	}
	return `COPY ` + quote(schemaName) + `.` + quote(table) + ` (` + strings.Join(quoted, `, `) + `) FROM STDIN BINARY`
}
