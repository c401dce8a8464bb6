package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/undo"
)

// sayUndo prints how to undo an act.
func (a *app) sayUndo(d operator.Done) {
	switch {
	case d.Undo == "", a.flags.json: // an object names it
	case d.Obstacle != "":
		a.sayf("kept until %s as undo entry %s, but it cannot be undone: %s", when(d.Expires), d.Undo, d.Obstacle)
	default:
		a.sayf("to undo it: memdesk undo restore %s (until %s)", d.Undo, when(d.Expires))
	}
}

func (a *app) undoCommand() *cobra.Command {
	restore := a.restoreCommand("restore ID", "Put back what a change replaced or removed",
		"Puts back what a change replaced or removed, through the same audited path. If the item has changed since,\nnothing is overwritten and the exit code is 5.")
	show := &cobra.Command{
		Use: "show ID", Short: "What an entry keeps",
		RunE: a.onBase(a.showUndo),
	}
	show.Flags().BoolVar(&a.flags.raw, "raw", false, "the kept body, unescaped, to a pipe or file")
	return group("undo", "What changes replaced or removed, and putting it back", &cobra.Command{
		Use: "list", Short: "What can be put back, newest first",
		RunE: a.onBase(a.listUndo),
	}, restore, show)
}

func (a *app) restoreCommand(use, short, long string) *cobra.Command {
	return a.asks(&cobra.Command{Use: use, Short: short, Long: long, RunE: a.onBase(func(ctx context.Context, s *operator.Session, args []string) error {
		return a.restore(ctx, s, strings.TrimSpace(args[0]))
	})})
}

func (a *app) listUndo(_ context.Context, s *operator.Session, _ []string) error {
	if s.State == "" {
		return statedir.ErrNoHome
	}
	entries, damaged, err := s.Undo.List()
	if err != nil {
		return err
	}
	tab := a.table("UNDO", "REF", "OP", "AT", "EXPIRES", "BYTES").orSay("no changes")
	tab.partly(len(damaged) > 0)
	putAll(tab, "undo", entries, func(e undo.Entry) undoRow { return newUndoRow(e, nil) })
	a.sayEach(damaged, "entry %s is damaged and cannot be put back")
	return partialIf(len(damaged) > 0)
}

// restoredRow is what an undo put back.
type restoredRow struct {
	itemAt
	Removed   bool           `json:"removed"` // the change had made the item
	Bytes     int64          `json:"bytes"`
	Revision  model.Revision `json:"revision"`
	Relations int64          `json:"relations"`
	Undo      *string        `json:"undo"`
	Warnings  []string       `json:"warnings"`
	Notes     []string       `json:"notes"`
}

func (a *app) restore(ctx context.Context, s *operator.Session, id string) error {
	entry, _, err := s.Undo.Read(id)
	if err != nil {
		return err
	}
	if _, _, err := a.named(ctx, entry.Store); err != nil {
		return err
	}
	if len(entry.Renewed) > 0 {
		a.sayf("it comes back without its %s: the store makes these anew", strings.Join(entry.Renewed, ", "))
	}
	if err := a.agree(ctx, operator.Restore, entry.Store, "undo the change of "+id+"?", model.Ref{Store: entry.Store, ID: entry.Item}); err != nil {
		return err
	}
	done, err := s.Restore(ctx, id, "")
	if err != nil {
		return err
	}
	a.sayEach(done.Warnings, "warning: %s")
	a.sayEach(done.Notes, "note: %s")
	word := "put back"
	if done.Gone {
		word = "removed again: the change had created it"
	}
	if done.Relations > 0 {
		word += ", and " + plural(done.Relations, done.Fell) + " with it"
	}
	a.result("restored", restoredRow{itemAt: newItemAt(done.Store, done.Item), Removed: done.Gone, Bytes: done.Bytes, Revision: done.Revision,
		Relations: done.Relations, Undo: nilIfEmpty(done.Undo), Warnings: list(done.Warnings), Notes: list(done.Notes)}, "%s  %s", refOf(done.Store, done.Item), word)
	a.sayUndo(done)
	return partialIf(len(done.Warnings) > 0)
}

