package tui

import (
	"context"
	"errors"
	"path"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/undo"
)

// removals take items and entries of the quarantine away.
type removals struct {
	d    *desk
	work *underway
}

// locked says why nothing can be changed in this console, or in one store of it;
// empty when it can.
func (d *desk) locked(store string) string {
	switch {
	case d.readOnly != "":
		return "this console is read-only: " + d.readOnly
	case d.Acts == nil:
		return "this console only shows; memdesk forget, retain and undo change memory"
	case store == "":
		return ""
	}
	s, err := d.fleet.Store(store)
	switch {
	case err != nil:
		return "the store is not open: 1 Health tries it again"
	case s.ReadOnly:
		return "the store is read-only: " + s.ReadOnlyReason
	}
	return ""
}

// environmentLine names in a question where the act takes effect; production is
// loud there too.
func environmentLine(esc safetext.Escaper, environment, store string) text.Line {
	where := safetext.Text{}
	if store != "" {
		where = esc.Sprintf(" The store: %s.", esc.Line(store))
	}
	if isProduction(environment) {
		return text.Line{Value: esc.Sprintf("!! The environment: PRODUCTION.%s", where), Kind: text.Warn, Pin: true}
	}
	return text.Line{Value: esc.Sprintf("The environment: %s.%s", esc.Line(environment), where), Kind: text.Note, Pin: true}
}

// environmentOf is the line of a store that has a word for its environment.
func (d *desk) environmentOf(store string) []text.Line {
	s, err := d.fleet.Store(store)
	if err != nil || s.Environment == "" {
		return nil
	}
	return []text.Line{environmentLine(d.esc, s.Environment, store)}
}

// typedName is what must be typed before a worst act, as it is shown; nothing
// where the operator has not called the store production.
func (d *desk) typedName(s model.Store, id string) string {
	if !isProduction(s.Environment) {
		return ""
	}
	name := path.Base(id)
	if name == "." || name == "/" {
		name = id
	}
	return d.esc.Line(name).String()
}

// forget asks whether an item should go; seen is the revision that the operator
// has looked at, empty when it is not known.
func (rm *removals) forget(ref model.Ref, seen model.Revision) tea.Cmd {
	d := rm.d
	return rm.d.modal.propose(func(ctx context.Context) (*dialog, safetext.Text) {
		s, err := d.fleet.Store(ref.Store)
		if err != nil {
			return nil, prose.Reason(d.esc, err)
		}
		it, err := s.Browser.Read(ctx, ref.ID)
		if err != nil {
			return nil, d.esc.Sprintf("not forgotten, it cannot be read: %s", prose.Reason(d.esc, err))
		}
		warnings, err := d.Acts.Preview(ctx, ref.Store, ref.ID)
		if err != nil {
			return nil, d.esc.Sprintf("not forgotten: %s", prose.Reason(d.esc, err))
		}
		return d.forgetDialog(s, it, seen, warnings), safetext.Text{}
	})
}

func (d *desk) forgetDialog(s model.Store, it model.Item, seen model.Revision, warnings []string) *dialog {
	esc := d.esc
	lines := []text.Line{
		{Value: esc.Sprintf("Forget %s?", esc.LineMax(it.ID, prose.MaxTitle)), Kind: text.Title},
		{Value: esc.Sprintf("This removes 1 item of %s (%s bytes) from the store %s.", prose.Size(it.Bytes), prose.Group(it.Bytes), esc.Line(s.Name))},
	}
	if it.Title != "" && it.Title != it.ID {
		lines = append(lines, text.Line{Value: esc.Sprintf("Its title: %s", esc.LineMax(it.Title, prose.MaxTitle))})
	}
	if s.Environment != "" {
		lines = append(lines, environmentLine(esc, s.Environment, s.Name))
	}
	if seen != "" && it.Revision != seen {
		lines = append(lines, text.Line{Value: esc.Const("!! it has changed since it was shown: Cancel and read it first"), Kind: text.Warn})
	}
	for _, w := range warnings {
		lines = append(lines, text.Line{Value: esc.Sprintf("!! %s", esc.LineMax(w, prose.MaxReason)), Kind: text.Warn})
	}
	if len(warnings) == 0 {
		lines = append(lines, text.Line{Value: esc.Const("What goes is kept: z puts it back."), Kind: text.Note})
	}
	ref := model.Ref{Store: s.Name, ID: it.ID}
	return &dialog{
		title: esc.Const("Forget"), lines: lines, name: d.typedName(s, it.ID),
		choices: []choice{{verb: "Forget", typed: true, act: func(ctx context.Context, f filled) acted { return d.doForget(ctx, ref, it.Revision, f.reason) }}},
	}
}

