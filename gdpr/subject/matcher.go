// Package subject finds the identifiers of a subject in text and in raw bytes. It does not decide what is
// done with an occurrence, and never prints an identifier.
//
// # One search
//
// A medium is a stream of bytes (open.go expands compressed data). It has layers: its own text, and every
// text that is encoded in it. walker (walk.go) visits them all, each with the way back to the bytes (layer).
// Only the letters and digits of a layer are compared, folded (view); the gaps between them and the borders
// around them decide whether they are the identifier (Pattern.fits, by its Kind). Planning, redaction and
// verification use Matcher; suppression, which knows only hashes, uses Index: both search with the same
// walker and the same patterns.
//
// docs/found.md says which spellings are found and which are not.
package subject

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"memdesk/model"
)

// Method is the form in which an identifier was found.
type Method string

// The methods. Embedded is weaker evidence: a piece of a record that may be part of a longer word.
const (
	Exact    Method = "exact"
	Folded   Method = "folded"   // other case, diacritics, separators, look-alikes, markup, across lines
	Reversed Method = "reversed" // the last name first
	Dialled  Method = "telephone"
	Percent  Method = "percent"
	Escaped  Method = "escape" // of JSON and of programming languages
	Entity   Method = "html-entity"
	Quoted   Method = "quoted-printable"
	UTF7     Method = "utf-7"
	UTF16    Method = "utf-16"  // or UTF-32
	Charset  Method = "charset" // an older encoding: GB18030, Shift_JIS, Windows-1251 and others (charsetsOf)
	Latin1   Method = "latin-1" // or Windows-1252
	Base64   Method = "base64"
	Base32   Method = "base32"
	Hex      Method = "hex"
	Archive  Method = "archive"        // inside compressed data, an archive or a document, or in a member's name
	Prefix   Method = "prefix-windows" // an index term whose first bytes were compressed away
	Embedded Method = "embedded"       // inside a binary record, with no border on one side
)

// Hit is one occurrence. Start and End are byte offsets in the text searched.
type Hit struct {
	Term       int // index into Terms
	Start, End int
	Method     Method
}

// Matcher searches for one subject's identifiers. It is safe for concurrent use. It remembers runs of digits that hold
// nothing, which changes no answer.
type Matcher struct {
	terms    []string
	patterns []Pattern
	letters  *sieve         // the letters of the patterns
	anchors  *sieve         // pieces that every spelling of an identifier has, in ASCII
	windows  *sieve         // of index terms
	pairs    *[1 << 16]bool // consecutive letters, the first one high
	reach    int            // how far an occurrence may extend from an anchor, in bytes
	longest  int            // longest occurrence without escapes and markup, in bytes
	least    int            // shortest identifier, in bytes
	chain    int            // consecutive pairs in the shortest pattern
	phones   bool
	foreign  bool           // an identifier has non-Latin letters
	firsts   *[1 << 16]bool // see firstPairs
	charsets []*charset
	quiet    *quiet
}

// New makes a matcher. Each term is checked with Check; a repeated term counts once.
func New(terms ...string) (*Matcher, error) {
	m := &Matcher{least: MaxTerm, chain: MaxTerm, pairs: &[1 << 16]bool{}, quiet: newQuiet()}
	if len(terms) == 0 {
		return nil, model.Errorf(model.InvalidInput, "subject", "no identifier: an empty selector would match everything")
	}
	longest := 0
	for _, t := range terms {
		t = strings.TrimSpace(t)
		if err := Check(t); err != nil {
			return nil, err
		}
		if slices.Contains(m.terms, t) {
			continue
		}
		m.terms = append(m.terms, t)
		for _, p := range PatternsOf(t) {
			p.term = len(m.terms) - 1
			m.patterns = append(m.patterns, p)
			for i := 1; i < len(p.Letters); i++ {
				m.pairs[int(p.Letters[i-1])<<8|int(p.Letters[i])] = true
			}
			m.chain = min(m.chain, len(p.Letters)-1)
			longest, m.least = max(longest, len(p.Letters)), min(m.least, leastBytes(len(p.Letters), isASCII(p.Letters)))
			m.phones = m.phones || p.Kind == Telephone
			m.foreign = m.foreign || !isASCII(p.Letters)
		}
	}
	m.charsets = charsets(strings.Join(m.terms, " "))
	m.reach, m.longest = maxMark+10*longest, 64+2*longest
	var anchors, windows []pattern
	for i, t := range m.terms {
		for _, p := range windowsOf(t) {
			p.term = i
			windows = append(windows, p)
		}
		for _, p := range PatternsOf(t) {
			if p.Comma == 0 {
				anchors = append(anchors, anchorsOf(t, p)...)
			}
		}
		for _, d := range otherDomain(t) {
			anchors = append(anchors, anchorsOf(d, patternsOf(d)[0])...)
		}
		for _, d := range declined(t) {
			anchors = append(anchors, anchorsOf(d, Pattern{Kind: Name, Letters: d})...)
		}
	}
	var letters []pattern
	for _, p := range m.patterns {
		letters = append(letters, pattern{bytes: []byte(p.Letters)})
	}
	m.letters = newSieve(distinct(letters))
	m.firsts = m.firstPairs()
	m.anchors, m.windows = newSieve(distinct(append(anchors, windows...))), newSieve(windows)
	return m, nil
}

