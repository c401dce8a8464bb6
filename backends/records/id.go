package records

import (
	"strings"
	"unicode/utf8"
)

// Escape writes a key as an id: `%`, `/`, controls, the line separators U+2028 and U+2029 and bytes that are no UTF-8 are
// percent-encoded, byte by byte in upper-case hex.
func Escape(key string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(key); {
		r, n := utf8.DecodeRuneInString(key[i:])
		if r == utf8.RuneError && n == 1 || r == '%' || r == '/' || r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			for _, c := range []byte(key[i : i+n]) {
				b.WriteByte('%')
				b.WriteByte(hex[c>>4])
				b.WriteByte(hex[c&15])
			}
		} else {
			b.WriteString(key[i : i+n])
		}
		i += n
	}
	return b.String()
}

// Unescape is Escape's inverse; ok is false for an id that Escape does not make.
func Unescape(id string) (key string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(id); i++ {
		if id[i] != '%' {
			b.WriteByte(id[i])
			continue
		}
		if i+2 >= len(id) {
			return "", false
		}
		hi, lo := strings.IndexByte("0123456789ABCDEF", id[i+1]), strings.IndexByte("0123456789ABCDEF", id[i+2])
		if hi < 0 || lo < 0 {
			return "", false
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	return b.String(), Escape(b.String()) == id
}
