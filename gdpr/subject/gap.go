package subject

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nyaruka/phonenumbers"
)

// fits reports whether the letters v.text[lo:hi], which equal those of the pattern, are an occurrence of the
// identifier, and returns its first letter: a telephone number may have a prefix before lo.
func (p *Pattern) fits(v *view, lo, hi int) (from int, whole, ok bool) {
	if !v.chars(lo, hi) {
		return 0, false, false
	}
	slug := false
	switch p.Kind {
	case Telephone:
		from, ok = p.dialled(v, lo, hi)
		return from, ok, ok
	case Name:
		var listed bool
		if slug, listed, ok = p.joined(v, lo, hi); !ok {
			return 0, false, false
		}
		ordered := p.Comma > 0 && gapOf(v.gap(lo+p.Comma)).comma
		if (ordered || listed) && ofOthers(v.src[max(0, int(v.from[lo])-maxJoined):v.from[lo]], v.src[v.to[hi-1]:min(len(v.src), int(v.to[hi-1])+maxJoined)], listed) {
			return lo, false, true // people decide
		}
		if first, _ := decodeRune(v.src[v.from[lo]:]); p.Strict && unicode.IsLower(first) {
			return 0, false, false
		}
	default:
		if key := p.Key(v, lo, hi); key == "" || p.Exact != "" && key != p.Exact {
			return 0, false, false
		}
	}
	start, end := int(v.from[lo])-p.Lead, int(v.to[hi-1])+p.Tail
	before, after := v.src[max(0, start-maxJoined):start], v.src[end:min(len(v.src), end+maxJoined)]
	mark := []byte("_")
	if p.Kind == Name {
		before, after = unemphasised(before, after)
	}
	joins := p.isUUID(v.text[lo:hi]) || p.Kind == Name && p.Shape == name && !bytes.Contains(v.src[start:end], mark) // to other words of a file name
	if joins && bytes.HasSuffix(before, mark) {
		before = nil
	}
	if (joins || p.Kind == Address) && bytes.HasPrefix(after, mark) { // no domain has one
		after = nil
	}
	if slug {
		return lo, slugBefore(before) && slugAfter(after), true
	}
	return lo, !partBefore(before, p.Shape) && !partAfter(after, p.Shape), true
}

// isUUID reports whether the letters of an identifier are those of a UUID: it is nobody else's behind an underscore.
func (p *Pattern) isUUID(letters []byte) bool {
	return p.Kind == ID && len(letters) == 32 && !bytes.ContainsFunc(letters, func(r rune) bool { return r >= utf8.RuneSelf || hexDigit[r] == 0 })
}

// goesOn reports whether the letters v.text[lo:hi] are those of an address that a longer one begins with.
func (p *Pattern) goesOn(v *view, lo, hi int) bool {
	_, _, ok := p.fits(v, lo, hi)
	end := int(v.to[hi-1]) + p.Tail
	return ok && p.Kind == Address && partAfter(v.src[end:min(len(v.src), end+maxJoined)], p.Shape)
}

// unemphasised are the bytes around a name without underscores of emphasis.
func unemphasised(before, after []byte) ([]byte, []byte) {
	b, a := bytes.TrimRight(before, "_"), bytes.TrimLeft(after, "_")
	if len(b) > 0 && wordRune(lastRune(b)) {
		b = before
	}
	if r, _ := decodeRune(append(slices.Clone(a), ' ')); wordRune(r) {
		a = after
	}
	return b, a
}

// Key returns the identifier around the letters v.text[lo:hi] in the form by which identifiers of the
// pattern's kind are compared; empty where the text is too short for it.
func (p *Pattern) Key(v *view, lo, hi int) string {
	start, end := int(v.from[lo])-p.Lead, int(v.to[hi-1])+p.Tail
	if start < 0 || end > len(v.src) {
		return ""
	}
	b := v.src[start:end]
	if p.Strict {
		return shown(b)
	}
	return canonical(unmarked(b))
}

