package signal

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"unicode"
	"unicode/utf8"
)

const (
	encodedFrom = 40      // the shortest run that is decoded
	encodedMost = 4 << 10 // of its characters that are decoded
	encodedRuns = 8       // runs of a text
)

// encoded adds a signal for words in base64 or hexadecimal digits: a weak one alone, more when their clear
// text would look planted.
func (s *Score) encoded(c Scorer, text string) {
	runs := 0
	for probe := encodedFrom - 1; probe < len(text) && runs < encodedRuns; probe += encodedFrom {
		if !digit64(text[probe]) {
			continue
		}
		start, end := probe, probe+1
		for start > 0 && digit64(text[start-1]) {
			start--
		}
		for end < len(text) && digit64(text[end]) {
			end++
		}
		probe = end
		if end-start < encodedFrom {
			continue
		}
		runs++
		if words, ok := decoded(text[start:min(end, start+encodedMost)]); ok {
			said := c.plain(words)
			s.note(Signal{Name: "encoded", Title: "has words in a form that nobody reads", Weight: 1 + min(said.Sum, 4), Start: start, End: end})
			return
		}
	}
}

func digit64(c byte) bool { return c < utf8.RuneSelf && (alphanumeric[c] || c == '+' || c == '/') }

// decoded is the prose in a run; false where there is none.
func decoded(run string) (string, bool) {
	if b, err := hex.DecodeString(run[:len(run)&^1]); err == nil && prose(b) {
		return string(b), true
	}
	b, err := base64.RawStdEncoding.DecodeString(run[:len(run)&^3])
	return string(b), err == nil && prose(b)
}

// prose reports whether bytes are only words separated by spaces.
func prose(b []byte) bool {
	if !utf8.Valid(b) && !utf8.Valid(b[:max(0, len(b)-utf8.UTFMax)]) {
		return false
	}
	for _, r := range string(b) {
		if r != '\n' && r != '\t' && r != utf8.RuneError && !unicode.IsPrint(r) {
			return false
		}
	}
	return bytes.ContainsAny(b, " \n")
}
