package linear

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
)

// heard are the acts that are done otherwise where nothing is drawn: a row, a text and the help are read out.
func (l *linear) heard() map[string]func(string) tea.Cmd {
	return map[string]func(string) tea.Cmd{
		"health": l.health, "tiers": l.tiers, act.Open.Verb: l.open, "go": l.open, act.Next.Verb: l.next, act.More.Verb: l.goOn,
		act.Mark.Verb: l.mark, act.Unmark.Verb: l.unmark, "lock": l.lock, act.Help.Verb: l.help,
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
	if n, err := strconv.Atoi(rest[strings.LastIndexByte(rest, ' ')+1:]); err == nil {
		l.place(n) // some rows lack an act
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
	if len(l.elsewhere(func(a act.Act) bool { _, ok := a.Takes(strings.ToLower(line)); return ok })) > 0 { // an exact word of another row: "unfold" must not become "unfold all"
		return nil, ""
	}
	for _, v := range verbs {
		if strings.HasPrefix(v.Verb, word) {
			found = append(found, v)
		}
	}
	return found, strings.TrimSpace(rest)
}

// elsewhere are the acts of other lists, or of other rows, that a line could mean, each with the place where it works.
func (l *linear) elsewhere(could func(act.Act) bool) []act.Section {
	return slices.DeleteFunc(l.a.Line.Elsewhere(l.acts()), func(s act.Section) bool { return !could(s.Acts[0]) })
}

// unknown says where the acts work that a line could mean, or that there is none.
func (l *linear) unknown(line string) tea.Cmd {
	word, _, _ := strings.Cut(line, " ")
	found := l.elsewhere(func(a act.Act) bool { _, ok := a.Takes(strings.ToLower(line)); return ok })
	if len(found) > 0 { // mark all, not mark
		found = []act.Section{slices.MaxFunc(found, func(a, b act.Section) int { return len(a.Acts[0].Verb) - len(b.Acts[0].Verb) })}
	} else {
		found = l.elsewhere(func(a act.Act) bool { return strings.HasPrefix(a.Verb, strings.ToLower(word)) })
	}
	for _, f := range found {
		l.say("%s is for other rows or lists: %s.", f.Acts[0].Verb, f.Title)
	}
	if len(found) == 0 {
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
	for _, f := range l.elsewhere(func(a act.Act) bool { return strings.HasPrefix(a.Verb, strings.ToLower(word)) }) {
		l.explain(f.Acts[0])
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
	say("In "+l.called(), slices.DeleteFunc(slices.Clone(here), func(v act.Act) bool { return !has(own, v) }))
	say("Everywhere", slices.DeleteFunc(slices.Clone(here), func(v act.Act) bool { return has(own, v) }))
	var other []act.Act
	for _, f := range l.elsewhere(func(a act.Act) bool { return !has(here, a) }) {
		other = append(other, f.Acts[0])
	}
	say("In other lists", other)
	l.say("A unique beginning of a command is enough; a number alone opens that row. help, with a command, gives examples.")
	return l.say("What a message calls by a key of the console works here too, with the number of a row where it is for one: d 3 forgets the third, ctrl+r reads the list anew, 1 Health asks the stores.")
}
