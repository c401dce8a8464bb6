// Package json5 reads configuration files that programs write as JSON5.
package json5

import (
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Parse reads the objects, arrays and strings of a JSON5 text (https://spec.json5.org); numbers and
// words keep their spelling.
func Parse(text string) (any, error) {
	p := parser{text: strings.TrimPrefix(text, "\ufeff")}
	v, err := p.value(0)
	if p.space(); err == nil && p.at < len(p.text) {
		err = errors.New("something follows its value")
	}
	return v, err
}

type parser struct {
	text string
	at   int
}

const maxDepth = 100

var errSyntax = errors.New("it is no JSON5")

// space skips blanks and comments.
func (p *parser) space() {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		r, n := utf8.DecodeRuneInString(rest)
		switch {
		case strings.HasPrefix(rest, "//"):
			if n = strings.IndexAny(rest, "\n\r\u2028\u2029"); n < 0 {
				n = len(rest)
			}
		case strings.HasPrefix(rest, "/*"):
			if n = strings.Index(rest, "*/") + 2; n < 4 {
				n = len(rest)
			}
		case strings.ContainsRune(" \t\n\r\v\f\u00a0\ufeff\u2028\u2029", r):
		default:
			return
		}
		p.at += n
	}
}

// next is the byte after blanks; 0 at the end.
func (p *parser) next() byte {
	p.space()
	if p.at >= len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) value(depth int) (any, error) {
	c := p.next()
	switch {
	case depth > maxDepth || c == 0:
		return nil, errSyntax
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"' || c == '\'':
		return p.quoted()
	}
	return p.word()
}

func (p *parser) object(depth int) (any, error) {
	out := map[string]any{}
	for p.at++; p.next() != '}'; {
		var key string
		var err error
		if c := p.next(); c == '"' || c == '\'' {
			key, err = p.quoted()
		} else {
			key, err = p.word()
		}
		if err != nil || p.next() != ':' {
			return nil, errSyntax
		}
		p.at++
		if out[key], err = p.value(depth + 1); err != nil {
			return nil, err
		}
		if err := p.comma('}'); err != nil {
			return nil, err
		}
	}
	p.at++
	return out, nil
}

func (p *parser) array(depth int) (any, error) {
	out := []any{}
	for p.at++; p.next() != ']'; {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if err := p.comma(']'); err != nil {
			return nil, err
		}
	}
	p.at++
	return out, nil
}

// comma skips one, which may be missing before the end.
func (p *parser) comma(end byte) error {
	switch p.next() {
	case ',':
		p.at++
	case end:
	default:
		return errSyntax
	}
	return nil
}

// word is a bare key, a number, true, false or null.
func (p *parser) word() (string, error) {
	rest := p.text[p.at:]
	n := strings.IndexAny(rest, " \t\r\n,:{}[]\"'/")
	if n < 0 {
		n = len(rest)
	}
	if n == 0 {
		return "", errSyntax
	}
	p.at += n
	return rest[:n], nil
}

func (p *parser) quoted() (string, error) {
	quote := p.text[p.at]
	var b strings.Builder
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == quote:
			p.at++
			return b.String(), nil
		case c != '\\':
			b.WriteByte(c)
		default:
			p.at++
			if p.at == len(p.text) {
				return "", errSyntax
			}
			p.escaped(&b)
		}
	}
	return "", errSyntax
}

// escaped writes the character of an escape, after its backslash.
func (p *parser) escaped(b *strings.Builder) {
	hex := func(n int) (r rune) {
		for i := 1; i <= n && p.at+1 < len(p.text); i++ {
			d := strings.IndexByte("0123456789abcdef", p.text[p.at+1]|0x20)
			if d < 0 {
				return r
			}
			r = r<<4 | rune(d)
			p.at++
		}
		return r
	}
	switch c := p.text[p.at]; c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case 'v':
		b.WriteByte('\v')
	case '0':
		b.WriteByte(0)
	case 'x':
		b.WriteRune(hex(2))
	case 'u':
		r := hex(4)
		if utf16.IsSurrogate(r) && strings.HasPrefix(p.text[p.at+1:], `\u`) {
			first := p.at
			p.at += 2
			if r = utf16.DecodeRune(r, hex(4)); r == utf8.RuneError { // the second is a character of its own
				p.at = first
			}
		}
		b.WriteRune(r)
	case '\n': // the line goes on
	case '\r':
		if strings.HasPrefix(p.text[p.at:], "\r\n") {
			p.at++
		}
	default:
		b.WriteByte(c)
	}
}
