package subject

import (
	"html"
	"strings"
	"unicode/utf8"
)

// What programs write a text in, besides what a text says, is taken off in rounds:
// escapes of JSON, percent encoding, entities of HTML, quoted-printable (RFC 2045,
// 6.7), what is no UTF-8 read as Windows-1252, and the marks before the lines of a
// quotation or a comment. A text may be in several of them, one inside the other.

// maxRounds is how many encodings may stand inside one another.
const maxRounds = 3

// decodeAll resolves all of them; at is nil where there is nothing to resolve.
func decodeAll(s string) decoded {
	if !mayBeEncoded(s) {
		return decoded{}
	}
	out := decoded{src: s}
	now := s
	for range maxRounds {
		d := decodeOnce(now)
		if d.text == now {
			break
		}
		if out.at != nil {
			for i, at := range d.at {
				d.at[i] = out.at[at]
			}
		}
		out.text, out.at, now = d.text, d.at, d.text
	}
	return out
}

// mayBeEncoded is a cheap no for most texts.
func mayBeEncoded(s string) bool {
	return strings.ContainsAny(s, `\%&=+`) || quoted(s) || !utf8.ValidString(s)
}

// decodeOnce is one round.
func decodeOnce(s string) decoded {
	begin := 0
	d := resolveAt(s, func(i int) (string, int) {
		switch s[i] {
		case '\\':
			return jsonEscape(s[i:])
		case '%', '=':
			return hexByte(s[i:])
		case '+':
			return " ", 1
		case '&':
			return entity(s[i:])
		case '\n':
			next := lineMark(s[i+1:])
			same := next.text != "" && next.text == firstMark(s[begin:i])
			if begin = i + 1; same {
				return "\n", 1 + next.width
			}
		}
		return "", 0
	})
	if utf8.ValidString(d.text) {
		return d
	}
	at := d.at
	text := d.text
	d = resolveAt(text, func(i int) (string, int) {
		if text[i] < utf8.RuneSelf {
			return "", 0
		}
		if r, n := utf8.DecodeRuneInString(text[i:]); r != utf8.RuneError || n != 1 {
			return text[i : i+n], n
		}
		return string(windowsRune(text[i])), 1
	})
	for i, mid := range d.at {
		d.at[i] = at[mid]
	}
	d.src = s
	return d
}

// hexByte resolves %XX and =XX, and the soft line break of quoted-printable.
func hexByte(s string) (string, int) {
	if s[0] == '=' {
		if strings.HasPrefix(s, "=\n") {
			return "", 2
		}
		if strings.HasPrefix(s, "=\r\n") {
			return "", 3
		}
	}
	if len(s) < 3 {
		return "", 0
	}
	hi, lo := hexDigit(s[1]), hexDigit(s[2])
	if hi < 0 || lo < 0 {
		return "", 0
	}
	return string([]byte{byte(hi<<4 | lo)}), 3
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// maxEntity bounds the name of an entity; the longest of HTML has 31 letters.
const maxEntity = 34

// entity resolves &name;, &#100; and &#x64;.
func entity(s string) (string, int) {
	end := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
	if end < 2 || strings.ContainsAny(s[1:end], " &<>\n") {
		return "", 0
	}
	if out := html.UnescapeString(s[:end+1]); out != s[:end+1] {
		return out, end + 1
	}
	return "", 0
}

// markOf is what stands before a line of a quotation or a comment.
type markOf struct {
	text  string // without spaces
	width int
}

// lineMark reads the mark at the beginning of s.
func lineMark(s string) markOf {
	var m markOf
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '>' || c == '#' || c == '*' || c == '-' || c == '|' || c == ';' || c == '/' && (strings.HasPrefix(s[i:], "//") || i > 0 && s[i-1] == '/'):
			m.text += string(c)
			m.width = i + 1
		case c == ' ' || c == '\t':
			if m.text != "" {
				m.width = i + 1
			}
		default:
			return m
		}
	}
	return m
}

// firstMark is the mark of a line, of a string or a record that begins in it, or of a
// comment at its end.
func firstMark(line string) string {
	at := strings.IndexAny(line, ">#*|;/")
	if at < 0 {
		at = strings.IndexByte(line, '-')
	}
	if at < 0 {
		return ""
	}
	begin := strings.LastIndexFunc(line[:at], func(r rune) bool { return r < ' ' && r != '\t' || r == '"' })
	if mark := lineMark(line[begin+1:]).text; mark != "" || line[at] == '-' {
		return mark
	}
	return lineMark(line[at:]).text
}

// quoted reports whether a line but the first begins with a mark.
func quoted(s string) bool {
	for {
		n := strings.IndexByte(s, '\n')
		if n < 0 {
			return false
		}
		s = s[n+1:]
		if lineMark(s).text != "" {
			return true
		}
	}
}

// methodOf names the encoding in which a stretch names the person.
func methodOf(span string) Method {
	switch {
	case strings.Contains(span, "&") && strings.Contains(span, ";"):
		return Entity
	case strings.Contains(span, "%"):
		return Percent
	case strings.Contains(span, "="):
		return Quoted
	case strings.Contains(span, `\`):
		return Escaped
	case !utf8.ValidString(span):
		return Latin1
	}
	return Folded
}
