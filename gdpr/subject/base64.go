package subject

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// decodings decodes a run of base64, in either alphabet, at the four places where it
// may begin, also what is UTF-16 in them. What is no text is U+FFFD.
func decodings(run []byte) []string {
	std := bytes.Clone(run)
	for i, c := range std {
		switch c {
		case '-':
			std[i] = '+'
		case '_':
			std[i] = '/'
		}
	}
	var out []string
	for skip := range min(4, len(std)) {
		part := std[skip:]
		if len(part)%4 == 1 {
			part = part[:len(part)-1]
		}
		b := make([]byte, base64.RawStdEncoding.DecodedLen(len(part)))
		if n, err := base64.RawStdEncoding.Decode(b, part); err == nil {
			out = append(out, strings.ToValidUTF8(string(b[:n]), "\uFFFD"))
			if n > 1 && bytes.IndexByte(b[:n], 0) >= 0 {
				out = append(append(out, narrow(string(b[:n]))...), narrow(string(b[1:n]))...)
			}
		}
	}
	return out
}

// inRun reports whether a run of base64 holds text that names the person.
func (m *Matcher) inRun(run []byte) bool {
	for _, text := range decodings(run) {
		if len(m.inForms(nil, text, true)) > 0 {
			return true
		}
	}
	return false
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
			lo, hi, ok := m.base64Run([]byte(text[max(0, at-maxRun):min(len(text), at+len(p.bytes)+maxRun)]), at-max(0, at-maxRun), len(p.bytes))
			if ok {
				base := max(0, at-maxRun)
				hits = append(hits, Hit{Term: p.term, Start: base + lo, End: base + hi, Method: Base64})
				from = base + hi
			}
		}
	}
	if len(m.short) == 0 {
		return hits
	}
	for lo, hi := range runs(text) {
		if hi-lo >= minMixed && mixedCase(text[lo:hi]) && m.shortIn([]byte(text[lo:hi])) {
			hits = append(hits, Hit{Term: m.short[0], Start: lo, End: padded(text, hi), Method: Base64})
		}
	}
	return hits
}

// minMixed is the shortest run that is decoded for identifiers too short to be seen
// in it as it is.
const minMixed = 16

// shortIn reports whether a run holds text that names the person by a short
// identifier. What decodes to noise says nothing.
func (m *Matcher) shortIn(run []byte) bool {
	for _, text := range decodings(run) {
		if !readable(text) {
			continue
		}
		for _, h := range m.inForms(nil, text, false) {
			if m.terms[h.Term].hidden() {
				return true
			}
		}
	}
	return false
}

// hidden reports whether an identifier is too short for a core of its own in every
// alignment.
func (t *term) hidden() bool { return len(base64Cores(t.text)) < 3 }

// mixedCase tells base64 of a text from words and paths: it has letters of both
// cases.
func mixedCase(run string) bool {
	upper, small := false, false
	for i := range len(run) {
		upper = upper || run[i] >= 'A' && run[i] <= 'Z'
		small = small || run[i] >= 'a' && run[i] <= 'z'
	}
	return upper && small
}

// runs yields the stretches of a text that are made of the characters of base64.
func runs(text string) func(yield func(lo, hi int) bool) {
	return func(yield func(lo, hi int) bool) {
		for lo := 0; lo < len(text); {
			if !base64Byte(text[lo]) {
				lo++
				continue
			}
			hi := lo
			for hi < len(text) && base64Byte(text[hi]) {
				hi++
			}
			if !yield(lo, hi) {
				return
			}
			lo = hi
		}
	}
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
		if n := end - run; n >= minLine && base64Byte(s[next]) && n >= width { // a text before it makes the first line's run shorter
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

// base64Run widens a hit of n bytes to the run of base64 around it and reports
// whether any alignment of it decodes to text that names the person.
func (m *Matcher) base64Run(b []byte, at, n int) (lo, hi int, ok bool) {
	lo, hi = at, at+n
	for lo > 0 && at-lo < maxRun && base64Byte(b[lo-1]) {
		lo--
	}
	for hi < len(b) && hi-at-n < maxRun && base64Byte(b[hi]) {
		hi++
	}
	return lo, padded(b, hi), m.inRun(b[lo:hi])
}

// padded is the end of a run with the padding behind it.
func padded[B []byte | string](b B, hi int) int {
	end := hi
	for end < len(b) && end-hi < 2 && b[end] == '=' {
		end++
	}
	return end
}

// inWrapped finds what names the person over the lines of wrapped base64 in a medium.
// A line that does so by itself is found without it.
func (m *Matcher) inWrapped(hits []Hit, b []byte, from, limit int) []Hit {
	if len(m.bytes.base64) == 0 {
		return hits
	}
	at, end := max(0, from-maxRun), min(len(b), limit+maxRun)
	for at < end {
		lo, hi, next := wrapped(b, at, end)
		if hi < 0 {
			break
		}
		if d := joinBase64(string(b[lo:hi])); d.at != nil {
			for _, h := range m.inBase64(nil, d.text) {
				hits = append(hits, Hit{Term: h.Term, Start: lo + int(d.at[h.Start]), End: lo + int(d.at[h.End-1]) + 1, Method: Base64})
			}
		}
		at = next
	}
	return hits
}

// wrappedLine is the shortest line of base64 in a medium that is taken to go on, and
// stride how far apart a medium is looked at for such lines: of each, two places or
// more.
const wrappedLine, stride = 64, wrappedLine / 2

// wrapped is the first block of lines in b[at:end] of which the first looks like
// wrapped base64, with the line behind it, and where the next may begin; hi is -1
// where there is none.
func wrapped(b []byte, at, end int) (lo, hi, next int) {
	for i := at; i+stride < end; {
		if low(b[i:i+stride]) || !inBase64Line(b[i:i+stride]) {
			i += stride
			continue
		}
		lo, hi = i, i+stride
		for lo > at && base64Byte(b[lo-1]) {
			lo--
		}
		for hi < end && base64Byte(b[hi]) {
			hi++
		}
		run := hi
		if hi < end && b[hi] == '\r' {
			hi++
		}
		if run-lo < wrappedLine || hi >= end || b[hi] != '\n' {
			i = hi
			continue
		}
		for hi++; hi < end; {
			k := bytes.IndexByte(b[hi:end], '\n')
			if k < 0 {
				return lo, end, end
			}
			hi, next = hi+k+1, hi
			if !inBase64Line(b[next : next+min(k, stride)]) {
				return lo, hi, next
			}
		}
		return lo, end, end
	}
	return 0, -1, end
}

// low reports, without a branch for each, whether one of 32 bytes is below all of
// base64's, as what stands between words is.
func low(b []byte) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	below := func(x uint64) uint64 { return (x - '+'*ones) &^ x }
	return (below(binary.LittleEndian.Uint64(b))|below(binary.LittleEndian.Uint64(b[8:]))|
		below(binary.LittleEndian.Uint64(b[16:]))|below(binary.LittleEndian.Uint64(b[24:])))&high != 0
}

// inBase64Line reports whether bytes may be of one line of base64; its far end tells
// most others at once.
func inBase64Line(b []byte) bool {
	for i := len(b) - 1; i >= 0; i-- {
		if !base64Bytes[b[i]] {
			return false
		}
	}
	return true
}

var base64Bytes = func() (out [256]bool) {
	for c := range out {
		out[c] = base64Byte(byte(c))
	}
	return out
}()

func base64Byte(c byte) bool {
	return wordByte(c) || c == '+' || c == '/' || c == '-'
}
