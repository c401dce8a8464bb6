package subject

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of one walk.
const (
	maxDepth  = 5        // nested encodings
	maxInside = 16 << 20 // bytes that come out of one compressed part of a text
	maxPacked = 64 << 20 // bytes that come out of all of them
)

// walker visits the layers of a text: the text itself, and everything encoded in it. look receives each layer
// and returns false to stop. Every search for a subject uses it.
type walker struct {
	look func(v *view, l *layer) bool
	// pieces yields the stretches of a text that need a search; nil: all of it.
	pieces  func(text []byte, packed func(at int), yield func(lo, hi int, digits bool))
	least   int  // length of the shortest pattern, in bytes
	reach   int  // how far an occurrence may extend from an escape, in bytes
	foreign bool // a pattern has non-Latin letters
	done    bool
	view    view // reused for each call of look
	// from and until are where an occurrence outside of a block may begin in the piece: others are found in the piece before
	// or behind it.
	from, until int
	// charsets are the older encodings that are tried on bytes that are no UTF-8.
	charsets []*charset
	// near reports whether a layer has the letters of a pattern, with or without markup: without them look
	// finds nothing. May be nil.
	near    func(l *layer) bool
	anchors *sieve // pieces of an identifier; nil where only hashes are known
	// begins reports whether a pattern may begin in bytes, in any character encoding; may be nil.
	begins func(b []byte) bool

	expanded int64 // bytes expanded from compressed parts
	beside   int   // what was noted beside hits: compressed parts, joined lines
	// quiet are runs without anything of the subject; may be nil.
	quiet *quiet
	// silent reports whether a decoded block names nobody in any layer; may be nil.
	silent func(b []byte) bool
	unseen unseen
	// joined are the places of lines that no encoder cuts so: what one of them holds alone is not in the others.
	// May be nil.
	joined map[span]bool
}

// unseen reports parts that a walk could not read completely.
type unseen struct {
	cut     []int // where compressed parts begin that continue beyond the text
	tooMuch bool  // more would come out of them than the bound
	closed  []unopened
}

// unopened is a part that was not opened, and where it begins.
type unopened struct {
	at  int
	why string
}

// note adds a part that was not opened, once.
func (u *unseen) note(l *layer, why string) {
	if n := (unopened{l.start, "inside: " + why}); !l.goesOn && len(u.closed) < 1000 && !slices.Contains(u.closed, n) {
		u.closed = append(u.closed, n)
	}
}

// text walks through a medium, or through the decoded text of a block.
func (w *walker) text(l *layer) {
	if l.rtf = l.rtf || bytes.Contains(l.text, rtfMark); l.rtf && !w.done {
		w.rich(l)
	}
	if w.pieces == nil {
		w.piece(l)
		return
	}
	var packed func(at int)
	if l.loose { // magic bytes at the start were handled before
		packed = func(at int) { w.packed(l, at) }
	}
	w.pieces(l.text, packed, func(lo, hi int, digits bool) { w.windows(l, lo, hi, digits) })
}

// windows walks through a stretch of a text in pieces of about a chunk: the layers of one take many times its memory. Two
// pieces overlap, each has the context of its own occurrences, and a block is cut in none.
func (w *walker) windows(l *layer, lo, hi int, digits bool) {
	defer func(from, until int) { w.from, w.until = from, until }(w.from, w.until)
	for w.from = 0; lo < hi && !w.done; {
		to, next := hi, hi
		if w.until = math.MaxInt; hi-lo > 2*chunk {
			to = min(hi, end(l.text, lo+chunk))
		}
		if to < hi {
			next = max(start(l.text, to-4*w.reach), whole(l.text, to-chunk/2, -1))
			w.until = l.base + to - 2*w.reach
		}
		part := *l
		part.text, part.base = l.text[lo:to], l.base+lo
		part.digits = digits && !bytes.ContainsAny(part.text, "=+\\") && !bytes.Contains(part.text, []byte("\n ")) && !bytes.Contains(part.text, []byte("\n\t"))
		w.piece(&part)
		lo, w.from = next, w.until
	}
}

