package tui_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/internal/drafts"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui"
	"memdesk/ui/tui/linear"
)

// talkDesk is a changeable desk with its own folder for drafts.
func talkDesk(t *testing.T, more ...func(*tui.Options, map[string]*fake)) tui.Options {
	t.Helper()
	o, fakes := lightDesk()
	o.Acts, o.Jobs = &actsFake{fakes: fakes}, jobsFake{}
	o.Drafts = drafts.New(filepath.Join(t.TempDir(), "edit"), clock.Fixed(now), func() error { return nil })
	members := o.Fleet.Members()
	for i := range members {
		members[i].Store.Address = address
	}
	members[0].Store.History = versions{fakes["crewship"]}
	o.Fleet = backends.NewFleet(members, nil)
	for _, f := range more {
		f(&o, fakes)
	}
	return o
}

// ordered checks that texts appear in order.
func ordered(t *testing.T, got string, texts ...string) {
	t.Helper()
	rest := got
	for _, want := range texts {
		i := strings.Index(rest, want)
		if i < 0 {
			t.Fatalf("never said, or not in this order, %q:\n%s", want, got)
		}
		rest = rest[i+len(want):]
	}
}

// meddled is a desk where another writer changes each item right before the operator's change.
func meddled(o *tui.Options, fakes map[string]*fake) {
	o.Acts = &actsFake{fakes: fakes, meddle: func(store, id string) { fakes[store].write(id, "written by somebody else\n") }}
}

func readOnly(o *tui.Options, _ map[string]*fake) { o.ReadOnlyReason = "the role is reader" }

// sealed is a desk whose store takes no edit of daily notes.
func sealed(o *tui.Options, _ map[string]*fake) {
	members := o.Fleet.Members()
	s := &members[0].Store
	s.Tiers = slices.Clone(s.Tiers)
	for i := range s.Tiers {
		if s.Tiers[i].Name == "daily" {
			s.Tiers[i].Writable, s.Tiers[i].Sealed = false, true
		}
	}
	o.Fleet = backends.NewFleet(members, nil)
}

// An item that no save can change must not get as far as an editor, by its key or by its reference.
func TestNoEditorForWhatNoSaveCanChange(t *testing.T) {
	const why = "no item of tier daily can be edited: the store lets it be forgotten only"
	newDriver(talkDesk(t, sealed), 120, 30).line("store crewship daily").keys("e").wants(t, why).keys("A").wants(t, why).keys("enter", "e").wants(t, why)
	newDriver(talkDesk(t), 120, 30).line("store crewship lessons").keys("A").wants(t, "only its own writer adds to the tier lessons")
}

// goneAfter is a desk whose store graph, or crewship, answers so many lists.
func goneAfter(store string, lists int64) func(*tui.Options, map[string]*fake) {
	return func(_ *tui.Options, fakes map[string]*fake) {
		f := fakes[store]
		f.gone = func() bool { return f.lists.Load() > lists }
	}
}

// many is a desk whose store hostile has so many notes, which can be forgotten without its name.
func many(n int) func(*tui.Options, map[string]*fake) {
	return func(o *tui.Options, fakes map[string]*fake) {
		staging(o, fakes)
		fakes["hostile"].n = n
		fakes["hostile"].item = func(i int) model.Item {
			return doc("", "notes", fmt.Sprintf("n-%02d", i), fmt.Sprintf("Note %02d", i), "a deploy\n")
		}
	}
}

// staging marks no store as production.
func staging(o *tui.Options, _ map[string]*fake) {
	members := o.Fleet.Members()
	for i := range members {
		members[i].Store.Environment = ""
	}
	o.Fleet = backends.NewFleet(members, nil)
}

