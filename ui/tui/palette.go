package tui

import (
	"image"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/paint"
)

// palette is the list above the command line: what the line may become.
type palette struct {
	rows  []choice
	stem  string // the line that the rows are for
	turn  int    // the row that stands on the line; -1: the stem does
	asked string // the stem for which a store was asked for more
	keys  int    // the column of keys, as wide as the widest shown so far
}

// choice is one row: a command, or a word of its arguments.
type choice struct {
	line  string // what it makes of the command line
	word  string
	act   act.Act // of a command
	where string  // the place of another pane's act; empty: it works here
}

// leastRows is the height of the list on a small screen; on a large one it takes a third.
const leastRows = 6

// list shows what the line may become, after each change of it.
func (l *commandLine) list() tea.Cmd {
	line := l.in.Value()
	l.palette = palette{rows: l.choices(line), stem: line, turn: -1}
	return nil
}

// choices are the commands that begin with the text, or are called or do what it says; behind a command, what may
// follow it. Blanks before the argument do not count.
func (l *commandLine) choices(line string) (out []choice) {
	name, argument, inArgument := strings.Cut(line, " ")
	argument = strings.TrimLeft(argument, " ")
	at, shown := strings.LastIndexByte(argument, ' ')+1, said(argument)
	known, seen := l.known(), map[string]bool{}
	add := func(c choice) {
		if !seen[c.line] {
			seen[c.line] = true
			out = append(out, c)
		}
	}
	for _, v := range known {
		if strings.HasPrefix(v.Verb, line) {
			add(choice{line: v.Verb, word: v.Verb, act: v})
		}
		if !inArgument || v.Verb != name {
			continue
		}
		if v.Choices != nil {
			for _, c := range v.Choices() {
				if strings.HasPrefix(c, argument) && c != argument {
					word := choice{line: name + " " + c, word: c[shown:]}
					if v.Says != nil {
						word.act.Doc = v.Says(c)
					}
					add(word)
				}
			}
		}
		if v.Words != nil {
			for _, w := range v.Words() {
				if strings.HasPrefix(w, argument[at:]) && w != argument[at:] {
					add(choice{line: name + " " + argument[:at] + w, word: (argument[:at] + w)[shown:]})
				}
			}
		}
	}
	whole := func(v act.Act) bool { _, ok := v.Takes(line); return ok }
	if line == "" || slices.ContainsFunc(known, whole) {
		return out
	}
	far := l.elsewhere(known)
	for _, c := range far {
		if strings.HasPrefix(c.word, line) {
			add(c)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, v := range known {
		far = append(far, choice{line: v.Verb, word: v.Verb, act: v})
	}
	for _, here := range []bool{true, false} {
		for _, c := range far {
			if here == (c.where == "") && found(c.word+" "+c.act.Name+" "+c.act.Doc, line) >= 0 {
				add(c)
			}
		}
	}
	return out
}

// said is where the part of a line begins that is being typed: what stands before it need not be said in each row.
func said(line string) int { return strings.LastIndexAny(line, " /:") + 1 }

// found is where a word of the text begins with the words looked for; -1: nowhere.
func found(text, words string) int {
	return strings.Index(" "+strings.ToLower(text), " "+strings.ToLower(strings.TrimSpace(words)))
}

// Elsewhere are the acts of all panes that are not among the known ones, each in a section that says where it works.
func (l *commandLine) Elsewhere(known []act.Act) (out []act.Section) {
	if l.places == nil {
		l.places = places(KeyTable())
	}
	for _, s := range l.places {
		pane, _, _ := strings.Cut(s.Title, ":")
		for _, a := range s.Acts {
			same := func(b act.Act) bool { return b.Verb == a.Verb }
			i := slices.IndexFunc(out, func(o act.Section) bool { return same(o.Acts[0]) })
			switch {
			case a.Verb == "" || slices.ContainsFunc(known, same):
			case i < 0:
				out = append(out, act.Section{Title: s.Title, Acts: []act.Act{a}})
			case !strings.Contains(out[i].Title, pane):
				out[i].Title += "; " + s.Title
			}
		}
	}
	return out
}

// elsewhere are these acts as rows of the list.
func (l *commandLine) elsewhere(known []act.Act) (out []choice) {
	for _, s := range l.Elsewhere(known) {
		a := s.Acts[0]
		shown := act.Act{Verb: a.Verb, Name: a.Name, Keys: a.Keys, Show: a.Show, Doc: a.Doc} // what it does is of another console
		out = append(out, choice{line: a.Verb, word: a.Verb, act: shown, where: s.Title})
	}
	return out
}

// choose puts a row on the line; beyond the ends of the list it is what was typed.
func (l *commandLine) choose(by int) tea.Cmd {
	lines := []string{l.stem}
	for _, c := range l.rows {
		lines = append(lines, c.line)
	}
	for was := l.in.Value(); ; {
		l.turn = (l.turn+1+by+len(lines))%len(lines) - 1
		l.in.Set(lines[l.turn+1])
		if lines[l.turn+1] != was || l.turn < 0 {
			return nil
		}
	}
}

// complete extends the line as far as all rows agree, and asks the store for more; then it goes round them.
func (l *commandLine) complete() tea.Cmd {
	l.past.at = len(l.past.lines) // Down goes on in the list, not in the history
	line := l.in.Value()
	name, word, inArgument := strings.Cut(line, " ")
	known := l.known()
	i := slices.IndexFunc(known, func(v act.Act) bool { return inArgument && v.Verb == name && v.More != nil })
	if i >= 0 && l.turn < 0 && l.asked != line {
		l.extend()
		l.asked = line
		return known[i].More(line, word)
	}
	if l.turn < 0 && l.extend() {
		return nil
	}
	return l.choose(1)
}

// extend makes the line as long as all rows agree that work here.
func (l *commandLine) extend() bool {
	rows := slices.DeleteFunc(slices.Clone(l.rows), func(c choice) bool { return c.where != "" })
	if len(rows) == 0 {
		return false
	}
	common := rows[0].line
	for _, c := range rows[1:] {
		for !strings.HasPrefix(c.line, common) {
			_, n := utf8.DecodeLastRuneInString(common)
			common = common[:len(common)-n]
		}
	}
	if len(rows) == 1 && rows[0].act.Verb != "" {
		common += " "
	}
	if common == l.stem || len(common) < len(l.stem) && len(rows) > 1 {
		return false
	}
	l.in.Set(common)
	l.list()
	return true
}

// completed takes a store's completions of the line asked, while it is still the same.
func (l *commandLine) completed(asked string, lines []string) {
	line := l.in.Value()
	if !l.typing || l.turn >= 0 || !strings.HasPrefix(line, asked) {
		return
	}
	rows := func(line string) (out []choice) {
		for _, c := range lines {
			if c != line && strings.HasPrefix(c, line) {
				out = append(out, choice{line: c, word: c[said(line):]})
			}
		}
		return out
	}
	l.rows = rows(line)
	l.extend()
	l.rows, l.asked = rows(l.in.Value()), l.in.Value()
}

// window are the rows that are shown in at most a third of a height, the chosen one among them.
func (l *commandLine) window(height int) (from, n int) {
	n = min(len(l.rows), max(leastRows, height/3))
	return max(min(l.turn-n/2, len(l.rows)-n), 0), n
}

// over draws the list above the command line, over a screen of width columns whose row acts are about.
func (l *commandLine) over(under []string, row image.Rectangle, width int) []string {
	from, n := l.window(len(under))
	if n == 0 {
		return under
	}
	st, plain := l.a.D.St, l.a.D.Plain
	usage, doc := 0, 0
	for _, c := range l.rows {
		usage, doc = max(usage, len(c.word)+1+len(c.act.Args)), max(doc, len(c.act.Doc))
	}
	for _, c := range l.rows[from : from+n] { // commands without a key come first, and need no room for one
		if len(c.act.Keys) > 0 {
			l.keys = max(l.keys, len(c.act.Label())+1)
		}
	}
	if !plain { // as wide as the longest sentence, where there is room
		width = min(width-dialog.BoxPad, max(dialog.WidestBox-dialog.BoxPad, 1+usage+1+l.keys+doc))
	}
	var body []string
	for i, c := range l.rows[from : from+n] {
		body = append(body, l.choiceRow(c, from+i == l.turn, width, usage+1, l.keys))
	}
	if plain {
		return slices.Concat(under[:len(under)-n-1], []string{st.Rule(safetext.Text{}, width)}, body)
	}
	y := len(under) - n - 2
	if above := row.Min.Y - n - 2; row.Min.Y >= len(under)-max(leastRows, len(under)/3)-2 && above >= 0 { // it leaves its row in sight
		y = above
	}
	dialog.PutBox(st, under, body, 0, y, width, row)
	return under
}

// choiceRow is a command with its arguments, key and sentence, or a word; what was typed is marked in it.
func (l *commandLine) choiceRow(c choice, chosen bool, width, usage, label int) string {
	st := l.a.D.St
	word, doc, why := st.Esc.Line(c.word), st.Esc.Line(c.act.Doc), c.act.Reason()
	name, key, says := st.Strong, st.Key, st.Plain
	if c.where != "" || why != "" {
		name, key, says = st.Dim, st.Dim, st.Dim
	}
	if c.where != "" {
		doc = st.Esc.Sprintf("in %s: %s", c.where, doc)
	}
	var inWord, inDoc []safetext.Span
	switch typed := st.Esc.Line(strings.TrimSpace(l.stem)); {
	case c.act.Verb == "": // a word of the argument
		if typed = st.Esc.Line(l.stem[said(l.stem):]); strings.HasPrefix(word.String(), typed.String()) {
			inWord = []safetext.Span{{End: typed.Len()}}
		}
	case typed.IsEmpty():
	case found(c.word, typed.String()) >= 0:
		at := found(c.word, typed.String())
		inWord = []safetext.Span{{Start: at, End: at + typed.Len()}}
	case found(doc.String(), typed.String()) >= 0:
		at := found(doc.String(), typed.String())
		inDoc = []safetext.Span{{Start: at, End: at + typed.Len()}}
	}
	if why != "" {
		doc, inDoc = st.Esc.Sprintf("not now: %s", why), nil
	}
	r := st.Highlighted(width, chosen, true)
	left := r.Left
	r.Hits(name, word, inWord).Blank(1).Put(st.Dim, st.Esc.Const(c.act.Args))
	r.Blank(usage - (left - r.Left))
	if len(c.act.Keys) > 0 {
		r.Col(key, st.Esc.Const(c.act.Label()), label)
	} else if c.act.Verb != "" {
		r.Blank(label)
	}
	return r.Hits(says, doc, inDoc).End()
}

// meaning is what follows the typed command, and what that does, where the list does not say it, and how much of the
// list is shown.
func (l *commandLine) meaning(r *paint.Row) {
	esc, line := l.a.D.Esc, l.in.Value()
	v := l.meant(line)
	listed := slices.ContainsFunc(l.rows, func(c choice) bool { return c.act.Verb == v.Verb })
	if from, n := l.window(l.a.height - frameLines); n < len(l.rows) {
		r.Blank(2).Put(r.St.Dim, esc.Sprintf("%d to %d of %d", from+1, from+n, len(l.rows)))
	}
	switch {
	case v.Verb != "" && !listed:
		r.Blank(2).Put(r.St.Dim, esc.Const(strings.TrimSpace(v.Args+"  "+v.Doc)))
	case v.Verb == "" && len(l.rows) == 0:
		r.Blank(2).Put(r.St.Dim, esc.Const("no command is called so"))
	}
}
