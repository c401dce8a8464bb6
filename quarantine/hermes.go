package quarantine

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// hermesLimit is how many code points Hermes scans; a longer entry is not loaded.
const hermesLimit = 65_536

// hermesUnread is the prefix of an entry that Hermes takes for its own placeholder and loads unscanned.
const hermesUnread = "[BLOCKED:"

// scanHermes is Hermes' verdict on a text to be written: its first finding.
func scanHermes(text string) (Verdict, bool) {
	var v Verdict
	hermesFindings(text, func(f Finding) bool {
		v = f.Verdict()
		return false
	})
	return v, !v.Clean()
}

// loadHermes is Hermes' verdict on an entry of a file.
func loadHermes(text string) (Verdict, bool) {
	switch {
	case strings.HasPrefix(text, hermesUnread):
		return Verdict{}, false
	case len(text) > hermesLimit && utf8.RuneCountInString(text) > hermesLimit:
		return Verdict{"size", "over_65536_characters"}, true
	}
	return scanHermes(text)
}

// allHermes lists the findings of Hermes, the first hit of each of its names.
func allHermes(text string) []Finding {
	var out []Finding
	hermesFindings(text, func(f Finding) bool {
		at := lineCounter{text: text} // a new counter: the findings are not in the order of the text
		f.Line, f.Col = at.at(f.Start)
		out = append(out, f)
		return true
	})
	return out
}

// ownFindings are all findings of memdesk's rules, with upstream's among them, in categories that begin with
// strict/.
func ownFindings(text string) []Finding {
	out := ScanAll(text)
	for i := range out {
		out[i].Category = strictPrefix + out[i].Category
	}
	return append(out, Strict(text)...)
}

// addedHermes lists the findings whose names before does not have: Hermes blocks an entry as a whole, so a
// second hit of one name changes nothing.
func addedHermes(before, after string) []Finding {
	had := map[string]bool{}
	for _, f := range allHermes(before) {
		had[f.Pattern] = true
	}
	return slices.DeleteFunc(allHermes(after), func(f Finding) bool { return had[f.Pattern] })
}

// hermesFindings yields Hermes' findings in its order: invisible characters of the raw text, then the
// patterns of the folded one (hermes-scan.md, Procedure).
func hermesFindings(text string, yield func(Finding) bool) {
	text = firstRunes(text, hermesLimit)
	seen := map[rune]bool{}
	for i, r := range text {
		if !hermesInvisible(r) || seen[r] {
			continue
		}
		seen[r] = true
		end := i + utf8.RuneLen(r)
		name := "invisible_unicode_" + codePoint(r)
		if !yield(Finding{Category: categoryInvisible, Pattern: name, Rule: name, Stage: StageInvisible, Start: i, End: end, Match: text[i:end]}) {
			return
		}
	}
	folded := norm.NFKC.String(text)
	for i := range hermesRules {
		r := &hermesRules[i]
		start, end, ok := r.find(folded)
		if !ok {
			continue
		}
		f := Finding{Category: r.category, Pattern: r.name, Rule: r.name, Stage: StageRaw, Start: start, End: end, Match: folded[start:end]}
		if folded != text {
			f.Stage, f.Decoded = StageFolded, f.Match
			f.Start, f.End = unfolded(text, start, end)
		}
		if !yield(f) {
			return
		}
	}
}

func firstRunes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

func hermesInvisible(r rune) bool {
	switch {
	case 0x200B <= r && r <= 0x200D, r == 0x2060, 0x2062 <= r && r <= 0x2064, r == 0xFEFF,
		0x202A <= r && r <= 0x202E, 0x2066 <= r && r <= 0x2069:
		return true
	}
	return false
}

// unfolded maps a span of the folded text back to the original, segment by segment.
func unfolded(text string, from, to int) (start, end int) {
	var it norm.Iter
	it.InitString(norm.NFKC, text)
	start, end = -1, len(text)
	for out := 0; !it.Done(); {
		at := it.Pos()
		out += len(it.Next())
		if start < 0 && out > from {
			start = at
		}
		if out >= to {
			end = it.Pos()
			break
		}
	}
	return max(start, 0), end
}

