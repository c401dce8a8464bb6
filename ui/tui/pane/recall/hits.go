package recall

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/record"
)

type hitRow = record.Row[hit]

// hit is one of the recall list, or a withheld source.
type hit struct {
	Store    string
	Rank     int
	Hit      model.RecallSnippet
	Name     safetext.Text // of the store
	Where    safetext.Text // source and line
	line     string        // the first one of the snippet with a match
	Snippet  safetext.Text // that line
	words    []string      // that were looked for
	matches  []safetext.Span
	cut      *fitting // the part that the row has room for
	score    safetext.Text
	planted  safetext.Text // why it looks planted
	Withheld bool          // quarantined: agents do not get it
}

// keyed gives hits keys that stay when a store is asked again: by its rank a row would take the place of one that has gone.
func keyed(hits []hitRow) {
	seen := map[string]int{}
	for i := range hits {
		h := hits[i].Raw
		of := "\x00" + h.Hit.ID
		if h.Hit.ID == "" {
			of = h.Hit.Source + "\x00" + h.Hit.Snippet
		}
		of = h.Store + "\x00" + of + "\x00" + strconv.Itoa(h.Hit.Line)
		seen[of]++
		hits[i].Key = of + "\x00" + strconv.Itoa(seen[of])
	}
}

// fitting is the part of a snippet that so many columns have room for.
type fitting struct {
	columns int
	text    safetext.Text
	matches []safetext.Span
}

// suffix is the line number of a hit, written after its source.
func (h hit) suffix() string {
	if h.Hit.Line > 0 {
		return ":" + strconv.Itoa(h.Hit.Line)
	}
	return ""
}

// answered is one store's answer, escaped in the command that received it.
type answered struct {
	gen    int
	answer backends.Answer
	hits   []hitRow // by rank
	held   []hitRow
	Status safetext.Text
	beyond safetext.Text // what the hits are a part of; empty where they are all
	failed bool
	more   func() any // reads the next answer; nil after the last
}

func newAnswered(d *desk.Desk, gen int, a backends.Answer, words []string) answered {
	esc := d.Esc
	out := answered{gen: gen, answer: a, failed: a.Err != nil}
	out.Status, out.beyond = answerStatus(esc, a)
	name := esc.Line(a.Store)
	for i, h := range a.Result.Hits {
		line := matched(esc, h.Snippet, words)
		snippet := esc.Line(line)
		row := hit{
			Store: a.Store, Rank: i + 1, Hit: h, Name: name,
			line: line, Snippet: snippet, cut: &fitting{}, words: words, matches: text.Matches(snippet, words),
			planted: d.Planted(h.Snippet), score: safetext.Const(strconv.FormatFloat(h.Score, 'f', 2, 64)),
		}
		row.Where = esc.Sprintf("%s%s", esc.LineMax(h.Source, prose.MaxTitle), row.suffix())
		out.hits = append(out.hits, hitRow{Raw: row, Cells: []safetext.Text{
			colStore: name, colRank: safetext.Sprintf("%4d", row.Rank), colScore: safetext.Sprintf("%5s", row.score), colWhere: row.Where, colSnippet: {},
		}})
	}
	for _, source := range a.Result.Quarantined {
		out.held = append(out.held, hitRow{Cells: []safetext.Text{name, {}}, Raw: hit{Store: a.Store, Name: name, Where: esc.LineMax(source, prose.MaxTitle), Withheld: true, Hit: model.RecallSnippet{Source: source}}})
	}
	keyed(out.hits)
	keyed(out.held)
	return out
}

// matched is the first line of a snippet with one of the words, without its time; the whole snippet where no line has one.
func matched(esc safetext.Escaper, s string, words []string) string {
	for line := range strings.SplitSeq(s, "\n") {
		if line = desk.FirstWords(line); len(text.Matches(esc.Line(line), words)) > 0 {
			return line
		}
	}
	return desk.FirstWords(s)
}

// shown is the part of the snippet that a row of so many columns has, fitted once for each size.
func (h hit) shown(st *paint.Styles, columns int) (safetext.Text, []safetext.Span) {
	if h.cut.columns != columns {
		*h.cut = fitting{columns, h.Snippet, h.matches}
		if st.Width(h.Snippet) > columns && len(h.matches) > 0 {
			h.cut.text, h.cut.matches = h.fit(st, columns)
		}
	}
	return h.cut.text, h.cut.matches
}

