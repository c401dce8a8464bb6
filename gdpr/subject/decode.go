package subject

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// shortEscapes are the escapes of JSON that are one letter (RFC 8259, 7).
var shortEscapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", 'f': "\f", '"': `"`, '/': "/", '\\': `\`}

// unescapeJSON resolves the escapes of JSON strings, surrogate pairs joined;
// everything else stays.
func unescapeJSON(s string) decoded {
	return resolve(s, func(rest string) (string, int) {
		if len(rest) > 1 && rest[0] == '\\' && shortEscapes[rest[1]] != "" {
			return shortEscapes[rest[1]], 2
		}
		r, n := escape(rest)
		if n == 0 {
			return "", 0
		}
		if utf16.IsSurrogate(r) {
			low, m := escape(rest[n:])
			if joined := utf16.DecodeRune(r, low); m > 0 && joined != utf8.RuneError {
				return string(joined), n + m
			}
			return "", 0
		}
		return string(r), n
	})
}

func escape(s string) (rune, int) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, 0
	}
	n, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return 0, 0
	}
	return rune(n), 6
}

// unescapePercent resolves %XX and takes + as a space, as query strings do.
func unescapePercent(s string) decoded {
	return resolve(s, func(rest string) (string, int) {
		if rest[0] == '+' {
			return " ", 1
		}
		if len(rest) < 3 || rest[0] != '%' {
			return "", 0
		}
		n, err := strconv.ParseUint(rest[1:3], 16, 8)
		if err != nil {
			return "", 0
		}
		return string([]byte{byte(n)}), 3
	})
}

// resolve copies s, replacing what fn resolves; fn gives the length it took, 0
// for none.
func resolve(s string, fn func(rest string) (string, int)) decoded {
	d := decoded{src: s, at: make([]int32, 0, len(s)+1)}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		text, n := "", 0
		if c := s[i]; c == '\\' || c == '%' || c == '+' {
			text, n = fn(s[i:])
		}
		if n == 0 {
			text, n = s[i:i+1], 1
		}
		b.WriteString(text)
		for range len(text) {
			d.at = append(d.at, int32(i))
		}
		i += n
	}
	d.at = append(d.at, int32(len(s)))
	d.text = b.String()
	return d
}

// inBase64 finds runs that hold an identifier and checks them by decoding. The
// span is the whole run: a part of it could not be taken out.
func (m *Matcher) inBase64(hits []Hit, text string) []Hit {
	for _, p := range m.bytes.base64 {
		for from := 0; ; {
			n := strings.Index(text[from:], string(p.bytes))
			if n < 0 {
				break
			}
			at := from + n
			from = at + 1
			lo, hi, ok := m.base64Run([]byte(text), at, at+len(p.bytes))
			if ok {
				hits = append(hits, Hit{Term: p.term, Start: lo, End: hi, Method: Base64})
				from = hi
			}
		}
	}
	return hits
}

// minLine is the shortest line of base64 that is taken to go on in the next one;
// what wraps base64 writes 64 or 76 characters (RFC 1421, RFC 2045).
const minLine = 40

// joinBase64 joins the lines of wrapped base64; at is nil where there are none. A line
// goes on in the next one when it is as long as the one before: the last is shorter,
// and what follows it is other text.
func joinBase64(s string) decoded {
	var b strings.Builder
	var at []int32
	done, width := 0, 0 // what of s is kept; of the lines that were joined last
	keep := func(to int) {
		b.WriteString(s[done:to])
		for i := done; i < to; i++ {
			at = append(at, int32(i))
		}
	}
	for begin := 0; begin < len(s); {
		n := strings.IndexByte(s[begin:], '\n')
		if n < 0 || begin+n+1 == len(s) {
			break
		}
		next := begin + n + 1
		end := next - 1
		if end > begin && s[end-1] == '\r' {
			end--
		}
		run := end
		for run > begin && base64Byte(s[run-1]) {
			run--
		}
		if n := end - run; n >= minLine && base64Byte(s[next]) && (width == 0 || n == width) {
			keep(end)
			done, width = next, n
		} else {
			width = 0
		}
		begin = next
	}
	if done == 0 {
		return decoded{}
	}
	keep(len(s))
	return decoded{src: s, text: b.String(), at: append(at, int32(len(s)))}
}

// maxRun bounds how far around a hit a base64 run is decoded.
const maxRun = 4096

// base64Run widens a hit to the run of base64 around it and reports whether any
// alignment of it decodes to text that names the person.
func (m *Matcher) base64Run(b []byte, lo, hi int) (int, int, bool) {
	first, last := lo, hi
	for lo > 0 && first-lo < maxRun && base64Byte(b[lo-1]) {
		lo--
	}
	for hi < len(b) && hi-last < maxRun && base64Byte(b[hi]) {
		hi++
	}
	end := hi
	for end < len(b) && end-hi < 2 && b[end] == '=' {
		end++
	}
	run := make([]byte, hi-lo)
	for i, c := range b[lo:hi] { // both alphabets are read as the standard one
		switch c {
		case '-':
			c = '+'
		case '_':
			c = '/'
		}
		run[i] = c
	}
	for skip := range min(4, len(run)) {
		part := run[skip:]
		if len(part)%4 == 1 {
			part = part[:len(part)-1]
		}
		out := make([]byte, base64.RawStdEncoding.DecodedLen(len(part)))
		n, err := base64.RawStdEncoding.Decode(out, part)
		if err != nil {
			continue
		}
		text := strings.ToValidUTF8(string(out[:n]), "\uFFFD")
		if len(m.inView(nil, fold(text), text, "", true)) > 0 {
			return lo, end, true
		}
	}
	return lo, end, false
}

func base64Byte(c byte) bool {
	return wordByte(c) || c == '+' || c == '/' || c == '-'
}