// Each verb, refusal and no as a whole conversation.
func TestLinearWriting(t *testing.T) {
	const wednesday = "crews/eng/agents/bo/daily/2026-05-20.md"
	type lines []string
	daily := func(more ...string) lines { return append(lines{"store crewship daily"}, more...) }
	for _, tt := range []struct {
		name  string
		desk  []func(*tui.Options, map[string]*fake)
		lines lines
		says  []string
		never string
	}{
		{name: "edit", lines: daily("edit 1", ".read", ".old 1-2", "- a new line", ".", "save", "typo", "open 1"),
			says: []string{"Type or paste the text of " + wednesday, "Line 3: - deploy of billing", "Save " + wednesday + "?", "environment: PRODUCTION", "removed: - deploy of billing", "added: - a new line",
				"save; edit again; throw away", "Reason", "Done: saved " + wednesday, "undo undo-1 undoes it", "- a new line"}},
		{name: "edit, no", lines: daily("edit 1", "mine", ".", "no"), says: []string{"Save " + wednesday, "not saved; your text is kept for 30 days"}},
		{name: "edit, cancelled", lines: daily("edit 1", "mine", ".cancel", "open 1"), says: []string{"cancelled: nothing was changed", "14:02"}, never: "Save "},
		{name: "edit, as it was", lines: daily("edit 1", ".old", "."), says: []string{"the text is as it was: nothing was changed"}},
		{name: "edit, thrown away", lines: daily("edit 1", "mine", ".", "throw away", "open 1"), says: []string{"your text was thrown away", "14:02"}},
		{name: "edit again", lines: daily("edit 1", "mine", ".", "edit again", ".old 1", "yours", ".", "save", "", "open 1"), says: []string{"The text as it stands has 1 line", "added: mine", "added: yours", "Done: saved"}},
		{name: "edit again and no more", lines: daily("edit 1", "mine", ".", "edit again", ".cancel", "no"), says: []string{"Save " + wednesday, "Save " + wednesday, "your text is kept"}},
		{name: "dots", lines: daily("edit 1", "..profile", ".nonsense", ".old 7-9", ".", "save", "", "open 1"), says: []string{`".nonsense" is no command here`, "There are no such lines", "added: .profile", "Done: saved", ".profile"}},
		{name: "input ends in a text", lines: daily("edit 1", "half"), says: []string{"the input ended; your text is kept for 30 days", "left memdesk"}},
		{name: "edit, changed meanwhile", desk: []func(*tui.Options, map[string]*fake){meddled}, lines: daily("edit 1", "mine", ".", "save", "", "edit again", ".old", "resolved", ".", "throw away"),
			says: []string{"has changed", "Neither side is lost", "Next, what they have changed:", "added: written by somebody else", "Next, yours against theirs:", "added: mine", "edit again; overwrite",
				"The text as it stands has", "Save", "removed: written by somebody else", "your text was thrown away"}},
		{name: "edit, overwritten by name", desk: []func(*tui.Options, map[string]*fake){meddled}, lines: daily("edit 1", "mine", ".", "save", "", "overwrite", "wrong name"), says: []string{"edit again; overwrite", "Type 2026-05-20.md to do it", "your text is kept"}},
		{name: "scanner", lines: daily("edit 1", refused, ".", "save", "", "no"), says: []string{"The store did not take it: the scanner rejects it", "Your text is safe", "edit again; throw away; try again", "your text is kept"}},
		{name: "empty text", lines: daily("edit 1", ".", "no"), says: []string{"The text is empty", "your text is kept"}},
		{name: "hidden characters", lines: lines{"store hostile", "edit 1", "open", "."}, says: []string{"Open esc-^[[31mred", "It holds 2 control", "Type open to do it", "Type or paste"}},
		{name: "hidden characters, no", lines: lines{"store hostile", "edit 1", "no"}, says: []string{"It holds", "cancelled: nothing was changed"}, never: "Type or paste"},
		{name: "binary", lines: lines{"edit hostile:binary.bin"}, says: []string{"it is not text"}},
		{name: "append", lines: daily("append 1", "- more", ".", "append", "", "open 1"), says: []string{"This adds 7 bytes at the end of 1 item", "Done: appended to", "14:02", "- more"}},
		{name: "append, no", lines: daily("append 1", "- more", ".", ""), says: []string{"Append to", "your text is kept"}},
		{name: "create", lines: daily("create", "", "2026-05-22.md", "open the editor", "a new day", ".", "create", "", "open crewship:daily/2026-05-22.md"),
			says: []string{"Create an item in the store crewship?", "daily: a key is needed", "tier (enter keeps daily)", "Type open the editor to do it", "This writes 1 new item (10 bytes)", "Done: created daily/2026-05-22.md", "a new day"}},
		{name: "create elsewhere", lines: lines{"create crewship nope", "", "x", "open the editor", ".", "create crewship lessons", "", "", "open the editor", "."}, says: []string{`The store has no tier "nope"`, "Nothing was changed.", "Only its own writer fills the tier lessons", "Nothing was changed."}},
		{name: "create, no key", lines: daily("create", "", "", "open the editor", "", "x.md", "no"), says: []string{"The tier daily needs a key", "Nothing was changed."}},
		{name: "cannot write", lines: lines{"edit graph:node-1", "append graph:node-1", "create graph", "forget graph:node-1", "edit vault:x", "edit nothing"},
			says: []string{"Not here: the store is read-only", "Not here: the store is read-only", "Not here: the store is read-only", "Not here: the store is read-only", "Not here: the store is not open", "Say which"}},
		{name: "sealed", desk: []func(*tui.Options, map[string]*fake){sealed}, lines: daily("edit 1", "append 1", "edit crewship:"+wednesday, "append crewship:crews/eng/agents/bo/lessons.md"),
			says: []string{"not opened: no item of tier daily", "not opened: no item of tier daily", "not opened: no item of tier daily", "not opened: only its own writer adds to the tier lessons"}, never: "Type or paste"},
		{name: "reader", desk: []func(*tui.Options, map[string]*fake){readOnly}, lines: daily("edit 1", "create", "forget 1", "undo last", "readonly off", "quarantine", "release 1", "delete 1"),
			says: []string{"the role is reader", "Not here: this console is read-only", "Not here: this console is read-only", "Not here: this console is read-only", "Not here: this console is read-only", "this cannot be lifted here", "Not here: this console is read-only", "Not here: this console is read-only"}},
		{name: "forget, changed meanwhile", desk: []func(*tui.Options, map[string]*fake){meddled}, lines: daily("forget 1", "2026-05-20.md", ""), says: []string{"NOT done: it has changed meanwhile: nothing was forgotten", "Conflict.", "This is its state now", "written by somebody else"}},
		{name: "forget marked", desk: []func(*tui.Options, map[string]*fake){staging}, lines: daily("mark 1-2", "forget", "no", "forget", "forget", "both are old", "refresh", "undo last", "undo", "", "refresh"),
			says: []string{"2 rows marked.", "Forget 2 items?", "This removes 2 items (", "Nothing was changed.", "Forget 2 items?", "Reason", "2 items forgotten", "The numbers stay as they are; refresh reads the items of crewship", "0 items.", "Undo the last act on 2 items?", "2 items put back", "2 items."}},
		{name: "forget several", desk: []func(*tui.Options, map[string]*fake){staging}, lines: lines{"store crewship", "mark 3", "forget 1 2", "no", "forget 9 1"},
			says: []string{"1 row marked.", "Forget 2 items?", "Nothing was changed.", "There is no item 9"}, never: "Forget 3 items?"},
		{name: "two stores", lines: daily("store hostile", "store crewship daily", "1", "forget 1", "no", "create", "."), says: []string{"1. Wednesday", "1. ", "1. Wednesday", "Forget " + wednesday, "Create an item in the store crewship?"}},
		{name: "what is due", desk: []func(*tui.Options, map[string]*fake){func(o *tui.Options, _ map[string]*fake) { o.Due = []string{"1 request is due"} }}, lines: lines{"tiers"}, says: []string{"Notices.", "1 request is due", "memdesk> 13 rows."}},
		{name: "start", desk: []func(*tui.Options, map[string]*fake){func(o *tui.Options, _ map[string]*fake) { o.Notices = []string{"the disk is full"} }}, lines: lines{"notices", "tiers"}, says: []string{"Notices.", "the disk is full", "memdesk> ", "the disk is full", "memdesk> 13 rows."}, never: "esc closes"},
		{name: "the console's own commands", lines: lines{"kept", "rescan", "messages", "quit now", "quit", "tiers"}, says: []string{"Kept texts.", "0 texts.", "No text was put aside", "stories need a state directory", "Messages.", "nothing is noted", "quit takes nothing after it", "memdesk> left memdesk"}},
		{name: "forget marked in production", lines: daily("mark all", "forget", "forget", "forget", "crewship", ""), says: []string{"2 rows marked", "Type crewship to do it", "Nothing was changed.", "Type crewship to do it", "2 items forgotten"}},
		{name: "marks", lines: daily("mark 9", "mark x", "mark 1 2", "unmark", "forget", "audit", "mark 1"), says: []string{"There is no item 9", "Give numbers", "2 rows marked", "0 rows marked", "Say which", "Rows of this list cannot be marked"}},
		{name: "marks, and an act on one row", lines: lines{"quarantine", "mark 1", "release", "rule"}, says: []string{"1 row marked.", "Say which", "Say which"}},
		{name: "left undone", desk: []func(*tui.Options, map[string]*fake){meddled, staging}, lines: daily("mark 1-2", "forget", "forget", "", "1", "back", "1"),
			says: []string{"2 items left", "1. left: " + wednesday + " in crewship. it has changed since it was marked", "1. Wednesday", "written by somebody else"}},
		{name: "undo list", lines: daily("forget 1", "2026-05-20.md", "", "undo", "1", "restore 1", "no", "undo undo-1", "undo", "", "refresh", "undo undo-7", "back", "refresh"),
			says: []string{"Done: forgot", "Undo.", "1 change.", "1 damaged entry", "1. forget of " + wednesday + " in crewship, 2026-05-21 09:30:00Z, 79 B", "kept until", "Undo the forget of", "Nothing was changed.", "Undo the forget of", "put back:", "0 changes.", "the entry undo-7 was used already or has expired", "2 items.", "2 items."}},
		{name: "undo of many in the list of what can be undone", desk: []func(*tui.Options, map[string]*fake){staging}, lines: daily("mark 1-2", "forget", "forget", "", "undo", "undo last", "undo", "", "1"),
			says: []string{"2 items forgotten", "Undo.", "2 items put back", "change: forget", "With its number you can say: restore"}},
		{name: "an unknown writer", desk: []func(*tui.Options, map[string]*fake){func(o *tui.Options, _ map[string]*fake) { o.Origins = originsFake{} }}, lines: lines{"quarantine", "2", "takeback 2"},
			says: []string{"With its number you can say: ", "Not here: nobody knows who wrote this"}, never: "say: takeback"},
		{name: "nothing to undo", lines: lines{"undo last", "z"}, says: []string{"nothing was done here yet", "nothing was done here yet"}},
		{name: "history", lines: daily("history 1", "1", "compare 1", "compare 2", "compare 1 2", "compare x", "compare 1 2 3"), says: []string{"History.", "2 versions.", "1. when 2026-05-21 08:30:00Z", "as it was before", "Compare.", "removed: as it was before", "added: - deploy of billing", "the bytes of a version", "the bytes of a version", `Give the number of a row, not "x"`, "There is no version 3"}},
		{name: "a row that has left", lines: daily("forget 1", "2026-05-20.md", "", "forget 1", "open 1", "forget 2", "no"),
			says: []string{"Done: forgot " + wednesday, "Row 1 has left the list", "Row 1 has left the list", "Forget crews/eng/agents/bo/daily/2026-05-21.md?", "Nothing was changed."}},
		{name: "a hit that has left", desk: []func(*tui.Options, map[string]*fake){many(3)}, lines: lines{"recall deploy store:hostile", "forget 1", "forget", "old", "forget 1", "forget 2", "no", "undo last", "undo", "", "forget 1", "no"},
			says: []string{"3 hits.", "1. hostile, n-00", "2. hostile, n-01", "Done: forgot n-00", "The numbers stay as they are", "Row 1 has left the list", "Forget n-01?", "Nothing was changed.", "put back", "The numbers stay", "Forget n-00?"}},
		{name: "a page that has left", desk: []func(*tui.Options, map[string]*fake){many(50)}, lines: lines{"store hostile", "next", "forget 20", "forget", "", "next", "refresh", "mark 1-20", "forget", "forget", "", "next"},
			says: []string{"20. Note 39", "forgot n-39", "1. Note 40", "1. Note 00", "20 items forgotten", "1. Note 20, id n-20, tier notes, 9 B\n2. Note 21", "20. Note 40"}, never: "refresh reads it as"},
		{name: "a row among others that has left", lines: daily("forget 2", "2026-05-21.md", "", "mark 1 2", "forget", "mark 1", "forget 1 2", "forget", "no", "tiers", "store crewship daily"),
			says: []string{"forgot", "Row 2 has left the list", "Say which", "1 row marked.", "Row 2 has left the list", "Type 2026-05-20.md", "1 row marked; unmark ends that."}},
		{name: "a list that fails", desk: []func(*tui.Options, map[string]*fake){goneAfter("crewship", 1)}, lines: daily("refresh", "1", "next"),
			says: []string{"1. Wednesday", "Failed: the directory is gone", "the directory is gone", "Failed: the directory is gone"}, never: "There is no item"},
		{name: "a list that fails, with rows behind", desk: []func(*tui.Options, map[string]*fake){goneAfter("graph", 1)}, lines: lines{"store graph", "refresh", "next", "next"},
			says: []string{"Failed: the directory is gone", "Failed: the directory is gone", "1. Fact 20 ", "memdesk> 1. Fact 40 "}},
		{name: "a filter that is a number", lines: lines{"store crewship", "filter 16", "filter 16"}, says: []string{"1 item.", "memdesk> 1 item."}},
		{name: "recall without words", lines: lines{"recall", "recall deploy", "tiers", "recall"}, says: []string{"0 hits.", "Say what to look for: recall WORDS.", "40 hits.", "13 rows.", "40 hits."}},
		{name: "words of other rows", lines: lines{"audit", "unfold 1", "mark all"}, says: []string{"unfold is for", "memdesk> mark all is for other rows or lists: "}, never: "unfold all is"},
		{name: "no history", lines: lines{"history hostile:caret", "compare 1"}, says: []string{"this store keeps no earlier versions", "compare is for other rows or lists"}},
		{name: "order and hidden", lines: daily("order", "order id", "store crewship", "hidden", "hidden"), says: []string{"the orders of this store: newest, id", "order: id", "2 items.", "6 items.", "are shown", "7 items.", "are left out", "6 items."}},
		{name: "not", lines: lines{"store crewship", "filter !pins", "refresh"}, says: []string{"6 items.", "5 items.", "5 items."}},
		{name: "scope", lines: lines{"store crewship pins crews/eng/shared", "store crewship pins nowhere"}, says: []string{"1 item.", "0 items."}},
		{name: "views", lines: daily("filter thu", "order id", "save mine", "tiers", "view mine", "view nope", "recall deploy", "save found", "audit", "view found"),
			says: []string{"1 item.", "order: id", "Kept as mine for this session", "filter = \"thu\"", "13 rows.", "memdesk> 1 item.", "1. Thursday", `there is no view "nope"`, "Kept as found", "Nobody has counted these records", "Store graph: 20 of"}},
		{name: "view of a store that is not open", desk: []func(*tui.Options, map[string]*fake){func(o *tui.Options, _ map[string]*fake) {
			o.Views = map[string]backends.ViewConfig{"gone": {Pane: "tiers", Store: "elsewhere"}}
		}}, lines: lines{"view gone"}, says: []string{`no store is named "elsewhere"`}, never: "Failed: "},
		{name: "readonly", lines: daily("readonly on", "edit 1", "readonly", "no", "readonly off", "make writable", "forget 1", "no", "readonly maybe"),
			says: []string{"this session is read-only now", "Not here: this console is read-only: you made", "Make this session writable again?", "PRODUCTION", "Nothing was changed.", "this session is writable", "Forget " + wednesday, "takes on, off"}},
		{name: "lock", lines: lines{"lock", "tiers", "unlock", "tiers"}, says: []string{"memdesk is locked", "locked> ", "locked> ", "Unlocked.", "Store crewship"}},
		{name: "letters", lines: daily("e 1", ".cancel", "d 1", "no", "y 1", "quarantine", "e 9", "R 1", "d", "", "?"), says: []string{"Type or paste", "Forget " + wednesday, `No command "y"`, "There is no entry 9", "1 row marked", "Delete the quarantine entry", "Nothing was changed.", "store [NAME"}},
		{name: "help", lines: lines{"help forget", "help zzz", "help o"}, says: []string{"forget [NUMBER or REF]: forget this item", "For example forget 3", "For example forget (all that are marked).", `No command "zzz"`, "open NUMBER"}},
		{name: "health of one", lines: lines{"health", "2", "1", "9", "filter crew"}, says: []string{"4 stores.", "1. vault: NOT WELL", "2. crewship: well", "health: OK, it answers", "checks: 1 check: ", "last success", "cannot:", "deviations", "R33: the cascade", "what to do:", "It could not be opened", "There is no store 9", "1 store.", "1. crewship: well"}},
		{name: "back", lines: lines{"back", "recall deploy", "store crewship daily", "back", "back", "undo", "back"}, says: []string{"Not here: nothing to go back to (quit leaves)", "1. Wednesday", "40 hits.", "Not here: nothing to go back to", "Undo.", "40 hits."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := converse(t, talkDesk(t, tt.desk...), tt.lines...)
			ordered(t, got, tt.says...)
			if tt.never != "" && strings.Contains(got, tt.never) {
				t.Errorf("said %q:\n%s", tt.never, got)
			}
		})
	}
}

