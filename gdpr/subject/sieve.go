package subject

import "unsafe"

// pattern is a sequence of bytes to look for.
type pattern struct {
	bytes []byte
	fold  bool // ASCII letters in any case
	term  int
}

// sieve finds the places in a byte stream where one of several patterns may
// stand, by Wu and Manber's shifts over blocks of two bytes: most bytes are
// never looked at. Patterns of one byte do not occur.
type sieve struct {
	groups []group
}

// group holds patterns of about one length: the shortest decides how far a step
// goes.
type group struct {
	width    int // bytes of each pattern that the shifts cover
	patterns []pattern
	shift    [1 << 16]uint8     // by block
	last     [hashSize][]uint16 // patterns whose covered part ends in a block, by its hash
}

const (
	hashSize = 1 << 12
	maxWidth = 12
)

// block is what the shifts are looked up by: they are one for each block, so that
// blocks of other data do not share those of the patterns.
func block(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

func blockHash(a, b byte) uint32 { return (uint32(a)<<5 ^ uint32(b)) & (hashSize - 1) }

func newSieve(all []pattern) *sieve {
	s := &sieve{}
	for _, band := range [][2]int{{2, 3}, {4, 7}, {8, 1 << 20}} {
		var in []pattern
		for _, p := range all {
			if len(p.bytes) >= band[0] && len(p.bytes) <= band[1] {
				in = append(in, p)
			}
		}
		if len(in) > 0 {
			s.groups = append(s.groups, newGroup(in))
		}
	}
	return s
}

func newGroup(patterns []pattern) group {
	g := group{width: maxWidth, patterns: patterns}
	for _, p := range patterns {
		g.width = min(g.width, len(p.bytes))
	}
	for i := range g.shift {
		g.shift[i] = uint8(g.width - 1)
	}
	for n, p := range patterns {
		for i := 1; i < g.width; i++ {
			for _, a := range cased(p.bytes[i-1], p.fold) {
				for _, b := range cased(p.bytes[i], p.fold) {
					s := &g.shift[block(a, b)]
					*s = min(*s, uint8(g.width-1-i))
					h := blockHash(a, b)
					if i == g.width-1 && (len(g.last[h]) == 0 || g.last[h][len(g.last[h])-1] != uint16(n)) {
						g.last[h] = append(g.last[h], uint16(n))
					}
				}
			}
		}
	}
	return g
}

// cased are the bytes that count as c.
func cased(c byte, fold bool) []byte {
	l := lower(c)
	if !fold || l < 'a' || l > 'z' {
		return []byte{c}
	}
	return []byte{l, l - 'a' + 'A'}
}

// scan calls yield for every occurrence that begins in b[from:], with its
// pattern; yield returns false to stop. Occurrences of one pattern come in order.
func (s *sieve) scan(b []byte, from int, yield func(p *pattern, at int) bool) bool {
	for i := range s.groups {
		if !s.groups[i].scan(b, from, yield) {
			return false
		}
	}
	return true
}

// lanes is the length from which on a text is searched in four parts at once: each
// step waits for the one before it, and the parts do not wait for each other.
const lanes = 1 << 13

// found is an occurrence that waits for those before it.
type found struct {
	p  *pattern
	at int
}

func (g *group) scan(b []byte, from int, yield func(p *pattern, at int) bool) bool {
	i := from + g.width - 1
	if len(b)-i < lanes {
		return g.lane(b, i, len(b), yield)
	}
	part := (len(b) - i) / 4
	ends := [4]int{i + part, i + 2*part, i + 3*part, len(b)}
	j, k, l := ends[0], ends[1], ends[2]
	var late [3][]found
	wait := [3]func(p *pattern, at int) bool{}
	for n := range wait {
		wait[n] = func(p *pattern, at int) bool {
			late[n] = append(late[n], found{p, at})
			return true
		}
	}
	shift := &g.shift
	for i < ends[0] && j < ends[1] && k < ends[2] && l < ends[3] {
		si, sj := shift[block(b[i-1], b[i])], shift[block(b[j-1], b[j])]
		sk, sl := shift[block(b[k-1], b[k])], shift[block(b[l-1], b[l])]
		if si == 0 {
			if !g.at(b, i, yield) {
				return false
			}
			si = 1
		}
		if sj == 0 {
			g.at(b, j, wait[0])
			sj = 1
		}
		if sk == 0 {
			g.at(b, k, wait[1])
			sk = 1
		}
		if sl == 0 {
			g.at(b, l, wait[2])
			sl = 1
		}
		i, j, k, l = i+int(si), j+int(sj), k+int(sk), l+int(sl)
	}
	if !g.lane(b, i, ends[0], yield) {
		return false
	}
	for n, at := range [3]int{j, k, l} {
		for _, o := range late[n] {
			if !yield(o.p, o.at) {
				return false
			}
		}
		if !g.lane(b, at, ends[n+1], yield) {
			return false
		}
	}
	return true
}

// lane searches for what the shifts cover up to a byte of b[i:end].
func (g *group) lane(b []byte, i, end int, yield func(p *pattern, at int) bool) bool {
	for i < end {
		if step := g.shift[block(b[i-1], b[i])]; step > 0 {
			i += int(step)
			continue
		}
		if !g.at(b, i, yield) {
			return false
		}
		i++
	}
	return true
}

// at yields the patterns whose covered part ends at b[i].
func (g *group) at(b []byte, i int, yield func(p *pattern, at int) bool) bool {
	at := i - g.width + 1
	for _, n := range g.last[blockHash(b[i-1], b[i])] {
		p := &g.patterns[n]
		if len(b)-at >= len(p.bytes) && p.is(b[at:at+len(p.bytes)]) && !yield(p, at) {
			return false
		}
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

// any reports whether any pattern stands in the text.
func (s *sieve) any(text string) bool {
	found := false
	// The bytes are only read: a copy of every text costs more than the search.
	s.scan(unsafe.Slice(unsafe.StringData(text), len(text)), 0, func(*pattern, int) bool {
		found = true
		return false
	})
	return found
}
