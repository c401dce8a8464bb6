package subject

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// byteForms are the sequences of bytes that an identifier leaves on a medium.
type byteForms struct {
	all     *sieve
	base64  []pattern
	longest int
}

func newByteForms(terms []term) *byteForms {
	f := &byteForms{}
	var all []pattern
	seen := map[string]bool{}
	add := func(p pattern) {
		same := slices.Clone(p.bytes)
		for i := range same {
			if p.fold {
				same[i] = lower(same[i])
			}
		}
		key := fmt.Sprintf("%t%d%s", p.fold, p.wide, same)
		if p.method == anchored {
			key += fmt.Sprintf("\x00%d%t", p.term, p.plain)
		}
		if len(p.bytes) < 2 || seen[key] {
			return
		}
		seen[key] = true
		all = append(all, p)
		f.longest = max(f.longest, len(p.bytes))
	}
	for i, t := range terms {
		for _, v := range variants(t) {
			add(pattern{bytes: []byte(v), fold: !t.strict, term: i, method: Exact})
			for wide, order := range map[int]func([]byte, uint16) []byte{1: little, 2: big} {
				var b []byte
				for _, u := range utf16.Encode([]rune(v)) {
					b = order(b, u)
				}
				add(pattern{bytes: b, fold: !t.strict, term: i, method: UTF16, wide: wide})
			}
			if p := percentForm(v); p != v {
				add(pattern{bytes: []byte(p), fold: !t.strict, term: i, method: Percent})
			}
			if strings.Contains(v, " ") {
				add(pattern{bytes: []byte(strings.ReplaceAll(v, " ", "+")), fold: !t.strict, term: i, method: Percent})
			}
			if e := escapedForm(v); e != v {
				add(pattern{bytes: []byte(e), fold: !t.strict, term: i, method: Escaped})
			}
			for _, core := range base64Cores(v) {
				p := pattern{bytes: []byte(core), term: i, method: Base64}
				n := len(all)
				add(p)
				if len(all) > n {
					f.base64 = append(f.base64, p)
				}
			}
		}
		for _, v := range typedForms(t) {
			for _, enc := range []Encoding{UTF16LE, UTF16BE} {
				for _, core := range base64Cores(string(encode(v, enc))) {
					p := pattern{bytes: []byte(core), term: i, method: Base64}
					n := len(all)
					add(p)
					if len(all) > n {
						f.base64 = append(f.base64, p)
					}
				}
			}
		}
		for _, v := range bothCases(t) {
			add(pattern{bytes: []byte(v), fold: true, term: i, method: Exact})
			for wide, order := range map[int]func([]byte, uint16) []byte{1: little, 2: big} {
				var b []byte
				for _, u := range utf16.Encode([]rune(v)) {
					b = order(b, u)
				}
				add(pattern{bytes: b, fold: true, term: i, method: UTF16, wide: wide})
			}
		}
		for _, v := range unmarkedForms(t) {
			add(pattern{bytes: []byte(v), fold: true, term: i, method: Unmarked})
			for wide, order := range map[int]func([]byte, uint16) []byte{1: little, 2: big} {
				var b []byte
				for _, u := range utf16.Encode([]rune(v)) {
					b = order(b, u)
				}
				add(pattern{bytes: b, fold: true, term: i, method: UTF16, wide: wide})
			}
			for _, form := range []string{percentForm(v), strings.ReplaceAll(v, " ", "+")} {
				if form != v {
					add(pattern{bytes: []byte(form), fold: true, term: i, method: Percent})
				}
			}
			for _, core := range base64Cores(v) {
				p := pattern{bytes: []byte(core), term: i, method: Base64}
				n := len(all)
				add(p)
				if len(all) > n {
					f.base64 = append(f.base64, p)
				}
			}
		}
		for _, v := range slugForms(t) {
			add(pattern{bytes: []byte(v), fold: true, term: i, method: Slug})
		}
		for _, w := range indexWindows(t) {
			add(pattern{bytes: []byte(w), term: i, method: Prefix})
		}
	}
	for i, t := range terms {
		for _, p := range anchorForms(t) {
			p.term = i
			add(p)
		}
	}
	f.all = newSieve(all)
	return f
}