// TestLinearInputEndsInAText: the operator's earlier text stays, before the lines typed since.
func TestLinearInputEndsInAText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		says, keeps string
		lines       []string
	}{
		{"nothing was changed", "", []string{"edit 1"}},
		{"your text is kept", "half\n", []string{"edit 1", "half"}},
		{"your text is kept", "mine\n", []string{"edit 1", "mine", ".", "edit again"}},
		{"your text is kept", "mine\nmore\n", []string{"edit 1", "mine", ".", "edit again", "more"}},
		{"your text is kept", "mine\n", []string{"edit 1", "mine", ".", "no", "kept", "edit 1"}},
	} {
		o := talkDesk(t)
		ordered(t, converse(t, o, append([]string{"store crewship daily"}, tt.lines...)...), "the input ended", tt.says)
		kept, err := o.Drafts.Kept()
		if err != nil {
			t.Fatal(err)
		}
		var texts string
		for _, k := range kept {
			text, err := o.Drafts.ReadKept(k.Name)
			if err != nil {
				t.Fatal(err)
			}
			texts += text
		}
		if texts != tt.keeps {
			t.Errorf("%v: kept is %q, want %q", tt.lines, texts, tt.keeps)
		}
	}
}

// contested is a desk where somebody else has changed the item of an undo entry.
type contested struct {
	*actsFake
	id string
}

