package signal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// stemLength is how many letters of a word are compared, so that inflected forms
// of the five languages agree without a stemmer for each.
const stemLength = 6

// word is one word of a text.
type word struct {
	hash       uint64 // of the first stemLength letters in lower case
	start, end int    // bytes in the text
	shape      shape
}

// shape describes the letters of a word, without a dictionary.
type shape uint16

const (
	capital  shape = 1 << iota // begins with an upper-case letter
	inner                      // has an upper-case letter after a lower-case one, as product names do
	allUpper                   // two or more letters, all upper-case
	number                     // a number, also with a unit or percent sign
	address                    // a web address, host name, IP address or e-mail address
	opens                      // the first word of a sentence
	heading                    // a colon follows, within the first words of a line
	asked                      // the last word of a question
)

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

func addByte(h uint64, b byte) uint64 { return (h ^ uint64(b)) * fnvPrime }

func addRune(h uint64, r rune) uint64 {
	for ; r > 0xFF; r >>= 8 {
		h = addByte(h, byte(r))
	}
	return addByte(h, byte(r))
}

// join is the hash of the words of a followed by one more.
func join(a, next uint64) uint64 { return (a ^ next>>7) * fnvPrime * 31 }

// hashOf is the hash that split gives one word.
func hashOf(s string) uint64 {
	h, n := uint64(fnvOffset), 0
	for _, r := range s {
		if n == stemLength {
			break
		}
		h, n = addRune(h, unicode.ToLower(r)), n+1
	}
	return h
}

// split divides a text into words. Letters and digits make words, a Han character is a word of its own, and
// an address stays whole.
func split(text string, words []word) []word {
	opening, line := true, 0
	var t token
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\n' || c == '.' || c == '!' || c == '?' || c == ';':
			if c == '?' && len(words) > 0 {
				words[len(words)-1].shape |= asked
			}
			opening = opening || c != '.' || i+1 >= len(text) || text[i+1] <= ' '
			if i++; c == '\n' {
				line = i
			}
		case c == ':':
			markHeading(words, line)
			i++
		case c < utf8.RuneSelf && !alphanumeric[c]:
			i++
		default:
			w, next, ok := scanWord(text, i)
			if ok && c < utf8.RuneSelf && next+1 < len(text) && addressMark[text[next]] && text[next+1] > ' ' {
				if i >= t.stop {
					t = tokenAt(text, i)
				}
				if end := t.end; t.addressFrom(text, i) {
					words = append(words, word{hash: hashOf(text[i:end]), start: i, end: end, shape: address | opened(opening)})
					i, opening = end, false
					continue
				}
			}
			if ok {
				w.shape |= opened(opening)
				words = append(words, w)
				opening = false
			} else if r, _ := utf8.DecodeRuneInString(text[i:]); r == '。' || r == '!' || r == '?' || r == ';' {
				opening = true
				if r == '?' && len(words) > 0 {
					words[len(words)-1].shape |= asked
				}
			} else if r == ':' {
				markHeading(words, line)
			}
			i = next
		}
	}
	return words
}

func opened(yes bool) shape {
	if yes {
		return opens
	}
	return 0
}

// headingWords is the most words of a line's heading.
const headingWords = 6

// markHeading marks the words between line, the start of a line, and a colon after the last word.
func markHeading(words []word, line int) {
	for n := len(words) - 1; n >= 0 && len(words)-n <= headingWords && words[n].end > line; n-- {
		if words[n].shape&opens != 0 {
			for k := n; k < len(words); k++ {
				words[k].shape |= heading
			}
			return
		}
	}
}

