package safetext

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	lowerHex = "0123456789abcdef"
	upperHex = "0123456789ABCDEF"
	// introducers are the ASCII bytes a form may start with.
	introducers = `^\<`
	// maxAmbiguous is the longest literal that may read as a form: a cut notice
	// with a 19-digit count.
	maxAmbiguous = 40
	// MaxMark is the widest escape form in columns; it is never broken.
	MaxMark = 36
)

// Kind says what an escape stands for.
type Kind uint8

const (
	Control Kind = iota + 1 // a C0 or C1 control, DEL, or newline in a line
	Byte                    // a byte that is not valid UTF-8
	Rune                    // a hidden, reordering, unassigned or private code point, or non-ASCII in ASCII mode
	Tag                     // a run of tag characters, decoded
	Quote                   // a literal of the text that would read as an escape
	Notice                  // how much a limit cut; stands for no text
)

// Span is one escape, String()[Start:End], and its kind.
type Span struct {
	Start, End int
	Kind       Kind
}

// Marks returns the escapes in t in order, so that they can be styled apart.
func Marks(t Text) []Span {
	var spans []Span
	for i := 0; i < len(t.s); {
		n, kind := form(t.s, i)
		if n == 0 {
			i++
			continue
		}
		spans = append(spans, Span{i, i + n, kind})
		i += n
	}
	return spans
}

// form returns the length and kind of the form that starts at i, or 0.
func form(s string, i int) (int, Kind) {
	switch s[i] {
	case '^':
		if i+1 < len(s) && isCaret(s[i+1]) {
			return 2, Control
		}
	case '\\':
		if i+3 < len(s) && s[i+1] == 'x' && isHex(s[i+2]) && s[i+2] >= '8' && isHex(s[i+3]) {
			return 4, Byte
		}
	case '<':
		return angleForm(s[i:])
	case "⟦"[0]:
		if strings.HasPrefix(s[i:], "⟦") {
			return bracketForm(s[i:])
		}
		if strings.HasPrefix(s[i:], "⏎") {
			return len("⏎"), Control
		}
	}
	return 0, 0
}

func angleForm(s string) (int, Kind) {
	if strings.HasPrefix(s, "<U+") {
		end := 3
		for end < len(s) && end < 9 && isHex(s[end]) {
			end++
		}
		if end < 7 || end == len(s) || s[end] != '>' {
			return 0, 0
		}
		return end + 1, angleKind(s[3:end])
	}
	if rest, ok := strings.CutPrefix(s, "<... "); ok {
		digits := 0
		for digits < len(rest) && digits < 19 && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		for _, unit := range []string{" more bytes>", " more byte>"} {
			if digits > 0 && strings.HasPrefix(rest[digits:], unit) {
				return len("<... ") + digits + len(unit), Notice
			}
		}
	}
	return 0, 0
}

func angleKind(hex string) Kind {
	switch v, _ := strconv.ParseUint(hex, 16, 32); {
	case v < utf8.RuneSelf:
		return Quote
	case v < 0xA0:
		return Control
	}
	return Rune
}

// bracketForm needs no check of the content: a literal ⟦ is always quoted, so this package wrote everything
// between ⟦ and ⟧.
func bracketForm(s string) (int, Kind) {
	end := strings.Index(s[:min(len(s), 2*maxAmbiguous)], "⟧")
	if end < 0 {
		return 0, 0
	}
	n := end + len("⟧")
	switch content := s[len("⟦"):end]; {
	case strings.HasPrefix(content, "U+"):
		return n, Rune
	case strings.HasPrefix(content, "tag:"):
		return n, Tag
	case strings.HasPrefix(content, "… "):
		return n, Notice
	}
	return n, Quote
}

// introduces reports whether the ASCII literal at i would read as a form in the output: with the literals
// that follow, or with the escape of the next character.
func introduces(s string, i int) bool {
	rest := s[i+1:]
	if s[i] != '^' {
		n, _ := form(s, i)
		return n > 0
	}
	if rest == "" {
		return false
	}
	if rest[0] < utf8.RuneSelf {
		return isCaret(rest[0]) || rest[0] < ' ' || rest[0] == 0x7F
	}
	r, n := utf8.DecodeRuneInString(rest)
	return r == utf8.RuneError && n == 1
}

func isCaret(b byte) bool { return b >= '@' && b <= '_' || b == '?' }

func isHex(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

// appendQuote marks an ASCII literal as no escape.
func (e Escaper) appendQuote(buf []byte, r rune) []byte {
	if e.ASCII {
		return appendAngle(buf, r)
	}
	buf = append(buf, "⟦"...)
	buf = utf8.AppendRune(buf, r)
	return append(buf, "⟧"...)
}

func appendAngle(buf []byte, r rune) []byte {
	return append(appendHex(append(buf, "<U+"...), r), '>')
}

func appendBracket(buf []byte, r rune, count int) []byte {
	buf = appendHex(append(buf, "⟦U+"...), r)
	if count > 1 {
		buf = strconv.AppendInt(append(buf, "×"...), int64(count), 10)
	}
	return append(buf, "⟧"...)
}

// appendHex writes a code point as Unicode does: at least four digits.
func appendHex(buf []byte, r rune) []byte {
	for shift := 20; shift >= 0; shift -= 4 {
		if d := r >> shift; d != 0 || shift < 16 {
			buf = append(buf, upperHex[d&15])
		}
	}
	return buf
}

// notice says how many bytes a limit cut. It is a form, so that no stored text
// can claim to continue.
func (e Escaper) notice(n int) string {
	more := Count(int64(n), "more byte")
	if e.ASCII {
		return "<... " + more + ">"
	}
	return "⟦… " + more + "⟧"
}
