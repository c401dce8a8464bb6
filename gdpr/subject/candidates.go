package subject

import "strings"

// Normal is the form by which identifiers are compared: what people type in any
// case, width or composition is one.
func Normal(id string) string { return fold(strings.TrimSpace(id)).text }

// Strict reports whether an identifier counts in its exact case only.
func Strict(id string) bool { return newTerm(strings.TrimSpace(id)).strict }

// SlugsOf is what the slugs of an identifier have in common, then the same without
// marks, and whether it is a name of several words, which may stand in a longer slug;
// none where it has no slug.
func SlugsOf(id string) (slugs []string, several bool) {
	t := newTerm(strings.TrimSpace(id))
	return t.slugs, t.shape == name
}

// Slugs calls yield for every stretch of text, of one of the given lengths, that
// could be a slug, in the form of SlugOf. whole says that it may also be one of an
// identifier that is no name. What stands there with spaces is prose. yield returns false to stop.
func Slugs(text string, lengths []int, yield func(slug string, whole bool, exact string, start, end int) bool) {
	for _, v := range views(text) {
		if v.bare {
			continue
		}
		slug := slugText(v.text)
		for lo := range len(slug) {
			if lo > 0 && slug[lo-1] != ' ' && (wordByte(slug[lo-1]) || slug[lo]&0xc0 == 0x80) || slug[lo] == ' ' {
				continue
			}
			for _, n := range lengths {
				hi := lo + n
				if hi > len(slug) || strings.ContainsAny(v.text[lo:hi], " /") || // prose, and two names of a path
					hi < len(slug) && (wordByte(slug[hi]) || slug[hi]&0xc0 == 0x80) || !v.wholeSlug(lo, hi, true) {
					continue
				}
				if !yield(slug[lo:hi], v.whole(lo, hi, compound), v.mid[v.midOf(lo):v.midEnd(hi)], v.start(lo), v.end(hi)) {
					return
				}
			}
		}
	}
}

// views are the forms of a text in which an identifier may stand.
func views(text string) []view {
	out := []view{fold(text)}
	if strings.Contains(text, `\u`) {
		out = append(out, fold2(unescapeJSON(text)))
	}
	if strings.ContainsAny(text, "%+") {
		out = append(out, fold2(unescapePercent(text)))
	}
	d := decodeAll(text)
	if d.at != nil {
		out = append(out, fold2(d))
	} else {
		d = decoded{text: text}
	}
	if mayHoldMarkup(d.text) {
		if off := takeOff(d.text); len(off.text) < len(d.text) {
			for i, at := range off.at {
				if d.at != nil {
					off.at[i] = d.at[at]
				}
			}
			off.src = text
			v := fold2(off)
			v.bare = true
			out = append(out, v)
		}
	}
	return out
}

// Candidates calls yield for every stretch of text, of one of the given lengths
// in its normal form, that could be a whole identifier. It serves those who know
// identifiers by keyed hashes only. yield returns false to stop.
func Candidates(text string, lengths []int, yield func(normal, exact string, start, end int) bool) {
	for _, v := range views(text) {
		if !v.candidates(lengths, yield) {
			return
		}
	}
}

func (v view) candidates(lengths []int, yield func(normal, exact string, start, end int) bool) bool {
	for lo := range len(v.text) {
		if lo > 0 && wordByte(v.text[lo-1]) || v.text[lo] == ' ' || v.text[lo]&0xc0 == 0x80 {
			continue
		}
		for _, n := range lengths {
			hi := lo + n
			if hi > len(v.text) || hi < len(v.text) && (wordByte(v.text[hi]) || v.text[hi]&0xc0 == 0x80) || !v.says(lo, hi) || !v.whole(lo, hi, shapeOf(v.text[lo:hi])) {
				continue
			}
			from, to := v.start(lo), v.end(hi)
			if !yield(v.text[lo:hi], v.mid[v.midOf(lo):v.midEnd(hi)], from, to) {
				return false
			}
		}
	}
	return true
}

// PlainsOf are the forms in which a name is known without its marks (marks.go); none
// for what is no name.
func PlainsOf(id string) []string { return newTerm(strings.TrimSpace(id)).plain }

// Plains is Candidates over a text without its marks, as far as that is another one
// than its normal form or names may be spelled in it: plain is the form of PlainsOf.
func Plains(text string, lengths []int, yield func(plain, exact string, start, end int) bool) {
	for _, v := range views(text) {
		u := unmark(v.text)
		for lo := range len(u.text) {
			if lo > 0 && (wordByte(u.text[lo-1]) || u.at[lo] == u.at[lo-1]) || u.text[lo] == ' ' || u.text[lo]&0xc0 == 0x80 {
				continue
			}
			for _, n := range lengths {
				hi := lo + n
				if hi > len(u.text) || hi < len(u.text) && (wordByte(u.text[hi]) || u.text[hi]&0xc0 == 0x80) || u.at[hi] == u.at[hi-1] {
					continue
				}
				from, to := int(u.at[lo]), int(u.at[hi])
				if !v.says(from, to) || !v.whole(from, to, shapeOf(v.text[from:to])) {
					continue
				}
				if !yield(u.text[lo:hi], v.mid[v.midOf(from):v.midEnd(to)], v.start(from), v.end(to)) {
					return
				}
			}
		}
	}
}