// joined reports whether the gaps between the letters of a name are allowed: between words any separator,
// inside a word only markup and a line end. slug: words are joined as in file names and links. listed: two items of a
// list hold them.
func (p *Pattern) joined(v *view, lo, hi int) (slug, listed, ok bool) {
	spaced, glued, camel := false, p.Shape == name, false
	for i := lo + 1; i < hi; i++ {
		if v.from[i] == v.from[i-1] || v.to[i-1] >= v.from[i] && !slices.Contains(p.Breaks, i-lo) {
			continue
		}
		g := gapOf(v.gap(i))
		listed = listed || g.listed
		if p.Comma > 0 && i-lo == p.Comma {
			if !g.comma && !(g.parts && unicode.Is(unicode.Cyrillic, v.runeAt(lo))) { // Russian sets none
				return false, false, false
			}
			spaced, glued = true, false
			continue
		}
		if !slices.Contains(p.Breaks, i-lo) {
			if g.text == "" || g.hyphenated || g.text != "x" && (g.text == " " || g.line) && besideUnspaced(v, i) {
				continue
			}
			return false, false, false
		}
		if !g.parts && !(g.dotted && slices.Contains(p.Dots, i-lo)) {
			return false, false, false
		}
		if first := v.runeAt(i); g.text == "" {
			camel = camel || !unicode.IsLower(first) && !unicode.IsUpper(lastRune(v.src[:v.to[i-1]]))
		} else {
			glued = false
		}
		slug = slug || g.slug
		spaced = spaced || !g.slug && g.text != "" && g.text != "'"
	}
	if glued && !camel && hi-lo < leastGlued && !handle(v.src, int(v.from[lo]), int(v.to[hi-1])) {
		return false, false, false
	}
	return slug && !spaced, listed, true
}

// leastGlued is the shortest name, in letters, that counts where its words are written as one in one case: shorter ones
// are words of a language, as Mark Down is.
const leastGlued = 9

