package quarantine

// KnownFalsePositive labels one finding; Triage labels a whole text.
func KnownFalsePositive(text string, f Finding) (reason string, ok bool) {
	return newLabeller(text).label(f)
}

// Rules are the names of upstream's rules.
func Rules() (names []string) {
	for _, r := range upstreamRules {
		names = append(names, r.name)
	}
	return names
}

// StrictRules are the verdicts that memdesk's own rules can give.
func StrictRules() []Verdict {
	out := []Verdict{{strictPrefix + categoryInvisible, strictSmuggled}, {strictPrefix + categoryInvisible, strictBlank}}
	for _, r := range strictRules {
		out = append(out, Verdict{strictPrefix + r.category, r.name}, Verdict{strictPrefix + categoryBase64, r.name + strictBase64})
	}
	for _, r := range upstreamRules {
		out = append(out, Verdict{strictPrefix + r.category, r.name + strictHomoglyph}, Verdict{strictPrefix + categoryBase64, r.name + strictBase64})
	}
	return out
}

// Fold and FoldSlowly fold one character in two ways; IsInvisible reports whether it is invisible.
func Fold(r rune) string       { return string(foldRune(nil, r)) }
func FoldSlowly(r rune) string { return string(foldSlowly(nil, r)) }
func IsInvisible(r rune) bool  { return isInvisible(r) }
