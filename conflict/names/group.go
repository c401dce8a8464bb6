package names

import (
	"slices"
	"strings"
	"unicode"
)

// span is one ( ) group of a stem: stem[open] is '(' and stem[close] is ')'.
type span struct{ open, close int }

// spans finds the outermost groups of a stem, first to last. A parenthesis
// without its other half opens no group.
func spans(stem string) []span {
	var out []span
	depth, end := 0, 0
	for i := len(stem) - 1; i >= 0; i-- { // from the end: a title may hold ":)"
		switch stem[i] {
		case ')':
			if depth == 0 {
				end = i
			}
			depth++
		case '(':
			if depth == 0 {
				continue
			}
			if depth--; depth == 0 {
				out = append(out, span{i, end})
			}
		}
	}
	slices.Reverse(out)
	return out
}

// groups reads the last group of a stem, or the last one with a marker: the text after it then stays in the
// base, and only the texts can confirm that.
func groups(out []Match, hints hint, name, stem, ext string, known Known) []Match {
	all := spans(stem)
	for n := len(all) - 1; n >= 0; n-- {
		g := all[n]
		text, before, after := stem[g.open+1:g.close], strings.TrimRight(stem[:g.open], " "), stem[g.close+1:]
		if before == "" {
			break
		}
		m, found := group(hints, name, text, after, known)
		if !found {
			continue
		}
		m.Marker = stem[g.open:]
		rest := after
		if tail, _ := cutNumber(after); tail == "" || m.Row.Tail != nil && m.Row.Tail().MatchString(tail) {
			rest = ""
		}
		m.Bases = []string{before + ext}
		if rest != "" {
			m.Marker = stem[g.open : g.close+1]
			m.Bases = []string{before + rest + ext}
			if rest[0] != '.' || strings.ContainsAny(rest, " ()") { // more than an extension of two parts
				m = m.weaker()
			}
		}
		out = add(out, m)
		break
	}
	return numbered(out, name, stem, ext)
}

// group finds the first row that reads a group's text.
func group(hints hint, name, text, after string, known Known) (Match, bool) {
	folded := strings.ToLower(text)
	for i := range table {
		r := &table[i]
		if r.Place != InGroup || r.hint&hints == 0 || !holds(folded, r.Keywords) {
			continue
		}
		if tail, _ := cutNumber(after); r.Tail != nil && r.Number == rowGoogle && (!r.Tail().MatchString(tail) || version(tail)) {
			continue // the form is in its tail
		}
		loc := r.Pattern().FindStringSubmatchIndex(text)
		if loc == nil {
			continue
		}
		m := r.match(name, text)
		m.Who = who(r.Pattern(), text, loc)
		return m, true
	}
	if known[folded] {
		m := userRow.match(name, text)
		m.Who = text
		return m, true
	}
	return Match{}, false
}

func holds(folded string, keywords []string) bool {
	return len(keywords) == 0 || slices.ContainsFunc(keywords, func(k string) bool { return strings.Contains(folded, k) })
}

// version distinguishes " - v1.2" from a device's name.
func version(tail string) bool {
	digits := 0
	for _, r := range strings.TrimLeft(tail, " -") {
		switch {
		case unicode.IsDigit(r):
			digits++
		case r == '.' || digits == 0 && (r == 'v' || r == 'V'):
		default:
			return false
		}
	}
	return digits > 0
}

// numbered reads `stem (1)`, the weakest form, besides all others: in a nested copy it is the outermost
// marker.
func numbered(out []Match, name, stem, ext string) []Match {
	rest, num := cutNumber(stem)
	if num == "" || rest == "" {
		return out
	}
	return add(out, numberRow.match(name, num, rest+ext))
}

// knownHost reads `stem-HOST` and `stem-HOST-2` for hosts known to sync here.
func knownHost(out []Match, name, stem, ext string, known Known) []Match {
	cut := stem
	if i := strings.LastIndexByte(stem, '-'); i > 0 && len(stem)-i <= 3 && digits(stem[i+1:]) {
		cut = stem[:i]
	}
	for _, s := range []string{stem, cut} {
		for i := strings.LastIndexByte(s, '-'); i > 0; i = strings.LastIndexByte(s[:i], '-') {
			if host := s[i+1:]; known[strings.ToLower(host)] {
				m := hostRow.match(name, stem[i:], stem[:i]+ext)
				m.Who = host
				return add(out, m)
			}
		}
	}
	return out
}

// endsInKnown reports whether a name without any other mark of a copy may end in a known host.
func endsInKnown(name string, known Known) bool {
	if len(known) == 0 || strings.IndexByte(name, '-') < 0 {
		return false
	}
	stem, ext := Split(name)
	return len(knownHost(nil, name, stem, ext, known)) > 0 || strings.Contains(ext, " ") && len(knownHost(nil, name, name, "", known)) > 0
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