// doForget runs in a command.
func (d *desk) doForget(ctx context.Context, ref model.Ref, seen model.Revision, why string) acted {
	esc := d.esc
	id := esc.LineMax(ref.ID, prose.MaxTitle)
	done, err := d.Acts.Forget(ctx, ref.Store, model.ForgetRequest{ID: ref.ID, IfMatch: seen}, why)
	if done.Relations > 0 {
		id = esc.Sprintf("%s and %s with it", id, prose.Plural(done.Relations, done.Fell))
	}
	if err == nil && done.Removed > 0 {
		d.stuck.took(esc, done)
	}
	switch {
	case errors.Is(err, model.Conflict):
		return acted{text: esc.Const("it has changed meanwhile: nothing was forgotten"), title: "Conflict", page: d.conflictText(ctx, ref)}
	case err != nil:
		return acted{text: esc.Sprintf("not forgotten: %s", prose.Reason(esc, err))}
	case done.Removed == 0:
		return acted{ok: true, text: esc.Sprintf("%s was gone already", id)}
	case done.Undo == "":
		return acted{ok: true, text: esc.Sprintf("forgot %s; nothing was kept for undo", id)}
	case done.Obstacle != "":
		return acted{ok: true, text: esc.Sprintf("forgot %s; kept as %s, but it cannot be undone: %s", id, done.Undo, done.Obstacle)}
	}
	return acted{ok: true, undo: []string{done.Undo}, text: esc.Sprintf("forgot %s; z undoes", id)}
}

// conflictText is the item as it is now, under the reason why nothing was done.
func (d *desk) conflictText(ctx context.Context, ref model.Ref) *text.Page {
	esc := d.esc
	note := []text.Line{
		{Value: esc.Const("!! The item has changed since it was shown. Nothing was changed by you. This is its state now; esc closes this page."), Kind: text.Warn},
		{Kind: text.Blank},
	}
	s, err := d.fleet.Store(ref.Store)
	var it model.Item
	switch {
	case err != nil:
	case s.Browser == nil:
		err = model.Errorf(model.Unsupported, "read", "this store cannot show single items")
	default:
		it, err = s.Browser.Read(ctx, ref.ID)
	}
	if err != nil {
		return text.NewPage(append(note, text.Line{Value: esc.Sprintf("!! it cannot be shown: %s", prose.Reason(esc, err)), Kind: text.Warn}), "")
	}
	t := itemText(d, s, it)
	t.Head = append(note, t.Head...)
	return t
}

// fallsWith says what goes because these items do, all together, store by store: an
// edge that two of them tie may fall with neither of them alone.
func (d *desk) fallsWith(ctx context.Context, items []target) ([]text.Line, error) {
	byStore := map[string][]string{}
	var order []string
	for _, t := range items {
		if byStore[t.ref.Store] == nil {
			order = append(order, t.ref.Store)
		}
		byStore[t.ref.Store] = append(byStore[t.ref.Store], t.ref.ID)
	}
	var out []text.Line
	for _, name := range order {
		s, err := d.fleet.Store(name)
		if err != nil {
			return nil, err
		}
		if s.Falls == nil {
			continue
		}
		falls, err := s.Falls(ctx, byStore[name])
		if err != nil {
			return nil, err
		}
		if n := int64(len(falls)); n > 0 {
			why, ids := "", make([]string, n)
			for i, f := range falls {
				ids[i] = f.ID
			}
			noun := undo.FallNoun(ids)
			if noun == "relation" {
				why = ", left with fewer than two members"
			}
			out = append(out, text.Line{Value: d.esc.Sprintf("!! With them %s of %s%s: %s.", prose.Plural(n, noun), name, why, fallNames(d.esc, falls)), Kind: text.Warn})
		}
	}
	return out, nil
}

// fallNames are the first of what falls.
func fallNames(esc safetext.Escaper, falls []model.Fall) safetext.Text {
	const named = 3
	out := esc.LineMax(falls[0].ID, prose.MaxTitle)
	for _, f := range falls[1:min(len(falls), named)] {
		out = esc.Sprintf("%s, %s", out, esc.LineMax(f.ID, prose.MaxTitle))
	}
	if more := int64(len(falls)) - named; more > 0 {
		out = esc.Sprintf("%s and %s more", out, prose.Group(more))
	}
	return out
}
