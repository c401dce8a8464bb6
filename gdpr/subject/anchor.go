package subject

import (
	"cmp"
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// minAnchor is the shortest anchor that tells texts apart, and minSought the shortest
// that is looked for in the bytes of a medium: the shorter, the slower.
const minAnchor, minSought = 3, 5

// fragments are the runs of ASCII letters and digits of an identifier, in order and
// lower case: whatever it is written in, they stand as they are. The longest of them
// is the anchor by which the others are looked for; -1 where none is long enough.
// gaps is how far, in bytes, each run's end may be from the next one's beginning.
type fragments struct {
	runs   []string
	gaps   []int
	anchor int
}

func fragmentsOf(t string) fragments {
	var runs []string
	var gaps []int
	anchor := -1
	t = norm.NFC.String(t)
	gap := 0
	for i := 0; i < len(t); {
		n := i
		for n < len(t) && wordByte(t[n]) && t[n] != '_' {
			n++
		}
		if n == i {
			gap += maxPart
			if t[i] == ' ' {
				gap += maxGap
			}
			i++
			continue
		}
		run := strings.ToLower(t[i:n])
		if len(run) >= minAnchor && (anchor < 0 || len(run) > len(runs[anchor])) {
			anchor = len(runs)
		}
		if len(runs) > 0 {
			gaps = append(gaps, gap)
		}
		runs, gap = append(runs, run), 0
		i = n
	}
	return fragments{runs, gaps, anchor}
}

// varies reports whether an identifier may be written in other forms: one that is a
// single run of ASCII letters and digits stands as it is in all of them.
func varies(t string) bool {
	return strings.ContainsFunc(t, func(r rune) bool { return r >= utf8.RuneSelf || !wordByte(byte(r)) || r == '_' })
}

// mayVary reports whether a text may hold an identifier in another form. It is a
// cheap no for most texts.
func (m *Matcher) mayVary(text string) bool {
	return m.unanchored || m.named && mayMark(text) || m.anchors != nil && m.anchors.any(text) || strings.Contains(text, "=\n") || strings.Contains(text, "=\r\n")
}

// mayMark reports whether what is encoded in a text, or Latin-1, may be a letter with a
// mark: that breaks up what stands in all other forms of a name.
func mayMark(text string) bool {
	for i := 0; i+1 < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			if text[i+1] == 'u' {
				return true
			}
		case c == '%' || c == '=':
			if d := hexDigit(text[i+1]); d >= 8 || c == '%' && d == 2 { // %2525 is a % that is encoded
				return true
			}
		case c == '&':
			return true
		}
	}
	return !utf8.ValidString(text)
}

// anchored marks the pattern of an anchor, and overLines that of a name over two
// lines: what stands around it decides.
const anchored, overLines Method = "anchor", "lines"

// maxForm bounds, in bytes, how far from its anchor an identifier may begin or end.
const maxForm = 2048

// maxPart bounds, in bytes, what one character may become in an encoding, twice
// percent-encoded UTF-8 of four bytes, and maxGap what stands between two words, the end
// of a line or a link.
const maxPart, maxGap = 24, 256

// anchorForms are the patterns by which the rarer forms of an identifier are found
// in bytes: the anchor of one in whose letters the forms differ, else the forms
// themselves.
func anchorForms(t term) []pattern {
	if !varies(t.text) {
		return nil
	}
	var out []pattern
	if !t.sought() {
		out = rareForms(t)
	} else {
		out = t.fragments.patterns(false)
	}
	if t.plainly.anchor >= 0 && len(t.plainly.runs[t.plainly.anchor]) >= minSought {
		out = append(out, t.plainly.patterns(true)...)
	}
	return out
}

// patterns are those of the anchor.
func (f *fragments) patterns(plain bool) []pattern {
	a := f.runs[f.anchor]
	out := []pattern{{bytes: []byte(a), fold: true, method: anchored, plain: plain}}
	for wide, order := range map[int]func([]byte, uint16) []byte{1: little, 2: big} {
		var b []byte
		for i := range len(a) {
			b = order(b, uint16(a[i]))
		}
		out = append(out, pattern{bytes: b, fold: true, method: anchored, wide: wide, plain: plain})
	}
	return out
}

