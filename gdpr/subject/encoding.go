package subject

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// Encoding is how bytes hold a text.
type Encoding string

// The encodings. Bytes in none of them are no text.
const (
	UTF8        Encoding = "UTF-8"
	Windows1252 Encoding = "Latin-1" // or Windows-1252, its superset
	UTF16LE     Encoding = "UTF-16LE"
	UTF16BE     Encoding = "UTF-16BE"
)

// Plain decodes bytes as text; false where they hold no text, or one that could not be encoded back
// unchanged.
func Plain(b []byte) (text string, enc Encoding, ok bool) {
	zero := bytes.IndexByte(b, 0) >= 0
	switch {
	case !zero && utf8.Valid(b):
		return string(b), UTF8, true
	case zero || bytes.HasPrefix(b, []byte{0xff, 0xfe}) || bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		for _, enc := range []Encoding{UTF16LE, UTF16BE} {
			if text := decode16(b, enc); len(b)%2 == 0 && isText(text) && oneScript(text) && bytes.Equal(encode(text, enc), b) {
				return text, enc, true
			}
		}
		return "", "", false
	}
	text = fromWindows(b)
	if !isText(text) || !bytes.Equal(encode(text, Windows1252), b) {
		return "", "", false
	}
	return text, Windows1252, true
}

// isText reports whether a text holds characters that people write, and no control characters.
func isText(s string) bool {
	if strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError
	}) {
		return false
	}
	plain := 0
	for _, r := range s { // in the wrong byte order, or in random bytes, few are
		if r < utf8.RuneSelf {
			plain++
		}
	}
	return s == "" || plain > 0
}

// oneScript reports whether most characters of a text are near one another in Unicode, or it has a byte order
// mark: other bytes, read as UTF-16, are spread out.
func oneScript(s string) bool {
	count, n, top := map[rune]int{}, 0, 0
	for _, r := range s {
		if r == '\ufeff' {
			return true
		}
		n++
		count[r>>8]++
		top = max(top, count[r>>8])
	}
	return top*10 >= n*6
}

var utf16Of = map[Encoding]encoding.Encoding{
	UTF16LE: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), UTF16BE: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
}

func decode16(b []byte, enc Encoding) string {
	out, _ := utf16Of[enc].NewDecoder().Bytes(b[:len(b)&^1]) // an invalid character becomes utf8.RuneError
	return string(out)
}

// encode writes a text in an encoding; characters that the encoding lacks are lost.
func encode(text string, enc Encoding) []byte {
	switch enc {
	case Windows1252:
		var out []byte
		for _, r := range text {
			if c, ok := charmap.Windows1252.EncodeRune(r); ok {
				out = append(out, c)
			}
		}
		return out
	case UTF16LE, UTF16BE:
		out, _ := utf16Of[enc].NewEncoder().Bytes([]byte(text))
		return out
	}
	return []byte(text)
}

// IsContainer reports whether bytes are a container that can be opened, such as an archive: nothing in them
// can be edited in place.
func IsContainer[T string | []byte](b T) bool {
	k := kindOf(b)
	return k != plainly && k != closedFile
}

// kindOf looks at the first bytes alone: a text may be long, and this is called often.
func kindOf[T string | []byte](b T) kind {
	k, _ := recognise([]byte(b[:min(len(b), headSize)]))
	return k
}

// Opens reports whether Each opens a medium with these first bytes, or reports it as one that cannot be
// opened.
func Opens[T string | []byte](b T) bool { return kindOf(b) != plainly }

func fromWindows(b []byte) string {
	out, _ := charmap.Windows1252.NewDecoder().Bytes(b)
	return string(out)
}

// Wide reports whether bytes look like UTF-16 or UTF-32.
func Wide(b []byte) bool { return interleaved(b, 2) || interleaved(b, 4) }
