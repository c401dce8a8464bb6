package quarantine

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Scan returns upstream's verdict on a text: the first hit of the pipeline, later
// stages skipped (scanner.md Pipeline). False: clean.
func Scan(text string) (Verdict, bool) {
	ascii := isASCII(text)
	if !ascii {
		if r, at := firstInvisible(text); at >= 0 {
			return Verdict{categoryInvisible, codePoint(r)}, true
		}
	}
	if r := firstRule(text); r != nil {
		return Verdict{r.category, r.name}, true
	}
	if !ascii {
		if folded := fold(text, foldRune); folded != text {
			if r := firstRule(folded); r != nil {
				return Verdict{r.category, r.name + suffixFolded}, true
			}
		}
	}
	return scanBase64(text)
}

func firstRule(text string) *rule {
	hints := hintsOf(text)
	for i := range upstreamRules {
		if r := &upstreamRules[i]; hints&r.need != 0 && r.re().MatchString(text) {
			return r
		}
	}
	return nil
}

func scanBase64(text string) (Verdict, bool) {
	runs := 0
	for start, end := range base64Runs(text, minRun) {
		if runs++; runs > maxRuns {
			break
		}
		decoded, ok := decodeRun(text[start:end])
		if !ok {
			continue
		}
		if r := firstRule(decoded); r != nil {
			return Verdict{categoryBase64, r.name + suffixBase64}, true
		}
		if r, at := firstInvisible(decoded); at >= 0 {
			return Verdict{categoryBase64, codePoint(r) + suffixBase64}, true
		}
	}
	return Verdict{}, false
}

// MaxPerPattern bounds how many findings of one pattern ScanAll lists.
const MaxPerPattern = 1000

// ScanAll lists the hits of every stage, upstream's verdict first, then in the order of the pipeline. A
// folded hit is left out where the same rule already hit the raw text. At most MaxPerPattern of each pattern
// are listed; ScanLimit tells how many were not.
func ScanAll(text string) []Finding {
	found, _ := ScanLimit(text, MaxPerPattern)
	return found
}

// ScanLimit is ScanAll with the caller's bound, and the number of hits that were not listed.
func ScanLimit(text string, perPattern int) (found []Finding, unlisted int) {
	listed := map[Verdict]int{}
	for f := range findings(text, false) {
		v := f.Verdict()
		if listed[v] >= perPattern {
			unlisted++
			continue
		}
		listed[v]++
		found = append(found, f)
	}
	return found, unlisted
}

// findings yields every hit in the order of the pipeline. With twins, a folded hit is yielded even where the
// same rule hit the raw text.
func findings(text string, twins bool) iter.Seq[Finding] {
	return func(yield func(Finding) bool) {
		w := walk{text: text, place: lineCounter{text: text}, yield: yield}
		ascii := isASCII(text)
		if !ascii && !w.invisible() {
			return
		}
		raw, ok := w.raw()
		if !ok {
			return
		}
		if twins {
			raw = nil
		}
		if !ascii && !w.folded(raw) {
			return
		}
		w.base64()
	}
}

// walk is one pass over a text. Its methods report whether to continue.
type walk struct {
	text  string
	place lineCounter
	yield func(Finding) bool
}

func (w *walk) emit(f Finding) bool {
	f.Line, f.Col = w.place.at(f.Start)
	return w.yield(f)
}

func (w *walk) invisible() bool {
	for i, r := range w.text {
		if r < utf8.RuneSelf || !isInvisible(r) {
			continue
		}
		end := i + utf8.RuneLen(r)
		f := Finding{Category: categoryInvisible, Pattern: codePoint(r), Rule: codePoint(r),
			Stage: StageInvisible, Start: i, End: end, Match: w.text[i:end]}
		if !w.emit(f) {
			return false
		}
	}
	return true
}

// raw also returns where each rule hit, by its place in the table.
func (w *walk) raw() ([][][]int, bool) {
	hits := allHits(w.text)
	for i, spans := range hits {
		r := &upstreamRules[i]
		for _, s := range spans {
			f := Finding{Category: r.category, Pattern: r.name, Rule: r.name,
				Stage: StageRaw, Start: s[0], End: s[1], Match: w.text[s[0]:s[1]]}
			if !w.emit(f) {
				return nil, false
			}
		}
	}
	return hits, true
}

// allHits runs every rule over a text.
func allHits(text string) [][][]int {
	hints := hintsOf(text)
	hits := make([][][]int, len(upstreamRules))
	for i := range upstreamRules {
		if hints&upstreamRules[i].need != 0 {
			hits[i] = upstreamRules[i].re().FindAllStringIndex(text, -1)
		}
	}
	return hits
}

