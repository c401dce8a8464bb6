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
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/edit"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/loop"
)

// noActs fails the test on any change.
type noActs struct{ desk.Acts }

// midEdit is a console whose editor has just returned a changed text; the function takes that text.
func midEdit(t *testing.T, time0 clock.Clock, w, h int) (*App, *edit.Edit, func()) {
	t.Helper()
	s := model.Store{Name: "notes", Kind: "vault"}
	dir := t.TempDir()
	a := New(Options{
		Fleet: backends.NewFleet([]backends.Member{{Name: "notes", Kind: "vault", Store: s}}, nil), Clock: time0, IdleLock: time.Minute,
		Sources: desk.Sources{Acts: noActs{}, Drafts: drafts.New(dir, time0, func() error { return nil })},
	})
	a.Update(tea.WindowSizeMsg{Width: w, Height: h})
	e := &edit.Edit{What: edit.EditItem, Store: s, Label: "a.md", Original: "was\n", Base: "was\n", Req: model.RetainRequest{ID: "a.md", Mode: model.Replace, IfMatch: "1"}}
	var err error
	if e.Draft, err = a.D.Drafts.Open("a.md", e.Original); err != nil {
		t.Fatal(err)
	}
	if err := e.Draft.Write("is\n"); err != nil {
		t.Fatal(err)
	}
	a.D.Edits.Editing = e
	return a, e, func() { a.D.Edits.Wrote(e, "is\n", nil, nil) }
}

func screenOf(a *App) string { return ansi.Strip(a.View().Content) }

// kept is the text that the dialog's Cancel put aside.
func kept(t *testing.T, a *App) string {
	t.Helper()
	a.D.Modal.Dialog.Armed = true
	msg, ok := a.D.Modal.Enter()().(loop.Reply)
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

// The session becomes read-only while the editor is open: nothing may be written, the text must stay,
// and the operator must be told where.
func TestReadOnlyWhileTheEditorIsOpen(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		a, _, written := midEdit(t, clock.NewFake(time.Unix(0, 0)), size[0], size[1])
		a.D.ReadOnly = ownReadOnly
		written()
		if s := screenOf(a); !strings.Contains(s, "a.md is not saved") || !strings.Contains(s, "Nothing can be written now: this console is read-only") {
			t.Fatalf("the screen:\n%s", s)
		}
		for _, c := range a.D.Modal.Dialog.Choices {
			if c.Act != nil {
				t.Errorf("%q would change something", c.Verb)
			}
		}
		if text := kept(t, a); text != "is\n" {
			t.Errorf("kept %q", text)
		}
	}
}

// Keys pressed between a question and its answer must not act in a session that has become read-only.
func TestReadOnlyBeforeTheQuestion(t *testing.T) {
	a, e, _ := midEdit(t, clock.NewFake(time.Unix(0, 0)), 80, 24)
	a.D.Edits.Editing, a.D.ReadOnly = nil, ownReadOnly
	cmd := a.D.Modal.Proposed(dialog.Proposal{From: a.Active, Open: func() tea.Cmd { return a.D.Edits.StartEditor(e) }, Drop: func() { _ = e.Draft.Discard() }, Writable: true})
	if a.D.Edits.Editing != nil || cmd == nil {
		t.Fatal("the editor was started")
	}
	cmd()
	if _, err := e.Draft.Read(); err == nil {
		t.Error("the draft is still there")
	}
	a.D.Modal.Proposed(dialog.Proposal{From: a.Active, Dialog: &dialog.Dialog{}, Writable: true})
	if a.D.Modal.Dialog != nil || !strings.Contains(a.said.text.String(), "nothing was asked and nothing done: this console is read-only") {
		t.Errorf("a question is asked; %s", a.said.text)
	}
	a.D.Modal.Proposed(dialog.Proposal{From: a.Active, Dialog: &dialog.Dialog{}}) // the question that lifts it still opens
	if a.D.Modal.Dialog == nil {
		t.Error("the question that lifts it is not asked")
	}
}

// The lock screen comes up while the editor is open: the editor's result must wait behind it.
func TestLockWhileTheEditorIsOpen(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		time0 := clock.NewFake(time.Unix(0, 0))
		a, _, written := midEdit(t, time0, size[0], size[1])
		time0.Advance(time.Hour)
		a.Curtain.lockDue()
		written()
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

// The store disappears while the editor is open.
func TestStoreGoesWhileTheEditorIsOpen(t *testing.T) {
	a, e, written := midEdit(t, clock.NewFake(time.Unix(0, 0)), 80, 24)
	e.Store.Name = "gone"
	written()
	if s := screenOf(a); !strings.Contains(s, "the store is not open: 1 Health tries it") {
		t.Fatalf("the screen:\n%s", s)
	}
	if text := kept(t, a); text != "is\n" {
		t.Errorf("kept %q", text)
	}
}
