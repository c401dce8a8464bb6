package cli

import (
	"context"

	"github.com/spf13/cobra"

	"memdesk/audit"
	"memdesk/model"
	"memdesk/undo"
)

func undoID(e undo.Entry) any {
	if e.ID == "" {
		return nil
	}
	return e.ID
}

func (a *app) sayUndo(e undo.Entry) {
	switch {
	case e.ID == "":
	case e.Obstacle != "":
		a.sayf("kept until %s as undo entry %s, but it cannot be undone: %s", when(e.Expires), e.ID, e.Obstacle)
	default:
		a.sayf("to take it back: memdesk undo restore %s (until %s)", e.ID, when(e.Expires))
	}
}

func (a *app) undoCommand() *cobra.Command {
	c := &cobra.Command{Use: "undo", Short: "What changes displaced, and putting it back", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	yes := false
	restore := &cobra.Command{
		Use: "restore ID", Short: "Put back what a change displaced",
		Long: "Puts back what a change displaced, through the same audited path. If the item has changed since,\nnothing is overwritten and the exit code is 5.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.restore(cmd.Context(), args[0], yes) },
	}
	restore.Flags().BoolVar(&yes, "yes", false, "do not ask")
	raw := false
	show := &cobra.Command{
		Use: "show ID", Short: "What an entry keeps", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.showUndo(args[0], raw) },
	}
	show.Flags().BoolVar(&raw, "raw", false, "the displaced body, unescaped, to a pipe or file")
	c.AddCommand(&cobra.Command{
		Use: "list", Short: "What can be put back, newest first", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.listUndo() },
	}, restore, show)
	return c
}

func (a *app) listUndo() error {
	s, err := a.base()
	if err != nil {
		return err
	}
	entries, damaged, err := s.undo.List()
	if err != nil {
		return err
	}
	tab := a.table("UNDO", "REF", "OP", "AT", "EXPIRES", "BYTES")
	for _, e := range entries {
		err := tab.put(undoRow{Undo: e.ID, Store: e.Store, ID: encodedID(e.Item), Op: string(e.Op), At: instant(e.At),
			Expires: instant(e.Expires), Bytes: e.Bytes, Confirmed: e.After != "", Sides: sideRows(e, nil)})
		if err != nil {
			return err
		}
	}
	tab.flush()
	for _, id := range damaged {
		a.sayf("entry %s is damaged and cannot be put back", id)
	}
	if len(damaged) > 0 {
		return &exitError{code: exitPartial}
	}
	return nil
}

func (a *app) restore(ctx context.Context, id string, yes bool) error {
	base, err := a.base()
	if err != nil {
		return err
	}
	entry, _, err := base.undo.Read(id)
	if err != nil {
		return err
	}
	a.need(entry.Store)
	s, err := a.stores(ctx)
	if err != nil {
		return err
	}
	if err := a.confirm(ctx, yes, "put back what "+id+" displaced?"); err != nil {
		return err
	}
	res, err := s.undo.Restore(audit.WithReason(ctx, "undo of "+id), a.openStore, id)
	if err != nil {
		return err
	}
	for _, w := range res.Warnings {
		a.sayf("not put back: %s", w)
	}
	for _, n := range res.Notes {
		a.sayf("note: %s", n)
	}
	if a.flags.json {
		err = a.emit("restored", row{"store": res.Store, "id": model.EncodeID(res.Item), "removed": res.Removed, "bytes": res.Result.Bytes,
			"revision": res.Result.Revision, "relations": res.Relations, "undo": undoID(res.Again), "warnings": append([]string{}, res.Warnings...), "notes": append([]string{}, res.Notes...)})
		if err != nil {
			return err
		}
	} else {
		word := "put back"
		if res.Removed {
			word = "removed again: the change had created it"
		}
		if res.Relations > 0 {
			word += ", and " + plural(res.Relations, "relation") + " with it"
		}
		a.linef("%s  %s", model.Ref{Store: res.Store, ID: res.Item}.String(), word)
		a.sayUndo(res.Again)
	}
	if len(res.Warnings) > 0 {
		return &exitError{code: exitPartial}
	}
	return nil
}

func (a *app) showUndo(id string, raw bool) error {
	s, err := a.base()
	if err != nil {
		return err
	}
	if raw && a.Terminal(a.Stdout) {
		return usage("--raw writes unescaped bytes: send it to a file or a pipe")
	}
	e, body, err := s.undo.Read(id)
	if err != nil {
		return err
	}
	switch {
	case raw:
		_, err := a.out.WriteString(body)
		return err
	case a.flags.json:
		return a.emit("undo", row{"undo": e.ID, "store": e.Store, "id": model.EncodeID(e.Item), "op": e.Op, "at": stamp(e.At),
			"expires": stamp(e.Expires), "bytes": e.Bytes, "existed": e.Existed, "confirmed": e.After != "", "obstacle": e.Obstacle,
			"meta": fieldMap(e.Meta), "parts": partRows(e), "parts_total": e.PartsTotal, "body": body, "sides": sideRows(e, e.Bodies(body))})
	}
	a.linef("%s  %s of %s at %s, kept until %s", e.ID, string(e.Op), model.Ref{Store: e.Store, ID: e.Item}.String(), when(e.At), when(e.Expires))
	if len(e.Sides) > 0 {
		a.showSides(e, body)
		return nil
	}
	if !e.Existed {
		a.linef("the change created the item: putting back means removing it")
		return nil
	}
	if e.Obstacle != "" {
		a.linef("it cannot be undone: %s", e.Obstacle)
	}
	for _, f := range e.Meta {
		a.linef("%s: %s", f.Name, f.Value)
	}
	for _, p := range e.Parts {
		a.linef("relation %s: %s", p.Item, p.Body)
	}
	a.linef("")
	a.body(body)
	return nil
}

func partRows(e undo.Entry) []any {
	out := []any{}
	for _, p := range e.Parts {
		out = append(out, row{"id": model.EncodeID(p.Item), "meta": fieldMap(p.Meta), "body": p.Body})
	}
	return out
}

// showSides prints what a change of several items displaced.
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
		a.linef("%s  %s", model.Ref{Store: e.Store, ID: side.Item}.String(), state)
		if side.Obstacle != "" {
			a.linef("it cannot be undone: %s", side.Obstacle)
		}
		if side.Existed {
			a.body(text)
		}
	}
}

func sideRows(e undo.Entry, bodies []string) []any {
	out := []any{}
	for i, side := range e.Sides {
		r := row{"id": model.EncodeID(side.Item), "op": side.Op, "existed": side.Existed, "confirmed": side.After != "", "bytes": side.Bytes}
		if bodies != nil {
			r["body"] = bodies[i]
		}
		out = append(out, r)
	}
	return out
}