func (c contested) Restore(ctx context.Context, id, why string) (operator.Done, error) {
	if id == c.id {
		return operator.Done{}, model.Errorf(model.Conflict, "undo", "the item has changed since")
	}
	return c.actsFake.Restore(ctx, id, why)
}

// TestUndoGoesOnAfterAConflict: an act that nobody can take back any more must not keep z from the acts before it.
func TestUndoGoesOnAfterAConflict(t *testing.T) {
	o := talkDesk(t)
	o.Acts = contested{o.Acts.(*actsFake), "undo-2"}
	got := converse(t, o, "store crewship daily", "forget 1", "2026-05-20.md", "", "refresh", "forget 1", "2026-05-21.md", "", "undo last", "undo", "", "undo last", "undo", "")
	ordered(t, got, "Undo the forget of crews/eng/agents/bo/daily/2026-05-21.md?", "not undone: ", "z leaves it out now", "Undo the forget of crews/eng/agents/bo/daily/2026-05-20.md?", "put back")
}

func TestLinearReview(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		says  []string
	}{
		{"read", []string{"quarantine", "1"}, []string{"3 entries.", "1. crews/eng/shared/CREW.md in crewship, rule ignore_previous", "2. Store hostile: PROBLEM", "matched: Ignore previous", "source now: still poisoned"}},
		{"release refused", []string{"quarantine", "release 1", ".old", ".", "release 1", "Ignore previous words too", ".", "release", "CREW.md", "cleaned", "no"},
			[]string{"nothing was changed: the source is still poisoned", "Release crews/eng/shared/CREW.md?", "Type CREW.md", "required", "The store did not take it: the text is still blocked", "your text is kept"}},
		{"release wants a reason", []string{"quarantine", "release 1", "# Engineering", ".", "release", "CREW.md", ""}, []string{"Reason, for the audit log, required", "A reason is required.", "not saved; your text is kept"}},
		{"release", []string{"quarantine", "release 1", "# Engineering", ".", "release", "CREW.md", "cleaned by hand", "refresh"}, []string{"Done: released crews/eng/shared/CREW.md", "undo undo-1", "2 entries."}},
		{"delete", []string{"quarantine", "delete 1", "no", "delete 1", "CREW.md", "", "refresh", "delete 1", "release 1"}, []string{"Delete the quarantine entry of crews/eng/shared/CREW.md?", "Nothing was changed.", "Done: forgot q/1", "2 entries.", "Not here: the store's quarantine holds no such entry", "Not here:"}},
		{"bulk by rule", []string{"quarantine", "rule 1", "mark 3", "delete", "crewship", "old"}, []string{"1 row marked", "2 rows marked", "Delete 2 entries?", "Type crewship", "2 entries deleted"}},
		{"other lists", []string{"release 1", "store crewship", "delete 1", "keep base 1", "hold 1", "keep", "merge 1"}, []string{"release is for other rows or lists: 4 Quarantine", "delete is", "keep base is", "hold is for other rows or lists: 6 Erasure: a plan", "keep both is", "merge is"}},
		{"audit", []string{"audit", "next", "1", "audit actor:ann action:forget outcome:ok since:2026-05-21T09:20 until:2026-05-21", "filter phase:intent", "audit colour:red", "audit since:x", "audit actor:nobody"},
			[]string{"Nobody has counted these records.", "chain verified to record 244", "1. Record 244", "next goes on.", "1. Record 205", "record 205", "actor: ann", "10. Record 225", "End of the list", "intent", `there is no field "colour"`, `"x" is no time`, "End of the list."}},
		{"intents", []string{"audit outcome:open", "1"}, []string{"1. Record 242, 2026-05-21 09:29: forget intent by ann, an OPEN intent", "Warning: An open intent"}},
		{"not attached", []string{"conflicts", "erasure", "keep base 1"}, []string{"no source of conflicts is attached", "no erasure desk is attached", "keep base is for other rows or lists"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ordered(t, converse(t, talkDesk(t), tt.lines...), tt.says...)
		})
	}
}

