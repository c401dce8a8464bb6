package tui_test

import (
	"strings"
	"testing"
)

// An act that cannot be undone must be named as such; undoing the act before it needs a second z.
func TestUndoSaysWhyTheLastActStays(t *testing.T) {
	t.Parallel()
	r := daily(t, "desk,acts", 140, 30)
	r.asked("d", "Forget crews").press("tab", "tab").press("2026-05-20.md").press("enter").press("enter").see("z undoes")
	r.press("4").see("1 of 3").asked("d", "Delete the quarantine").press("tab", "tab").press("CREW.md").press("enter").press("enter").see("forgot q/1")
	r.press("z").see("the last act cannot be put back: only the store's own scanner files entries", "z once more")
	r.asked("z", "Undo the forget of").press("esc").see("cancelled")
}

// The source of a deleted entry may still be poisoned: its row must come back.
func TestAPoisonedSourceStaysListed(t *testing.T) {
	t.Parallel()
	r := newOffice(t, "").console(80, 24).press("4").see("[4 Quarantine]", "1 of ")
	r.asked("d", "Delete the quarantine entry").press("tab", "tab").see("[Delete]").press("enter")
	r.see("entry deleted; its source is still poisoned and stays listed").press("z").see("the last act cannot be put back")
}

// Whoever deletes an entry second, after another console or a command, must hear that it was gone.
func TestAnEntryThatIsGoneIsNotDeletedAgain(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	r := o.console(120, 24).press("4").see("[4 Quarantine]", "1 of ")
	r.asked("d", "Delete the quarantine entry").press("tab", "tab").see("[Delete]")
	refs, _ := o.run("quarantine", "list", "-o", "name")
	for _, ref := range strings.Fields(refs) { // a live item is no entry, and is refused
		o.run("quarantine", "delete", ref, "--yes")
	}
	r.press("enter").see("the entry was gone already; its source is still poisoned and stays listed")
}

func TestAMissingEditorIsNamed(t *testing.T) {
	t.Parallel()
	r, p := noted(t, "desk,acts", 80, 24, "VISUAL=", "EDITOR=/nowhere/noeditor --wait")
	r.press("e").see("the editor noeditor was not found, nothing was changed: set $EDITOR", "1 of 2")
	if d := p.drafts(); len(d) > 0 {
		t.Errorf("drafts %q", d)
	}
}

// A decision on an item makes the plan anew, and the cursor and the folds must stay as they are.
func TestPlaceInAPlanIsKept(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	o.file("--subject", "usr_maren")
	r := o.console(100, 30).see("usr_maren").press("p").see("The plan of", "▸ harbor").press("F").see("▾ harbor", "█ forget").press("j", "j", "j", "j", "j").see("6 of ")
	r.press("H").answer("Keep ", "tab", "a claim", "tab").see("[Hold]").press("enter").see("Plan of", "6 of ", "▾ graph", "held for").gone("[Hold]")
	r.press("U").answer("Lift a hold?", "tab", "tab").see("[Lift]").press("enter").see("Plan of", "6 of ").gone("held for")
	r.press("c").answer("redacted instead?", "tab").press("enter").see("Plan of", "6 of ").gone("instead?")
}

// The plan must say until when backups hold the subject, as configured, and for which stores that is unknown.
func TestAPlanNamesBackups(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "[[backup]]\nstore = \"graph\"\nwhere = \"tapes in the cellar\"\nexpires_after = \"30d\"\nrestore_guard = \"the runbook\"\n")
	o.file("--subject", "usr_maren")
	o.console(200, 50).see("usr_maren").press("p").see("The plan of", "Backups", "graph: tapes in the cellar", "2026-06-20 (they", "Backups may hold the person: no [[backup]]", "desk, work.")
}