// leastBytes is the fewest bytes that the letters may take: a syllable of Korean is two bytes in UTF-16, and
// nine folded.
func leastBytes(folded int, ascii bool) int {
	if ascii {
		return folded
	}
	return max(2, folded*2/9)
}

func distinct(all []pattern) []pattern {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(p pattern) bool {
		key := string(p.bytes)
		if p.fold {
			key = strings.ToLower(key) + "\x00"
		}
		was := seen[key]
		seen[key] = true
		return was || len(p.bytes) < 2
	})
}

// anchorsOf are byte sequences of which at least one occurs in every spelling of an identifier, except
// spellings with added diacritics, escapes of plain letters and base64: pieces handles those. An ASCII piece
// of an identifier is the same in UTF-8 and in all charsets; in UTF-16 and UTF-32 it has zeros between its
// letters.
func anchorsOf(term string, p Pattern) []pattern {
	var out []pattern
	typed := fragments(norm.NFC.String(term), p)
	for _, frag := range typed {
		out = append(out, framed(frag)...)
	}
	if len(typed) > 0 || p.Kind == Telephone {
		return out
	}
	if isASCII(p.Letters) { // each letter may have a diacritic, or none
		for _, frag := range fragments(wordsOf(p), p) {
			out = append(out, framed(frag)...)
		}
	}
	composed := norm.NFC.String(term)
	for _, s := range []string{composed, strings.ToLower(composed), strings.ToUpper(composed), norm.NFD.String(composed)} {
		for _, word := range strings.Fields(s) {
			if out = append(out, pattern{bytes: []byte(word)}); len(word) >= 4 {
				for _, form := range encodedForms([]byte(word)) {
					out = append(out, pattern{bytes: form, fold: true})
				}
			}
			for _, enc := range []Encoding{UTF16LE, UTF16BE} {
				wide := encode(word, enc)
				if out = append(out, pattern{bytes: wide}, pattern{bytes: utf32Of(wide, enc)}); len(wide) >= 4 {
					for _, form := range encodedForms(wide) {
						out = append(out, pattern{bytes: form, fold: true})
					}
				}
			}
		}
	}
	return out
}

// utf32Of is UTF-16 as UTF-32, but for rare characters.
func utf32Of(wide []byte, enc Encoding) (out []byte) {
	for unit := range slices.Chunk(wide, 2) {
		if enc == UTF16BE {
			out = append(append(out, 0, 0), unit...)
		} else {
			out = append(append(out, unit...), 0, 0)
		}
	}
	return out
}

// wordsOf are the words of a name, folded.
func wordsOf(p Pattern) string {
	out, from := "", 0
	for _, at := range append(slices.Clone(p.Breaks), len(p.Letters)) {
		out, from = out+" "+p.Letters[from:at], at
	}
	return out
}

// framed are the encodings of an ASCII piece of an identifier: UTF-16 and UTF-32, hex and base32.
func framed(frag string) []pattern {
	out := []pattern{{bytes: []byte(frag), fold: true, plain: true}}
	for _, size := range []int{2, 4} {
		var wide []byte
		for i := range len(frag) {
			wide = append(append(wide, frag[i]), make([]byte, size-1)...)
		}
		out = append(out, pattern{bytes: wide[:len(wide)-size+1], fold: true})
	}
	if len(frag) < 3 {
		return out
	}
	for _, s := range []string{frag, strings.ToLower(frag), strings.ToUpper(frag)} {
		for _, form := range encodedForms([]byte(s)) {
			out = append(out, pattern{bytes: form, fold: true})
		}
	}
	return out
}

