package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"memdesk/audit"
	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/origin"
	"memdesk/quarantine/review"
	"memdesk/undo"
)

func (a *app) originCommand() *cobra.Command {
	return &cobra.Command{
		Use: "origin REF", Short: "Who wrote an item, newest first", Args: cobra.ExactArgs(1),
		Long: "Lists the writes of one item that went through memdesk: who, with which program, in which session, and\n" +
			"where the text came from by the writer's own word. Other programs write past memdesk: their writes are unknown.",
		RunE: func(cmd *cobra.Command, args []string) error { return a.showOrigin(cmd.Context(), args[0]) },
	}
}

func (a *app) showOrigin(ctx context.Context, text string) error {
	s, store, ref, err := a.at(ctx, text)
	if err != nil {
		return err
	}
	if s.ledger == nil {
		return statedir.ErrNoHome
	}
	rows, err := s.ledger.Of(store.Name, ref.ID)
	if err != nil {
		return err
	}
	var now model.Revision
	if store.Browser != nil {
		it, err := store.Browser.Read(ctx, ref.ID)
		if err != nil && (model.KindOf(err) != model.NotFound || len(rows) == 0) {
			return err
		}
		if now = it.Revision; err == nil && (len(rows) == 0 || rows[0].Revision != now) {
			rows = append([]origin.Row{{Store: store.Name, ID: ref.ID, Revision: now,
				Writer: origin.Writer{Actor: origin.Unknown, Channel: origin.Unknown, Trust: origin.Untrusted}}}, rows...)
		}
	}
	tab := a.table("AT", "ACTOR", "CLIENT", "FACE", "SOURCE", "TRUST", "REVISION")
	for _, r := range rows {
		if a.flags.json {
			if err := a.emit("origin", originRow(r)); err != nil {
				return err
			}
			continue
		}
		client := r.Client
		if r.Version != "" {
			client += "/" + r.Version
		}
		tab.add(when(r.At), r.Actor, orDash(client), orDash(r.Face), r.Source(), r.Trust, string(r.Revision))
	}
	tab.flush()
	return nil
}

func originRow(r origin.Row) row {
	kept := "ledger"
	if r.At.IsZero() {
		kept = "unknown"
	}
	return row{"store": r.Store, "id": model.EncodeID(r.ID), "revision": r.Revision, "actor": r.Actor, "client": r.Client,
		"client_version": r.Version, "session": r.Session, "face": r.Face, "channel": r.Channel, "detail": r.Detail, "trust": r.Trust,
		"at": stamp(r.At), "kept": kept}
}

type takebackFlags struct {
	source, since string
	dryRun, yes   bool
	reason        string
}