// conflicted has a copy of each sort.
func conflicted(moved bool) func(*tui.Options, map[string]*fake) {
	return func(o *tui.Options, fakes map[string]*fake) {
		staging(o, fakes)
		o.Conflicts, o.Settle = newConflictsFake(o.Acts.(*actsFake), moved), time.Nanosecond
	}
}

func TestLinearConflicts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		moved bool
		lines []string
		says  []string
	}{
		{"explain", false, []string{"conflicts", "3", "4"}, []string{"5 conflicts.", "tool syncthing", "certain: name pattern 8", "ancestor: not known", "same: ", "removed: Ship on Friday.", "added: Ship on Monday.", "same: ", "1 unresolved merge marker"}},
		{"keep base", false, []string{"conflicts", "keep base 3", "no", "keep base 3", "keep base", "older", "conflicts", "undo last", "no"}, []string{"Keep plan.md and remove its copy?", "This removes the copy", "Nothing was changed.", "Done: kept the base of plan.md", "undo undo-1", "has come back", "5 conflicts.", "returned", "Undo the resolve of notes/plan.md?", "Nothing was changed."}},
		{"keep copy", false, []string{"conflicts", "keep copy 3", "keep copy", "", "keep base 2"}, []string{"Keep the copy of plan.md?", "Done: kept the copy of plan.md", "Not here: it has no base"}},
		{"keep both", false, []string{"conflicts", "keep both 3", "keep both", ""}, []string{"Keep both, and rename", "Done: kept both sides of plan.md"}},
		{"in the file", false, []string{"conflicts", "keep base 4", "edit 4", "solved", ".", "resolve", ""}, []string{"Not here: the markers stand inside this item", "Type or paste the text of notes/half.md", "Resolve half.md with this text?", "Done: resolved"}},
		{"in the file, one by one", false, []string{"conflicts", "merge 4", "second", "write", ""}, []string{"Difference 1 of 1 in half.md", "Write the result to half.md?", "Done: merged"}},
		{"merge", false, []string{"conflicts", "merge 3", "base", "copy", "both", "write", ""}, []string{"Difference 1 of 3", "base; copy; both; edit", "Difference 2 of 3", "Difference 3 of 3", "Write the result to plan.md?", "write; edit", "Done: merged"}},
		{"merge in the editor", false, []string{"conflicts", "merge 3", "edit", ".old", ".", "resolve", ""}, []string{"Difference 1 of 3", "The text as it stands", "The marks of the merge", "Done: resolved"}},
		{"merge, no", false, []string{"conflicts", "merge 3", "base", "", "merge 1", ""}, []string{"Difference 2 of 3", "Nothing was changed.", "Difference 1 of 1", "Nothing was changed."}},
		{"moved", true, []string{"conflicts", "keep base 3", "keep base", ""}, []string{"NOT done: not resolved: the copy is not as it was shown", "A side has changed", "added: written by somebody else"}},
		{"redundant", false, []string{"conflicts", "redundant", "no", "redundant", "remove", "refresh"}, []string{"Remove 1 redundant copy?", "1 more of Resilio Sync stay", "Nothing was changed.", "1 conflict resolved", "4 conflicts."}},
		{"filter", false, []string{"conflicts garden", "filter", "keep both 9", "keep base"}, []string{"1 conflict.", "5 conflicts.", "There is no conflict 9", "Say which"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ordered(t, converse(t, talkDesk(t, conflicted(tt.moved)), tt.lines...), tt.says...)
		})
	}
}

