package linesearch

// Grams rule out a query for most texts: one bit for each three consecutive bytes of the folded text.
// Different ones can share a bit.
type Grams [GramWords]uint64

// GramWords makes 2,048 bits. A note of 800 bytes fills about a quarter, so one in a hundred that does
// not hold a word of five letters passes.
const GramWords = 32

const (
	gramBits = 11
	// GramText is the longest useful text, in bytes: a longer one fills all bits.
	GramText = 8 << 10
)

func gram(a, b, c byte) uint32 {
	return (uint32(a) | uint32(b)<<8 | uint32(c)<<16) * 0x9e3779b1 >> (32 - gramBits)
}

// GramsOf a text. The first bit is always set.
func GramsOf(text []byte) (g Grams) {
	buf := lowered.Get().(*[]byte)
	defer lowered.Put(buf)
	low := append((*buf)[:0], text...)
	*buf = low
	if !lowerASCII(low, text) {
		low = fold(text)
	}
	g[0] = 1
	for i := 2; i < len(low); i++ {
		n := gram(low[i-2], low[i-1], low[i])
		g[n/64] |= 1 << (n % 64)
	}
	return g
}

// grams are the bits that a text must have to hold every word.
func grams(terms []string) (out []uint32) {
	for _, t := range terms {
		for i := 2; i < len(t); i++ {
			out = append(out, gram(t[i-2], t[i-1], t[i]))
		}
	}
	return out
}

// Narrow reports whether the query's words are long enough for Grams.
func (q Query) Narrow() bool { return len(q.grams) > 0 }

// May is false when a text cannot hold every word; word returns a part of its Grams.
func (q Query) May(word func(i int) uint64) bool {
	for _, n := range q.grams {
		if word(int(n/64))&(1<<(n%64)) == 0 {
			return false
		}
	}
	return true
}
