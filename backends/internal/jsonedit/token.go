package jsonedit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"unicode/utf8"
)

// ErrSyntax reports that a line is not one JSON object.
var ErrSyntax = errors.New("it is not one JSON object")

// maxDepth is encoding/json's limit, so that the two agree about every line.
const maxDepth = 10000

// Span is a stretch of a line, from start up to end.
type Span struct{ Start, End int32 }

func (s Span) In(line []byte) []byte { return line[s.Start:s.End] }

func (s Span) None() bool { return s.End == 0 }

// cursor reads JSON tokens of one line without decoding them.
type cursor struct {
	b     []byte
	i     int
	depth int
}

// Members walks the members of the object that is the whole line. key is the text that
// stands between the quotes of its name, value the raw value. It is valid exactly
// where encoding/json finds the line valid; visit may run before a later error.
func Members(line []byte, visit func(key, value Span)) error {
	c := cursor{b: line}
	c.blank()
	if !c.take('{') {
		return ErrSyntax
	}
	c.depth = 1
	if err := c.object(visit); err != nil {
		return err
	}
	c.blank()
	if c.i != len(c.b) {
		return ErrSyntax
	}
	return nil
}

// Elements walks the elements of a raw array.
func Elements(raw []byte, visit func(value Span)) error {
	c := cursor{b: raw}
	c.blank()
	if !c.take('[') {
		return ErrSyntax
	}
	c.depth = 1
	return c.array(visit)
}

func (c *cursor) blank() {
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case ' ', '\t', '\r', '\n':
			c.i++
		default:
			return
		}
	}
}

func (c *cursor) take(want byte) bool {
	if c.i < len(c.b) && c.b[c.i] == want {
		c.i++
		return true
	}
	return false
}

// object goes on behind the opening brace.
func (c *cursor) object(visit func(key, value Span)) error {
	c.blank()
	if c.take('}') {
		return nil
	}
	for {
		c.blank()
		if !c.take('"') {
			return ErrSyntax
		}
		key := Span{Start: int32(c.i)}
		if err := c.str(); err != nil {
			return err
		}
		key.End = int32(c.i - 1)
		c.blank()
		if !c.take(':') {
			return ErrSyntax
		}
		c.blank()
		value := Span{Start: int32(c.i)}
		if err := c.value(); err != nil {
			return err
		}
		value.End = int32(c.i)
		if visit != nil {
			visit(key, value)
		}
		c.blank()
		if c.take('}') {
			return nil
		}
		if !c.take(',') {
			return ErrSyntax
		}
	}
}

// array goes on behind the opening bracket.
func (c *cursor) array(visit func(value Span)) error {
	c.blank()
	if c.take(']') {
		return nil
	}
	for {
		c.blank()
		value := Span{Start: int32(c.i)}
		if err := c.value(); err != nil {
			return err
		}
		value.End = int32(c.i)
		if visit != nil {
			visit(value)
		}
		c.blank()
		if c.take(']') {
			return nil
		}
		if !c.take(',') {
			return ErrSyntax
		}
	}
}

func (c *cursor) value() error {
	if c.i >= len(c.b) {
		return ErrSyntax
	}
	switch b := c.b[c.i]; b {
	case '"':
		c.i++
		return c.str()
	case '{', '[':
		c.i++
		if c.depth++; c.depth > maxDepth {
			return ErrSyntax
		}
		defer func() { c.depth-- }()
		if b == '{' {
			return c.object(nil)
		}
		return c.array(nil)
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	}
	return c.number()
}

func (c *cursor) word(w string) error {
	if len(c.b)-c.i < len(w) || string(c.b[c.i:c.i+len(w)]) != w {
		return ErrSyntax
	}
	c.i += len(w)
	return nil
}

func (c *cursor) number() error {
	c.take('-')
	if !c.take('0') && !c.digits() {
		return ErrSyntax
	}
	if c.take('.') && !c.digits() {
		return ErrSyntax
	}
	if c.i < len(c.b) && (c.b[c.i] == 'e' || c.b[c.i] == 'E') {
		c.i++
		if !c.take('+') {
			c.take('-')
		}
		if !c.digits() {
			return ErrSyntax
		}
	}
	return nil
}

