package inmem

import (
	"slices"
	"sort"
)

// blockMax is the most entries of a block. An insert moves the entries of one block, and a search finds the
// block first. So a step in a list of a million entries costs about as much as in one of a thousand.
const blockMax = 1024

// index keeps pointers in a total order, as a sequence of sorted blocks, none of them empty.
type index[T any] struct {
	compare func(a, b *T) int
	blocks  [][]*T
	n       int
}

func newIndex[T any](compare func(a, b *T) int) *index[T] {
	return &index[T]{compare: compare}
}

// spot is a position between entries: before entry off of block.
type spot struct{ block, off int }

// seek finds the position before the first entry that is not below x.
func (ix *index[T]) seek(x *T) spot {
	b := sort.Search(len(ix.blocks), func(i int) bool {
		blk := ix.blocks[i]
		return ix.compare(blk[len(blk)-1], x) >= 0
	})
	if b == len(ix.blocks) {
		return spot{b, 0}
	}
	off, _ := slices.BinarySearchFunc(ix.blocks[b], x, ix.compare)
	return spot{b, off}
}

// after returns the entry behind the position, and the position behind that entry.
func (ix *index[T]) after(s spot) (*T, spot) {
	if s.block < len(ix.blocks) && s.off == len(ix.blocks[s.block]) {
		s = spot{s.block + 1, 0}
	}
	if s.block >= len(ix.blocks) {
		return nil, s
	}
	return ix.blocks[s.block][s.off], spot{s.block, s.off + 1}
}

// before returns the entry in front of the position, and the position in front of it.
func (ix *index[T]) before(s spot) (*T, spot) {
	if s.off == 0 {
		if s.block == 0 {
			return nil, s
		}
		s = spot{s.block - 1, len(ix.blocks[s.block-1])}
	}
	return ix.blocks[s.block][s.off-1], spot{s.block, s.off - 1}
}

func (ix *index[T]) first() spot { return spot{} }
func (ix *index[T]) last() spot  { return spot{len(ix.blocks), 0} }

func (ix *index[T]) insert(x *T) {
	ix.n++
	s := ix.seek(x)
	if s.block == len(ix.blocks) {
		if s.block > 0 && len(ix.blocks[s.block-1]) < blockMax {
			ix.blocks[s.block-1] = append(ix.blocks[s.block-1], x)
			return
		}
		ix.blocks = append(ix.blocks, []*T{x})
		return
	}
	blk := slices.Insert(ix.blocks[s.block], s.off, x)
	ix.blocks[s.block] = blk
	if len(blk) > blockMax {
		half := slices.Clone(blk[len(blk)/2:])
		clear(blk[len(blk)/2:])
		ix.blocks[s.block] = blk[:len(blk)/2]
		ix.blocks = slices.Insert(ix.blocks, s.block+1, half)
	}
}

func (ix *index[T]) remove(x *T) {
	s := ix.seek(x)
	if s.block == len(ix.blocks) || ix.compare(ix.blocks[s.block][s.off], x) != 0 {
		return
	}
	ix.n--
	ix.blocks[s.block] = slices.Delete(ix.blocks[s.block], s.off, s.off+1)
	if len(ix.blocks[s.block]) == 0 {
		ix.blocks = slices.Delete(ix.blocks, s.block, s.block+1)
	}
}

// merged walks several indexes of one order as one.
type merged[T any] struct {
	compare func(a, b *T) int
	legs    []leg[T]
	back    bool
}

type leg[T any] struct {
	ix   *index[T]
	next *T
	at   spot
}

// walk starts behind x, or in front of it when back is set; a nil x starts at the end where the walk
// begins. With inclusive, x itself is walked too.
func walk[T any](indexes []*index[T], compare func(a, b *T) int, x *T, inclusive, back bool) *merged[T] {
	m := &merged[T]{compare: compare, back: back}
	for _, ix := range indexes {
		at := ix.first()
		switch {
		case x != nil:
			at = ix.seek(x)
			if e, behind := ix.after(at); e != nil && compare(e, x) == 0 && inclusive == back {
				at = behind
			}
		case back:
			at = ix.last()
		}
		l := leg[T]{ix: ix, at: at}
		l.step(back)
		if l.next != nil {
			m.legs = append(m.legs, l)
		}
	}
	return m
}

func (l *leg[T]) step(back bool) {
	if back {
		l.next, l.at = l.ix.before(l.at)
	} else {
		l.next, l.at = l.ix.after(l.at)
	}
}

// next returns the next entry, nil at the end.
func (m *merged[T]) next() *T {
	best := -1
	for i := range m.legs {
		if m.legs[i].next == nil {
			continue
		}
		if best < 0 || (m.compare(m.legs[i].next, m.legs[best].next) < 0) != m.back {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	x := m.legs[best].next
	m.legs[best].step(m.back)
	return x
}
