package langgraph

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
)

// readable is a blob as the scan reads it: the texts of msgpack, one a line, because a length or a number
// beside a text may be a letter. Of other bytes those that are no text are written as escapes: a name would
// have no clear end.
func readable(blob []byte) string {
	if texts, ok := unpack(blob); ok {
		return strings.Join(texts, "\n")
	}
	if utf8.Valid(blob) {
		return string(blob)
	}
	var b strings.Builder
	for _, c := range blob {
		switch {
		case c == '\\':
			b.WriteString(`\\`)
		case c == 0 || c >= utf8.RuneSelf:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unpack returns the texts of a msgpack value, those of keys, of binary values and of extensions included;
// false where the bytes are not exactly one value.
func unpack(b []byte) (texts []string, ok bool) {
	u := unpacker{rest: b}
	ok = len(b) > 0 && u.value(0) && len(u.rest) == 0
	return u.texts, ok
}

type unpacker struct {
	rest  []byte
	texts []string
}

// maxNested bounds values inside one another.
const maxNested = 200

// value reads one value (the table of formats in msgpack's specification).
func (u *unpacker) value(depth int) bool {
	head, ok := u.take(1)
	if !ok || depth > maxNested {
		return false
	}
	switch c := head[0]; {
	case c < 0x80, c >= 0xe0, c == 0xc0, c == 0xc2, c == 0xc3: // a small number, nil, a boolean
		return true
	case c < 0x90:
		return u.values(2*int(c&0x0f), depth)
	case c < 0xa0:
		return u.values(int(c&0x0f), depth)
	case c < 0xc0:
		return u.text(int(c&0x1f), 0, false)
	case c >= 0xc4 && c <= 0xc6:
		return u.text(u.size(1<<(c-0xc4)), depth+1, true)
	case c >= 0xc7 && c <= 0xc9:
		n := u.size(1 << (c - 0xc7))
		return u.skip(1) && u.text(n, depth+1, true) // the type stands between
	case c == 0xca || c == 0xcb:
		return u.skip(4 << (c - 0xca))
	case c >= 0xcc && c <= 0xcf:
		return u.skip(1 << (c - 0xcc))
	case c >= 0xd0 && c <= 0xd3:
		return u.skip(1 << (c - 0xd0))
	case c >= 0xd4 && c <= 0xd8:
		return u.skip(1) && u.text(1<<(c-0xd4), depth+1, true)
	case c >= 0xd9 && c <= 0xdb:
		return u.text(u.size(1<<(c-0xd9)), 0, false)
	case c == 0xdc || c == 0xdd:
		return u.values(u.size(2<<(c-0xdc)), depth)
	case c == 0xde || c == 0xdf:
		return u.values(2*u.size(2<<(c-0xde)), depth)
	}
	return false
}

func (u *unpacker) take(n int) ([]byte, bool) {
	if n < 0 || n > len(u.rest) {
		return nil, false
	}
	out := u.rest[:n]
	u.rest = u.rest[n:]
	return out, true
}

func (u *unpacker) skip(n int) bool {
	_, ok := u.take(n)
	return ok
}

// size reads a length of some bytes; -1 where they are not there.
func (u *unpacker) size(bytes int) int {
	b, ok := u.take(bytes)
	if !ok {
		return -1
	}
	return int(binary.BigEndian.Uint64(append(make([]byte, 8-bytes), b...)))
}

func (u *unpacker) values(n, depth int) bool {
	for ; n > 0; n-- {
		if !u.value(depth + 1) {
			return false
		}
	}
	return n == 0
}

// text reads a text, or bytes that may be a value of their own.
func (u *unpacker) text(n, depth int, raw bool) bool {
	b, ok := u.take(n)
	if !ok {
		return false
	}
	if inner := (unpacker{rest: b}); raw && n > 1 && inner.value(depth) && len(inner.rest) == 0 {
		u.texts = append(u.texts, inner.texts...)
		return true
	}
	u.texts = append(u.texts, string(b))
	return true
}
