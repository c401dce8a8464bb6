package curated

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// separator stands between two entries (gateway-curated.md, Curated files).
const separator = "\n§\n"

// entry is one entry of a file.
type entry struct {
	text string
	hash string // twelve hex digits over the text, the basis of its id
}

func newEntry(text string) entry { return entry{text, hashOf(text)} }

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// trim removes the same white space as Python's strip.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f })
}

// parse splits a file as its agent does: trimmed, without empty entries, and with the first of exact
// repeats only.
func parse(raw string) []entry {
	var out []entry
	seen := map[string]bool{}
	for part := range strings.SplitSeq(trim(raw), separator) {
		text := trim(part)
		if text == "" || seen[text] {
			continue
		}
		seen[text] = true
		out = append(out, newEntry(text))
	}
	return out
}

// join writes entries as a file holds them: no header, no final newline.
func join(entries []entry) string {
	texts := make([]string, len(entries))
	for i, e := range entries {
		texts[i] = e.text
	}
	return strings.Join(texts, separator)
}

// drift says how a file differs from its agent's format, empty when it does not. This package refuses to change such
// a file; its agent does too, but for a loose separator.
func drift(raw string, entries []entry, limit int) string {
	switch {
	case strings.ContainsRune(raw, '\r'):
		return "it holds carriage returns, which one reader takes for line ends and another does not"
	case join(entries) != trim(raw):
		return "it was edited by hand: blank or repeated entries, or white space around one"
	}
	for _, e := range entries {
		if strings.Contains("\n"+e.text+"\n", separator) {
			return "an entry has a line that is only §, which divides entries"
		}
		if n := utf8.RuneCountInString(e.text); n > limit {
			return fmt.Sprintf("one entry alone has %d characters, over the cap of %d", n, limit)
		}
	}
	return ""
}

// unfit says why a text cannot be an entry, empty when it can.
func unfit(text string) string {
	switch {
	case text == "":
		return "the content is empty; forget the entry instead"
	case !utf8.ValidString(text):
		return "the content is not UTF-8 text"
	case strings.ContainsRune(text, '\r'):
		return "the content holds a carriage return, which this file cannot keep"
	case strings.Contains("\n"+text+"\n", separator):
		return "the content has a line that is only §, which divides entries"
	}
	return ""
}

// runes counts a joined file, separators included, as the caps do.
func runes(entries []entry) int64 { return int64(utf8.RuneCountInString(join(entries))) }

// without is the entries but one.
func without(entries []entry, i int) []entry { return slices.Delete(slices.Clone(entries), i, i+1) }

func textsOf(entries []entry) map[string]bool {
	out := make(map[string]bool, len(entries))
	for _, e := range entries {
		out[e.text] = true
	}
	return out
}

func find(entries []entry, hash string) int {
	return slices.IndexFunc(entries, func(e entry) bool { return e.hash == hash })
}

// normalise converts line ends to those of the agent's own writer, and joins separators with no entry between them: the
// start of a repair.
func normalise(raw string) string {
	text := "\n" + trim(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(raw)) + "\n"
	for twice := "\n§" + separator; strings.Contains(text, twice); {
		text = strings.ReplaceAll(text, twice, separator)
	}
	return strings.TrimSuffix(strings.TrimPrefix(text, separator), separator)
}
