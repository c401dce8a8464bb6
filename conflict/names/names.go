// Package names decides from a file name alone which tool may have made it as a second copy of another file,
// and the name of that file. It reads nothing but the name: the caller checks whether the base exists and
// what the bytes say.
package names

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Confidence says how far a match can be trusted (conflict-names.md, Confidence).
type Confidence string

// The tiers, best first.
const (
	Certain  Confidence = "certain"
	Probable Confidence = "probable"
	Possible Confidence = "possible"
)

// Class is the kind of second file that a name denotes.
type Class string

// The classes.
const (
	Conflict  Class = "conflict"       // a sync tool kept both sides
	Duplicate Class = "duplicate"      // a person made a copy
	Leftover  Class = "leftover"       // git and patch left it beside the file
	Dump      Class = "lost-and-found" // the tool could not restore it and set it aside
	InFile    Class = "in-file"        // markers inside one file
	Displaced Class = "displaced"      // a write that lost a compare-and-swap
)

// Need is the condition, besides the name, for a row's confidence.
type Need int

// The needs. A name that lacks its row's need is no match, unless Orphan says otherwise.
const (
	NameAlone Need = iota
	BaseExists
	BaseAndContent // and the texts are alike
)

// Part is the part of a name that a row's pattern matches.
type Part int

// The parts of a name.
const (
	InGroup   Part = iota // the text of a ( ) group of the stem
	InBracket             // the text of a [ ] group of the stem
	AtEnd                 // the end of the stem
	InName                // anywhere in the whole name; the last hit counts
	AtStart               // the start of the name
)

// Row is one row of the table, or one form of it.
type Row struct {
	Number     int
	Tool       string
	Also       []string // tools that write the same form
	Class      Class
	Confidence Confidence
	Need       Need
	// Orphan is the confidence of a name whose base is missing; empty: no match then.
	Orphan Confidence
	Place  Part
	// Keywords are lower case; a group, or a name of AtEnd, must contain one of them, or the pattern's match
	// does not count. Empty: the pattern alone decides.
	Keywords []string
	// Pattern matches the whole text of its part or, for AtEnd and InName, the text to cut. The
	// subexpressions who and keep are the author and the text that stays in the base's name.
	Pattern expression
	// Tail may follow a group and is cut with it.
	Tail expression
	What string // the form in words
	hint hint   // hints that a name needs before the pattern is tried
	// Hits and Misses are example names for the tests: each row has both.
	Hits   []Example
	Misses []string
}

// Example is a name and its expected base.
type Example struct {
	Name, Base string
	Who        string
}

// Match is one way to read a name.
type Match struct {
	Row    *Row
	Name   string   // as given
	Bases  []string // the base's name in NFC, likeliest first
	Marker string   // the text that was cut
	Who    string   // user or device, from the name; hostile text
	// Need and Confidence are the row's, lowered where this form is weaker.
	Need       Need
	Confidence Confidence
	Orphan     Confidence
}

// Base is the likeliest base.
func (m Match) Base() string { return m.Bases[0] }

// Known are hosts and users known to sync here, in lower case. `-HOST` and `(user)` forms can only be read
// with them.
type Known map[string]bool

// Classify returns every way to read the basename name as a copy, the most certain first; none for an
// ordinary name. Only the last marker is cut: a nested copy is classified again by its base.
func Classify(name string, known Known) []Match {
	hints := look(name)
	if hints == 0 && !endsInKnown(name, known) || Skipped(name) {
		return nil
	}
	if hints&hintWide != 0 && !norm.NFC.IsNormalString(name) {
		name = norm.NFC.String(name)
	}
	out := classify(name, hints, known)
	slices.SortStableFunc(out, func(a, b Match) int { return rank(a.Confidence) - rank(b.Confidence) })
	return out
}

func rank(c Confidence) int { return slices.Index([]Confidence{Certain, Probable, Possible}, c) }

func classify(name string, hints hint, known Known) []Match {
	var out []Match
	stem, ext := Split(name)
	out = read(out, hints, name, stem, ext, known)
	// A marker may follow the extension, or contain a dot itself.
	if strings.ContainsAny(ext, " )") || strings.HasPrefix(strings.ToLower(ext), ".conflict-") {
		out = read(out, hints, name, name, "", known)
	}
	for i := range table {
		switch r := &table[i]; {
		case r.hint&hints == 0:
		case r.Place == InName:
			out = inName(out, r, name)
		case r.Place == AtStart:
			out = atStart(out, r, name)
		}
	}
	return out
}

// read tries the forms at the end of a stem.
func read(out []Match, hints hint, name, stem, ext string, known Known) []Match {
	if hints&hintGroup != 0 {
		out = groups(out, hints, name, stem, ext, known)
	}
	folded := strings.ToLower(name)
	for i := range table {
		switch r := &table[i]; {
		case r.hint&hints == 0:
		case r.Place == InBracket:
			out = bracket(out, r, name, stem, ext)
		case r.Place == AtEnd && holds(folded, r.Keywords):
			out = atEnd(out, r, name, stem, ext)
		}
	}
	if len(known) > 0 {
		out = knownHost(out, name, stem, ext, known)
	}
	return out
}

// Split splits a basename before its extension: at the last dot, but not a leading one.
func Split(name string) (stem, ext string) {
	i := strings.LastIndexByte(name, '.')
	if i <= 0 {
		return name, ""
	}
	return name[:i], name[i:]
}