func (c *cursor) digits() bool {
	from := c.i
	for c.i < len(c.b) && c.b[c.i] >= '0' && c.b[c.i] <= '9' {
		c.i++
	}
	return c.i > from
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// str goes on behind an opening quote and ends behind the closing one. Eight
// bytes are looked at in one step: most of a work item is plain text.
func (c *cursor) str() error {
	b, i := c.b, c.i
	for {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			quote, slash := w^('"'*ones), w^('\\'*ones)
			// The lowest mark is right; a borrow can only mark bytes above a true one.
			mark := ((quote-ones)&^quote | (slash-ones)&^slash | (w-0x20*ones)&^w) & highs
			if mark != 0 {
				i += bits.TrailingZeros64(mark) / 8
				break
			}
			i += 8
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= 0x20 {
			i++
		}
		if i >= len(b) || b[i] < 0x20 {
			return ErrSyntax
		}
		if b[i] == '"' {
			c.i = i + 1
			return nil
		}
		n := escapeLen(b[i:])
		if n == 0 {
			return ErrSyntax
		}
		i += n
	}
}

// escapeLen is the length of the escape that the bytes begin with, 0 for none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && hex4(b[2:6]) >= 0 {
			return 6
		}
	}
	return 0
}

func hex4(b []byte) rune {
	var r rune
	for _, c := range b {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// Unquote decodes what stands between the quotes of a valid JSON string. Bytes
// that are no UTF-8 stay as they are: the item is then shown as binary.
func Unquote(raw []byte) string {
	i := bytes.IndexByte(raw, '\\')
	if i < 0 {
		return string(raw)
	}
	out := make([]byte, i, len(raw))
	copy(out, raw)
	for i < len(raw) {
		if raw[i] != '\\' {
			n := bytes.IndexByte(raw[i:], '\\')
			if n < 0 {
				n = len(raw) - i
			}
			out = append(out, raw[i:i+n]...)
			i += n
			continue
		}
		r, n := unescape(raw[i:])
		out = utf8.AppendRune(out, r)
		i += n
	}
	return string(out)
}

// unescape decodes one escape, a pair of surrogates included. Half a pair is
// U+FFFD, as every JSON reader has it.
func unescape(b []byte) (rune, int) {
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r := hex4(b[2:6])
		if r < 0xd800 || r > 0xdfff {
			return r, 6
		}
		if r < 0xdc00 && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if low := hex4(b[8:12]); low >= 0xdc00 && low <= 0xdfff {
				return 0x10000 + (r-0xd800)<<10 + (low - 0xdc00), 12
			}
		}
		return utf8.RuneError, 6
	}
	return rune(b[1]), 2
}

// UnquotedLen is len(Unquote(raw)) without making the text.
func UnquotedLen(raw []byte) int64 {
	n := int64(len(raw))
	for i := bytes.IndexByte(raw, '\\'); i >= 0; {
		r, skip := unescape(raw[i:])
		n += int64(utf8.RuneLen(r) - skip)
		i += skip
		next := bytes.IndexByte(raw[i:], '\\')
		if next < 0 {
			break
		}
		i += next
	}
	return n
}

// Quote writes a JSON string with no more escapes than JSON asks for, as
// JSON.stringify does.
func Quote(s string) []byte {
	const digits = "0123456789abcdef"
	out := append(make([]byte, 0, len(s)+2), '"')
	for i := range len(s) {
		switch b := s[i]; {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b == '\n':
			out = append(out, `\n`...)
		case b == '\r':
			out = append(out, `\r`...)
		case b == '\t':
			out = append(out, `\t`...)
		case b < 0x20:
			out = append(out, '\\', 'u', '0', '0', digits[b>>4], digits[b&15])
		default:
			out = append(out, b)
		}
	}
	return append(out, '"')
}
