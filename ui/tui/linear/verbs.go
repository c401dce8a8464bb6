package linear

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
	"memdesk/ui/tui"
)

// heard are the acts that are done otherwise where nothing is drawn: a list is read out.
func (l *linear) heard() map[string]func(string) tea.Cmd {
	last := act.Undo.With(l.a.D.Undos.Refusal, l.a.D.Undos.Last)
	return map[string]func(string) tea.Cmd{
		"store": l.list, "health": l.health, "tiers": l.brings(tui.PaneTiers), "recall": l.brings(tui.PaneRecall), "audit": l.brings(tui.PaneAudit),
		"quarantine": l.brings(tui.PaneQuarantine), "conflicts": l.brings(tui.PaneConflicts), "erasure": l.brings(tui.PaneErasure),
		act.Open.Verb: l.open, "go": l.open, act.Filter.Verb: l.filter, act.Next.Verb: l.next, act.More.Verb: l.goOn, act.Refresh.Verb: l.refresh, act.Back.Verb: l.back,
		act.Mark.Verb: l.mark, act.Unmark.Verb: l.unmark, act.Undo.Verb: func(string) tea.Cmd { return l.perform(last, "") }, "lock": l.lock, act.Help.Verb: l.help,
	}
}

// drawn are the console's commands that need a screen.
var drawn = []string{"tier", "export", "save", "view", "theme", "q"}

// verbs are the words of all acts: of lists, the console, items and rows, and of the current list.
func (l *linear) verbs() []act.Act {
	heard := l.heard()
	var out []act.Act
	add := func(acts []act.Act, do func(act.Act) func(string) tea.Cmd) {
		for _, a := range acts {
			if heard[a.Verb] != nil {
				a.Ask = heard[a.Verb]
			} else if do != nil {
				a.Ask = do(a)
			}
			if !slices.ContainsFunc(out, func(v act.Act) bool { return v.Verb == a.Verb }) {
				out = append(out, a)
			}
		}
	}
	onRow := func(a act.Act) func(string) tea.Cmd {
		return func(argument string) tea.Cmd { return l.onRow(a, argument) }
	}
	add(act.OnLists(), onRow)
	add(slices.DeleteFunc(l.a.Line.Verbs(), func(a act.Act) bool { return slices.Contains(drawn, a.Verb) }), nil)
	add(act.OnItems(), func(a act.Act) func(string) tea.Cmd {
		return func(argument string) tea.Cmd { return l.onItem(a, argument) }
	})
	keyed := len(out)
	add(act.OnRows(), onRow)
	add(l.acts(), onRow)
	for i := range out[keyed:] {
		out[keyed+i].Keys = nil // they mean this in their own list only
	}
	return out
}

// meant are the acts that a line could mean, with arguments: by word, its beginning, or a key of the console.
func (l *linear) meant(line string) (found []act.Act, argument string) {
	word, rest, _ := strings.Cut(line, " ")
	verbs := l.verbs()
	key, ok := act.Find(l.acts(), word)
	if !ok || len(word) > 1 {
		key, ok = act.Find(verbs, word)
	}
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
	for _, v := range verbs {
		if strings.HasPrefix(v.Verb, word) {
			found = append(found, v)
		}
	}
	return found, strings.TrimSpace(rest)
}

// helpAll reads all words out, those of the current list first.
func (l *linear) helpAll() {
	have := func(acts []act.Act, v act.Act) bool {
		return slices.ContainsFunc(acts, func(a act.Act) bool { return a.Verb == v.Verb })
	}
	own, rows := l.acts(), act.OnRows()
	for _, part := range []struct {
		title string
		has   func(v act.Act) bool
	}{
		{"In " + l.board.called(), func(v act.Act) bool { return have(own, v) }},
		{"Everywhere", func(v act.Act) bool { return !have(own, v) && !have(rows, v) }},
		{"In other lists", func(v act.Act) bool { return !have(own, v) && have(rows, v) }},
	} {
		l.say("%s:", part.title)
		for _, v := range l.verbs() {
			if part.has(v) {
				l.say("%s: %s.", v.Usage(), v.Doc)
			}
		}
	}
}

func (l *linear) help(word string) tea.Cmd {
	found, _ := l.meant(word)
	switch {
	case word == "":
		l.helpAll()
		l.say("A unique beginning of a command is enough; a number alone opens that row. help, with a command, gives examples.")
		return l.say("What a message calls by a key of the console works here too, with the number of a row where it is for one: d 3 forgets the third, ctrl+r reads the list anew, 1 Health asks the stores.")
	case len(found) == 0:
		l.say("No command %q. help lists what there is.", word)
	}
	for _, v := range found {
		l.say("%s: %s.", v.Usage(), v.Doc)
		for _, e := range v.Examples {
			if line, what, ok := strings.Cut(e, "; "); ok {
				l.say("For example %s (%s).", line, strings.TrimPrefix(what, "then: "))
			} else {
				l.say("For example %s", e)
			}
		}
	}
	return nil
}