func (w *walk) folded(raw [][][]int) bool {
	folded := fold(w.text, foldRune)
	if folded == w.text {
		return true
	}
	back := trace{text: w.text, fold: foldRune}
	for i, spans := range allHits(folded) {
		var known [][]int
		if raw != nil {
			known = raw[i]
		}
		r := &upstreamRules[i]
		for _, s := range spans {
			start, end := back.span(s[0], s[1])
			for len(known) > 0 && known[0][1] <= start {
				known = known[1:]
			}
			if len(known) > 0 && known[0][0] < end {
				continue
			}
			view := folded[s[0]:s[1]]
			f := Finding{Category: r.category, Pattern: r.name + suffixFolded, Rule: r.name,
				Stage: StageFolded, Start: start, End: end, Decoded: view, Match: view}
			if !w.emit(f) {
				return false
			}
		}
	}
	return true
}

func (w *walk) base64() {
	runs := 0
	for start, end := range base64Runs(w.text, minRun) {
		if runs++; runs > maxRuns {
			return
		}
		if decoded, ok := decodeRun(w.text[start:end]); ok && !w.decoded(decoded, start, end) {
			return
		}
	}
}

func (w *walk) decoded(decoded string, start, end int) bool {
	hit := func(name, match string) bool {
		return w.emit(Finding{Category: categoryBase64, Pattern: name + suffixBase64, Rule: name,
			Stage: StageBase64, Start: start, End: end, Decoded: decoded, Match: match})
	}
	for i, spans := range allHits(decoded) {
		for _, s := range spans {
			if !hit(upstreamRules[i].name, decoded[s[0]:s[1]]) {
				return false
			}
		}
	}
	for i, r := range decoded {
		if r >= utf8.RuneSelf && isInvisible(r) && !hit(codePoint(r), decoded[i:i+utf8.RuneLen(r)]) {
			return false
		}
	}
	return true
}

// maxLeftovers bounds how many earlier hits of one pattern are compared with a new hit, to see whether it is
// a part of one; beyond it the hit counts as added.
const maxLeftovers = 64

// Added lists the findings of after that before does not have, which distinguishes an edit that only cleans
// from one that adds. Findings are compared by category, pattern and matched text, each as often as it
// occurs; a rest of a longer earlier hit (a command cut shorter, one of two comments removed) is not added
// either. At most MaxPerPattern of each pattern are listed.
func Added(before, after string) []Finding {
	old := map[Finding]int{}
	for f := range findings(before, true) {
		old[key(f)]++
	}
	var news []Finding
	for f := range findings(after, false) {
		if k := key(f); old[k] > 0 {
			old[k]--
			continue
		}
		news = append(news, f)
		if len(news) > maxAdded {
			break
		}
	}
	return unexplained(news, old)
}

// maxAdded bounds the findings held at once while two texts are compared.
const maxAdded = 100 * MaxPerPattern

// key identifies a finding: Added treats two with the same key as equal.
func key(f Finding) Finding {
	return Finding{Category: f.Category, Pattern: f.Pattern, Match: f.Match}
}

func unexplained(news []Finding, old map[Finding]int) []Finding {
	if len(news) == 0 {
		return nil
	}
	left := leftovers(old)
	var added []Finding
	listed := map[Verdict]int{}
	for _, f := range news {
		v := f.Verdict()
		if rest, ok := takeHolding(left[v], f.Match); ok {
			left[v] = rest
		} else if listed[v] < MaxPerPattern {
			listed[v]++
			added = append(added, f)
		}
	}
	return added
}

// leftovers groups the findings that did not recur by pattern, in a fixed order.
func leftovers(old map[Finding]int) map[Verdict][]string {
	keys := slices.Collect(maps.Keys(old))
	slices.SortStableFunc(keys, func(a, b Finding) int { return strings.Compare(a.Match, b.Match) })
	left := map[Verdict][]string{}
	for _, k := range keys {
		for n, v := old[k], k.Verdict(); n > 0 && len(left[v]) < maxLeftovers; n-- {
			left[v] = append(left[v], k.Match)
		}
	}
	return left
}

// takeHolding removes one text that contains part.
func takeHolding(texts []string, part string) ([]string, bool) {
	for i, t := range texts {
		if strings.Contains(t, part) {
			return append(texts[:i], texts[i+1:]...), true
		}
	}
	return texts, false
}