// sought reports whether an identifier is looked for by its anchor. One of ASCII that
// is no name has few forms, and they are longer.
func (t *term) sought() bool {
	return t.anchor >= 0 && len(t.runs[t.anchor]) >= minSought && (!isASCII(t.text) || t.shape == name && t.plain != nil)
}

// nearby looks for forms of an identifier around its anchor.
func (m *Matcher) nearby(hits []Hit, b []byte, p *pattern, at int, binary bool, friends *Friends) []Hit {
	t := &m.terms[p.term]
	f := &t.fragments
	if p.plain {
		f = &t.plainly
	}
	reach := min(maxForm, maxPart*len(t.text)+maxGap)
	if p.wide > 0 {
		return m.nearbyWide(hits, b, p, at, f)
	}
	lo, hi := max(0, at-reach), min(len(b), at+reach)
	if !f.around(b[lo:at], b[at+len(p.bytes):hi]) {
		return hits
	}
	text := string(b[lo:hi])
	for _, h := range m.inForms(nil, text, false) {
		h.Start, h.End = h.Start+lo, h.End+lo
		if h.Term == p.term && h.Start <= at && at < h.End && (!binary || !friends.explains(b, h.Start, h.End)) {
			hits = append(hits, h)
			break
		}
	}
	return hits
}

// nearbyWide is nearby in UTF-16, where only the case differs from what the patterns
// of whole identifiers find.
func (m *Matcher) nearbyWide(hits []Hit, b []byte, p *pattern, at int, f *fragments) []Hit {
	t := &m.terms[p.term]
	reach := 2 * (2*len(t.text) + maxJoined) // even
	before, after := wideAround(b, at, at+len(p.bytes), p.wide, reach)
	if !f.around([]byte(before), []byte(after)) {
		return hits
	}
	text := before + units(b[at:at+len(p.bytes)], p.wide) + after
	v := fold(text)
	for _, h := range m.inView(nil, v, text, "", false) {
		if h.Term == p.term && h.Start <= len(before) && len(before) < h.End {
			start := at - 2*len(utf16.Encode([]rune(text[h.Start:len(before)])))
			end := start + 2*len(utf16.Encode([]rune(text[h.Start:h.End])))
			return append(hits, Hit{Term: p.term, Start: max(0, start), End: min(len(b), end), Method: UTF16})
		}
	}
	return hits
}

// around reports whether the other runs of an identifier stand before and behind its
// anchor, each within reach of the next. It is a cheap no for most places.
func (f *fragments) around(before, after []byte) bool {
	for i := f.anchor - 1; i >= 0; i-- {
		from := max(0, len(before)-f.gaps[i]-len(f.runs[i]))
		n := lastFold(before[from:], f.runs[i])
		if n < 0 {
			return false
		}
		before = before[:from+n]
	}
	for i := f.anchor + 1; i < len(f.runs); i++ {
		n := indexFold(after[:min(len(after), f.gaps[i-1]+len(f.runs[i]))], f.runs[i])
		if n < 0 {
			return false
		}
		after = after[n+len(f.runs[i]):]
	}
	return true
}

// indexFold finds a lower-case ASCII text in any case; -1 where it is not.
func indexFold(b []byte, run string) int {
	for i := 0; i+len(run) <= len(b); i++ {
		if lower(b[i]) == run[0] && foldIs(b[i:], run) {
			return i
		}
	}
	return -1
}

func lastFold(b []byte, run string) int {
	for i := len(b) - len(run); i >= 0; i-- {
		if lower(b[i]) == run[0] && foldIs(b[i:], run) {
			return i
		}
	}
	return -1
}

func foldIs(b []byte, run string) bool {
	for i := range len(run) {
		if lower(b[i]) != run[i] {
			return false
		}
	}
	return true
}