// add keeps a reading whose base is a valid name.
func add(out []Match, m Match) []Match {
	bases := m.Bases[:0:0]
	_, ext := Split(m.Name)
	for _, b := range m.Bases {
		if s, _ := Split(b); strings.TrimSpace(s) != "" && (b != ext || m.Row.Place == AtStart) && b != m.Name && b != "." && b != ".." && !strings.Contains(b, "/") {
			bases = append(bases, b)
		}
	}
	if m.Bases = bases; len(bases) == 0 {
		return out
	}
	for _, o := range out {
		if o.Bases[0] == m.Bases[0] && o.Row.Number == m.Row.Number {
			return out
		}
	}
	return append(out, m)
}

func (r *Row) match(name, marker string, bases ...string) Match {
	return Match{Row: r, Name: name, Bases: bases, Marker: strings.TrimSpace(marker), Need: r.Need, Confidence: r.Confidence, Orphan: r.Orphan}
}

// weaker is a reading that only the texts can confirm.
func (m Match) weaker() Match {
	m.Need, m.Confidence, m.Orphan = BaseAndContent, Possible, ""
	return m
}

func who(re *regexp.Regexp, text string, loc []int) string {
	i := re.SubexpIndex("who")
	if i < 0 || loc[2*i] < 0 {
		return ""
	}
	return strings.TrimSpace(text[loc[2*i]:loc[2*i+1]])
}

func bracket(out []Match, r *Row, name, stem, ext string) []Match {
	stem, num := cutNumber(stem)
	open := strings.LastIndexByte(stem, '[')
	if open <= 0 || !strings.HasSuffix(stem, "]") || !r.Pattern().MatchString(stem[open+1:len(stem)-1]) {
		return out
	}
	return add(out, r.match(name, stem[open:]+num, strings.TrimRight(stem[:open], " ")+ext))
}

func atEnd(out []Match, r *Row, name, stem, ext string) []Match {
	find := r.Pattern().FindStringSubmatchIndex
	if r.Tool == "generic-conflict" { // the stem may hold -conflict- too
		find = func(s string) []int { return last(r.Pattern(), s) }
	}
	loc := find(stem)
	cut := stem
	if loc == nil {
		if cut, _ = cutNumber(stem); cut == stem {
			return out
		}
		if loc = find(cut); loc == nil {
			return out
		}
	}
	bases := []string{strings.TrimRight(stem[:loc[0]], " ") + ext}
	if r.Tool == "synology" { // a host may contain the separator
		for rest := stem[:loc[0]]; ; {
			i := strings.LastIndexByte(rest, '_')
			if i <= 0 {
				break
			}
			rest = rest[:i]
			bases = append(bases, rest+ext)
		}
	}
	m := r.match(name, stem[loc[0]:], bases...)
	m.Who = who(r.Pattern(), cut, loc)
	return add(out, m)
}

func inName(out []Match, r *Row, name string) []Match {
	text, num := name, ""
	loc := last(r.Pattern(), text)
	if loc == nil {
		stem, ext := Split(name)
		if strings.HasSuffix(name, ")") {
			stem, ext = name, ""
		}
		if stem, num = cutNumber(stem); num == "" || stem == "" {
			return out
		}
		text = stem + ext
		if loc = last(r.Pattern(), text); loc == nil {
			return out
		}
	}
	keep := ""
	if i := r.Pattern().SubexpIndex("keep"); i >= 0 && loc[2*i] >= 0 {
		keep = text[loc[2*i]:loc[2*i+1]]
	}
	before, after := text[:loc[0]], text[loc[1]:]
	bases := []string{before + keep + after}
	if dotted := undot(before) + undot(keep+after); dotted != bases[0] {
		bases = []string{before + undot(keep+after), bases[0], dotted} // the first undoes the encoding of the extension only
	}
	m := r.match(name, text[loc[0]:loc[1]-len(keep)]+num, bases...)
	m.Who = who(r.Pattern(), text, loc)
	return add(out, m)
}

// last finds the match that begins last: markers nest, and the outermost one comes last.
func last(re *regexp.Regexp, s string) []int {
	var loc []int
	for from := 0; from <= len(s); {
		next := re.FindStringSubmatchIndex(s[from:])
		if next == nil {
			break
		}
		for i := range next {
			if next[i] >= 0 {
				next[i] += from
			}
		}
		loc, from = next, next[0]+1
	}
	return loc
}

// An editor may write a dot as %2F or, correctly, as %2E.
var encodedDot = re(`(?i)%2[ef]`)

func undot(s string) string { return encodedDot().ReplaceAllString(s, ".") }

func atStart(out []Match, r *Row, name string) []Match {
	lower := strings.ToLower(name)
	for _, k := range r.Keywords {
		rest, ok := strings.CutPrefix(lower, k)
		if !ok || len(lower) != len(name) {
			continue
		}
		base := name[len(name)-len(rest):]
		if r.Pattern != nil { // Windows numbers its copies in the prefix: "Copy (2) of x"
			if loc := r.Pattern().FindStringIndex(base); loc != nil {
				base = base[loc[1]:]
			}
		}
		return add(out, r.match(name, name[:len(name)-len(base)], strings.TrimLeft(base, " ")))
	}
	return out
}

// cutNumber removes a number (N) from 1 to 99, which may follow any marker.
func cutNumber(stem string) (rest, num string) {
	n := len(stem)
	if n < 3 || stem[n-1] != ')' {
		return stem, ""
	}
	i := n - 2
	for i > 0 && n-2-i < 2 && '0' <= stem[i] && stem[i] <= '9' {
		i--
	}
	if i == n-2 || stem[i] != '(' || stem[i+1] == '0' {
		return stem, ""
	}
	if i > 0 && stem[i-1] == ' ' {
		i--
	}
	return stem[:i], stem[i:]
}
