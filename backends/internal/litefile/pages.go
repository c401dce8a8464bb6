package litefile

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
)

// Apart divides the bytes of a database file: those of the pages that some tables and their
// indexes use, and all others. theirs is nil where the file has none of the tables. The pages
// are those of the file alone: what still stands in the log is not looked at. An error means
// that the two cannot be told apart.
func (f *File) Apart(ctx context.Context, data io.ReaderAt, size int64, tables ...string) (theirs, others io.Reader, err error) {
	var roots []uint32
	err = f.View(ctx, "layers", func(q *Query) error {
		roots = nil
		for _, t := range tables {
			err := q.Each(`SELECT rootpage FROM sqlite_master WHERE tbl_name = ? AND rootpage > 0`, []any{t}, func(scan func(...any) error) error {
				var n int64
				err := scan(&n)
				roots = append(roots, uint32(n))
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	w, err := walkPages(data, size, roots)
	if err != nil {
		return nil, nil, err
	}
	theirs, others = w.divide(size)
	if len(roots) == 0 {
		theirs = nil
	}
	return theirs, others, nil
}

var errPages = errors.New("the pages of the database cannot be followed")

// pages are the pages of some b-trees, as https://sqlite.org/fileformat2.html has them.
type pages struct {
	data   io.ReaderAt
	size   int64 // of a page, in bytes
	usable int64 // of it
	count  uint32
	seen   map[uint32]bool
}

func walkPages(data io.ReaderAt, size int64, roots []uint32) (*pages, error) {
	head := make([]byte, 100)
	if _, err := data.ReadAt(head, 0); err != nil {
		return nil, errPages
	}
	w := &pages{data: data, size: int64(binary.BigEndian.Uint16(head[16:])), seen: map[uint32]bool{}}
	if w.size == 1 {
		w.size = 65536
	}
	if w.size < 512 || w.size&(w.size-1) != 0 {
		return nil, errPages
	}
	w.usable, w.count = w.size-int64(head[20]), uint32(size/w.size)
	for todo := roots; len(todo) > 0; {
		at := todo[len(todo)-1]
		below, err := w.page(at)
		if err != nil {
			return nil, err
		}
		todo = append(todo[:len(todo)-1:len(todo)-1], below...)
	}
	return w, nil
}

// take marks a page and reads it.
func (w *pages) take(at uint32) ([]byte, error) {
	if at == 0 || at > w.count || w.seen[at] {
		return nil, errPages
	}
	w.seen[at] = true
	b := make([]byte, w.size)
	_, err := w.data.ReadAt(b, int64(at-1)*w.size)
	return b, err
}

// The kinds of b-tree pages.
const (
	indexInterior = 2
	tableInterior = 5
	indexLeaf     = 10
	tableLeaf     = 13
)

// page marks one page of a b-tree and the overflow of its cells, and gives the pages below.
func (w *pages) page(at uint32) (below []uint32, err error) {
	b, err := w.take(at)
	if err != nil {
		return nil, err
	}
	h := b
	if at == 1 {
		h = b[100:]
	}
	kind, cells := h[0], int(binary.BigEndian.Uint16(h[3:]))
	header := 8
	switch kind {
	case indexInterior, tableInterior:
		header = 12
		below = append(below, binary.BigEndian.Uint32(h[8:]))
	case indexLeaf, tableLeaf:
	default:
		return nil, errPages
	}
	for i := range cells {
		if header+2*i+2 > len(h) {
			return nil, errPages
		}
		cell := int(binary.BigEndian.Uint16(h[header+2*i:]))
		if cell+4 > len(b) {
			return nil, errPages
		}
		if header == 12 {
			below = append(below, binary.BigEndian.Uint32(b[cell:]))
			cell += 4
		}
		if kind == tableInterior {
			continue
		}
		if err := w.overflow(b, cell, kind == tableLeaf); err != nil {
			return nil, err
		}
	}
	return below, nil
}

// overflow marks the pages of a cell's payload that does not fit into its page.
func (w *pages) overflow(b []byte, cell int, table bool) error {
	payload, n := varint(b[cell:])
	cell += n
	most := (w.usable-12)*64/255 - 23
	if table {
		_, n = varint(b[cell:]) // the row's number
		cell += n
		most = w.usable - 35
	}
	if payload <= most {
		return nil
	}
	least := (w.usable-12)*32/255 - 23
	local := least + (payload-least)%(w.usable-4)
	if local > most {
		local = least
	}
	if payload < 0 || int64(cell)+local+4 > int64(len(b)) {
		return errPages
	}
	for next := binary.BigEndian.Uint32(b[int64(cell)+local:]); next != 0; {
		page, err := w.take(next)
		if err != nil {
			return err
		}
		next = binary.BigEndian.Uint32(page)
	}
	return nil
}

// varint reads SQLite's big-endian variable-length integer.
func varint(b []byte) (v int64, n int) {
	for n < len(b) && n < 8 {
		v = v<<7 | int64(b[n]&0x7f)
		n++
		if b[n-1] < 0x80 {
			return v, n
		}
	}
	if n < len(b) {
		v, n = v<<8|int64(b[n]), n+1
	}
	return v, n
}

// divide makes readers of the marked pages and of the others.
func (w *pages) divide(size int64) (marked, others io.Reader) {
	var in, out []io.Reader
	from := int64(0)
	for at := int64(1); at <= int64(w.count); at++ {
		if at < int64(w.count) && w.seen[uint32(at)] == w.seen[uint32(at+1)] {
			continue
		}
		part := io.NewSectionReader(w.data, from, at*w.size-from)
		if from = at * w.size; w.seen[uint32(at)] {
			in = append(in, part)
		} else {
			out = append(out, part)
		}
	}
	return io.MultiReader(in...), io.MultiReader(append(out, io.NewSectionReader(w.data, from, size-from))...)
}