func TestLinearExports(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	got := converse(t, talkDesk(t), "store crewship daily", "export 1", at("one.md"), "write", "export", at("rows.csv"), "write", "export", at("rows.csv"), "write", ".",
		"export", at("rows.txt"), "write", ".", "audit", "export", at("log.jsonl"), "write", "open crewship:x", "edit 1", "recall deploy", "export 1", ".", "export")
	ordered(t, got, "Export crews/eng/agents/bo/daily/2026-05-20.md?", "to (enter keeps 2026-05-20.md)", "wrote 1 item", "Export the table?", "wrote 2 rows", "is there already", "Nothing was changed.",
		"must end in .csv or .jsonl", "wrote 123 rows", "The numbers here are of", "Nothing was changed.", "Export the table?")
	for name, want := range map[string]string{"one.md": "14:02", "rows.csv": "Wednesday", "log.jsonl": `"seq":1`} {
		if b, err := os.ReadFile(at(name)); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v\n%s", name, err, b)
		}
	}
}

// scribe is an editor that writes a given text.
type scribe struct{ path, text string }

func (s scribe) Run() error        { return os.WriteFile(s.path, []byte(s.text), 0o600) }
func (scribe) SetStdin(io.Reader)  {}
func (scribe) SetStdout(io.Writer) {}
func (scribe) SetStderr(io.Writer) {}

