package subject

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"sync"
)

// pattern is a sequence of bytes to look for.
type pattern struct {
	bytes []byte
	fold  bool // ASCII letters in any case
	plain bool // an unchanged piece of an identifier
	term  int
}

// sieve finds the places where one of several patterns may occur, and the kinds of bytes around them. It
// steps by two bytes: depending on its offset, it sees bytes 0 to 3 of a pattern as two pairs, or bytes 1 to
// 4. Patterns are divided into groups: a place is examined only where two consecutive pairs belong to the
// same group. There are no patterns of one byte.
type sieve struct {
	patterns []pattern
	// pairs says for two bytes, the first being the low one: of which groups they are the first pair (a bit
	// of groups), of which the second (secondPair higher), and which kinds of bytes they are.
	pairs [1 << 16]uint32
	from  [hashSize + 1]uint32 // where in order the patterns of a hash begin
	order []uint32
}

const (
	hashSize   = 1 << 10
	secondPair = 16
	shortGroup = 0  // and the next: patterns of two or three bytes
	longGroup  = 2  // first group of the other patterns
	magicGroup = 7  // magic bytes of compressed data, and two more for the two bytes of zlib
	lineGroup  = 10 // line ends inside a possible word, and one more
	patterns   = 1<<magicGroup - 1
	magics     = 7 << magicGroup
	lines      = 3 << lineGroup
)

// Kinds of bytes.
const (
	foreignBytes = 1 << (12 + iota) // not ASCII
	noiseBytes                      // controls, zeros, and bytes that never occur in UTF-8
	escapeBytes                     // first bytes of escapes
	markupBytes  = 1 << (28 + iota - 3)
	digitBytes
	capitalBytes
)

// kinds are the kinds of each byte.
var kinds = func() (t [256]uint32) {
	for i := range t {
		c := byte(i)
		switch {
		case neverText(c, true):
			t[i] = noiseBytes
			if c >= 0x80 {
				t[i] |= foreignBytes
			}
		case c >= 0x80:
			t[i] = foreignBytes
		case c >= '0' && c <= '9':
			t[i] = digitBytes
		case c >= 'A' && c <= 'Z':
			t[i] = capitalBytes
		case c != '\n' && c != '\\' && strings.IndexByte(breakers, c) >= 0:
			t[i] = markupBytes
		case escapes[c]:
			t[i] = escapeBytes
		}
	}
	return t
}()

// plainPairs are the pairs of a sieve without patterns, made with the first sieve: programs that search for
// nobody start without them.
var plainPairs = sync.OnceValue(func() *[1 << 16]uint32 {
	s := &sieve{}
	for i := range s.pairs {
		s.pairs[i] = kinds[i&0xff] | kinds[i>>8]
	}
	for _, c := range []byte(" \t\x00") { // in a folded line, and in UTF-16
		s.putShort(lineGroup, pattern{bytes: []byte{'\n', c}})
	}
	for _, c := range []byte("-\r ") {
		s.putShort(lineGroup, pattern{bytes: []byte{c, '\n'}})
	}
	for _, magic := range packedMagic {
		if p := (pattern{bytes: []byte(magic)}); len(magic) == 2 {
			s.putShort(magicGroup+1, p)
		} else {
			s.put(magicGroup, p, 0)
			s.put(magicGroup, p, 1)
		}
	}
	return &s.pairs
})

func newSieve(all []pattern) *sieve {
	s := &sieve{patterns: slices.Clone(all), pairs: *plainPairs()}
	slices.SortStableFunc(s.patterns, func(a, b pattern) int { return cmp.Compare(string(a.bytes), string(b.bytes)) })
	each := len(s.patterns)/(magicGroup-longGroup) + 1
	hashes := [hashSize][]uint32{}
	for n, p := range s.patterns {
		if len(p.bytes) < 4 {
			s.putShort(shortGroup, p)
		} else {
			s.put(longGroup+n/each, p, 0)
			s.put(longGroup+n/each, p, 1)
		}
		for _, a := range cased(p.bytes[0], p.fold) {
			for _, b := range cased(p.bytes[1], p.fold) {
				if h := pairHash(a, b); len(hashes[h]) == 0 || hashes[h][len(hashes[h])-1] != uint32(n) {
					hashes[h] = append(hashes[h], uint32(n))
				}
			}
		}
	}
	for h, in := range hashes {
		s.order = append(s.order, in...)
		s.from[h+1] = uint32(len(s.order))
	}
	return s
}

