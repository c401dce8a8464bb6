// Package quarantine decides which texts a content scanner would block, and reads and writes quarantine
// files: Crewship's verdict reproduced hit for hit, the spans behind it, labels for known false positives, a
// separate stricter rule set, and the quarantine file. It never changes a store and never feeds text to a
// model.
package quarantine

import (
	"strings"
	"unicode/utf8"

	"memdesk/internal/safetext"
)

// Stage is the view of the text in which a rule matched.
type Stage int

// The stages in the order the scanner names them (scanner.md Pipeline).
const (
	StageInvisible Stage = iota + 1 // a single code point of the raw text
	StageRaw                        // a rule on the raw text
	StageFolded                     // a rule on the text with look-alikes folded
	StageBase64                     // a rule inside a decoded base64 run
)

// String is the word an operator reads: invisible, raw, folded or base64.
func (s Stage) String() string {
	switch s {
	case StageInvisible:
		return "invisible"
	case StageRaw:
		return "raw"
	case StageFolded:
		return "folded"
	case StageBase64:
		return "base64"
	}
	return "unknown"
}

// Finding is one hit with its place. Every string in it is hostile text.
type Finding struct {
	// Category and Pattern are as upstream writes them, suffix included. A finding
	// of the stricter rule set has a category that begins with "strict/".
	Category, Pattern string
	// Rule is Pattern without its suffix.
	Rule  string
	Stage Stage
	// Start and End are byte offsets into the original text, on rune boundaries. For
	// base64 they span the whole run.
	Start, End int
	// Line and Col of Start count from 1; Col counts runes.
	Line, Col int
	// Decoded is the whole decoded run for base64, the folded form of the match for a
	// folded hit, and empty otherwise.
	Decoded string
	// Match is the matched text in the view in which it matched.
	Match string
}

// Verdict is the part of a finding that upstream records.
type Verdict struct{ Category, Pattern string }

// Clean reports whether nothing was found.
func (v Verdict) Clean() bool { return v == Verdict{} }

// Verdict is the finding as upstream would record it.
func (f Finding) Verdict() Verdict { return Verdict{f.Category, f.Pattern} }

// Excerpt cuts the original text around a finding, at most around runes on each
// side. The three parts are hostile text and neighbours in the original; a
// finding whose span does not fit the text yields what can be cut.
func Excerpt(text string, f Finding, around int) (before, match, after string) {
	start := safetext.RuneStart(text, min(max(f.Start, 0), len(text)))
	end := runeEnd(text, min(max(f.End, start), len(text)))
	from, to := start, end
	for n := 0; n < around && from > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	for n := 0; n < around && to < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	return text[from:start], text[start:end], text[end:to]
}

// runeEnd moves an offset inside a rune forward to its end.
func runeEnd(text string, off int) int {
	start := safetext.RuneStart(text, off)
	if start == off {
		return off
	}
	_, size := utf8.DecodeRuneInString(text[start:])
	return start + size
}

// lineCounter turns byte offsets into lines and columns. Offsets that come in rising
// order cost one pass over the text in all.
type lineCounter struct {
	text           string
	off, line, col int
}

func (p *lineCounter) at(off int) (line, col int) {
	if p.line == 0 || off < p.off {
		p.off, p.line, p.col = 0, 1, 1
	}
	passed := p.text[p.off:off]
	if n := strings.Count(passed, "\n"); n > 0 {
		p.line += n
		p.col = 1
		passed = passed[strings.LastIndexByte(passed, '\n')+1:]
	}
	p.col += utf8.RuneCountInString(passed)
	p.off = off
	return p.line, p.col
}
