package tui

import (
	"context"
	"strings"
)

// linearVerb is one command of the conversation.
type linearVerb struct {
	name, argument, about string
	run                   func(l *linear, ctx context.Context, argument string)
	examples              []string // with what each does, after a semicolon
}

// linearVerbs is a function, because help is made from it.
func linearVerbs() []linearVerb {
	return []linearVerb{
		{"stores", "", "the stores, and which did not open", (*linear).stores, []string{"stores"}},
		{"store", "NAME", "the items of a store: the same as list", (*linear).listItems, []string{"store graph"}},
		{"health", "[STORE]", "ask every store how it is, or tell all that is known of one", (*linear).health, []string{"health", "health graph; latency, last success, fill against caps, what it can and cannot do"}},
		{"tiers", "[STORE]", "the scopes and tiers of a store, with counts", (*linear).tiers, []string{"tiers graph"}},
		{"list", "[STORE [TIER [SCOPE]]]", "the items of a store or a tier, twenty at a time", (*linear).listItems, []string{"list graph; all tiers", "list graph longterm; one tier"}},
		{"filter", "[WORDS]", "only rows with these words, or without them after a !; without words, all", (*linear).filter, []string{"filter deploy friday", "filter !draft; what does not have the word", "filter; everything again"}},
		{"order", "[NAME]", "the items in another order of the store", (*linear).order, []string{"order; which there are", "order newest"}},
		{"hidden", "", "list hidden, archived and bookkeeping items too, or no more", (*linear).hidden, []string{"hidden"}},
		{"next", "", "the next twenty", (*linear).next, []string{"next"}},
		{"again", "", "the list from its start, as it is now", (*linear).again, []string{"again"}},
		{"back", "", "the numbers of the list before", (*linear).back, []string{"back"}},
		{"open", "NUMBER or REF", "read a row of the last list, or an item", (*linear).open, []string{"open 3", "3; a number alone opens too", "open graph:node-17"}},
		{"go", "REF", "read the item with this reference: the same as open", (*linear).open, []string{"go graph:node-17"}},
		{"more", "", "go on with a long text", func(l *linear, _ context.Context, _ string) { l.goOn() }, []string{"more"}},
		{"recall", "WORDS", "search every store as an agent would", (*linear).recall, []string{"recall deploy window"}},
		{"edit", "NUMBER or REF", "write an item anew, after its difference was read; of a quarantine list the source, of a conflict the result", (*linear).edit, []string{"edit 3", "edit vault:notes/plan.md"}},
		{"append", "NUMBER or REF", "add to an item", (*linear).appendTo, []string{"append 3"}},
		{"create", "[STORE [TIER [SCOPE]]]", "make an item, here or in the store that is named", (*linear).create, []string{"create; where the last list is", "create crewship daily"}},
		{"forget", "[NUMBER or REF]", "forget an item, or the marked ones, after a question with their number", (*linear).forget, []string{"forget 3", "forget; all that are marked"}},
		{"mark", "NUMBERS or all", "mark rows for the next act", (*linear).mark, []string{"mark 1 3-5", "mark all; what the list holds under its filter, on every page"}},
		{"unmark", "", "take all marks away", (*linear).unmark, []string{"unmark"}},
		{"undo", "[ENTRY]", "put back what a change displaced; without an entry, the last act of this session", (*linear).undo, []string{"undo", "undo 2; a number of undos"}},
		{"undos", "", "what can be put back", (*linear).undos, []string{"undos"}},
		{"history", "NUMBER or REF", "the recorded versions of an item", (*linear).history, []string{"history 3"}},
		{"compare", "NUMBER [NUMBER]", "what has changed since a version of history, or between two", (*linear).compare, []string{"compare 2; with the item as it is now", "compare 1 2"}},
		{"export", "[NUMBER or REF]", "write an item, or the list with its filter, to a file; of a request all about the person", (*linear).export, []string{"export 3; one item", "export; the list, as CSV or JSON lines"}},
		{"quarantine", "[WORDS]", "what scanners have set aside", brings(boardQuarantine, paneQuarantine), []string{"quarantine", "quarantine ignore_previous"}},
		{"release", "NUMBER", "release a quarantined source by an edit that must pass the scanner, with a reason", on(boardQuarantine, "e"), []string{"release 1"}},
		{"delete", "[NUMBER]", "delete an entry of the quarantine, or the marked ones; sources stay", on(boardQuarantine, "d"), []string{"delete 1", "delete; all that are marked"}},
		{"rule", "NUMBER", "mark all entries that the same rule has blocked", on(boardQuarantine, "R"), []string{"rule 1"}},
		{"conflicts", "[WORDS]", "second copies of items, and what is known of each", brings(boardConflicts, paneConflicts), []string{"conflicts", "1; then: why it is a conflict, and what differs"}},
		{"keep", "base, copy or both, and NUMBER", "resolve a conflict by choice", (*linear).keep, []string{"keep base 1; the copy goes", "keep copy 1; the copy takes the place of the base", "keep both 1; the copy gets a name of its own"}},
		{"merge", "NUMBER", "go through the differences of a conflict one by one", on(boardConflicts, "m"), []string{"merge 1", "edit 1; both sides between marks, to be written by hand"}},
		{"redundant", "", "remove every copy that is byte for byte its base, after a question that counts them", on(boardConflicts, "D"), []string{"redundant"}},
		{"erasures", "[WORDS]", "requests to be forgotten, the next deadline first", brings(boardErasure, paneErasure), []string{"erasures", "1; then: its state, its run, what there is to do"}},
		{"request", "", "file a request to be forgotten", on(boardErasure, "a"), []string{"request"}},
		{"plan", "[NUMBER]", "search every store and make the plan of a request; nothing is changed", either(map[string]string{boardErasure: "p", "steps": "p"}), []string{"plan 1"}},
		{"show", "NUMBER", "what a request is about now: its plan, or its receipt", on(boardErasure, "enter"), []string{"show 1"}},
		{"hold", "NUMBER", "keep an item of a plan back, with the ground that permits it", on("steps", "H"), []string{"hold 4"}},
		{"unhold", "NUMBER", "lift a hold, of a request or of an item of a plan", either(map[string]string{boardErasure: "U", "steps": "U"}), []string{"unhold 1"}},
		{"withdraw", "NUMBER", "close a request without an erasure, with a reason", on(boardErasure, "W"), []string{"withdraw 1"}},
		{"choose", "NUMBER", "forget an item of a plan instead of redacting it, or the other way round", on("steps", "c"), []string{"choose 4"}},
		{"approval", "[NUMBER]", "who must approve a plan, and how", either(map[string]string{boardErasure: "A", "steps": "A"}), []string{"approval 1"}},
		{"erase", "[NUMBER]", "carry a plan out, after a question and with the request typed", either(map[string]string{boardErasure: "E", "steps": "E"}), []string{"erase 1"}},
		{"retry", "NUMBER", "go on with what is left of an erasure", on(boardErasure, "r"), []string{"retry 1"}},
		{"pause", "NUMBER", "pause the run of a request at its next step, or let it go on", on(boardErasure, "P"), []string{"pause 1"}},
		{"deadline", "NUMBER", "extend a deadline, or stop its clock", on(boardErasure, "T"), []string{"deadline 1"}},
		{"verify", "NUMBER", "look again at every store and layer; nothing is changed", on(boardErasure, "v"), []string{"verify 1"}},
		{"layers", "NUMBER", "the layers of a request with their verdicts", on(boardErasure, "V"), []string{"layers 1"}},
		{"receipt", "NUMBER", "save the receipt of a complete erasure to a file; of another one the status report", on(boardErasure, "S"), []string{"show 1; reads it", "receipt 1; saves it"}},
		{"audit", "[FILTER]", "the operator log, newest first", brings(boardAudit, paneAudit), []string{"audit", "audit actor:ann action:forget store:graph", "audit outcome:refused since:2026-05-01 until:2026-05-20", "audit !actor:ann; of everybody else"}},
		{"intents", "", "acts that began and have no outcome", (*linear).intents, []string{"intents"}},
		{"jobs", "", "long work of this console and of others, with what became of it", (*linear).jobs, []string{"jobs", "1; then: what is known of the first"}},
		{"stop", "NUMBER", "stop a job at its next step, after a question; alone, while work is under way, it stops that", on("jobs", "C"), []string{"stop 1"}},
		{"readonly", "[on or off]", "make this session read-only; lifting that asks first", (*linear).readonly, []string{"readonly on"}},
		{"lock", "", "obey nothing until unlock is typed", (*linear).lock, []string{"lock"}},
		{"notices", "", "the notices of the start", (*linear).notices, []string{"notices"}},
		{"help", "[COMMAND]", "this list, or one command with examples", (*linear).help, []string{"help", "help forget"}},
		{"quit", "", "leave memdesk", (*linear).quit, []string{"quit"}},
	}
}

// linearNamed are the verbs that a word could mean.
func linearNamed(word string) (found []linearVerb) {
	for _, v := range linearVerbs() {
		if v.name == word {
			return []linearVerb{v}
		}
		if strings.HasPrefix(v.name, word) {
			found = append(found, v)
		}
	}
	return found
}

func (l *linear) help(_ context.Context, word string) {
	if word == "" {
		for _, v := range linearVerbs() {
			l.say("%s: %s.", strings.TrimSpace(v.name+" "+v.argument), v.about)
		}
		l.say("A unique beginning of a command is enough; a number alone opens that row. help, with a command, gives examples.")
		l.say("The letters that the console uses for its keys work here too, with the number of a row where they are for one: d 3 forgets the third.")
		return
	}
	found := linearNamed(strings.ToLower(word))
	if len(found) == 0 {
		l.say("No command %q. help lists what there is.", word)
	}
	for _, v := range found {
		l.say("%s: %s.", strings.TrimSpace(v.name+" "+v.argument), v.about)
		for _, e := range v.examples {
			if line, what, ok := strings.Cut(e, "; "); ok {
				l.say("For example %s (%s).", line, strings.TrimPrefix(what, "then: "))
			} else {
				l.say("For example %s", e)
			}
		}
	}
}