func (a *app) showUndo(ctx context.Context, s *operator.Session, args []string) error {
	if err := s.Look(ctx, operator.ReadContent); err != nil {
		return err
	}
	if err := a.checkRaw(); err != nil {
		return err
	}
	e, body, err := s.Undo.Read(args[0])
	if err != nil {
		return err
	}
	switch {
	case a.flags.raw:
		_, err := a.out.WriteString(body)
		return err
	case a.flags.json:
		parts := mapped(e.Parts, func(p undo.Part) partRow { return partRow{model.EncodeID(p.Item), model.Values(p.Meta), p.Body} })
		a.emit("undo", keptRow{newUndoRow(e, e.Bodies(body)), e.Existed, e.Obstacle, model.Values(e.Meta), parts, e.PartsTotal, body, exactBody(body)})
		return nil
	}
	a.linef("%s  %s of %s at %s, kept until %s", e.ID, string(e.Op), refOf(e.Store, e.Item), when(e.At), when(e.Expires))
	if len(e.Sides) > 0 {
		a.showSides(e, body)
		a.showParts(e)
		return nil
	}
	if !e.Existed {
		a.linef("the change created the item: putting back means removing it")
		return nil
	}
	a.fieldf("it cannot be undone: %s", e.Obstacle)
	for _, f := range e.Meta {
		a.linef("%s: %s", f.Name, f.Value)
	}
	a.showParts(e)
	a.linef("")
	a.body(body)
	return nil
}

// showParts prints the relations that an undo entry keeps.
func (a *app) showParts(e undo.Entry) {
	for _, p := range e.Parts {
		a.linef("relation %s: %s", p.Item, p.Body)
	}
}

type undoRow struct {
	Undo string `json:"undo"`
	itemAt
	Op        model.Op  `json:"op"`
	At        stamp     `json:"at"`
	Expires   stamp     `json:"expires"`
	Bytes     int64     `json:"bytes"`
	Confirmed bool      `json:"confirmed"` // false: it is not known whether the change was made
	Sides     []sideRow `json:"sides"`
}

// sideRow is one of several items that were changed together.
type sideRow struct {
	ID        string   `json:"id"`
	Op        model.Op `json:"op"`
	Existed   bool     `json:"existed"`
	Confirmed bool     `json:"confirmed"`
	Bytes     int64    `json:"bytes"`
	Body      *string  `json:"body,omitempty"`
}

// keptRow is an undo entry with its texts.
type keptRow struct {
	undoRow
	Existed    bool              `json:"existed"`
	Obstacle   string            `json:"obstacle"`
	Meta       map[string]string `json:"meta"`
	Parts      []partRow         `json:"parts"`
	PartsTotal int64             `json:"parts_total"`
	Body       string            `json:"body"`
	BodyBase64 string            `json:"body_base64,omitempty"` // see documentRow
}

// partRow is an item that fell with the one of the entry.
type partRow struct {
	ID   string            `json:"id"`
	Meta map[string]string `json:"meta"`
	Body string            `json:"body"`
}

// newUndoRow has the texts of the entry's sides unless bodies is nil.
func newUndoRow(e undo.Entry, bodies []string) undoRow {
	sides := []sideRow{}
	for i, side := range e.Sides {
		r := sideRow{ID: model.EncodeID(side.Item), Op: side.Op, Existed: side.Existed, Confirmed: side.After != "", Bytes: side.Bytes}
		if bodies != nil {
			r.Body = &bodies[i]
		}
		sides = append(sides, r)
	}
	return undoRow{Undo: e.ID, itemAt: newItemAt(e.Store, e.Item), Op: e.Op, At: stamp(e.At), Expires: stamp(e.Expires),
		Bytes: e.Bytes, Confirmed: e.After != "", Sides: sides}
}

// showSides prints the items that an undo entry keeps.
func (a *app) showSides(e undo.Entry, body string) {
	for i, text := range e.Bodies(body) {
		side := e.Sides[i]
		state := "changed"
		switch {
		case side.After == "":
			state = "it is not known whether it was changed"
		case side.After == model.Absent:
			state = "removed"
		case !side.Existed:
			state = "created"
		}
		a.linef("")
		a.linef("%s  %s", refOf(e.Store, side.Item), state)
		a.fieldf("it cannot be undone: %s", side.Obstacle)
		if side.Existed {
			a.body(text)
		}
	}
}