// handle reports whether b[lo:hi] is a user's name: beside an at sign, or behind the place of homes or profiles.
func handle(b []byte, lo, hi int) bool {
	return hi < len(b) && b[hi] == '@' || slices.ContainsFunc([]string{"@", "/home/", `Users/`, `Users\`, "/in/"}, func(s string) bool { return bytes.HasSuffix(b[:lo], []byte(s)) })
}

// titles stand before a last name.
var titles = []string{"mr", "mrs", "ms", "dr", "herr", "frau", "mme", "name"}

// moreNames matches what follows a first name in a row of names.
var moreNames = regexp.MustCompile(`^[*_~]*,? +(\p{Lu}|and |und |& )`)

// ofOthers reports whether the words around a name with the last name first, or around one over two items of a list,
// are better read as other names: Anna Holt, Maren Berg are two people. listed: over two items.
func ofOthers(before, after []byte, listed bool) bool {
	b := bytes.TrimRight(before, " \u00a0*~")
	if listed && len(b) < len(before) && (bytes.HasSuffix(b, []byte("-")) || bytes.HasSuffix(before, []byte("* "))) {
		return true // each item is one word of the name
	}
	if bytes.IndexByte(before[len(b):], ' ') < 0 || !listed && !moreNames.Match(after) {
		return false
	}
	start := len(b)
	for start > 0 && (wordByte(b[start-1]) || b[start-1] >= utf8.RuneSelf) {
		start--
	}
	first, _ := utf8.DecodeRune(b[start:])
	word := strings.ToLower(string(b[start:]))
	return unicode.IsUpper(first) && !slices.Contains(roleWords, word) && !slices.Contains(titles, word)
}

func besideUnspaced(v *view, i int) bool {
	a := lastRune(v.src[:v.to[i-1]])
	b, _ := decodeRune(v.src[v.from[i]:])
	return unicode.In(a, Unspaced...) && unicode.In(b, Unspaced...)
}

// gap classifies the characters between two letters.
type gap struct {
	text       string // one character for each class, "x" for any other
	parts      bool   // may separate words of a name
	slug       bool   // joins words as file names and links do
	dotted     bool   // a dot and white space or a hyphen: the end of an abbreviation, or of a sentence
	comma      bool   // between the last name and the first
	line       bool   // contains a line end
	listed     bool   // contains a line end and the mark of a list's item
	hyphenated bool   // contains a line end behind a hyphen, which may divide a word
}

// itemEnd matches the end of an element of HTML that divides texts.
var itemEnd = regexp.MustCompile(`(?i)</(li|p|tr|h[1-6]|div)>`)

// cellEnd matches the end of a cell of a table: two cells hold two numbers, and often the two parts of a name.
var cellEnd = regexp.MustCompile(`(?i)</t[dh]>`)

// gapOf classifies a gap. Marks of emphasis, links and tags are ignored.
func gapOf(b []byte) gap {
	if len(b) == 0 {
		return gap{parts: true}
	}
	if len(b) == 1 && b[0] == ' ' {
		return gap{text: " ", parts: true}
	}
	b = bytes.TrimSuffix(bytes.TrimPrefix(b, []byte("==")), []byte("==")) // a highlight of Obsidian
	t := gapText(b)
	g := gap{text: string(t)}
	head, tail, line := bytes.Cut(t, []byte("\n"))
	quoted := line && len(bytes.Trim(tail, " >#|/*-;%!")) == 0
	last, mark := string(bytes.TrimRight(head, " ")), bytes.Trim(tail, " ")
	g.listed = quoted && (string(mark) == "-" || bytes.HasPrefix(mark, []byte("##")) || bytes.Contains(b, []byte("\n* "))) || itemEnd.Match(b)
	g.line, g.hyphenated = quoted && last == "", quoted && last == "-"
	switch g.text {
	case "-", "_", ".", "+":
		g.slug, g.parts = true, true
	case "", " ", "'", "''", `\'`:
		g.parts = true
	default:
		g.parts = g.line || g.hyphenated
		g.dotted = g.text == ". " || g.text == ".-" || quoted && last == "."
		g.comma = slices.Contains([]string{",", ", ", " , ", ";", "; "}, g.text) || quoted && (last == "," || last == ";")
	}
	return g
}

// gapText is a gap with one character for each class.
func gapText(b []byte) (t []byte) {
	for i := 0; i < len(b) && len(t) < maxJoined; {
		if b[i] == '<' || b[i] == ']' {
			if n := markup(b[i:]); n > 1 || b[i] == ']' {
				i += n
				continue
			}
		}
		r, n := decodeRune(b[i:])
		i += n
		c := gapClass(r)
		if c == 0 || c == ' ' && len(t) > 0 && (t[len(t)-1] == ' ' || t[len(t)-1] == '\n') {
			continue
		}
		t = append(t, c)
	}
	if len(t) > 1 { // of a link
		t = bytes.ReplaceAll(t, []byte("+"), []byte(" "))
	}
	if bytes.ContainsAny(t, " \n") {
		t = bytes.Map(func(r rune) rune { // emphasis, and code
			if r == '_' || r == '\'' {
				return -1
			}
			return r
		}, t)
		t = bytes.ReplaceAll(t, []byte("  "), []byte(" "))
	}
	return t
}

// gapClass is one character for all separators of the same class; 0 for a character that separates nothing.
func gapClass(r rune) byte {
	switch {
	case r == '\n', r == '\v', r == '\f', r == 0x85, r == 0x2028, r == 0x2029:
		return '\n'
	case r == '\r', ignorable(r), unicode.IsMark(r), r == 0x640, r == '*', r == '~', r == '[', r == ']', r == '¨', r == '˜': // the last two are marks of PDF texts
		return 0
	case unicode.IsSpace(r):
		return ' '
	case dash(r):
		return '-'
	case apostrophe(r):
		return '\''
	case r == '·', r == '・':
		return ' '
	case r < 0x80 && bytes.IndexByte([]byte("_.,;+/>#|\\%!"), byte(r)) >= 0:
		return byte(r)
	}
	return 'x'
}

// dialled reports whether digits are those of the telephone number: digits before them are its prefix, and no
// digit joins them to another number.
func (p *Pattern) dialled(v *view, lo, hi int) (from int, ok bool) {
	digits := func(i int) bool { return i >= 0 && i < len(v.text) && v.text[i] >= '0' && v.text[i] <= '9' }
	for i := lo + 1; i < hi; i++ {
		if !dialGap(v.gap(i)) {
			return 0, false
		}
	}
	after := v.src[v.to[hi-1]:min(len(v.src), int(v.to[hi-1])+maxJoined)]
	if r, n := decodeRune(append(slices.Clone(after), 0)); r != '_' && wordRune(r) || len(after) > n && (dash(r) || r == '/' || r == '.' || r == '_') && unicode.IsDigit(rune(after[n])) {
		return 0, false
	}
	const most = 8 // digits of the longest prefix: 00, a country of three, 0 and more
	for s := lo; s >= max(0, lo-most); s-- {
		if s < lo && (!digits(s) || !dialGap(v.gap(s+1))) {
			break
		}
		before := bytes.TrimRight(v.src[max(0, int(v.from[s])-8):v.from[s]], " (\u00a0")
		r := lastRune(before)
		plus := r == '+' || r == '＋'
		if b := v.src[:v.from[s]]; len(b) > 0 && !bytes.HasSuffix(b, []byte("_")) && wordRune(lastRune(b)) || s > 0 && digits(s-1) && joinsDigits(v.gap(s)) {
			continue
		}
		linked := plus && len(before) > 1 && (wordByte(before[len(before)-2]) || before[len(before)-2] == '=')
		if p.same(plus, string(v.text[s:hi]), s == lo) || linked && p.same(false, string(v.text[s:hi]), s == lo) {
			from, ok = s, true
		}
	}
	return from, ok
}

// joinsDigits reports whether a gap joins the digits on both sides into one number.
func joinsDigits(g []byte) bool {
	return len(g) == 0 || len(g) == 1 && bytes.IndexByte([]byte("-./_"), g[0]) >= 0
}

// dialGap reports whether g may separate the digits of a telephone number. Tags and emphasis are ignored.
func dialGap(g []byte) bool {
	if itemEnd.Match(g) || cellEnd.Match(g) {
		return false
	}
	if g = unmarked(g); len(g) > 8 {
		return false
	}
	for i := 0; i < len(g); {
		r, n := decodeRune(g[i:])
		i += n
		if !unicode.IsSpace(r) && !dash(r) && !ignorable(r) && r != '/' && r != '.' && r != '(' && r != ')' && r != '_' && r != '*' && r != '+' { // a plus is a space in a link
			return false
		}
	}
	return true
}

// same asks the library whether digits are the number. bare says that they have no prefix, which only counts
// where national calls need none.
func (p *Pattern) same(plus bool, digits string, bare bool) bool {
	if p.Region == "" {
		return bare && !plus
	}
	if p.Region == phonenumbers.REGION_CODE_FOR_NON_GEO_ENTITY {
		return bare && plus || !plus && len(digits) == p.Length+2 && strings.HasPrefix(digits, "00")
	}
	if ndd := phonenumbers.GetNddPrefixForRegion(p.Region, true); bare && !plus && ndd != "" && ndd != "1" {
		return false
	}
	if plus {
		if bare {
			return false
		}
		digits = "+" + digits
	}
	n, err := phonenumbers.Parse(digits, p.Region)
	if err != nil || int(n.GetCountryCode()) != phonenumbers.GetCountryCodeForRegion(p.Region) {
		return false
	}
	return len(phonenumbers.GetNationalSignificantNumber(n)) == p.Length
}
