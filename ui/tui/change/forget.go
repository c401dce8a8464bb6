package change

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/undo"
)

// Forget asks whether to forget an item; seen and stamp are those of the item on the screen, empty when unknown.
func Forget(d *desk.Desk, ref model.Ref, seen model.Revision, stamp string) tea.Cmd {
	return d.Modal.Prepare(func(ctx context.Context) dialog.Proposal {
		s, it, err := d.Readable(ctx, ref)
		if err != nil {
			return dialog.Proposal{No: d.Esc.Sprintf("not forgotten, it cannot be read: %s", prose.Reason(d.Esc, err))}
		}
		warnings, err := d.Acts.Preview(ctx, ref.Store, ref.ID)
		if err != nil {
			return dialog.Proposal{No: d.Esc.Sprintf("not forgotten: %s", prose.Reason(d.Esc, err))}
		}
		changed := seen != "" && it.Revision != seen || stamp != "" && it.Stamp != "" && it.Stamp != stamp
		return dialog.Proposal{Dialog: forgetDialog(d, s, it, changed, warnings)}
	})
}

func forgetDialog(d *desk.Desk, s model.Store, it model.Item, changed bool, warnings []string) *dialog.Dialog {
	esc := d.Esc
	where := safetext.Text{}
	if s.Environment == "" { // else the store is said with its environment
		where = esc.Sprintf(" from the store %s", esc.Line(s.Name))
	}
	lines := []text.Line{
		{Value: esc.Sprintf("Forget %s?", esc.LineMax(it.ID, prose.MaxTitle)), Kind: text.Title},
		{Value: esc.Sprintf("This removes 1 item of %s%s.", prose.Bytes(it.Bytes), where)},
	}
	if it.Title != "" && it.Title != it.ID {
		lines = append(lines, text.Line{Value: esc.Sprintf("Its title: %s", esc.LineMax(it.Title, prose.MaxTitle))})
	}
	lines = append(lines, d.Environments(s.Name)...)
	if changed {
		lines = append(lines, text.Line{Value: esc.Const("it has changed since it was shown: Cancel and read it first"), Kind: text.Alert})
	}
	lines = append(lines, text.Lines(esc, text.Alert, warnings)...)
	if len(warnings) == 0 {
		lines = append(lines, text.Advice(esc, "The text is kept: `z` puts it back."))
	}
	ref := model.Ref{Store: s.Name, ID: it.ID}
	return &dialog.Dialog{
		Title: esc.Const("Forget"), Lines: lines, Name: d.TypedName(s, it.ID),
		Choices: []dialog.Choice{{Verb: "Forget", Typed: true, Act: func(ctx context.Context, f dialog.Filled) dialog.Acted {
			out, _ := DoForget(d, ctx, ref, it.Revision, f.Reason)
			return out
		}}},
	}
}

// DoForget runs in a command. removed is false where the item was gone already.
func DoForget(d *desk.Desk, ctx context.Context, ref model.Ref, seen model.Revision, why string) (out dialog.Acted, removed bool) {
	esc := d.Esc
	id := esc.LineMax(ref.ID, prose.MaxTitle)
	done, err := d.Acts.Forget(ctx, ref.Store, model.ForgetRequest{ID: ref.ID, IfMatch: seen}, why)
	if done.Relations > 0 {
		id = esc.Sprintf("%s and %s with it", id, prose.Plural(done.Relations, done.Fell))
	}
	removed = done.Removed > 0
	switch {
	case errors.Is(err, model.Conflict) && changed(d, ctx, ref, seen):
		return dialog.Acted{Text: esc.Const("it has changed meanwhile: nothing was forgotten"), Title: "Conflict", Page: conflictText(d, ctx, ref, "since it was shown")}, removed
	case err != nil:
		return dialog.Acted{Text: esc.Sprintf("not forgotten: %s", prose.Reason(esc, err))}, removed
	case !removed:
		return dialog.Acted{Ok: true, Text: esc.Sprintf("%s was gone already", id)}, removed
	}
	undo, stuck := d.Stuck.Took(esc, done)
	return dialog.Acted{Ok: true, Undo: undo, Text: esc.Sprintf("forgot %s; %s", id, desk.OrElse(stuck, esc.Const("z undoes")))}, removed
}

// changed reports whether an item is no longer as it was seen; a store has other reasons for a Conflict too, such as the children
// of a decision.
func changed(d *desk.Desk, ctx context.Context, ref model.Ref, seen model.Revision) bool {
	_, it, err := d.Readable(ctx, ref)
	return err != nil || it.Revision != seen
}

// conflictText is the item as it is now, under the reason why nothing was changed.
func conflictText(d *desk.Desk, ctx context.Context, ref model.Ref, since string) *text.Page {
	esc := d.Esc
	note := []text.Line{
		text.Advice(esc, "The item has changed "+since+". Nothing was changed by you. This is its state now; `esc` closes this page.").As(text.Alert),
		{Kind: text.Blank},
	}
	s, it, err := d.Readable(ctx, ref)
	if err != nil {
		return text.NewPage(append(note, text.Line{Value: esc.Sprintf("it cannot be shown: %s", prose.Reason(esc, err)), Kind: text.Alert}), "")
	}
	t := desk.ItemText(d, s, it)
	t.Head = append(note, t.Head...)
	return t
}

// fallsWith says per store what goes along with these items: an edge may fall with neither of two alone.
func fallsWith(d *desk.Desk, ctx context.Context, items []Target) ([]text.Line, error) {
	refs := make([]model.Ref, len(items))
	for i, t := range items {
		refs[i] = t.Ref
	}
	falls, err := operator.FallsOf(ctx, d.Fleet, refs)
	if err != nil {
		return nil, err
	}
	var out []text.Line
	for _, f := range falls {
		why, noun := "", undo.FallNoun(f.IDs)
		if noun == "relation" {
			why = ", left with fewer than two members"
		}
		out = append(out, text.Line{Value: d.Esc.Sprintf("With them %s of %s%s: %s.", prose.Plural(len(f.IDs), noun), f.Store, why, fallNames(d.Esc, f.IDs)), Kind: text.Alert})
	}
	return out, nil
}

func fallNames(esc safetext.Escaper, falls []string) safetext.Text {
	const named = 3
	out := esc.LineMax(falls[0], prose.MaxTitle)
	for _, f := range falls[1:min(len(falls), named)] {
		out = esc.Sprintf("%s, %s", out, esc.LineMax(f, prose.MaxTitle))
	}
	if more := int64(len(falls)) - named; more > 0 {
		out = esc.Sprintf("%s and %s more", out, prose.Group(more))
	}
	return out
}