func TestLinearEditor(t *testing.T) {
	got := converse(t, talkDesk(t, func(o *tui.Options, _ map[string]*fake) {
		o.Edit = func(path string) tea.ExecCommand { return scribe{path, "from the editor\n"} }
	}), "store crewship daily", "edit 1", "save", "", "open 1")
	ordered(t, got, "added: from the editor", "Done: saved", "from the editor")
}

// slowJobs runs work whose first step waits for its release.
type slowJobs struct {
	jobsFake
	begun, goOn chan struct{}
}

func (j slowJobs) Run(ctx context.Context, kind, title string, work func(context.Context, operator.Running) error) error {
	close(j.begun)
	select {
	case <-j.goOn:
	case <-ctx.Done():
	}
	return work(ctx, stepsFake{})
}

// A word must stop long work, and input typed meanwhile must not be lost.
func TestLinearStopsLongWork(t *testing.T) {
	jobs := slowJobs{begun: make(chan struct{}), goOn: make(chan struct{})}
	o := talkDesk(t, staging, func(o *tui.Options, _ map[string]*fake) { o.Jobs = jobs })
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out := newSink()
	o.Input, o.Output = r, out
	ended := make(chan error, 1)
	go func() { ended <- linear.Run(t.Context(), o) }()
	say := func(lines ...string) { _, _ = io.WriteString(w, strings.Join(lines, "\n")+"\n") }
	say("store crewship daily", "mark all", "forget", "forget", "")
	<-jobs.begun
	out.until("Type stop to end it")
	say("store crewship pins", "stop")
	out.until("Stopping.")
	out.until("stopped at 0 of 2 items")
	out.until("1. pins")
	_ = w.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	out.mu.Lock()
	defer out.mu.Unlock()
	if !bytes.Contains(out.buf.Bytes(), []byte("the rest was left as it is")) {
		t.Errorf("said\n%s", out.buf.String())
	}
}