// fragments are the pieces of an identifier that all its spellings have in ASCII: the most selective one, in
// two halves where it is long, because a line may end inside a word.
func fragments(term string, p Pattern) []string {
	if p.Kind == Telephone {
		return []string{p.Letters}
	}
	if local, _, ok := strings.Cut(term, "@"); ok { // many people share a domain
		if own := fragments(local, p); len(own) > 0 && len(own[0]) >= 4 {
			return own
		}
	}
	best, most := "", 0
	for _, word := range strings.FieldsFunc(term, func(r rune) bool { return r >= utf8.RuneSelf || !wordByte(byte(r)) || r == '_' }) {
		if len(p.Letters) > 0 && !strings.Contains(p.Letters, strings.ToLower(word)) {
			continue // here it has another spelling
		}
		score := min(len(word), 8) * 4
		for _, r := range word {
			if r >= '0' && r <= '9' || strings.ContainsRune("jkqvwxyz", r) {
				score += 3
			}
		}
		if len(word) >= 2 && score > most {
			best, most = word, score
		}
	}
	switch n := len(best); {
	case n == 0:
		return nil
	case n < 3 && !isASCII(p.Letters):
		return nil
	case n >= 8:
		return []string{best[:(n+1)/2], best[n/2:]}
	}
	return []string{best}
}

// encodedForms are the hex and base32 digits that do not depend on neighbouring bytes.
func encodedForms(b []byte) [][]byte {
	out := [][]byte{[]byte(hex.EncodeToString(b)), []byte(hex.EncodeToString(encode(string(b), UTF16BE)))[2:]}
	for skip := range 5 {
		raw := append(make([]byte, skip), b...)
		first, last := (skip*8+4)/5, len(raw)*8/5
		var bits []byte
		for i := first; i < last; i++ {
			v := 0
			for k := i * 5; k < i*5+5; k++ {
				v = v<<1 | int(raw[k/8]>>(7-k%8))&1
			}
			bits = append(bits, "abcdefghijklmnopqrstuvwxyz234567"[v])
		}
		if len(bits) >= 4 {
			out = append(out, bits)
		}
	}
	return out
}

// Terms are the identifiers, the id first.
func (m *Matcher) Terms() []string { return slices.Clone(m.terms) }

// Names reports whether the text names the subject.
func (m *Matcher) Names(text string) bool { return len(m.find(raw(text), false, true)) > 0 }

// prober returns the function near of a walker: whether a layer has the letters of an identifier, with any
// bytes between them, or a piece of one as text indexes keep it.
func (m *Matcher) prober() func(l *layer) bool {
	var letters []byte // reused from layer to layer
	return func(l *layer) bool {
		if l.loose && l.depth == 0 && m.windows.any(l.text) {
			return true
		}
		if letters = appendLetters(letters[:0], l.text, false); m.letters.any(letters) {
			return true
		}
		if !marked(l.text) {
			return false
		}
		letters = appendLetters(letters[:0], l.text, true)
		return m.letters.any(letters)
	}
}

// Near reports whether a piece of an identifier occurs in the raw text, alone or inside another word. It is a
// cheap no for most texts.
func (m *Matcher) Near(text string) bool { return m.anchors.any(raw(text)) }

// Text finds every occurrence in a text, in order and without overlap.
func (m *Matcher) Text(text string) []Hit { return m.find(raw(text), false, false) }

// find searches all layers of bytes. loose says that they are a record whose fields touch, where an
// identifier needs no borders.
func (m *Matcher) find(b []byte, loose, first bool) []Hit {
	hits, _ := m.search(b, loose, false, nil, first, m.prober())
	return hits
}

