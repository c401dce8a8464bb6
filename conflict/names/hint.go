package names

import "strings"

// hint is the result of one pass over a name's bytes: which rows need their regular expression. It makes a
// million ordinary names a second possible.
type hint uint16

const (
	hintGroup    hint = 1 << iota // contains a (
	hintBracket                   // contains a [
	hintConflict                  // "onfli": conflict, Konflikt, conflit
	hintCopy                      // "cop", "kop"
	hintNumber                    // ends in a space and digits
	hintHost                      // a capital letter after a hyphen, or "safe" of safeBackup
	hintMerge                     // _BASE_ and similar, .orig, .rej
	hintPath                      // "..path"
	hintWide                      // not ASCII
	hintDate                      // a ( and a year with a hyphen
)

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func look(s string) hint {
	var h hint
	marks, dot := false, len(s)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '(':
			h |= hintGroup
		case '[':
			h |= hintBracket
		case 'f', 'F':
			if i >= 2 && i+2 < len(s) && lower(s[i-1]) == 'n' && lower(s[i-2]) == 'o' && lower(s[i+1]) == 'l' && lower(s[i+2]) == 'i' {
				h |= hintConflict
			}
		case 'o', 'O':
			if i >= 1 && i+1 < len(s) && lower(s[i+1]) == 'p' && (lower(s[i-1]) == 'c' || lower(s[i-1]) == 'k') {
				h |= hintCopy
			}
		case '-':
			if i+1 < len(s) && ('A' <= s[i+1] && s[i+1] <= 'Z' || s[i+1] == 's') {
				h |= hintHost
			}
			if i >= 4 && h&hintGroup != 0 && (s[i-4] == '2' || s[i-4] == '1') {
				h |= hintDate
			}
		case '_':
			marks = marks || mergeMark(s[i:])
		case '.':
			if i > 0 {
				dot = i
			}
			if i+5 < len(s) && s[i+1] == '.' && lower(s[i+2]) == 'p' {
				h |= hintPath
			}
			marks = marks || mergeMark(s[i:])
		default:
			if c >= 0x80 {
				h |= hintWide
			}
		}
	}
	ext := s[dot:]
	if marks || len(ext) == 5 && strings.EqualFold(ext, ".orig") || len(ext) == 4 && strings.EqualFold(ext, ".rej") {
		h |= hintMerge
	}
	return h | number(s, dot) | number(s, len(s))
}

// mergeMark finds _BASE_ and .BASE. and similar marks.
func mergeMark(s string) bool {
	for _, w := range []string{"BASE", "LOCAL", "REMOTE", "BACKUP"} {
		if len(s) > len(w)+1 && s[1] == w[0] && s[1:1+len(w)] == w && s[len(w)+1] == s[0] {
			return true
		}
	}
	return false
}

// number finds a space and one or two digits before the extension, or at the end of a name without one.
func number(s string, dot int) hint {
	i := dot
	for i > 0 && '0' <= s[i-1] && s[i-1] <= '9' {
		i--
	}
	if n := dot - i; n > 0 && n <= 2 && i > 0 && (s[i-1] == ' ' || s[i-1] == 0xa0) {
		return hintNumber
	}
	return 0
}