func (a *app) takebackCommand() *cobra.Command {
	var f takebackFlags
	c := &cobra.Command{
		Use: "takeback --source S --since T", Short: "Take back everything that one source wrote since a time", Args: cobra.NoArgs,
		Long: "Forgets the items that a source made and puts back the text before its first write where it changed one.\n" +
			"S is an actor, a client, CLIENT/VERSION, a session, channel:CHANNEL or a source as it was given, as `memdesk\n" +
			"origin` shows them; it must be equal as a whole. An item that somebody else has changed since is left as it is.\n" +
			"T is a time, a date or a duration such as 1h. One undo per store puts everything back.",
		RunE: func(cmd *cobra.Command, _ []string) error { return a.takeback(cmd.Context(), f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.source, "source", "", "whose writes: `SOURCE`")
	fl.StringVar(&f.since, "since", "", "from this `TIME` on: 2026-05-21, 2026-05-21T10:00:00Z or a duration before now")
	fl.BoolVar(&f.dryRun, "dry-run", false, "only show what would happen")
	fl.BoolVar(&f.yes, "yes", false, "do not ask")
	fl.StringVar(&f.reason, "reason", "", "why, for the audit log")
	return c
}

// sinceTime takes a moment, a date or a duration before now.
func (a *app) sinceTime(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, usage("say since when: --since TIME")
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return a.Clock.Now().Add(-d), nil
	}
	return parseTime(s)
}

func (a *app) takeback(ctx context.Context, f takebackFlags) error {
	if f.source == "" {
		return usage("say whose writes: --source SOURCE")
	}
	since, err := a.sinceTime(f.since)
	if err != nil {
		return err
	}
	s, err := a.stores(ctx)
	if err != nil {
		return err
	}
	if s.ledger == nil {
		return statedir.ErrNoHome
	}
	if !f.dryRun {
		if err := a.mayChange(s, "takeback"); err != nil {
			return err
		}
	}
	want := func(name string) bool { return containsString(a.memberNames(), name) }
	plan, err := origin.Plan(ctx, s.ledger, s.undo, s.fleet.Store, want, f.source, since)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for _, t := range plan {
		counts[t.Action]++
		if err := a.printTaken(t); err != nil {
			return err
		}
	}
	var undone any
	if !f.dryRun && counts[origin.ActForget]+counts[origin.ActRestore] > 0 {
		question := a.text.Sprintf("forget %d and restore %d items that %s wrote?", counts[origin.ActForget], counts[origin.ActRestore], f.source).String()
		if err := a.confirm(ctx, f.yes, question); err != nil {
			return err
		}
		if undone, err = a.takeAll(audit.WithReason(ctx, f.reason), s, plan); err != nil {
			return err
		}
	}
	return a.printTakeback(f, plan, counts, undone)
}

func (a *app) memberNames() []string {
	var out []string
	for _, m := range a.session.fleet.Members() {
		out = append(out, m.Name)
	}
	return out
}

// takeAll does the plan store by store; the undo id, or all of them.
func (a *app) takeAll(ctx context.Context, s *session, plan []origin.Taken) (any, error) {
	var ids []string
	for _, m := range s.fleet.Open() {
		id, err := origin.Take(ctx, s.undo, m.Store, plan)
		if err != nil {
			return nil, err
		}
		if id != "" {
			ids = append(ids, id)
		}
	}
	if len(ids) == 1 {
		return ids[0], nil
	}
	return ids, nil
}

func (a *app) printTaken(t origin.Taken) error {
	if a.flags.json {
		return a.emit("item", row{"store": t.Store, "id": model.EncodeID(t.ID), "action": t.Action, "reason": t.Reason, "at": stamp(t.At)})
	}
	a.linef("%s  %s  %s %s", model.Ref{Store: t.Store, ID: t.ID}.String(), when(t.At), t.Action, t.Reason)
	return nil
}

func (a *app) printTakeback(f takebackFlags, plan []origin.Taken, counts map[string]int, undone any) error {
	var err error
	if a.flags.json {
		err = a.emit("summary", row{"matched": len(plan), "forgotten": counts[origin.ActForget], "restored": counts[origin.ActRestore],
			"skipped": counts[origin.ActSkip], "undo": undone, "dry_run": f.dryRun})
	} else {
		word := "taken back"
		if f.dryRun {
			word = "would be taken back"
		}
		a.sayf("%s of %s: %d to forget, %d to restore, %d left as they are", plural(int64(len(plan)), "item"), word, counts[origin.ActForget], counts[origin.ActRestore], counts[origin.ActSkip])
		if id, ok := undone.(string); ok && id != "" {
			a.sayf("to undo it: memdesk undo restore %s", id)
		}
	}
	if err == nil && counts[origin.ActSkip] > 0 {
		err = &exitError{code: exitPartial}
	}
	return err
}

// release gives agents a blocked item back, or makes a held write.
func release(ctx context.Context, shelf *origin.Shelf, keeper *undo.Keeper, s model.Store, id string, body *string, seen model.Revision) (review.Release, error) {
	if shelf != nil && len(id) > len(origin.HeldPrefix) && id[:len(origin.HeldPrefix)] == origin.HeldPrefix {
		return shelf.Release(ctx, keeper, s, id, body)
	}
	return review.Do(ctx, keeper, s, id, body, seen)
}

// listRecalls prints what was given to which caller, oldest first.
func (a *app) listRecalls(actor string, since, until time.Time) error {
	s, err := a.base()
	if err != nil {
		return err
	}
	if s.trace == nil {
		return statedir.ErrNoHome
	}
	tab := a.table("AT", "ACTOR", "CLIENT", "SESSION", "VERB", "REF")
	var failed error
	err = s.trace.All(func(r origin.Recall) bool {
		if actor != "" && r.Actor != actor || r.At.Before(since) || !until.IsZero() && !r.At.Before(until) {
			return true
		}
		if a.flags.json {
			failed = a.emit("recall", row{"store": r.Store, "id": model.EncodeID(r.ID), "verb": r.Verb, "actor": r.Actor, "client": r.Client,
				"session": r.Session, "at": stamp(r.At)})
			return failed == nil
		}
		tab.add(when(r.At), r.Actor, orDash(r.Client), orDash(r.Session), r.Verb, model.Ref{Store: r.Store, ID: r.ID}.String())
		return true
	})
	tab.flush()
	if failed != nil {
		return failed
	}
	return err
}
