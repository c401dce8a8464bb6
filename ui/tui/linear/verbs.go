package linear

import (
	"context"
	"strings"

	"memdesk/ui/act"
	"memdesk/ui/tui"
)

// linearVerb is one command of the conversation: an act, and how it is done by line.
type linearVerb struct {
	act.Act
	run func(l *linear, ctx context.Context, argument string)
}

// linearVerbs are the commands that read, and the acts on rows of lists. It is a
// function, because help is made from it.
func linearVerbs() []linearVerb {
	out := []linearVerb{
		{act.Act{Verb: "stores", Doc: "the stores, and which did not open", Examples: []string{"stores"}}, (*linear).stores},
		{act.Act{Verb: "store", Args: "NAME", Doc: "the items of a store: the same as list", Examples: []string{"store graph"}}, (*linear).listItems},
		{act.Act{Verb: "health", Args: "[STORE]", Doc: "ask every store how it is, or tell all that is known of one", Examples: []string{"health", "health graph; latency, last success, fill against caps, what it can and cannot do"}}, (*linear).health},
		{act.Act{Verb: "tiers", Args: "[STORE]", Doc: "the scopes and tiers of a store, with counts", Examples: []string{"tiers graph"}}, (*linear).tiers},
		{act.Act{Verb: "list", Args: "[STORE [TIER [SCOPE]]]", Doc: "the items of a store or a tier, twenty at a time", Examples: []string{"list graph; all tiers", "list graph longterm; one tier"}}, (*linear).listItems},
		{act.Act{Verb: "filter", Args: "[WORDS]", Doc: "only rows with these words, or without them after a !; without words, all", Examples: []string{"filter deploy friday", "filter !draft; what does not have the word", "filter; everything again"}}, (*linear).filter},
		{act.Act{Verb: "order", Args: "[NAME]", Doc: "the items in another order of the store", Examples: []string{"order; which there are", "order newest"}}, (*linear).order},
		{act.Act{Verb: "hidden", Doc: "list hidden, archived and bookkeeping items too, or no more", Examples: []string{"hidden"}}, (*linear).hidden},
		{act.Act{Verb: "next", Doc: "the next twenty", Examples: []string{"next"}}, (*linear).next},
		{act.Act{Verb: "again", Doc: "the list from its start, as it is now", Examples: []string{"again"}}, (*linear).again},
		{act.Act{Verb: "back", Doc: "the numbers of the list before", Examples: []string{"back"}}, (*linear).back},
		{act.Act{Verb: "open", Args: "NUMBER or REF", Doc: "read a row of the last list, or an item", Examples: []string{"open 3", "3; a number alone opens too", "open graph:node-17"}}, (*linear).open},
		{act.Act{Verb: "go", Args: "REF", Doc: "read the item with this reference: the same as open", Examples: []string{"go graph:node-17"}}, (*linear).open},
		{act.Act{Verb: "more", Doc: "go on with a long text", Examples: []string{"more"}}, func(l *linear, _ context.Context, _ string) { l.goOn() }},
		{act.Act{Verb: "recall", Args: "WORDS", Doc: "search every store as an agent would", Examples: []string{"recall deploy window"}}, (*linear).recall},
		{act.Edit, (*linear).edit},
		{act.Append, (*linear).appendTo},
		{act.Create, (*linear).create},
		{act.Forget, (*linear).forget},
		{act.Act{Verb: "mark", Args: "NUMBERS or all", Doc: "mark rows for the next act", Examples: []string{"mark 1 3-5", "mark all; what the list holds under its filter, on every page"}}, (*linear).mark},
		{act.Act{Verb: "unmark", Doc: "take all marks away", Examples: []string{"unmark"}}, (*linear).unmark},
		{act.Act{Verb: "undo", Args: "[ENTRY]", Doc: "put back what a change displaced; without an entry, the last act of this session", Examples: []string{"undo", "undo 2; a number of undos"}}, (*linear).undo},
		{act.Act{Verb: "undos", Doc: "what can be put back", Examples: []string{"undos"}}, (*linear).undos},
		{act.History, (*linear).history},
		{act.Act{Verb: "compare", Args: "NUMBER [NUMBER]", Doc: "what has changed since a version of history, or between two", Examples: []string{"compare 2; with the item as it is now", "compare 1 2"}}, (*linear).compare},
		{act.Export, (*linear).export},
		{act.Act{Verb: "quarantine", Args: "[WORDS]", Doc: "what scanners have set aside", Examples: []string{"quarantine", "quarantine ignore_previous"}}, brings(boardQuarantine, tui.PaneQuarantine)},
		{act.Act{Verb: "conflicts", Args: "[WORDS]", Doc: "second copies of items, and what is known of each", Examples: []string{"conflicts", "1; then: why it is a conflict, and what differs"}}, brings(boardConflicts, tui.PaneConflicts)},
		{act.Act{Verb: "keep", Args: "base, copy or both, and NUMBER", Doc: "resolve a conflict by choice", Examples: []string{"keep base 1; the copy goes", "keep copy 1; the copy takes the place of the base", "keep both 1; the copy gets a name of its own"}}, (*linear).Keep},
		{act.Act{Verb: "erasures", Args: "[WORDS]", Doc: "requests to be forgotten, the next deadline first", Examples: []string{"erasures", "1; then: its state, its run, what there is to do"}}, brings(boardErasure, tui.PaneErasure)},
		{act.Act{Verb: "audit", Args: "[FILTER]", Doc: "the operator log, newest first", Examples: []string{"audit", "audit actor:ann action:forget store:graph", "audit outcome:refused since:2026-05-01 until:2026-05-20", "audit !actor:ann; of everybody else"}}, brings(boardAudit, tui.PaneAudit)},
		{act.Act{Verb: "intents", Doc: "acts that began and have no outcome", Examples: []string{"intents"}}, (*linear).intents},
		{act.Act{Verb: "jobs", Doc: "long work of this console and of others, with what became of it", Examples: []string{"jobs", "1; then: what is known of the first"}}, (*linear).jobs},
		{act.Act{Verb: "readonly", Args: "[on or off]", Doc: "make this session read-only; lifting that asks first", Examples: []string{"readonly on"}}, (*linear).readonly},
		{act.Act{Verb: "lock", Doc: "obey nothing until unlock is typed", Examples: []string{"lock"}}, (*linear).lock},
		{act.Act{Verb: "notices", Doc: "the notices of the start", Examples: []string{"notices"}}, (*linear).notices},
		{act.Act{Verb: "help", Args: "[COMMAND]", Doc: "this list, or one command with examples", Examples: []string{"help", "help forget"}}, (*linear).help},
		{act.Act{Verb: "quit", Doc: "leave memdesk", Examples: []string{"quit"}}, (*linear).quit},
	}
	for _, a := range act.OnRows() {
		out = append(out, linearVerb{a, func(l *linear, ctx context.Context, argument string) { l.onRow(ctx, a, argument) }})
	}
	return out
}

// linearNamed are the verbs that a word could mean.
func linearNamed(word string) (found []linearVerb) {
	for _, v := range linearVerbs() {
		if v.Verb == word {
			return []linearVerb{v}
		}
		if strings.HasPrefix(v.Verb, word) {
			found = append(found, v)
		}
	}
	return found
}

func (l *linear) help(_ context.Context, word string) {
	if word == "" {
		for _, v := range linearVerbs() {
			l.say("%s: %s.", v.Usage(), v.Doc)
		}
		l.say("A unique beginning of a command is enough; a number alone opens that row. help, with a command, gives examples.")
		l.say("What a message calls by a key of the console works here too, with the number of a row where it is for one: d 3 forgets the third, ctrl+r reads the list anew, 1 Health asks the stores.")
		return
	}
	found := linearNamed(strings.ToLower(word))
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
}