// scanWord reads the word at i; false where there is none.
func scanWord(text string, i int) (word, int, bool) {
	w := word{start: i, hash: fnvOffset}
	letters, upper, lower, digits := 0, 0, false, 0
	for i < len(text) && text[i]-'a' <= 'z'-'a' { // most words have only these letters
		if letters < stemLength {
			w.hash = addByte(w.hash, text[i])
		}
		letters, lower = letters+1, true
		i++
	}
	for i < len(text) {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
			if han(r) {
				if letters > 0 {
					break
				}
				return word{hash: addRune(fnvOffset, r), start: i, end: i + size}, i + size, true
			}
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				if letters == 0 {
					return w, i + size, false
				}
				break
			}
		} else if !alphanumeric[r] {
			break
		}
		small := r
		switch {
		case r < utf8.RuneSelf && r >= 'A' && r <= 'Z':
			small, upper = r+'a'-'A', upper+1
		case r >= utf8.RuneSelf && unicode.IsUpper(r):
			small, upper = unicode.ToLower(r), upper+1
		case r <= '9' && r >= '0':
			digits++
		default:
			lower = true
		}
		if upper > 0 && lower && small != r {
			w.shape |= inner
		}
		if letters == 0 && upper == 1 {
			w.shape |= capital
		}
		if letters < stemLength {
			w.hash = addRune(w.hash, small)
		}
		letters++
		i += size
	}
	if upper == letters && letters > 1 {
		w.shape |= allUpper
	}
	if digits > 0 && digits >= letters-1 {
		w.shape |= number
	}
	w.end = i
	return w, i, letters > 0
}

// han reports whether a rune belongs to a script without spaces between words.
func han(r rune) bool {
	return r >= 0x3040 && r <= 0x30FF || r >= 0x3400 && r <= 0x9FFF || r >= 0xF900 && r <= 0xFAFF
}

// alphanumeric are the ASCII letters and digits.
var alphanumeric = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	return t
}()

// addressMark are the characters that may follow the first word of an address.
var addressMark = [256]bool{'.': true, '@': true, ':': true, '-': true, '_': true, '+': true}

// token is a run of characters that can be one address. It is scanned once, however many words it has: an
// agent chooses its length.
type token struct {
	stop            int // behind its last character
	end             int // behind its last character that may end an address
	dot, at, scheme int // the last of each, -1 when there is none
}

// tokenAt scans the token that goes on at i.
func tokenAt(text string, i int) token {
	t := token{stop: i, dot: -1, at: -1, scheme: -1}
	for ; t.stop < len(text); t.stop++ {
		c := text[t.stop]
		if c <= ' ' || c >= utf8.RuneSelf || strings.IndexByte("\"'<>()[]{},;`|", c) >= 0 {
			break
		}
		switch {
		case c == '@':
			t.at = t.stop
		case c == ':' && strings.HasPrefix(text[t.stop:], "://"):
			t.scheme = t.stop
		}
	}
	run := strings.TrimRight(text[i:t.stop], ".:!?")
	t.end = i + len(run)
	if dot := strings.LastIndexByte(run, '.'); dot >= 0 {
		t.dot = i + dot
	}
	return t
}

// addressFrom reports whether the token from i to its end is an address: with a scheme, an at sign, or a host
// name under a top-level domain.
func (t token) addressFrom(text string, i int) bool {
	return t.scheme >= i || t.dot >= i && (t.at >= i || hostLike(text[i:t.end]))
}

// hostMost is the length of the longest host name, in bytes.
const hostMost = 253

// hostLike reports whether s begins with a host name or an IPv4 address.
func hostLike(s string) bool {
	host := s[:min(len(s), hostMost+1)]
	if end := strings.IndexAny(host, "/:"); end >= 0 {
		host = host[:end]
	}
	if len(host) > hostMost {
		return false
	}
	if strings.Count(host, ".") == 3 && !strings.HasSuffix(host, ".") && strings.Trim(host, "0123456789.") == "" {
		return true
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return domains[strings.ToLower(last)] && host[0] != '.' && !strings.Contains(host, "..") && strings.Trim(host, hostCharacters) == ""
}

// hostCharacters are those of a host name.
const hostCharacters = ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// domains are top-level domains of host names that people write without a scheme; file name extensions are
// not among them.
var domains = func() map[string]bool {
	m := map[string]bool{}
	for _, d := range strings.Fields(`com net org io dev ai app co eu info biz cloud me online site top xyz example
		internal local us uk de fr es it nl pl ch at cn jp ru br in ca au se no dk fi pt gr cz edu gov mil int tech store shop`) {
		m[d] = true
	}
	return m
}()
