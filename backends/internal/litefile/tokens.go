package litefile

import "strings"

// Tokens splits SQL text into names, quoted strings (with their quotes) and
// single characters, without blanks and comments.
func Tokens(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		switch n := tokenLength(s[i:]); {
		case n < 0: // blank or comment
			i -= n
		default:
			out = append(out, s[i:i+n])
			i += n
		}
	}
	return out
}

// tokenLength is the length of the token that s starts with, negative for what is
// skipped.
func tokenLength(s string) int {
	switch {
	case strings.HasPrefix(s, "--"):
		if n := strings.IndexByte(s, '\n'); n >= 0 {
			return -(n + 1)
		}
		return -len(s)
	case strings.HasPrefix(s, "/*"):
		if n := strings.Index(s[2:], "*/"); n >= 0 {
			return -(n + 4)
		}
		return -len(s)
	case s[0] == '\'':
		for i := 1; i < len(s); i++ {
			if s[i] != '\'' {
				continue
			}
			if i+1 < len(s) && s[i+1] == '\'' {
				i++
				continue
			}
			return i + 1
		}
		return -len(s) // never closed
	case s[0] <= ' ':
		return -1
	}
	n := 0
	for n < len(s) && nameByte(s[n]) {
		n++
	}
	return max(n, 1)
}

func nameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
