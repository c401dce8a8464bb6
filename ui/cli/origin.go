package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
)

func (a *app) originCommand() *cobra.Command {
	return &cobra.Command{
		Use: "origin REF", Short: "Who wrote an item, newest first",
		Long: "Lists the writes of one item that went through memdesk: who, with which program, in which session, and\n" +
			"where the text came from by the writer's own word. Other programs write past memdesk: of their writes it shows\n" +
			"what the store itself knows, or the author of the file's last commit, and else that the writer is unknown.",
		RunE: a.onItem(func(ctx context.Context, s *operator.Session, store model.Store, ref model.Ref) error {
			all, err := s.OriginsOf(ctx, store, ref.ID)
			unread := errors.As(err, new(origin.Unread))
			if err == nil || unread {
				putAll(a.table("AT", "ACTOR", "CLIENT", "FACE", "SOURCE", "TRUST", "REVISION"), "origin", all, newOriginRow)
			}
			if unread {
				return &exitError{exitPartial, err}
			}
			return err
		}),
	}
}

type originRow struct {
	itemAt
	Revision      model.Revision `json:"revision"`
	Actor         string         `json:"actor"`
	Client        string         `json:"client"`
	Program       string         `json:"-" col:"CLIENT"` // and its version
	ClientVersion string         `json:"client_version"`
	Session       string         `json:"session"`
	Face          dashed         `json:"face"`
	Source        string         `json:"-" col:"SOURCE"`
	Channel       string         `json:"channel"`
	Detail        string         `json:"detail"`
	Trust         string         `json:"trust"`
	At            stamp          `json:"at"`
	Kept          string         `json:"kept"` // where the write is recorded
}

func newOriginRow(r origin.Written) originRow {
	return originRow{itemAt: newItemAt(r.Store, r.ID), Revision: r.Revision, Actor: r.Actor, Client: r.Client, Program: orDash(r.Program()),
		ClientVersion: r.Version, Session: r.Session, Face: dashed(r.Face), Source: r.Source(), Channel: r.Channel, Detail: r.Detail, Trust: r.Trust,
		At: stamp(r.At), Kept: r.Kept}
}

type takenRow struct {
	itemAt
	Action string `json:"action"`
	Reason string `json:"reason"`
	At     stamp  `json:"at"`
}

type takebackRow struct {
	Matched   int      `json:"matched"`
	Forgotten int64    `json:"forgotten"`
	Restored  int64    `json:"restored"`
	Skipped   int64    `json:"skipped"`
	Unknown   int64    `json:"unknown"` // whether they were taken back
	Undo      undoneBy `json:"undo"`
	DryRun    bool     `json:"dry_run"`
}

// undoneBy are undo entries: one is a string, several are a list.
type undoneBy []string

// MarshalJSON implements json.Marshaler.
func (u undoneBy) MarshalJSON() ([]byte, error) {
	if len(u) == 1 {
		return json.Marshal(u[0])
	}
	return json.Marshal([]string(u))
}

// recalledRow is an item that a caller was given.
type recalledRow struct {
	itemAt
	Verb    string `json:"verb"`
	Actor   string `json:"actor"`
	Client  dashed `json:"client"`
	Session dashed `json:"session"`
	At      stamp  `json:"at"`
}

type takebackFlags struct {
	source, since string
	dryRun        bool
}

func (a *app) takebackCommand() *cobra.Command {
	var f takebackFlags
	c := &cobra.Command{
		Use: "takeback --source SOURCE --since TIME", Short: "Take back everything that one source wrote since a time",
		Long: "Forgets the items that a source made and puts back the text before its first write where it changed one.\n" +
			"SOURCE is an actor, a client, CLIENT/VERSION, a session, channel:CHANNEL or a source as it was given, whole and as\n" +
			"`memdesk origin` shows it. An item that somebody else has changed since is left as it is. One undo per store\n" +
			"puts everything back.",
		RunE: a.onStores(func(ctx context.Context, s *operator.Session, args []string) error { return a.takeback(ctx, s, f) }),
	}
	fl := c.Flags()
	fl.StringVar(&f.source, "source", "", "whose writes: `SOURCE`")
	fl.StringVar(&f.since, "since", "", "from this `TIME` on: 2026-05-21, 2026-05-21T10:00:00Z or a duration before now")
	fl.BoolVar(&f.dryRun, "dry-run", false, "only show what would happen")
	return a.asksWhy(c)
}

