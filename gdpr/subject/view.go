package subject

import (
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// view is a text as it is compared, with the way back to where it came from.
type view struct {
	text string
	at   []int32 // offset in the source of each byte of text, and one more; nil: the same
	src  string
	// mid is the text between the source and this view, where it was decoded first;
	// boundaries and case are looked up there.
	mid  string
	back []int32 // offsets of mid in src; nil: mid is src
	// bare: mid is a text without its markup. It says something of names only, and of
	// those in which markup was.
	bare bool
}

// says reports whether a stretch of a view may be an identifier of a shape.
func (v view) says(lo, hi int) bool {
	if !v.bare {
		return true
	}
	from, to := v.midOf(lo), v.midEnd(hi)
	return strings.IndexByte(v.text[lo:hi], ' ') >= 0 && (int(v.back[to-1]-v.back[from]) != to-1-from || emphasised(v.src, int(v.back[from]), int(v.back[to-1])+1))
}

func (v view) midOf(i int) int {
	if v.at == nil {
		return i
	}
	return int(v.at[i])
}

func (v view) srcOf(i int) int {
	if v.back == nil {
		return i
	}
	return int(v.back[i])
}

func (v view) start(i int) int { return v.srcOf(v.midOf(i)) }

// end is the end in the source of what ends before i: the next piece begins
// there, except for what was passed over in between.
func (v view) end(i int) int {
	if v.at == nil {
		return v.srcOf(i)
	}
	// The last byte's own piece ends where the next kept or dropped one begins.
	last := int(v.at[i-1])
	for j := i; j < len(v.at); j++ {
		if int(v.at[j]) > last {
			return v.srcOf(pieceEnd(v.mid, last, int(v.at[j])))
		}
	}
	return v.srcOf(len(v.mid))
}

// pieceEnd is the end of the rune cluster at last, without what was dropped
// after it: trailing spaces that were joined belong to what follows.
func pieceEnd(s string, last, next int) int {
	_, n := utf8.DecodeRuneInString(s[last:next])
	end := last + n
	for end < next {
		r, n := utf8.DecodeRuneInString(s[end:next])
		if !unicode.IsMark(r) && !ignorable(r) {
			break
		}
		end += n
	}
	return end
}

// whole applies the rule of a whole token at both ends, in the text before
// folding (part.go).
func (v view) whole(lo, hi int, sh shape) bool {
	return v.chars(lo, hi) && !partBefore(v.mid[:v.midOf(lo)], sh) && !partAfter(v.mid[v.midEnd(hi):], sh)
}

// chars reports whether a stretch begins and ends with a character, not inside one.
func (v view) chars(lo, hi int) bool {
	return v.at == nil || (hi >= len(v.at)-1 || v.at[hi] != v.at[hi-1]) && (lo == 0 || v.at[lo] != v.at[lo-1])
}

func (v view) midEnd(hi int) int {
	w := v
	w.back = nil
	return w.end(hi)
}

// reads reports whether the text behind the span is t, in whatever normal form.
func (v view) reads(lo, hi int, t string) bool {
	got := v.mid[v.midOf(lo):v.midEnd(hi)]
	return got == t || shown(got) == shown(t)
}

// shown is a text in one normal form without what shows nothing.
func shown(s string) string {
	return norm.NFKC.String(strings.Map(func(r rune) rune {
		if ignorable(r) {
			return -1
		}
		return r
	}, s))
}

func wordBefore(s string) bool {
	_, r := lastRune(s)
	return wordRune(r)
}

func wordAfter(s string) bool {
	_, r := firstRune(s)
	return r == '-' || wordRune(r) || unicode.IsMark(r)
}

// unspaced are scripts that set no space between words, where a name's
// neighbour says nothing.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return wordByte(byte(r))
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r)) && r != utf8.RuneError && !unicode.In(r, unspaced...)
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}