// search is find with bystanders, which may explain an occurrence without borders, and with a probe or none. rtf says
// that the bytes continue RTF. It reports what it could not see.
func (m *Matcher) search(b []byte, loose, rtf bool, bystanders *Bystanders, first bool, near func(*layer) bool) ([]Hit, unseen) {
	var hits []Hit
	others := map[span]bool{} // names in addresses of others that only a decoded layer shows whole: so a first hit may be none
	first = first && !(bytes.ContainsFunc(b, func(r rune) bool { return r < 0x80 && escapes[r] }) && slices.ContainsFunc(m.patterns, func(p Pattern) bool { return p.Kind == Address }))
	w := walker{until: math.MaxInt, joined: map[span]bool{}, pieces: m.pieces, least: m.least, reach: m.reach, foreign: m.foreign, charsets: m.charsets, near: near, quiet: m.quiet}
	w.anchors, w.silent = m.anchors, m.silent
	w.begins = func(b []byte) bool { return m.begins(b) || m.anchors.any(b) } // ASCII identifiers can end differently next to other letters
	w.look = func(v *view, l *layer) bool {
		if loose && l.depth == 0 {
			hits = m.inIndex(hits, l)
		}
		m.match(v, func(p *Pattern, lo, hi int, whole bool) bool {
			h := Hit{Term: p.term, Method: l.method}
			h.Start, h.End = l.place(int(v.from[lo]), int(v.to[hi-1]))
			if !l.block && (h.Start < w.from || h.Start >= w.until) {
				return true
			}
			if !whole && !l.block && l.method != "" && m.inOther(p, v, lo, hi) {
				others[span{h.Start, h.End}] = true
			}
			switch {
			case whole && (l.noise || l.loose && l.method == "") && len(p.Letters) < shortTerm && !amidText(v.src, int(v.from[lo]), int(v.to[hi-1])):
				return true
			case !whole && (!l.loose || len(p.Letters) < shortTerm || bystanders.explains(v, lo, hi)):
				return true
			case !whole:
				h.Method = Embedded
			case h.Method != "":
			case p.Kind == Telephone:
				h.Method = Dialled
			case p.Comma > 0:
				h.Method = Reversed
			case string(v.src[v.from[lo]:v.to[hi-1]]) == m.terms[p.term]:
				h.Method = Exact
			case !utf8.Valid(v.src[v.from[lo]:v.to[hi-1]]):
				h.Method = Latin1
			default:
				h.Method = Folded
			}
			hits = append(hits, h)
			return !first
		})
		return !first || len(hits) == 0
	}
	w.text(&layer{text: b, loose: loose, rtf: rtf, family: unresolved})
	return merge(unexplained(hits, others, w.joined)), w.unseen
}

// unexplained drops the hits in addresses of others, and those that a better one explains: a name with the last
// name first, or the rest of an index term, beside another form (Ana Ribeiro, ana@example.test), and joined lines
// around a hit that is in one of them.
func unexplained(hits []Hit, others, joined map[span]bool) []Hit {
	hits = slices.DeleteFunc(hits, func(h Hit) bool { return others[span{h.Start, h.End}] })
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Start, b.Start) })
	weak := func(h Hit) bool { return h.Method == Reversed || h.Method == Prefix }
	// For each hit the last end of one before it that is not weak, and the first end of one from it on.
	last, first := make([]int, len(hits)+1), make([]int, len(hits)+1)
	first[len(hits)] = math.MaxInt
	for i, h := range hits {
		if last[i+1] = last[i]; !weak(h) {
			last[i+1] = max(last[i], h.End)
		}
		k := len(hits) - 1 - i
		first[k] = min(first[k+1], hits[k].End)
	}
	from := func(at int) int {
		i, _ := slices.BinarySearchFunc(hits, at, func(h Hit, at int) int { return cmp.Compare(h.Start, at) })
		return i
	}
	var out []Hit
	for _, h := range hits {
		if joined[span{h.Start, h.End}] {
			if first[from(h.Start)] < h.End || first[from(h.Start+1)] <= h.End {
				continue
			}
		} else if weak(h) && last[from(h.End)] > h.Start {
			continue
		}
		out = append(out, h)
	}
	return out
}

// shortTerm is the length below which random bytes of a binary medium may equal an identifier.
const shortTerm = 6

// amidText reports whether a short hit has readable characters around it.
func amidText(b []byte, lo, hi int) bool {
	n := 0
	for i := lo - 1; i >= 0 && n < shortTerm && printable(b[i]); i-- {
		n++
	}
	for i := hi; i < len(b) && n < shortTerm && printable(b[i]); i++ {
		n++
	}
	return n >= shortTerm
}

// match yields every place in a view whose letters and gaps are those of an identifier, and whether it is a
// whole token there.
func (m *Matcher) match(v *view, yield func(p *Pattern, lo, hi int, whole bool) bool) {
	for i := range m.patterns {
		p := &m.patterns[i]
		for at := 0; ; {
			n := bytes.Index(v.text[at:], []byte(p.Letters))
			if n < 0 {
				break
			}
			lo, hi := at+n, at+n+len(p.Letters)
			at = lo + 1
			if from, whole, ok := p.fits(v, lo, hi); ok && !yield(p, from, hi, whole && !m.inOther(p, v, lo, hi)) {
				return
			}
		}
	}
}

