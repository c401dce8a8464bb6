package subject

import (
	"bytes"
	"context"
	"io"
	"slices"
	"unicode/utf8"
)

// Bounds of one walk.
const (
	maxDepth  = 5        // encodings inside one another
	maxInside = 16 << 20 // bytes that come out of what is compressed inside a text
)

// walker goes through the layers of a text: what it says as it stands, and whatever is
// encoded in it. Each is handed to look, which says false to stop. Everything that looks
// for a person looks through this.
type walker struct {
	look func(v *view, l *layer) bool
	// pieces are the stretches of a text that may hold anything; nil: all of it.
	pieces  func(text []byte, packed func(at int), yield func(lo, hi int))
	least   int  // bytes of the shortest thing that is looked for
	foreign bool // something in letters that are not Latin is
	han     bool // Chinese or Japanese is
	done    bool
	view    view // that look has: one after the other
}

// text walks through a medium, or through what was decoded as a block.
func (w *walker) text(l *layer) {
	if w.pieces == nil {
		w.piece(l)
		return
	}
	var packed func(at int)
	if l.loose && l.depth == 0 { // a medium that begins with magic bytes was opened before
		packed = func(at int) { w.packed(l, at) }
	}
	w.pieces(l.text, packed, func(lo, hi int) {
		if !w.done {
			part := *l
			part.text, part.base = l.text[lo:hi], l.base+lo
			w.piece(&part)
		}
	})
}

// piece walks through a layer and those that stand in it.
func (w *walker) piece(l *layer) {
	if w.see(l); w.done || l.depth >= maxDepth {
		return
	}
	for i, family := range families {
		if !slices.Contains(followed[l.family], i) || l.escapes > 2 || w.done {
			continue
		}
		if u := l.unescape(family); u != nil {
			u.family, u.escapes = i, l.escapes+1
			w.piece(u)
		}
	}
	w.blocks(l)
	if l.escapes > 0 {
		return
	}
	if l.method != UTF16 && bytes.IndexByte(l.text, 0) >= 0 {
		l.wide(w.foreign, w.piece1)
	}
	if w.han && l.method != Charset && l.method != UTF16 && !utf8.Valid(l.text) {
		l.charsets(w.piece1)
	}
}

func (w *walker) piece1(l *layer) {
	if !w.done {
		w.piece(l)
	}
}

// see hands a layer over, with markup and without.
func (w *walker) see(l *layer) {
	w.view.read(l.text, false)
	if len(w.view.text) == 0 {
		return
	}
	if w.done = w.done || !w.look(&w.view, l); w.done {
		return
	}
	if bytes.IndexByte(l.text, '<') >= 0 || bytes.Contains(l.text, []byte("](")) || bytes.Contains(l.text, []byte("][")) {
		w.view.read(l.text, true)
		w.done = !w.look(&w.view, l)
	}
}

// minRun is the shortest run of digits that is taken for an encoding.
const minRun = 8

// blocks decodes base64, base32 and hex.
func (w *walker) blocks(l *layer) {
	for _, e := range []struct {
		in     *[256]bool
		method Method
		least  int
	}{{&base64Digits, Base64, w.least * 4 / 3}, {&hexDigits, Hex, w.least * 2}, {&base32Digits, Base32, w.least * 8 / 5}} {
		runs(l.text, e.in, max(minRun, e.least), func(lines []line) {
			if w.done || !encoded(l.text, lines, e.method) {
				return
			}
			start, end := l.place(lines[0].from, lines[len(lines)-1].end)
			for _, b := range decodings(l.text, lines, e.in) {
				in := &layer{text: b, block: true, start: start, end: end, method: l.method, depth: l.depth + 1, family: unresolved}
				if in.method == "" {
					in.method = e.method
				}
				w.open(in)
			}
		})
	}
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
		return other*3 >= n
	}
	return (upper == 0 || small == 0) && upper+small > 0 && (other > 0 || n >= 2*minRun) // 2 to 7 are a fifth of its digits
}

// packedMagic are the magic bytes of what may be compressed inside a record, behind a length
// or a header; the last four begin a zlib stream (RFC 1950, 2.2), of any compression level.
var packedMagic = []string{"\x1f\x8b\x08", "\x28\xb5\x2f\xfd", "\xfd7zXZ\x00", "BZh", "PK\x03\x04", "\x78\x01", "\x78\x5e", "\x78\x9c", "\x78\xda"}

// firstOfMagic are the bytes with which one of packedMagic begins.
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

// packed walks through what is compressed inside a record and begins at a place. The two
// bytes of zlib stand in any record by chance: what they begin has to inflate.
func (w *walker) packed(l *layer, at int) {
	rest := l.text[at:]
	if w.done || rest[0] == 0x78 && !inflates(rest) || rest[0] != 0x78 && !compressed(rest) {
		return
	}
	w.open(&layer{text: rest, block: true, start: l.base + at, end: l.base + at + 2, method: Archive, depth: l.depth + 1, family: unresolved})
}

// open walks through what a block says, expanded where it is compressed.
func (w *walker) open(l *layer) {
	if !compressed(l.text) {
		w.text(l)
		return
	}
	// An error is one of the bytes: what came out before it was looked at.
	_, _ = each(context.Background(), bytes.NewReader(l.text), func(_ string, r io.Reader) error {
		b, _ := io.ReadAll(io.LimitReader(r, maxInside)) // the same
		in := *l
		in.text = b
		in.depth++
		if !w.done && in.depth < maxDepth {
			w.text(&in)
		}
		return nil
	}, func(string) {}, inText)
}

// inText are the bounds of what is compressed inside a text.
var inText = bounds{out: maxInside, most: maxInside, ratio: 1 << 10, memory: maxInside, nested: 3}