// rareForms are the rarer forms of an identifier themselves.
func rareForms(t term) []pattern {
	var out []pattern
	add := func(method Method, s string) {
		out = append(out, pattern{bytes: []byte(s), fold: !t.strict, method: method})
	}
	for _, v := range variants(t) {
		encoded := func(r rune) bool { return r >= utf8.RuneSelf || r == '@' || r == ' ' || r == '\'' }
		high := func(r rune) bool { return r >= utf8.RuneSelf }
		if !strings.ContainsFunc(v, encoded) {
			continue
		}
		add(Percent, percentForm(percentForm(v)))
		if strings.Contains(v, "'") {
			for _, form := range []string{`\u0027`, "&#39;", "&#x27;", "&apos;"} {
				add(Entity, strings.ReplaceAll(v, "'", form))
			}
		}
		add(Percent, strings.ReplaceAll(percentForm(v), "%20", "+"))
		for _, form := range []string{"&#%d;", "&#x%x;", "&#x%04x;"} {
			add(Entity, eachRune(v, encoded, func(r rune) string { return fmt.Sprintf(form, r) }))
			add(Entity, eachRune(v, high, func(r rune) string { return fmt.Sprintf(form, r) }))
		}
		for _, which := range []func(rune) bool{encoded, high} {
			named := eachRune(v, which, func(r rune) string { return cmp.Or(entityNames[r], string(r)) })
			add(Entity, named)
			add(Entity, strings.ReplaceAll(named, "&", "&amp;"))
			add(Quoted, eachRune(v, which, func(r rune) string { return "=" + strings.ReplaceAll(percentForm(string(r)), "%", "=")[1:] }))
		}
		if b, ok := toWindows(v); ok {
			add(Latin1, b)
			add(Percent, percentForm(b))
			add(Percent, strings.ReplaceAll(percentForm(b), "%20", "+"))
			add(Quoted, strings.ReplaceAll(percentForm(b), "%", "="))
			add(Quoted, strings.ReplaceAll(strings.ReplaceAll(percentForm(b), "%20", " "), "%", "="))
		}
	}
	for _, v := range broken(t.text) {
		add(overLines, v)
	}
	for _, slug := range t.slugs {
		for _, sep := range []string{"-", "_", "."} {
			if s := norm.NFC.String(strings.ReplaceAll(slug, " ", sep)); s != t.folded {
				add(Slug, s)
			}
		}
	}
	return out
}

// broken are the spellings of a name over two lines, also of a quotation or a
// comment, as they are and in a string of JSON.
func broken(t string) []string {
	var out []string
	for i := range len(t) {
		if t[i] != ' ' {
			continue
		}
		for _, mark := range []string{"", ">", "> ", ">> ", "> > ", "# ", "// ", "* ", " * ", "| ", "; "} {
			for _, end := range []string{"\n", "\r\n", `\n`} {
				out = append(out, t[:i]+end+mark+t[i+1:])
			}
		}
		for _, soft := range []string{" =\n", " =\r\n", "=\n ", "=\r\n "} { // quoted-printable
			out = append(out, t[:i]+soft+t[i+1:])
		}
	}
	return out
}

// entityNames are the entities of HTML for the letters of names, by letter.
var entityNames = func() map[rune]string {
	out := map[rune]string{'@': "&commat;", ' ': "&nbsp;", '\'': "&apos;"}
	for _, name := range []string{"grave", "acute", "circ", "tilde", "uml", "ring", "cedil", "slash", "lig", "caron"} {
		for c := 'A'; c <= 'z'; c++ {
			e := "&" + string(c) + name + ";"
			if r := []rune(html.UnescapeString(e)); len(r) == 1 && unicode.IsLetter(r[0]) {
				out[r[0]] = e
			}
		}
	}
	for _, e := range []string{"&AElig;", "&aelig;", "&OElig;", "&oelig;", "&szlig;", "&eth;", "&ETH;", "&thorn;", "&THORN;"} {
		out[[]rune(html.UnescapeString(e))[0]] = e
	}
	return out
}()

// eachRune writes some characters in another form.
func eachRune(s string, which func(rune) bool, form func(r rune) string) string {
	var b strings.Builder
	for _, r := range s {
		if which(r) {
			b.WriteString(form(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