// inOther reports whether v.text[lo:hi] lies in an address that continues one of the subject's: it is somebody
// else's, with the name in it.
func (m *Matcher) inOther(in *Pattern, v *view, lo, hi int) bool {
	return in.Kind != Address && slices.ContainsFunc(m.patterns, func(p Pattern) bool {
		for at := max(0, hi-len(p.Letters)); p.Kind == Address && at <= lo; at++ {
			if bytes.HasPrefix(v.text[at:], []byte(p.Letters)) && p.goesOn(v, at, at+len(p.Letters)) {
				return true
			}
		}
		return false
	})
}

// merge orders hits and joins overlapping ones, so that a redaction replaces each place once. An exact method
// is kept.
func merge(hits []Hit) []Hit {
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.Term, b.Term))
	})
	out := hits[:0]
	for _, h := range hits {
		if n := len(out); n > 0 && h.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, h.End)
			if h.Method == Exact {
				out[n-1].Method, out[n-1].Term = h.Method, h.Term
			}
			continue
		}
		out = append(out, h)
	}
	return out
}

// Redact replaces every occurrence; an encoded block is replaced as a whole.
func (m *Matcher) Redact(text, with string) string {
	// The text around a replaced place may now read as an identifier: repeat, a few times. What names the subject
	// even then is for the caller to see (RedactBytes does).
	for range 8 {
		hits := m.Text(text)
		if len(hits) == 0 {
			return text
		}
		var b strings.Builder
		at := 0
		for _, h := range hits {
			b.WriteString(text[at:h.Start])
			b.WriteString(with)
			at = h.End
		}
		b.WriteString(text[at:])
		text = b.String()
	}
	return text
}

// NamesBytes is Names for a record that may be no text: compressed data is opened, and other encodings count.
func (m *Matcher) NamesBytes(record []byte) bool { return len(m.Bytes(record)) > 0 }

// Bytes finds the subject in bytes that may be no text: text is decoded first, compressed data opened. The
// places are then those in the decoded text.
func (m *Matcher) Bytes(b []byte) []Hit {
	if IsContainer(b) {
		// The bytes are in memory, so nothing can block and no deadline is needed.
		if rep, err := m.Scan(context.Background(), bytes.NewReader(b), nil); err == nil && rep.Hits > 0 {
			return []Hit{{End: len(b), Method: Archive}}
		}
		return nil
	}
	if text, enc, ok := Plain(b); ok {
		hits := m.Text(text)
		for i := range hits {
			switch {
			case enc == UTF16LE || enc == UTF16BE:
				hits[i].Method = UTF16
			case enc == Windows1252 && hits[i].Method != Base64 && !isASCII(text[hits[i].Start:hits[i].End]):
				hits[i].Method = Latin1
			}
		}
		if enc != Windows1252 || len(hits) > 0 { // any bytes are valid Windows-1252: another encoding may be meant
			return hits
		}
	}
	return m.find(b, isBinary(b), false)
}

// RedactBytes is Redact in the encoding of the bytes' text; every other byte stays. false where they hold no
// text, or where the subject could not be removed.
func (m *Matcher) RedactBytes(b []byte, with string) ([]byte, bool) {
	text, enc, ok := Plain(b)
	if !ok || IsContainer(b) {
		return nil, false
	}
	out := encode(m.Redact(text, with), enc)
	if enc == Windows1252 {
		out = []byte(m.Redact(string(out), with))
	}
	return out, !m.NamesBytes(out)
}

// Inside lists the members of a container that name the subject, and says what could not be opened. Both are
// empty for bytes that are no container.
func (m *Matcher) Inside(body string) (members, closed []string) {
	if !Opens(body) {
		return nil, nil
	}
	rep, err := m.Scan(context.Background(), strings.NewReader(body), nil)
	if err != nil {
		return nil, []string{"it could not be read to the end"}
	}
	return rep.Members, rep.Closed
}

// isBinary distinguishes records from text.
func isBinary(b []byte) bool { return bytes.IndexByte(b[:min(len(b), 8192)], 0) >= 0 }
