package subject

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding is how bytes hold a text.
type Encoding string

// The encodings. Bytes that are none of them are no text.
const (
	UTF8        Encoding = "UTF-8"
	Windows1252 Encoding = "Latin-1" // or Windows-1252, its superset
	UTF16LE     Encoding = "UTF-16LE"
	UTF16BE     Encoding = "UTF-16BE"
)

// Plain reads bytes as the text that they hold; false where they hold none, or one
// that could not be written back as it was.
func Plain(b []byte) (text string, enc Encoding, ok bool) {
	zero := bytes.IndexByte(b, 0) >= 0
	switch {
	case !zero && utf8.Valid(b):
		return string(b), UTF8, true
	case zero || bytes.HasPrefix(b, []byte{0xff, 0xfe}) || bytes.HasPrefix(b, []byte{0xfe, 0xff}):
		for _, enc := range []Encoding{UTF16LE, UTF16BE} {
			if text := decode16(b, enc); len(b)%2 == 0 && isText(text) && bytes.Equal(encode(text, enc), b) {
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

// isText reports whether a text holds characters that people write, and no controls.
func isText(s string) bool {
	if strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' || r >= 0x7f && r < 0xa0 || r == utf8.RuneError
	}) {
		return false
	}
	plain := 0
	for _, r := range s { // of a foreign byte order, or of bytes at random, few are
		if r < utf8.RuneSelf {
			plain++
		}
	}
	return s == "" || plain > 0
}

func decode16(b []byte, enc Encoding) string {
	order := binary.ByteOrder(binary.LittleEndian)
	if enc == UTF16BE {
		order = binary.BigEndian
	}
	u := make([]uint16, 0, len(b)/2)
	for i := 0; i+1 < len(b); i += 2 {
		u = append(u, order.Uint16(b[i:]))
	}
	return string(utf16.Decode(u))
}

// encode writes a text in an encoding; what it has no character for is lost.
func encode(text string, enc Encoding) []byte {
	switch enc {
	case Windows1252:
		var out []byte
		for _, r := range text {
			if c, ok := windowsByte(r); ok {
				out = append(out, c)
			}
		}
		return out
	case UTF16LE, UTF16BE:
		out := make([]byte, 0, 2*len(text))
		for _, u := range utf16.Encode([]rune(text)) {
			if enc == UTF16LE {
				out = append(out, byte(u), byte(u>>8))
			} else {
				out = append(out, byte(u>>8), byte(u))
			}
		}
		return out
	}
	return []byte(text)
}

// RedactBytes is Redact in whatever encoding the bytes hold a text; every other byte
// stays. false where they hold none, or where the person could not be taken out.
func (m *Matcher) RedactBytes(b []byte, with string) ([]byte, bool) {
	text, enc, ok := Plain(b)
	if !ok || IsContainer(b) {
		return nil, false
	}
	out := encode(m.Redact(text, with), enc)
	return out, !m.NamesBytes(out)
}

// Bytes finds the person in bytes that may be no text, decoded first where they hold
// one, and looked into where they are compressed. The places are those in the text
// then.
func (m *Matcher) Bytes(b []byte) []Hit {
	if IsContainer(b) {
		// Nothing of it can be waited for: its own bytes are read, no others.
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
		return hits
	}
	if hits := m.Text(string(b)); len(hits) > 0 {
		return hits
	}
	return m.strong(b)
}

// IsContainer reports whether bytes hold others in another form that can be looked
// into, as an archive does: nothing in them can be edited where it stands.
func IsContainer[T string | []byte](b T) bool {
	k := kindOf(b)
	return k != plainly && k != closedFile
}

// kindOf looks at the beginning alone: a text may be long, and is asked about often.
func kindOf[T string | []byte](b T) kind {
	k, _ := recognise([]byte(b[:min(len(b), headSize)]))
	return k
}

// Opens reports whether a medium that begins so is looked into by Each, or is nothing
// that can be.
func Opens[T string | []byte](b T) bool { return kindOf(b) != plainly }

// Inside are the members of a container in which the person stands, by name, and in
// words what could not be opened of it. Both are empty for what is none.
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

// strong is what a scan of bytes finds but for the weaker evidence.
func (m *Matcher) strong(b []byte) []Hit {
	return slices.DeleteFunc(m.scanBytes(b), func(h Hit) bool { return h.Method == Prefix || h.Method == Embedded })
}