func pairHash(a, b byte) uint32 { return (uint32(a)<<3 ^ uint32(b)) & (hashSize - 1) }

// putShort adds a short pattern: the two possible offsets see so little of it that each needs a group of its
// own.
func (s *sieve) putShort(group int, p pattern) {
	s.put(group, p, 0)
	s.put(group+1, p, -1)
}

// put adds a pattern for steps whose first byte is its byte begin.
func (s *sieve) put(group int, p pattern, begin int) {
	for pair, bit := range []uint32{1 << group, 1 << (group + secondPair)} {
		i := begin + 2*pair
		for _, a := range p.at(i) {
			for _, b := range p.at(i + 1) {
				s.pairs[uint32(a)|uint32(b)<<8] |= bit
			}
		}
	}
}

// at are the bytes that a pattern allows at an offset; outside of it, any.
func (p *pattern) at(i int) []byte {
	if i < 0 || i >= len(p.bytes) {
		return anyByte
	}
	return cased(p.bytes[i], p.fold)
}

var anyByte = func() (all []byte) {
	for c := range 256 {
		all = append(all, byte(c))
	}
	return all
}()

// cased are the bytes that equal c.
func cased(c byte, fold bool) []byte {
	l := lower(c)
	if !fold || l < 'a' || l > 'z' {
		return []byte{c}
	}
	return []byte{l, l - 'a' + 'A'}
}

// look returns the groups of patterns that may begin in the block of b at an offset, and the kinds of its
// bytes; beyond the end of b it reads zeros.
func (s *sieve) look(b []byte, at int) (group, kind uint32) {
	const all = blockSize + 8
	if len(b)-at < all {
		var end [all]byte
		copy(end[:], b[at:])
		b, at = end[:], 0
	}
	blk := (*[all]byte)(b[at:])
	x := binary.LittleEndian.Uint64(blk[:])
	last := s.pairs[uint16(x)]
	for i := 8; i <= blockSize; i += 8 {
		p, q, r := s.pairs[uint16(x>>16)], s.pairs[uint16(x>>32)], s.pairs[uint16(x>>48)]
		x = binary.LittleEndian.Uint64(blk[i:])
		next := s.pairs[uint16(x)]
		group |= last&(p>>secondPair) | p&(q>>secondPair) | q&(r>>secondPair) | r&(next>>secondPair)
		kind |= last | p | q | r
		last = next
	}
	return group & (patterns | magics | lines), kind
}

// scan calls yield for every occurrence in b with its pattern, in order; one that crosses a block's end may
// come twice. yield returns false to stop.
func (s *sieve) scan(b []byte, yield func(p *pattern, at int) bool) {
	for at := 0; at < len(b); at += blockSize {
		if group, _ := s.look(b, at); group&patterns != 0 && !s.within(b, at, yield) {
			return
		}
	}
}

// within yields the patterns that steps into a block find: some begin one byte before it, or after it.
func (s *sieve) within(b []byte, from int, yield func(p *pattern, at int) bool) bool {
	next := 0 // earlier beginnings were tried
	for i := from; i < min(from+blockSize, len(b)); i += 2 {
		if i+4 <= len(b) && s.pairs[uint32(b[i])|uint32(b[i+1])<<8]&(s.pairs[uint32(b[i+2])|uint32(b[i+3])<<8]>>secondPair)&patterns == 0 {
			continue
		}
		for at := max(i-1, next); at < min(i+2, len(b)-1); at++ {
			h := pairHash(b[at], b[at+1])
			for _, n := range s.order[s.from[h]:s.from[h+1]] {
				p := &s.patterns[n]
				if len(b)-at >= len(p.bytes) && p.is(b[at:at+len(p.bytes)]) && !yield(p, at) {
					return false
				}
			}
		}
		next = i + 2
	}
	return true
}

func (p *pattern) is(b []byte) bool {
	if !p.fold {
		return string(b) == string(p.bytes)
	}
	for i, c := range p.bytes {
		if b[i] != c && lower(b[i]) != lower(c) {
			return false
		}
	}
	return true
}

// any reports whether any pattern occurs in the text.
func (s *sieve) any(text []byte) bool {
	found := false
	s.scan(text, func(*pattern, int) bool {
		found = true
		return false
	})
	return found
}
