package linear

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
	"memdesk/ui/tui"
)

// broughtBy are the words that bring the lists of the key table.
var broughtBy = map[string]string{
	"1 Health": "health", "2 Tiers: stores, scopes, tiers": "tiers", "2 Tiers: items": "store", "3 Recall": "recall", "4 Quarantine": "quarantine",
	"4 Quarantine: stories (S)": "stories, in quarantine", "5 Conflicts": "conflicts", "6 Erasure": "erasure", "7 Audit": "audit",
	"6 Erasure: a plan": "show, with the number of a request that has a plan", "6 Erasure: layers and verdicts (V)": "layers, with the number of a request",
	"Versions of an item (H)": "history, with the number of an item", "What can be put back (:undo)": "undo", "Texts that were put aside (:kept)": "kept", "Jobs (:jobs)": "jobs",
}

// heard are the acts that are done otherwise where nothing is drawn: a list is read out.
func (l *linear) heard() map[string]func(string) tea.Cmd {
	last := act.Undo.With(l.a.D.Undos.Refusal, l.a.D.Undos.Last)
	return map[string]func(string) tea.Cmd{
		"store": l.list, "health": l.health, "tiers": l.brings(tui.PaneTiers), "recall": l.brings(tui.PaneRecall), "audit": l.brings(tui.PaneAudit),
		"quarantine": l.brings(tui.PaneQuarantine), "conflicts": l.brings(tui.PaneConflicts), "erasure": l.brings(tui.PaneErasure), "view": l.view,
		act.Open.Verb: l.open, "go": l.open, act.Filter.Verb: l.filter, act.Next.Verb: l.next, act.More.Verb: l.goOn, act.Refresh.Verb: l.refresh, act.Back.Verb: l.back,
		act.Mark.Verb: l.mark, act.Unmark.Verb: l.unmark, act.Undo.Verb: func(string) tea.Cmd { return l.perform(last, "") }, "lock": l.lock, act.Help.Verb: l.help,
	}
}

// drawn are the console's commands that need a screen.
var drawn = []string{"tier", "export", "theme", "q"}

// verbs are the words that mean something here: on lists, everywhere, on items, and in the current list.
func (l *linear) verbs() (out []act.Act) {
	heard := l.heard()
	add := func(do func(a act.Act, argument string) tea.Cmd, acts ...act.Act) {
		for _, a := range acts {
			if ask := heard[a.Verb]; ask != nil {
				a.Ask = ask
			} else if was := a; do != nil {
				a.Ask = func(argument string) tea.Cmd { return do(was, argument) }
			}
			if !has(out, a) {
				out = append(out, a)
			}
		}
	}
	add(l.press, act.OnLists()...)
	add(nil, slices.DeleteFunc(l.a.Line.Verbs(), func(a act.Act) bool { return slices.Contains(drawn, a.Verb) })...)
	add(l.onItem, act.OnItems()...)
	add(l.press, l.acts()...)
	add(nil, act.Act{Verb: act.Show.Verb, Args: act.Open.Args, Doc: act.Open.Doc, Ask: l.open}) // as memdesk show does
	return out
}

func has(acts []act.Act, a act.Act) bool {
	return slices.ContainsFunc(acts, func(b act.Act) bool { return b.Verb == a.Verb })
}

// meant are the acts that a line could mean, with arguments: by word, its beginning, or a key of the console.
func (l *linear) meant(line string) (found []act.Act, argument string) {
	word, rest, _ := strings.Cut(line, " ")
	if n, err := strconv.Atoi(rest[strings.LastIndexByte(rest, ' ')+1:]); err == nil && n >= 1 && n <= l.board.rows {
		l.board.list.Place(n - 1) // some acts are of some rows only
	}
	verbs := l.verbs()
	key, ok := act.Find(append(l.acts(), verbs...), word)
	if word = strings.ToLower(word); ok {
		word = key.Verb
	}
	for _, v := range verbs {
		args, ok := v.Takes(word + " " + rest)
		if ok && (len(found) == 0 || len(v.Verb) > len(found[0].Verb)) { // mark all, not mark
			found, argument = []act.Act{v}, args
		}
	}
	if len(found) > 0 {
		return found, argument
	}
	if _, named := l.elsewhere(line); named { // unfold, on a row without it, is not unfold all
		return nil, ""
	}
	for _, v := range verbs {
		if strings.HasPrefix(v.Verb, word) {
			found = append(found, v)
		}
	}
	return found, strings.TrimSpace(rest)
}