// stepping is a clock that a test moves.
type stepping struct{ at time.Time }

func (c *stepping) Now() time.Time {
	c.at = c.at.Add(time.Minute)
	return c.at
}

func TestLinearIdleLock(t *testing.T) {
	got := converse(t, talkDesk(t, func(o *tui.Options, _ map[string]*fake) {
		o.Clock, o.IdleLock = &stepping{now}, time.Second
	}), "forget crewship:x", "unlock")
	ordered(t, got, "that line was not obeyed", "memdesk is locked", "Unlocked.")
	if strings.Contains(got, "Forget") || strings.Contains(got, "Failed") {
		t.Errorf("it was obeyed:\n%s", got)
	}
}

// held is a clock that stands until a test moves it.
type held struct{ at time.Time }

func (c *held) Now() time.Time { return c.at }

// leaving are acts during whose preview the operator goes away for an hour.
type leaving struct {
	*actsFake
	clock *held
}

func (a leaving) Preview(ctx context.Context, store, id string) ([]string, error) {
	a.clock.at = a.clock.at.Add(time.Hour)
	return a.actsFake.Preview(ctx, store, id)
}

// An answer to a question must not be obeyed after the time of the idle lock, and the one after it is a command again.
func TestLinearIdleLockInAQuestion(t *testing.T) {
	got := converse(t, talkDesk(t, func(o *tui.Options, _ map[string]*fake) {
		clock := &held{now}
		o.Clock, o.IdleLock, o.Acts = clock, time.Minute, leaving{o.Acts.(*actsFake), clock}
	}), "forget crewship:crews/eng/agents/bo/daily/2026-05-20.md", "2026-05-20.md", "2026-05-20.md", "unlock", "tiers")
	ordered(t, got, "Forget ", "that line was not obeyed", "memdesk is locked", "locked> locked> Unlocked.", "Nothing was changed.", "Store crewship")
	if strings.Contains(got, "Done:") || strings.Contains(got, "Reason") {
		t.Errorf("the answer was obeyed:\n%s", got)
	}
}

// A panic in a backend must end the command but not the conversation, and print none of its data.
func TestLinearSurvivesABrokenStore(t *testing.T) {
	got := converse(t, talkDesk(t, func(_ *tui.Options, fakes map[string]*fake) { fakes["crewship"].crash = true }),
		"open crewship:x", "edit crewship:x", "tiers")
	ordered(t, got, "Failed: an internal error in", "Failed: an internal error in", "Store crewship")
	if strings.Contains(got, "s3cret") {
		t.Errorf("said what the store held:\n%s", got)
	}
}

// A list without rows that cannot be read after an act is tried once.
func TestLinearEmptyListThatFails(t *testing.T) {
	const pins = "crews/eng/shared/pins.md"
	o := talkDesk(t, staging, func(_ *tui.Options, fakes map[string]*fake) {
		f := fakes["crewship"]
		f.gone = func() bool { return f.forgotten(pins) }
	})
	got := converse(t, o, "store crewship", "filter zzz", "forget crewship:"+pins, "forget", "", "quit")
	ordered(t, got, "0 items.", "Done: forgot", "Failed: ", "memdesk> left memdesk")
	if n := strings.Count(got, "Failed: "); n != 1 {
		t.Errorf("%d failures:\n%s", n, got)
	}
}