// hermesRule is one pattern of Hermes: an expression or, for a long gap between two parts, both parts and the
// gap, because RE2 repeats at most a thousand times.
type hermesRule struct {
	category, name string
	re             expression
	gap            *hermesGap
}

// hermesGap is the pattern between a head and a tail.
type hermesGap struct {
	head, tail expression
	// before and after say that white space, which is no part of the gap, follows the head or precedes the
	// tail.
	before, after bool
	most          int  // characters
	stop          byte // must not occur in the gap
}

func (r *hermesRule) find(text string) (start, end int, ok bool) {
	switch {
	case r.gap != nil:
		return r.gap.find(text)
	case r.re == nil:
		return findComment(text)
	}
	at := r.re().FindStringIndex(text)
	if at == nil {
		return 0, 0, false
	}
	return at[0], at[1], true
}

// find finds the nearest head before each tail.
func (g *hermesGap) find(text string) (start, end int, ok bool) {
	heads := slices.DeleteFunc(g.head().FindAllStringIndex(text, -1), func(h []int) bool {
		return g.before && trimmedLeft(text[h[1]:]) == text[h[1]:]
	})
	if len(heads) == 0 {
		return 0, 0, false
	}
	for at, next := 0, 0; ; at++ { // a tail may begin inside one that has no head
		tail := g.tail().FindStringIndex(text[at:])
		if tail == nil {
			return 0, 0, false
		}
		end := at + tail[1]
		at += tail[0]
		for next < len(heads) && heads[next][1] <= at {
			next++
		}
		for h := next - 1; h >= max(0, next-2); h-- { // a single space cannot be on both sides of a gap
			if g.fits(text[heads[h][1]:at]) {
				return heads[h][0], end, true
			}
		}
	}
}

// fits reports whether the text between a head and a tail is a valid gap, with its white space.
func (g *hermesGap) fits(between string) bool {
	gap := between
	if g.before {
		gap = trimmedLeft(gap)
	}
	if g.after {
		if gap == "" {
			return utf8.RuneCountInString(between) > 1
		}
		trimmed := strings.TrimRightFunc(gap, hermesSpace)
		if trimmed == gap {
			return false
		}
		gap = trimmed
	}
	return strings.IndexByte(gap, g.stop) < 0 && utf8.RuneCountInString(gap) <= g.most
}

func trimmedLeft(s string) string { return strings.TrimLeftFunc(s, hermesSpace) }

// hermesSpace is white space in Python's expressions.
func hermesSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }

// commentMost is the largest distance of a word from either end of a comment, in characters.
const commentMost = 512

const (
	commentOpens  = "<!--"
	commentCloses = "-->"
)

// findComment finds a comment that contains one of five words without an adjacent ASCII letter; no other >
// may occur in it. It looks around each word, so that its work does not grow with the comments that end alike.
func findComment(text string) (start, end int, ok bool) {
	if !strings.Contains(text, commentOpens) {
		return 0, 0, false
	}
	const most = commentMost * utf8.UTFMax // bytes
	for _, w := range commentWord().FindAllStringIndex(text, -1) {
		if asciiLetterAt(text, w[0]-1) || asciiLetterAt(text, w[1]) {
			continue
		}
		after := text[w[1]:min(len(text), w[1]+most+len(commentCloses))]
		close := strings.IndexByte(after, '>')
		if close < 0 {
			continue
		}
		gap, closed := strings.CutSuffix(after[:close+1], commentCloses)
		if !closed || utf8.RuneCountInString(gap) > commentMost {
			continue
		}
		from := w[0]
		for n := 0; n < commentMost && from > 0; n++ {
			_, size := utf8.DecodeLastRuneInString(text[:from])
			from -= size
		}
		from = max(0, from-len(commentOpens))
		from += strings.LastIndexByte(text[from:w[0]], '>') + 1
		if i := strings.Index(text[from:w[0]], commentOpens); i >= 0 {
			return from + i, w[1] + close + 1, true
		}
	}
	return 0, 0, false
}

func asciiLetterAt(s string, i int) bool {
	return 0 <= i && i < len(s) && ('a' <= s[i]|0x20 && s[i]|0x20 <= 'z')
}