// fit begins at the snippet's start, or at the first word that leaves room for the first three matches, or fewer of them.
// It ends inside no match.
func (h hit) fit(st *paint.Styles, columns int) (safetext.Text, []safetext.Span) {
	more := paint.LeftOut(st.Esc)
	room := columns - 2*more.Width()
	starts := []int{0}
	for i, r := range h.line {
		if i > 0 && (h.line[i-1] == ' ' || r >= 0x2e80) { // East Asian words have no blanks between them
			starts = append(starts, i)
		}
	}
	from := func(n int) (rest safetext.Text, found []safetext.Span) {
		rest = st.Esc.Line(h.line[starts[n]:])
		return rest, text.Matches(rest, h.words)
	}
	n, rest, found := 0, h.Snippet, h.matches
	for last := min(len(h.matches), 3) - 1; last >= 0; last-- {
		at := sort.Search(len(starts)-1, func(n int) bool {
			rest, found := from(n)
			return len(found) < len(h.matches) || found[last].End <= st.Esc.Wrap(rest, room)[0].Len()
		})
		if rest, found = from(at); len(found) == len(h.matches) && found[last].End <= st.Esc.Wrap(rest, room)[0].Len() {
			n = at
			break
		}
		rest, found = h.Snippet, h.matches // not even the last of these has room
	}
	line := st.Esc.Wrap(rest, room)[0]
	broken := func(m safetext.Span) bool { return m.Start < line.Len() && line.Len() < m.End }
	for width := room - 1; width > room/2 && slices.ContainsFunc(found, broken); width-- {
		line = st.Esc.Wrap(rest, width)[0]
	}
	if line.Len() < rest.Len() {
		line = st.Esc.Sprintf("%s%s", line, more)
	}
	if n > 0 {
		line = st.Esc.Sprintf("%s%s", more, line)
	}
	return line, text.Matches(line, h.words)
}

// hasMore reports whether a store has more hits than it gave. One that counts nothing, and gave fewer than it was
// asked for, gave all.
func hasMore(r model.RecallResult) bool {
	n := int64(len(r.Hits))
	return r.Total > n || r.Total == model.TotalUnknown && n >= model.RecallLimit
}

// answerStatus is a store's answer, or its failure, in one line; beyond is what the hits are a part of.
func answerStatus(esc safetext.Escaper, a backends.Answer) (status, beyond safetext.Text) {
	if a.Err != nil {
		return esc.Sprintf("no answer: %s", prose.Reason(esc, a.Err)), beyond
	}
	n, total := int64(len(a.Result.Hits)), a.Result.Total
	count := esc.Const(prose.Plural(n, "hit"))
	if hasMore(a.Result) {
		if total == model.TotalUnknown {
			count = esc.Sprintf("%s of an unknown number", count)
		} else {
			count = esc.Sprintf("%s of %s", prose.Group(n), prose.Plural(total, "hit"))
		}
		beyond = count
	}
	status = esc.Sprintf("%s, %s", count, prose.Latency(a.Took))
	if a.Result.Bounded {
		note := desk.OrElse(esc.Line(a.Result.BoundNote), esc.Const("ranked among a part of the matches"))
		status = esc.Sprintf("%s, %s", status, note)
		if !beyond.IsEmpty() {
			note = esc.Sprintf("%s, %s", beyond, note)
		}
		beyond = note
	}
	return status, beyond
}

// arrange puts the fused hits in order and the withheld sources after them.
func arrange(answers []answered) []hitRow {
	all := make([]backends.Answer, len(answers))
	byStore := map[string]answered{}
	for i, a := range answers {
		all[i] = a.answer
		byStore[a.answer.Store] = a
	}
	var rows []hitRow
	for _, f := range backends.Fuse(all) {
		rows = append(rows, byStore[f.Store].hits[f.Rank-1])
	}
	var held []hitRow
	for _, a := range answers {
		held = append(held, a.held...)
	}
	slices.SortStableFunc(held, func(a, b hitRow) int {
		return strings.Compare(a.Raw.Store+a.Raw.Hit.Source, b.Raw.Store+b.Raw.Hit.Source)
	})
	return append(rows, held...)
}
