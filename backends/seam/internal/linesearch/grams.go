package linesearch

import "unicode/utf8"

// Grams rule out a query for most texts: one bit for each three consecutive bytes of a word of the folded text.
// Different ones can share a bit.
type Grams [GramWords]uint64

// GramWords makes 1,024 bits. A note of 800 bytes fills about a quarter, so one in a hundred that does
// not hold a word of five letters passes.
const GramWords = 16

const (
	gramBits = 10
	// GramText is the longest useful text, in bytes: a longer one fills most bits.
	GramText = 8 << 10
)

func gram(a, b, c byte) uint32 {
	return (uint32(a) | uint32(b)<<8 | uint32(c)<<16) * 0x9e3779b1 >> (32 - gramBits)
}

// inWord are the bytes of words in a folded text: most queries are words, so a gram over a blank tells nothing.
func inWord(b byte) bool {
	return 'a' <= b && b <= 'z' || '0' <= b && b <= '9' || b >= utf8.RuneSelf
}

// eachGram yields the grams of the words of a folded text.
func eachGram[T string | []byte](low T, yield func(uint32)) {
	length := 0 // of the word so far
	for i := range len(low) {
		if !inWord(low[i]) {
			length = 0
			continue
		}
		if length++; length > 2 {
			yield(gram(low[i-2], low[i-1], low[i]))
		}
	}
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
	eachGram(low, func(n uint32) { g[n/64] |= 1 << (n % 64) })
	return g
}

// grams are the bits that a text must have to hold every word.
func grams(terms []string) (out []uint32) {
	for _, t := range terms {
		eachGram(t, func(n uint32) { out = append(out, n) })
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