// far is an act of another list, or of other rows, and the words that bring a list with it.
type far struct {
	act.Act
	by []string
}

// elsewhere are the acts that the current row does not have and that a line could mean: the one that it names, else those that begin so.
func (l *linear) elsewhere(line string) (out []far, named bool) {
	line = strings.ToLower(line)
	word, _, _ := strings.Cut(line, " ")
	own := l.acts()
	for _, s := range tui.KeyTable() {
		by := broughtBy[s.Title]
		for _, a := range s.Acts {
			switch i := slices.IndexFunc(out, func(f far) bool { return f.Verb == a.Verb }); {
			case by == "" || a.Verb == "" || has(own, a) || !strings.HasPrefix(a.Verb, word):
			case i < 0:
				out = append(out, far{a, []string{by}})
			default:
				out[i].by = append(out[i].by, by)
			}
		}
	}
	var whole []far
	for _, f := range out {
		if _, ok := f.Takes(line); ok && (whole == nil || len(f.Verb) > len(whole[0].Verb)) { // unfold all, not unfold
			whole = []far{f}
		}
	}
	if whole != nil {
		return whole, true
	}
	return out, false
}

// unknown says what brings the acts that a line could mean, or that there is none.
func (l *linear) unknown(line string) tea.Cmd {
	found, _ := l.elsewhere(line)
	for _, f := range found {
		l.say("%s is for other rows or lists. These words bring one: %s.", f.Verb, strings.Join(f.by, "; "))
	}
	if len(found) == 0 {
		word, _, _ := strings.Cut(line, " ")
		l.say("No command %q. help lists what there is.", word)
	}
	return nil
}

func (l *linear) help(word string) tea.Cmd {
	if word == "" {
		return l.helpAll()
	}
	found, _ := l.meant(word)
	for _, v := range found {
		l.explain(v)
	}
	if len(found) > 0 {
		return nil
	}
	away, _ := l.elsewhere(word)
	for _, f := range away {
		l.explain(f.Act)
	}
	return l.unknown(word)
}

// explain says what an act does, with examples.
func (l *linear) explain(v act.Act) {
	l.say("%s: %s.", v.Usage(), v.Doc)
	for _, e := range v.Examples {
		if line, what, ok := strings.Cut(e, "; "); ok {
			l.say("For example %s (%s).", line, strings.TrimPrefix(what, "then: "))
		} else {
			l.say("For example %s", e)
		}
	}
}

// helpAll reads all words out, those of the current list first.
func (l *linear) helpAll() tea.Cmd {
	own, here := l.acts(), l.verbs()
	say := func(title string, acts []act.Act) {
		l.say("%s:", title)
		for _, v := range acts {
			l.say("%s: %s.", v.Usage(), v.Doc)
		}
	}
	say("In "+l.board.called(), slices.DeleteFunc(slices.Clone(here), func(v act.Act) bool { return !has(own, v) }))
	say("Everywhere", slices.DeleteFunc(slices.Clone(here), func(v act.Act) bool { return has(own, v) }))
	var other []act.Act
	away, _ := l.elsewhere("")
	for _, f := range away {
		if !has(here, f.Act) {
			other = append(other, f.Act)
		}
	}
	say("In other lists", other)
	l.say("A unique beginning of a command is enough; a number alone opens that row. help, with a command, gives examples.")
	return l.say("What a message calls by a key of the console works here too, with the number of a row where it is for one: d 3 forgets the third, ctrl+r reads the list anew, 1 Health asks the stores.")
}
