package edit

import (
	"context"
	"errors"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
	"memdesk/quarantine/review"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
)

// shelf has one held write.
type shelf struct {
	desk.QuarantineSource
	full operator.QuarantineEntry
}

func (s shelf) Entry(context.Context, string, string) (operator.QuarantineEntry, error) {
	return s.full, nil
}

// released is what a release was asked for.
type released struct {
	desk.Acts
	body *string
	err  error
}

func (r *released) Release(_ context.Context, _, _ string, body *string, _ model.Revision, _ string) (operator.Done, error) {
	r.body = body
	return operator.Done{Item: "AGENT.md", Undo: "u"}, r.err
}

func heldEntry() operator.QuarantineEntry {
	return operator.QuarantineEntry{Entry: review.Entry{Store: "a", ID: "door/0123456789abcdef0123456789abcdef", Source: "door", Filed: true, Live: review.Waits}}
}

// TestTheReleaseOfAHeldWrite opens its own text, not that of the item: a release in the mode append would add the whole
// item once more.
func TestTheReleaseOfAHeldWrite(t *testing.T) {
	for _, c := range []struct {
		name, item string // of the request; no item: it makes one
		mode       model.Mode
		words      string // from the editor
		says       []string
	}{
		{"an addition as it was held", "AGENT.md", model.Append, "be kind\n", []string{"adds 8 bytes at the end of AGENT.md in the store a", "as it was held"}},
		{"a changed addition", "AGENT.md", model.Append, "be good\n", []string{"adds 8 bytes at the end of AGENT.md in the store a", "changed the held text"}},
		{"a replacement", "AGENT.md", model.Replace, "be kind\n", []string{"writes 8 bytes to AGENT.md in the store a, in place of anything that stands there", "sets 1 field of the item"}},
		{"a new item", "", model.Replace, "be kind\n", []string{"writes 8 bytes to notes/kind in the store a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := heldEntry()
			e.SourceID = c.item
			full := e.Entry
			full.Body = "be kind\n"
			held := &origin.Held{Item: c.item, Request: model.RetainRequest{Mode: c.mode, Tier: "notes", Key: "kind", Meta: []model.Field{{Name: "tone", Value: "calm"}}}}
			s := model.Store{Name: "a", Browser: sides{at: map[string]model.Revision{"AGENT.md": "live 1"}}}
			acts := &released{}
			d := desktest.New(backends.Member{Name: "a", Store: s})
			d.Quarantine, d.Acts = shelf{full: operator.QuarantineEntry{Entry: full, Held: held}}, acts
			ed := &Edits{D: d}
			got, err := ed.opened(t.Context(), e)
			if err != nil {
				t.Fatal(err)
			}
			if got.Original != "be kind\n" {
				t.Fatalf("the editor gets %q", got.Original)
			}
			d.Drafts, got.Draft = newDraft(t, c.words)
			d.Spoken = true
			if why := NoRelease(d, e); why != "" {
				t.Errorf("the key is off: %s", why)
			}
			said := ""
			for _, l := range ed.saveDialog(got, c.words).Lines {
				said += l.Value.String() + "\n"
			}
			for _, want := range c.says {
				if !strings.Contains(said, want) {
					t.Errorf("%q is not in:\n%s", want, said)
				}
			}
			for _, wrong := range []string{"in the source", "z cannot put back", "nothing is overwritten"} {
				if strings.Contains(said, wrong) {
					t.Errorf("%q is in:\n%s", wrong, said)
				}
			}
			if out := ed.save(t.Context(), got, c.words, "checked"); !out.Ok {
				t.Errorf("not released: %+v", out)
			}
			if changed := c.words != "be kind\n"; changed != (acts.body != nil) || changed && *acts.body != c.words {
				t.Errorf("it was released with %v", acts.body)
			}
		})
	}
}

// TestTheReleaseOfAForeignHeldWrite: a server's quarantine shows the writes that its own desk holds, and only that desk
// can make them.
func TestTheReleaseOfAForeignHeldWrite(t *testing.T) {
	d := desktest.New(backends.Member{Name: "a", Store: model.Store{Name: "a"}})
	full := heldEntry()
	full.Body, full.Fields = "be kind\n", []model.Field{{Name: "mode", Value: "append"}}
	d.Quarantine = shelf{full: full}
	if e, err := (&Edits{D: d}).opened(t.Context(), heldEntry()); !errors.Is(err, model.NotFound) {
		t.Errorf("the editor opens with %+v, %v", e, err)
	}
}

// TestAConflictOfAHeldWrite: the question after a change is about a revision, which the release of a held write does not
// take, so that its answers could not be carried out.
func TestAConflictOfAHeldWrite(t *testing.T) {
	s := model.Store{Name: "a", Browser: sides{at: map[string]model.Revision{"AGENT.md": "live 1"}}}
	d := desktest.New(backends.Member{Name: "a", Store: s})
	d.Acts = &released{err: model.Errorf(model.Conflict, "release", "it has changed")}
	_, draft := newDraft(t, "mine\n")
	e := &Edit{What: releaseItem, Store: s, Label: "AGENT.md", Kind: model.Opaque, entry: heldEntry(), Draft: draft, Req: model.RetainRequest{ID: "AGENT.md"}}
	next := (&Edits{D: d}).save(t.Context(), e, "mine\n", "checked").Next
	if next == nil || next.Title.String() != "Not saved" {
		t.Errorf("it asks %+v", next)
	}
}