// rich walks through the text of RTF.
func (w *walker) rich(l *layer) {
	if u := l.rich(); u != nil {
		u.rtf = false
		w.piece(u)
	}
}

// piece walks through a layer and its inner layers. Most have no match: the first pass does not keep the
// place of every byte.
func (w *walker) piece(l *layer) {
	if w.done {
		return
	}
	if w.near != nil && !l.probe {
		probe, expanded, unseen := *l, w.expanded, w.unseen
		probe.probe, probe.at, probe.to, probe.fresh = true, nil, nil, nil
		if w.piece(&probe); !w.done {
			return
		}
		w.done, w.expanded, w.unseen = false, expanded, unseen
	}
	if l.probe && l.digits { // what its own text names has an anchor
		if l.depth < maxDepth {
			w.blocks(l)
		}
		return
	}
	if w.see(l); w.done || l.depth >= maxDepth {
		return
	}
	for i, family := range families {
		if !slices.Contains(followed[l.family], i) || l.escapes > 2 || w.done {
			continue
		}
		l.unescape(family, w.reach, func(u *layer) {
			u.family, u.escapes = i, l.escapes+1
			w.piece(u)
		})
	}
	l.unfold(w.reach, w.piece)
	l.misread(w.reach, w.piece)
	if l.rtf && l.family != unresolved && !w.done {
		w.rich(l)
	}
	for _, enc := range w.charsets {
		if u := l.shifted(enc); u != nil && !w.done {
			w.see(u)
		}
	}
	w.blocks(l)
	if len(w.charsets) > 0 && !l.units && !validInside(l.text) && w.mayBegin(l) {
		for _, enc := range w.charsets { // ASCII encodings were handled
			if !w.done {
				w.see(l.decoded(enc))
			}
		}
	}
	if (l.escapes == 0 || l.family == 0 && bytes.Contains(l.text, []byte("\xfe\xff"))) && !l.units && (bytes.IndexByte(l.text, 0) >= 0 || w.foreign && !plainText(l.text)) {
		l.wide(w.foreign && w.mayBegin(l), w.piece)
	}
}

// mayBegin reports whether a probe has to decode a layer in encodings of other scripts.
func (w *walker) mayBegin(l *layer) bool { return w.begins == nil || !l.probe || w.begins(l.text) }

// validInside reports whether b is UTF-8 except for a cut character at either end: a piece of a medium can
// begin and end anywhere. If no other character is above ASCII, the cut one may be a letter of an older
// encoding.
func validInside(b []byte) bool {
	all := len(b)
	for n := 0; n < utf8.UTFMax-1 && len(b) > 0 && !utf8.RuneStart(b[0]); n++ {
		b = b[1:]
	}
	b = uncut(b)
	return utf8.Valid(b) && (len(b) == all || !isASCII(b))
}

// uncut is b without a cut character at its end.
func uncut(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if end := b[len(b)-n:]; utf8.RuneStart(end[0]) {
			if !utf8.FullRune(end) {
				return b[:len(b)-n]
			}
			break
		}
	}
	return b
}

// plainText reports whether b is UTF-8 text. In UTF-16, letters of many scripts are ASCII and control bytes.
func plainText(b []byte) bool {
	return validInside(b) && !bytes.ContainsFunc(b, func(r rune) bool { return r < utf8.RuneSelf && neverText(byte(r), true) })
}

// see hands a layer to look, with markup and without.
func (w *walker) see(l *layer) {
	if w.near != nil && !w.near(l) {
		return
	}
	if l.probe {
		w.done = true
		return
	}
	w.view.read(l.text, false)
	if len(w.view.text) == 0 {
		return
	}
	if w.done = w.done || !w.look(&w.view, l); w.done {
		return
	}
	if marked(l.text) {
		w.view.read(l.text, true)
		w.done = !w.look(&w.view, l)
	}
}

// marked reports whether a text may have tags or links.
func marked(b []byte) bool {
	return bytes.IndexByte(b, '<') >= 0 || bytes.Contains(b, []byte("](")) || bytes.Contains(b, []byte("]["))
}