// ignorable characters show nothing and are used to break words up.
func ignorable(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0, r == 0xfeff:
		return true
	case r >= 0x180b && r <= 0x180f, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
		r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// lookAlikes are letters of other scripts that read as Latin ones (Unicode
// confusables, the single letters that names are disguised with).
var lookAlikes = func() map[rune]rune {
	m := map[rune]rune{}
	pairs := "аaвbсcԁdеeһhіiјjκkкkӏlмmոnнhоoορpрpԛqѕsтtυuνvѵvԝwхxχxуyγyᴢzαaεeιiτtηnωw" +
		"ɑaɡgɩiȷjʟlɴnʀrꜱsʏyʙbᴄcᴅdᴇeʜhᴊjᴋkᴍmᴏoᴘpᴛtᴜuᴠvᴡw"
	runes := []rune(pairs)
	for i := 0; i+1 < len(runes); i += 2 {
		m[runes[i]] = runes[i+1]
	}
	for _, r := range "\u2018\u2019\u02bc\u2032" { // what word processors make of O'Brien
		m[r] = '\''
	}
	m['\u2010'], m['\u2011'] = '-', '-' // of Anna-Maria
	return m
}()

var folder = cases.Fold()

// fold is compatibility decomposition, case folding, look-alikes as Latin,
// invisible characters dropped, white space joined.
func fold(s string) view {
	if isASCII(s) {
		return foldASCII(s)
	}
	f := folding{text: make([]byte, 0, len(s)+len(s)/4), at: make([]int32, 0, len(s)+len(s)/4+1)}
	if !utf8.ValidString(s) { // what no character is, is for the tables to part
		f.segment(s, 0)
		return view{src: s, mid: s, text: string(f.text), at: append(f.at, int32(len(s)))}
	}
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf && (i+1 == len(s) || s[i+1] < utf8.RuneSelf) {
			f.char(lower(s[i]), i)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if end := i + n; segmentEnds(s, end) {
			if known := foldOf(r); known.starts {
				f.string(known.text, i)
				i = end
				continue
			}
		}
		end := i + n
		for !segmentEnds(s, end) {
			_, n := utf8.DecodeRuneInString(s[end:])
			end += n
		}
		f.segment(s[i:end], i)
		i = end
	}
	return view{src: s, mid: s, text: string(f.text), at: append(f.at, int32(len(s)))}
}

// segmentEnds reports whether a character that nothing before it can change begins
// at i.
func segmentEnds(s string, i int) bool {
	if i >= len(s) || s[i] < utf8.RuneSelf {
		return true
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return foldOf(r).starts
}

// folding is a folded text under way.
type folding struct {
	text  []byte
	at    []int32
	space bool // the last that was written
}

// char writes one byte that stands for what is at a place of the source.
func (f *folding) char(c byte, at int) {
	if spaceByte(c) {
		if f.space {
			return
		}
		c = ' '
	}
	f.space = c == ' '
	f.text = append(f.text, c)
	f.at = append(f.at, int32(at))
}

func (f *folding) string(folded string, at int) {
	for i := range len(folded) {
		f.char(folded[i], at)
	}
}

// segment folds characters that belong together: what composes and decomposes.
func (f *folding) segment(s string, base int) {
	var it norm.Iter
	it.InitString(norm.NFKD, s)
	for !it.Done() {
		at := base + it.Pos()
		for _, r := range string(it.Next()) {
			switch {
			case ignorable(r):
				continue
			case unicode.IsSpace(r):
				f.char(' ', at)
				continue
			case r < utf8.RuneSelf:
				f.char(lower(byte(r)), at)
				continue
			}
			for _, c := range folder.String(string(r)) {
				if l, ok := lookAlikes[c]; ok {
					c = l
				}
				f.string(string(c), at)
			}
		}
	}
}

// runeFold is what a character becomes that stands alone.
type runeFold struct {
	text string
	// starts: nothing before it changes it, as a mark is changed by its order.
	starts bool
	// inert: it becomes nothing that an ASCII word is made of, and parts words.
	inert bool
}

// runeFolds keeps what characters become: to ask the tables for each of a text
// costs more than everything else.
var runeFolds [0x20000]atomic.Pointer[runeFold]

func foldOf(r rune) *runeFold {
	if int(r) < len(runeFolds) {
		if known := runeFolds[r].Load(); known != nil {
			return known
		}
	}
	var f folding
	f.segment(string(r), 0)
	first := norm.NFKD.String(string(r)) // a vowel of Hangul is one with what stands before it, whatever it was written as
	out := &runeFold{text: string(f.text), starts: norm.NFKD.PropertiesString(string(r)).BoundaryBefore() && norm.NFKD.PropertiesString(first).BoundaryBefore()}
	out.inert = out.starts && out.text != "" && strings.IndexFunc(out.text, func(r rune) bool { return r < utf8.RuneSelf }) < 0
	if int(r) < len(runeFolds) {
		runeFolds[r].Store(out)
	}
	return out
}

func foldASCII(s string) view {
	v := view{src: s, mid: s}
	joined := false
	for i := 0; i < len(s); i++ {
		if spaceByte(s[i]) && (s[i] != ' ' || i+1 < len(s) && spaceByte(s[i+1])) {
			joined = true
			break
		}
	}
	out := make([]byte, 0, len(s))
	if !joined {
		for i := range len(s) {
			out = append(out, lower(s[i]))
		}
		v.text = string(out)
		return v
	}
	v.at = make([]int32, 0, len(s)+1)
	space := false
	for i := range len(s) {
		c := lower(s[i])
		if spaceByte(c) {
			if space {
				continue
			}
			c = ' '
		}
		space = c == ' '
		out = append(out, c)
		v.at = append(v.at, int32(i))
	}
	v.at = append(v.at, int32(len(s)))
	v.text = string(out)
	return v
}

// decoded is a text with escapes resolved and the way back.
type decoded struct {
	text string
	at   []int32
	src  string
}

// fold2 folds what was decoded first.
func fold2(d decoded) view {
	v := fold(d.text)
	v.src, v.back = d.src, d.at
	return v
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func spaceByte(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
