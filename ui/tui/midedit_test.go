package tui

import (
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/internal/drafts"
	"memdesk/model"
)

// noActs fails the test of whoever changes something.
type noActs struct{ Acts }

// midEdit is a console whose editor has just come back with another text.
func midEdit(t *testing.T, time0 clock.Clock, w, h int) (*App, *edit, wrote) {
	t.Helper()
	s := model.Store{Name: "notes", Kind: "vault"}
	dir := t.TempDir()
	a := New(Options{
		Fleet: backends.NewFleet([]backends.Member{{Name: "notes", Kind: "vault", Store: s}}, nil), Clock: time0, IdleLock: time.Minute,
		Sources: Sources{Acts: noActs{}, Drafts: drafts.New(dir, time0, func() error { return nil })},
	})
	a.Update(tea.WindowSizeMsg{Width: w, Height: h})
	e := &edit{what: editItem, store: s, label: "a.md", original: "was\n", base: "was\n", req: model.RetainRequest{ID: "a.md", Mode: model.Replace, IfMatch: "1"}}
	var err error
	if e.draft, err = a.d.Drafts.Open("a.md", e.original); err != nil {
		t.Fatal(err)
	}
	if err := e.draft.Write("is\n"); err != nil {
		t.Fatal(err)
	}
	a.d.edits.editing = e
	return a, e, wrote{e: e, text: "is\n"}
}

func screenOf(a *App) string { return ansi.Strip(a.View().Content) }

// kept is the text that was put aside by the dialog's Cancel.
func kept(t *testing.T, a *App) string {
	t.Helper()
	a.d.modal.dialog.armed = true
	msg, ok := a.d.modal.dialogEnter()().(reply)
	if !ok {
		t.Fatal("Cancel puts nothing aside")
	}
	a.Update(msg)
	_, path, ok := strings.Cut(a.said.text.String(), "kept for 30 days: ")
	if !ok {
		t.Fatalf("the operator is not told where the text is: %s", a.said.text)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The session becomes read-only while the editor is open: nothing is written, the
// text stays, and the operator is told where.
func TestReadOnlyWhileTheEditorIsOpen(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		a, _, m := midEdit(t, clock.NewFake(time.Unix(0, 0)), size[0], size[1])
		a.d.readOnly = ownReadOnly
		a.d.edits.wrote(m)
		if s := screenOf(a); !strings.Contains(s, "a.md is not saved") || !strings.Contains(s, "Nothing can be written now: this console is read-only") {
			t.Fatalf("the screen:\n%s", s)
		}
		for _, c := range a.d.modal.dialog.choices {
			if c.act != nil {
				t.Errorf("%q would change something", c.verb)
			}
		}
		if text := kept(t, a); text != "is\n" {
			t.Errorf("kept %q", text)
		}
	}
}

// Keys that were pressed between a question and its answer make no act of a
// session that is read-only by now.
func TestReadOnlyBeforeTheQuestion(t *testing.T) {
	a, e, _ := midEdit(t, clock.NewFake(time.Unix(0, 0)), 80, 24)
	a.d.edits.editing, a.d.readOnly = nil, ownReadOnly
	cmd := a.d.modal.proposed(proposal{from: a.active, open: func() tea.Cmd { return a.d.edits.startEditor(e) }, drop: func() { _ = e.draft.Discard() }, writable: true})
	if a.d.edits.editing != nil || cmd == nil {
		t.Fatal("the editor was started")
	}
	cmd()
	if _, err := e.draft.Read(); err == nil {
		t.Error("the draft is still there")
	}
	a.d.modal.proposed(proposal{from: a.active, dialog: &dialog{}, writable: true})
	if a.d.modal.dialog != nil || !strings.Contains(a.said.text.String(), "nothing was asked and nothing done: this console is read-only") {
		t.Errorf("a question is asked; %s", a.said.text)
	}
	a.d.modal.proposed(proposal{from: a.active, dialog: &dialog{}}) // what lifts it is asked all the same
	if a.d.modal.dialog == nil {
		t.Error("the question that lifts it is not asked")
	}
}

// The curtain falls while the editor is open: what comes back waits behind it.
func TestLockWhileTheEditorIsOpen(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		time0 := clock.NewFake(time.Unix(0, 0))
		a, _, m := midEdit(t, time0, size[0], size[1])
		time0.Advance(time.Hour)
		a.curtain.lockDue()
		a.d.edits.wrote(m)
		if s := screenOf(a); !strings.Contains(s, "memdesk is locked") || strings.Contains(s, "a.md") {
			t.Fatalf("the screen:\n%s", s)
		}
		a.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
		a.Update(tea.KeyPressMsg{Code: 'U', Text: "U"})
		if s := screenOf(a); !strings.Contains(s, "Save a.md?") || !strings.Contains(s, "a moment, then keys count") {
			t.Fatalf("the screen:\n%s", s)
		}
		if text := kept(t, a); text != "is\n" {
			t.Errorf("kept %q", text)
		}
	}
}

// The store goes while the editor is open.
func TestStoreGoesWhileTheEditorIsOpen(t *testing.T) {
	a, e, m := midEdit(t, clock.NewFake(time.Unix(0, 0)), 80, 24)
	e.store.Name = "gone"
	a.d.edits.wrote(m)
	if s := screenOf(a); !strings.Contains(s, "the store is not open: 1 Health tries it") {
		t.Fatalf("the screen:\n%s", s)
	}
	if text := kept(t, a); text != "is\n" {
		t.Errorf("kept %q", text)
	}
}