// variants are the spellings of a term that differ in more than ASCII case.
func variants(t term) []string {
	out := []string{t.text}
	add := func(all ...string) {
		for _, v := range all {
			if !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	add(norm.NFC.String(t.text), norm.NFD.String(t.text), norm.NFKC.String(t.text))
	for mark, others := range map[string][]string{"'": {"\u2019", "\u2018"}, "-": {"\u2010", "\u2011"}} {
		if strings.Contains(t.text, mark) {
			for _, o := range others {
				add(strings.ReplaceAll(t.text, mark, o))
			}
		}
	}
	if t.strict {
		return out
	}
	add(strings.ToLower(norm.NFC.String(t.text)), strings.ToUpper(norm.NFC.String(t.text)), strings.ToLower(t.text), strings.ToUpper(t.text))
	return out
}

// typedForms are a term as it is typed, all small and all capital.
func typedForms(t term) []string {
	composed := norm.NFC.String(t.text)
	out := []string{composed}
	if !t.strict {
		out = append(out, strings.ToLower(composed), strings.ToUpper(composed))
	}
	return out
}

// maxCased is how many letters that are not ASCII are tried in both cases.
const maxCased = 4

// bothCases are the spellings of a term that differ in the case of single letters that
// are not ASCII, composed and not.
func bothCases(t term) []string {
	composed := norm.NFC.String(t.text)
	out := []string{""}
	for _, r := range composed {
		both := []rune{r}
		if r >= utf8.RuneSelf {
			for _, o := range []rune{unicode.ToLower(r), unicode.ToUpper(r)} {
				if !slices.Contains(both, o) {
					both = append(both, o)
				}
			}
		}
		var next []string
		for _, s := range out {
			for _, o := range both {
				next = append(next, s+string(o))
			}
		}
		if out = next; len(out) > 1<<maxCased {
			return nil
		}
	}
	if t.strict || t.sought() || len(out) == 1 {
		return nil
	}
	for _, s := range out[:len(out):len(out)] {
		out = append(out, norm.NFD.String(s))
	}
	return out
}

func little(b []byte, u uint16) []byte { return append(b, byte(u), byte(u>>8)) }

func big(b []byte, u uint16) []byte { return append(b, byte(u>>8), byte(u)) }

// percentForm encodes what is not unreserved (RFC 3986).
func percentForm(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; wordByte(c) || c == '-' || c == '.' || c == '~' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// escapedForm writes what is not ASCII as JSON escapes.
func escapedForm(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		for _, u := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, u)
		}
	}
	return b.String()
}

// minCore is the shortest piece of base64 that says anything.
const minCore = 6

// base64Cores are the characters that do not depend on the neighbours, for each
// of the three alignments and both alphabets.
func base64Cores(s string) []string {
	var out []string
	for skip := range 3 {
		raw := append(make([]byte, skip), s...)
		enc := base64.RawStdEncoding.EncodeToString(raw)
		first := (skip*8 + 5) / 6
		last := len(raw) * 8 / 6
		if last-first < minCore {
			continue
		}
		core := enc[first:last]
		out = append(out, core)
		if url := strings.NewReplacer("+", "-", "/", "_").Replace(core); url != core {
			out = append(out, url)
		}
	}
	return out
}

// minWindow is the shortest rest of an index term that is looked for: a shorter
// one stands in every text.
const minWindow = 6

// indexWindows are the index terms of an identifier without their first three
// and four bytes, which an index that compresses prefixes leaves out.
func indexWindows(t term) []string {
	var out []string
	for _, w := range strings.FieldsFunc(t.folded, func(r rune) bool { return r < utf8.RuneSelf && !wordByte(byte(r)) || r == '_' }) {
		for _, drop := range []int{3, 4} {
			if len(w)-drop >= minWindow {
				out = append(out, w[drop:])
			}
		}
	}
	return out
}
