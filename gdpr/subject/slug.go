package subject

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A slug is an identifier as ids, keys, links and file names write it: the same
// words with one other separator between them, maren-holt, maren_holt or
// maren.holt for Maren Holt. It counts by whole words too. A name of several
// words may stand in a longer slug, as it may in a longer text: maren-holt-notes
// is about Maren Holt, maren-holtz and holt-maren-street are not. What is one
// token of its own keeps its own rule (part.go): u1-b and subj_ana_2 are other ids.

// separator tells the characters that stand between the words of a slug.
func separator(c byte) bool {
	switch c {
	case ' ', '-', '_', '.', '+', '@', '/':
		return true
	}
	return false
}

// slugText is a folded text with every separator made one.
func slugText(folded string) string {
	if strings.IndexFunc(folded, func(r rune) bool { return r < utf8.RuneSelf && r != ' ' && separator(byte(r)) }) < 0 {
		return folded
	}
	b := []byte(folded)
	for i, c := range b {
		if separator(c) {
			b[i] = ' '
		}
	}
	return string(b)
}

// slugOf is what the slugs of an identifier have in common; empty for one word
// and for what is too short to be told from another id.
func slugOf(folded string, strict bool) string {
	s := strings.Join(strings.Fields(slugText(folded)), " ")
	if strict || !strings.Contains(s, " ") {
		return ""
	}
	return s
}

// plainSlugs are the slugs of a name as programs write it that keep ASCII only:
// without marks, zoe-angstrom, or with the letters that Germans and Danes put in
// their place, zoe-aangstroem. A name that is one in ASCII has none.
func plainSlugs(slug string) []string {
	var out []string
	for _, letters := range []*strings.Replacer{stripped, spelled} {
		s := letters.Replace(slug)
		s = strings.Map(func(r rune) rune {
			if unicode.IsMark(r) {
				return -1
			}
			return r
		}, s)
		if s != slug && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

var (
	stripped = strings.NewReplacer("ø", "o", "đ", "d", "ł", "l", "ð", "d", "þ", "th", "æ", "ae", "œ", "oe", "ı", "i", "ħ", "h")
	spelled  = strings.NewReplacer("a\u0308", "ae", "o\u0308", "oe", "u\u0308", "ue", "a\u030a", "aa", "ø", "oe", "đ", "d", "ł", "l", "ð", "d", "þ", "th", "æ", "ae", "œ", "oe")
)

// slugForms are the spellings with one separator throughout, and those that keep
// the dots or the hyphens that the identifier has itself.
func slugForms(t term) []string {
	var out []string
	add := func(s string) {
		if s != t.folded && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for i, slug := range t.slugs {
		for _, sep := range []string{"-", "_", ".", "+"} {
			add(strings.ReplaceAll(slug, " ", sep))
			for _, own := range []string{"@", " "} {
				if i == 0 && strings.Contains(t.folded, own) {
					add(strings.ReplaceAll(t.folded, own, sep))
				}
			}
		}
	}
	return out
}

// inSlugs searches a view for slugs. What stands there with the identifier's own
// separators is no slug of it and follows the rule of whole tokens.
func (m *Matcher) inSlugs(hits []Hit, v view, first bool) []Hit {
	text := ""
	for i, t := range m.terms {
		for n, slug := range t.slugs {
			if text == "" {
				text = slugText(v.text)
			}
			own := t.folded
			if n > 0 {
				own = slug // without its marks it is no name in prose
			}
			for from := 0; from <= len(text)-len(slug); {
				n := strings.Index(text[from:], slug)
				if n < 0 {
					break
				}
				lo, hi := from+n, from+n+len(slug)
				from = lo + 1
				if v.text[lo:hi] == own || mixed(v.text[lo:hi], own) || !v.wholeSlug(lo, hi, t.shape == name) {
					continue
				}
				hits = append(hits, Hit{Term: i, Start: v.start(lo), End: v.end(hi), Method: Slug})
				if first {
					return hits
				}
			}
		}
	}
	return hits
}

// mixed tells prose from a slug: a slug has no space, unless the identifier has
// one at that place.
func mixed(got, own string) bool {
	for i := range len(got) {
		if got[i] == ' ' && (len(own) != len(got) || own[i] != ' ') || got[i] == '/' && (len(own) != len(got) || own[i] != '/') {
			return true
		}
	}
	return false
}

// wholeSlug is whole, except that a name of several words may have a separator
// on either side.
func (v view) wholeSlug(lo, hi int, loose bool) bool {
	if !loose {
		return v.whole(lo, hi, compound)
	}
	if !v.chars(lo, hi) {
		return false
	}
	before, after := v.mid[:v.midOf(lo)], v.mid[v.midEnd(hi):]
	return (strings.HasSuffix(before, "_") || !wordBefore(before)) &&
		(strings.HasPrefix(after, "-") || strings.HasPrefix(after, "_") || !wordAfter(after))
}

// slugBoundary is wholeSlug over bytes.
func slugBoundary(b []byte, lo, hi int, loose bool) bool {
	if !loose {
		return boundary(b, lo, hi, compound)
	}
	before, after := around(b, lo, hi)
	return (strings.HasSuffix(before, "_") || !wordBefore(before)) &&
		(strings.HasPrefix(after, "-") || strings.HasPrefix(after, "_") || !wordAfter(after))
}