// minRun is the shortest run of digits that may be an encoding.
const minRun = 8

// blocks decodes base64, hex and base32. A probe leaves out the blocks that the layer was resolved with: they were in the
// text before.
func (w *walker) blocks(l *layer) {
	if !l.probe || l.fresh == nil {
		w.blocksIn(l, 0, len(l.text))
		return
	}
	done := 0
	for _, s := range l.fresh {
		if s.hi >= done {
			from, to := blocksAround(l.text, s.lo, s.hi)
			w.blocksIn(l, max(done, from), to)
			done = to
		}
	}
}

func (w *walker) blocksIn(l *layer, lo, hi int) {
	if !w.runs(l, lo, hi, base64Code, w.least*4/3) { // base64 includes the other digits, and its runs are longer
		return
	}
	w.runs(l, lo, hi, hexCode, w.least*2)
	w.runs(l, lo, hi, base32Code, w.least*8/5)
}

// block decodes a run of digits, or several lines of one block.
func (w *walker) block(l *layer, lines []line, in *alphabet) {
	m := in.method
	run := l.text[lines[0].from:lines[len(lines)-1].to]
	if w.done || !encoded(l.text, lines, m) || l.probe && w.quiet.has(run, m, l.depth) {
		return
	}
	beside := w.beside
	start, end := l.place(lines[0].from, lines[len(lines)-1].end)
	goesOn := l.goesOn || len(lines) == 1 && continues(l.text, lines[0])
	if width := lines[0].to - lines[0].from; w.joined != nil && len(lines) > 1 && (width%4 != 0 || width < lines[1].to-lines[1].from) {
		w.joined[span{start, end}] = true
		w.beside++
	}
	var silent func(b []byte) bool
	if l.probe {
		silent = w.silent
	}
	for _, b := range decodings(l.text, lines, in, w.foreign, w.anchors, silent) {
		in := &layer{text: b, block: true, start: start, end: end, goesOn: goesOn, method: cmp.Or(l.method, m), depth: l.depth + 1, units: l.units, family: unresolved, probe: l.probe}
		in.loose, in.noise = isBinary(b) && !Wide(b), !sensible(b)
		w.open(in)
	}
	if l.probe && !w.done && w.beside == beside && !l.units { // in UTF-16, a block of UTF-16 is not decoded again
		w.quiet.add(run, m, l.depth)
	}
}

// continues reports whether a line of digits is only the first of a block, or of one whose line ends are escaped.
func continues(b []byte, l line) bool {
	b = b[:min(len(b), l.end+64)]
	return bytes.ContainsFunc(b[l.end:max(l.end, blockEnd(b, l.to))], func(r rune) bool { return r < utf8.RuneSelf && base64Digits[r] })
}

// encoded is a cheap no for words: base64 of a text has letters of both cases.
func encoded(text []byte, lines []line, m Method) bool {
	upper, small, other, n := 0, 0, 0, 0
	for _, l := range lines {
		for _, c := range text[l.from:l.to] {
			n++
			switch {
			case c >= 'a' && c <= 'z':
				small++
			case c >= 'A' && c <= 'Z':
				upper++
			case c >= '0' && c <= '9':
				other++
			}
		}
	}
	switch m {
	case Base64:
		return upper > 0 && small > 0 && n >= minRun
	case Hex:
		return true // letters beyond ASCII have few decimal digits, and no word is of a to f alone
	}
	return (upper == 0 || small == 0) && upper+small > 0 && (other > 0 || n >= 2*minRun) // 2 to 7 are a fifth of its digits
}

// packedMagic are the magic bytes of compressed data inside a record, after a length or a header; the last
// four begin a zlib stream (RFC 1950, 2.2), of any compression level.
var packedMagic = []string{"\x1f\x8b\x08", "\x28\xb5\x2f\xfd", "\xfd7zXZ\x00", "BZh", "PK\x03\x04", "\x78\x01", "\x78\x5e", "\x78\x9c", "\x78\xda"}

