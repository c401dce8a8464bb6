package audit

import (
	"strings"
	"unicode/utf8"
)

const (
	maxToken = 160 // bytes of a stored string, after escaping
	maxCount = 32  // bytes of a count's name
)

// token makes any text fit for a record: printable ASCII except quote, backslash and percent stays, every
// other byte becomes %XX, so nothing is dropped unseen. A text longer than the field is cut and ends in "%~".
func token(s string) string { return escape(s, maxToken, plainByte) }

// countName is a token that also escapes what separates counts.
func countName(s string) string {
	return escape(s, maxCount, func(c byte) bool { return plainByte(c) && c != ':' && c != ',' })
}

// stored leaves a stored form unchanged: an Actor's id is escaped when it is made and must not be escaped
// again.
func stored(s string) string {
	for i := range len(s) {
		if s[i] != '%' && !plainByte(s[i]) {
			return token(s)
		}
	}
	if len(s) > maxToken {
		return token(s)
	}
	return s
}

func plainByte(c byte) bool {
	return c >= 0x20 && c <= 0x7e && c != '"' && c != '\\' && c != '%'
}

func escape(s string, limit int, keep func(byte) bool) string {
	const digits = "0123456789ABCDEF"
	clean := len(s) <= limit
	for i := 0; clean && i < len(s); i++ {
		clean = keep(s[i])
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		width := 1
		if !keep(s[i]) {
			width = 3
		}
		if b.Len()+width > limit-2 {
			b.WriteString("%~")
			break
		}
		if width == 1 {
			b.WriteByte(s[i])
			continue
		}
		b.Write([]byte{'%', digits[s[i]>>4], digits[s[i]&15]})
	}
	return b.String()
}

// clip cuts clear text for the side table between characters.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