func (a *app) takeback(ctx context.Context, s *operator.Session, f takebackFlags) error {
	if f.source == "" {
		return usage("say whose writes: --source SOURCE")
	}
	if f.since == "" {
		return usage("say since when: --since TIME")
	}
	since, err := operator.ParseTime("since", f.since, a.Clock.Now())
	if err != nil {
		return usage("%v", err)
	}
	if s.Ledger == nil {
		return statedir.ErrNoHome
	}
	if !f.dryRun {
		if err := s.Allow(ctx, operator.Takeback, "", ""); err != nil {
			return err
		}
	}
	plan, err := s.PlanTakeback(ctx, f.source, since)
	if err != nil {
		return err
	}
	if len(a.flags.stores) > 0 {
		plan = slices.DeleteFunc(plan, func(t origin.Taken) bool { // damaged notes may be about any store
			return t.Store != "" && !slices.Contains(a.flags.stores, t.Store)
		})
	}
	for _, t := range plan {
		a.result("item", takenRow{newItemAt(t.Store, t.ID), t.Action, t.Reason, stamp(t.At)},
			"%s  %s  %s %s", refOf(t.Store, t.ID), when(t.At), t.Action, t.Reason)
	}
	done, counts := plan, origin.Count(plan)
	var undone []operator.Done
	if !f.dryRun && counts[origin.ActForget]+counts[origin.ActRestore] > 0 {
		question := a.text.Sprintf("forget %d and restore %d items that %s wrote?", counts[origin.ActForget], counts[origin.ActRestore], f.source).String()
		if err := a.confirm(ctx, question); err != nil {
			return err
		}
		before := slices.Clone(plan)
		done, undone, err = s.Takeback(ctx, plan, a.flags.reason)
		for i, t := range plan {
			if t.Reason != before[i].Reason {
				a.failed(model.Ref{Store: t.Store, ID: t.ID}, errors.New(t.Reason))
			}
		}
		if err != nil && len(undone) > 0 { // one store failed, another was taken back
			err = &exitError{exitPartial, err}
		}
	}
	return cmp.Or(err, a.printTakeback(f, plan, done, undone))
}

// printTakeback sums up what was done of a plan.
func (a *app) printTakeback(f takebackFlags, plan, done []origin.Taken, undone []operator.Done) error {
	counts := origin.Count(done)
	var ids []string
	for _, d := range undone {
		ids = append(ids, d.Undo)
	}
	a.emit("summary", takebackRow{len(plan), counts[origin.ActForget], counts[origin.ActRestore], counts[origin.ActSkip], counts[origin.ActUnknown], ids, f.dryRun})
	forgotten, restored := "forgotten", "restored"
	if f.dryRun {
		forgotten, restored = "to forget", "to restore"
	}
	a.hintf("%s: %d %s, %d %s, %d left as they are", plural(int64(len(plan)), "item"), counts[origin.ActForget], forgotten, counts[origin.ActRestore], restored, counts[origin.ActSkip])
	if n := counts[origin.ActUnknown]; n > 0 {
		a.hintf("%s: whether they were taken back is not known: look at them, then take back again", plural(n, "item"))
	}
	if left := len(plan) - len(done); left > 0 {
		a.hintf("%s not taken back: the error says why", plural(int64(left), "item"))
	}
	for _, d := range undone {
		a.sayUndo(d)
	}
	return partialIf(counts[origin.ActSkip]+counts[origin.ActUnknown] > 0)
}

// listRecalls prints which caller was given which item, oldest first.
func (a *app) listRecalls(actor string, since, until time.Time) error {
	tab, err := a.listed("AT", "ACTOR", "CLIENT", "SESSION", "VERB", "REF")
	if err != nil {
		return err
	}
	err = a.session.Trace.All(func(r origin.Recall) {
		if actor != "" && r.Actor != actor || len(a.flags.stores) > 0 && !slices.Contains(a.flags.stores, r.Store) || r.At.Before(since) || !until.IsZero() && !r.At.Before(until) {
			return
		}
		tab.put("recall", recalledRow{newItemAt(r.Store, r.ID), r.Verb, r.Actor, dashed(r.Client), dashed(r.Session), stamp(r.At)})
	})
	tab.flush()
	return err
}