// firstOfMagic are the first bytes of packedMagic.
var firstOfMagic = func() (t [256]bool) {
	for _, magic := range packedMagic {
		t[magic[0]] = true
	}
	return t
}()

// magicAt reports whether b begins with one of packedMagic.
func magicAt(b []byte) bool {
	return firstOfMagic[b[0]] && slices.ContainsFunc(packedMagic, func(magic string) bool { return bytes.HasPrefix(b, []byte(magic)) })
}

// packed walks through compressed data that begins at an offset inside a record. The two bytes of zlib occur
// in any record by chance, so the data must inflate. Each member of a zip is opened by itself: the list of
// members may be far away.
func (w *walker) packed(l *layer, at int) {
	w.beside++
	rest := l.text[at:]
	part := &layer{text: rest, block: true, goesOn: l.goesOn, method: Archive, depth: l.depth + 1, loose: true, family: unresolved, probe: l.probe}
	part.start, part.end = l.place(at, at+2)
	switch {
	case w.done:
	case rest[0] == 'P':
		closed := false
		if part.text, closed = zipMember(rest); closed {
			w.unseen.note(part, "a member of a zip archive is encrypted, or compressed in a way that is not known: not opened"+byHand)
		} else if part.text != nil {
			w.expand(part, func(o *opening) error {
				return o.open("", metered{flate.NewReader(&counted{bytes.NewReader(part.text), &o.in}), o}, 1)
			})
		}
	case rest[0] == 0x78 && inflates(rest), rest[0] != 0x78 && compressed(rest):
		w.open(part)
	}
}

// zipMember returns the data after the header of a deflated zip member (APPNOTE.TXT, 4.3.7); nil: it is stored or cut
// off, or closed: encrypted or compressed otherwise.
func zipMember(b []byte) (data []byte, closed bool) {
	const header, stored, deflated = 30, 0, 8
	if len(b) < header {
		return nil, false
	}
	method := binary.LittleEndian.Uint16(b[8:])
	from := header + int(binary.LittleEndian.Uint16(b[26:])) + int(binary.LittleEndian.Uint16(b[28:]))
	switch {
	case b[6]&1 != 0, method != stored && method != deflated:
		return nil, true
	case method == stored, from >= len(b):
		return nil, false
	}
	return b[from:], false
}

// open walks through the decoded bytes of a block, expanded where they are compressed.
func (w *walker) open(l *layer) {
	if !compressed(l.text) {
		w.text(l)
		return
	}
	w.expand(l, func(o *opening) error { return o.medium(bytes.NewReader(l.text)) })
}

// expand walks through the content of a compressed part. Beyond maxPacked nothing is expanded: parts may
// overlap and repeat their content.
func (w *walker) expand(l *layer, open func(o *opening) error) {
	w.beside++
	if w.expanded > maxPacked {
		w.unseen.tooMuch = true
		return
	}
	o := &opening{ctx: context.Background(), name: func(string) {}, bounds: inText}
	o.leaf = func(_ string, r io.Reader) error {
		b, _ := io.ReadAll(r) // content before an error is searched
		in := *l
		in.text = b
		in.depth, in.noise = l.depth+1, false
		in.loose = l.loose && isBinary(b)
		if !w.done && in.depth < maxDepth {
			w.text(&in)
		}
		return nil
	}
	err := open(o)
	w.expanded += o.out
	w.unseen.tooMuch = w.unseen.tooMuch || errors.Is(err, errTooMuch)
	for _, why := range o.closed {
		// The magic bytes of gzip and zlib occur in a record by chance, those of zlib in a block too. What reads like UTF-7
		// may be a part of a block.
		if !strings.HasSuffix(why, notToItsEnd) || l.method != Archive && l.method != UTF7 && l.text[0] != 0x78 {
			w.unseen.note(l, why)
		}
	}
	if o.cut && l.method == Archive && !l.goesOn && o.in >= int64(len(l.text)) {
		w.unseen.cut = append(w.unseen.cut, l.start)
	}
}

// inText are the bounds of compressed parts in a text.
var inText = bounds{out: maxInside, most: maxInside, ratio: 1 << 10, memory: maxInside, nested: 3}
