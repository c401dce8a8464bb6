package subject

import "strings"

// Normal is the form by which identifiers are compared: what people type in any
// case, width or composition is one.
func Normal(id string) string { return fold(strings.TrimSpace(id)).text }

// Strict reports whether an identifier counts in its exact case only.
func Strict(id string) bool { return newTerm(strings.TrimSpace(id)).strict }

// Candidates calls yield for every stretch of text, of one of the given lengths
// in its normal form, that could be a whole identifier. It serves those who know
// identifiers by keyed hashes only. yield returns false to stop.
func Candidates(text string, lengths []int, yield func(normal, exact string, start, end int) bool) {
	views := []view{fold(text)}
	if strings.Contains(text, `\u`) {
		views = append(views, fold2(unescapeJSON(text)))
	}
	if strings.ContainsAny(text, "%+") {
		views = append(views, fold2(unescapePercent(text)))
	}
	for _, v := range views {
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
			if hi > len(v.text) || hi < len(v.text) && (wordByte(v.text[hi]) || v.text[hi]&0xc0 == 0x80) || !v.whole(lo, hi) {
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
