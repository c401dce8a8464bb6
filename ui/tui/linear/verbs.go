package linear

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
	"memdesk/ui/tui"
)

// reads are the console's commands that differ where nothing is drawn.
func (l *linear) reads() map[string]func(string) tea.Cmd {
	return map[string]func(string) tea.Cmd{
		"store": l.list, "go": l.open, "recall": l.recall, "lock": l.lock,
		"audit": l.brings(tui.PaneAudit), "quarantine": l.brings(tui.PaneQuarantine), "conflicts": l.brings(tui.PaneConflicts),
	}
}

// drawn are the console's commands that need a screen, or mean something else here.
var drawn = []string{"tier", "erasure", "health", "tiers", "undo", "export", "save", "view", "theme", "help", "q"}

// verbs are all commands: those that read, the console's, and the acts on rows and items.
func (l *linear) verbs() []act.Act {
	out := []act.Act{
		{Verb: "stores", Doc: "the stores, and which did not open", Examples: []string{"stores"}, Ask: l.stores},
		{Verb: "health", Args: "[STORE]", Doc: "ask every store how it is, or tell all that is known of one", Examples: []string{"health", "health graph; latency, last success, fill against caps, what it can and cannot do"}, Ask: l.health},
		{Verb: "tiers", Args: "[STORE]", Doc: "the scopes and tiers of a store, with counts", Examples: []string{"tiers graph"}, Ask: l.tiers},
		{Verb: "list", Args: "[STORE [TIER [SCOPE]]]", Doc: "the items of a store or a tier, twenty at a time", Examples: []string{"list graph; all tiers", "list graph longterm; one tier"}, Ask: l.list},
		{Verb: "filter", Args: "[WORDS]", Doc: "only rows with these words, or without them after a !; without words, all", Examples: []string{"filter deploy friday", "filter !draft; what does not have the word", "filter; everything again"}, Ask: l.filter},
		{Verb: "order", Args: "[NAME]", Doc: "the items in another order of the store", Examples: []string{"order; which there are", "order newest"}, Ask: l.order},
		{Verb: "hidden", Doc: "list hidden, archived and bookkeeping items too, or no more", Examples: []string{"hidden"}, Ask: l.hidden},
		{Verb: "next", Doc: "the next twenty", Examples: []string{"next"}, Ask: l.next},
		{Verb: "again", Keys: []string{"ctrl+r"}, Doc: "the list from its start, as it is now", Examples: []string{"again"}, Ask: l.again},
		{Verb: "back", Keys: []string{"esc"}, Doc: "the numbers of the list before", Examples: []string{"back"}, Ask: l.back},
		{Verb: "open", Args: "NUMBER or REF", Keys: []string{"enter"}, Doc: "read a row of the last list, or an item", Examples: []string{"open 3", "3; a number alone opens too", "open graph:node-17"}, Ask: l.open},
		{Verb: "more", Doc: "go on with a long text", Examples: []string{"more"}, Ask: l.goOn},
		{Verb: "mark", Args: "NUMBERS or all", Doc: "mark rows for the next act", Examples: []string{"mark 1 3-5", "mark all; what the list holds under its filter, on every page"}, Ask: l.mark},
		{Verb: "unmark", Doc: "take all marks away", Examples: []string{"unmark"}, Ask: l.unmark},
		{Verb: "undo", Args: "[ENTRY]", Keys: []string{"z"}, Doc: "put back what a change displaced; without an entry, the last act of this session", Examples: []string{"undo", "undo 2; a number of undos"}, Ask: l.undo},
		{Verb: "undos", Doc: "what can be put back", Examples: []string{"undos"}, Do: l.a.D.Undos.Open},
		{Verb: "keep", Args: "base, copy or both, and NUMBER", Doc: "resolve a conflict by choice", Examples: []string{"keep base 1; the copy goes", "keep copy 1; the copy takes the place of the base", "keep both 1; the copy gets a name of its own"}, Ask: l.keep},
		{Verb: "erasures", Args: "[WORDS]", Doc: "requests to be forgotten, the next deadline first", Examples: []string{"erasures", "1; then: its state, its run, what there is to do"}, Ask: l.brings(tui.PaneErasure)},
		{Verb: "intents", Doc: "acts that began and have no outcome", Examples: []string{"intents"}, Ask: l.intents},
		{Verb: "help", Args: "[COMMAND]", Keys: []string{"?"}, Doc: "this list, or one command with examples", Examples: []string{"help", "help forget"}, Ask: l.help},
	}
	reads := l.reads()
	for _, v := range l.a.Line.Verbs() {
		if do := reads[v.Verb]; do != nil {
			v.Ask = do
		}
		if !slices.Contains(drawn, v.Verb) {
			out = append(out, v)
		}
	}
	create := act.Create
	create.Ask = l.create
	out = append(out, create)
	for _, a := range act.OnItems() {
		a.Ask = func(argument string) tea.Cmd { return l.onItem(a, argument) }
		out = append(out, a)
	}
	for _, a := range act.OnRows() {
		a.Keys, a.Ask = nil, func(argument string) tea.Cmd { return l.onRow(a, argument) }
		out = append(out, a)
	}
	return out
}

// meant are the commands that a word could mean: by name, by a unique beginning, or by the key in
// the console's messages.
func (l *linear) meant(word string) (found []act.Act) {
	if k, ok := act.Find(l.acts(), word); ok && len(word) == 1 {
		if k.Verb == "" {
			k.Args, k.Ask = "NUMBER", func(argument string) tea.Cmd { return l.press(word, argument) }
			return []act.Act{k}
		}
		word = k.Verb
	}
	verbs := l.verbs()
	if k, ok := act.Find(verbs, word); ok {
		return []act.Act{k}
	}
	word = strings.ToLower(word)
	for _, v := range verbs {
		if v.Verb == word {
			return []act.Act{v}
		}
		if strings.HasPrefix(v.Verb, word) {
			found = append(found, v)
		}
	}
	return found
}

func (l *linear) help(word string) tea.Cmd {
	if word == "" {
		for _, v := range l.verbs() {
			l.say("%s: %s.", v.Usage(), v.Doc)
		}
		l.say("A unique beginning of a command is enough; a number alone opens that row. help, with a command, gives examples.")
		return l.say("What a message calls by a key of the console works here too, with the number of a row where it is for one: d 3 forgets the third, ctrl+r reads the list anew, 1 Health asks the stores.")
	}
	found := l.meant(word)
	if len(found) == 0 {
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
