package change

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/task"
)

// Writing is the writer whose writes are to be taken back, and the start time.
type Writing struct {
	Source string
	Names  []string // of the writer; any of them is a source
	Since  string   // a day or a moment, as typed
}

// WritingOf is the Writing of a row's writer since the day of that row; zero where nobody knows the writer.
func WritingOf(r *origin.Written) Writing {
	if r == nil {
		return Writing{}
	}
	w := Writing{Since: r.At.UTC().Format(time.DateOnly)}
	for _, name := range []string{r.Actor, r.Session, r.Program(), r.Source()} {
		if name != "" && name != origin.Unknown && !slices.Contains(w.Names, name) {
			w.Names = append(w.Names, name)
		}
	}
	if len(w.Names) > 0 {
		w.Source = w.Names[0]
	}
	return w
}

// Writer finds a writer, in a command.
type Writer func(ctx context.Context) Writing

// Known is a writer who is known already; nil: nobody is.
func (w Writing) Known() Writer {
	if w.Source == "" {
		return nil
	}
	return func(context.Context) Writing { return w }
}

const nobodyKnows = "nobody knows who wrote this: only writes through memdesk can be taken back"

// Takeback is the act in a pane that undoes the writes of one writer; of is that of the row at the cursor, nil: nobody knows who.
func Takeback(work *task.Underway, why func() string, of func() Writer) act.Act {
	return act.Takeback.With(act.Unless(why, func() string {
		return cmp.Or(act.When(work.D.Origins == nil, "nothing is noted of who wrote what: memdesk takeback needs a state directory"), work.D.Locked(""), work.D.NoBulk())
	}, func() string { return act.When(of() == nil, nobodyKnows) }), func() tea.Cmd {
		find := of()
		return work.D.Modal.Prepare(func(ctx context.Context) dialog.Proposal {
			w := find(ctx)
			if w.Source == "" {
				return dialog.Proposal{No: work.D.Esc.Const(nobodyKnows)}
			}
			since, plan, err := planTakeback(work.D, ctx, w)
			if err == nil && len(plan) == 0 { // a store's own word on its writer is not noted
				return dialog.Proposal{No: work.D.Esc.Sprintf("nothing is noted that %s wrote since %s: only what went through memdesk can be taken back", work.D.Esc.LineMax(w.Source, prose.MaxTitle), work.D.Esc.Line(w.Since))}
			}
			return dialog.Proposal{Dialog: answerTakeback(work, ctx, w, since, plan, err)}
		})
	})
}

// planTakeback, in a command, finds what would be taken back.
func planTakeback(d *desk.Desk, ctx context.Context, w Writing) (since time.Time, plan []origin.Taken, err error) {
	if since, err = operator.ParseTime("since", w.Since, d.Time.Clock.Now()); err == nil {
		plan, err = d.Origins.PlanTakeback(ctx, w.Source, since)
	}
	return since, plan, err
}

// answerTakeback shows a plan and asks; with nothing to take back, it asks for the writer.
func answerTakeback(work *task.Underway, ctx context.Context, w Writing, since time.Time, plan []origin.Taken, err error) *dialog.Dialog {
	if err != nil {
		return takebackForm(work, w, 1, prose.Reason(work.D.Esc, err).String())
	}
	if len(plan) == 0 {
		return takebackForm(work, w, 0, "Nothing is noted that "+w.Source+" wrote since "+w.Since+".")
	}
	return takebackDialog(work, ctx, w, since, plan)
}

// takebackDialog asks whether to carry out a plan.
func takebackDialog(work *task.Underway, ctx context.Context, w Writing, since time.Time, plan []origin.Taken) *dialog.Dialog {
	esc := work.D.Esc
	counts := origin.Count(plan)
	var rows []text.Line
	var stores []string
	var refs []model.Ref
	for _, t := range plan {
		rows = append(rows, takenLine(esc, t))
		refs = append(refs, model.Ref{Store: t.Store, ID: t.ID})
		if t.Action != origin.ActSkip && !slices.Contains(stores, t.Store) {
			stores = append(stores, t.Store)
		}
	}
	lines := []text.Line{
		{Value: esc.Sprintf("Take back what %s wrote since %s?", esc.LineMax(w.Source, prose.MaxTitle), esc.Line(w.Since)), Kind: text.Title},
		{Value: esc.Sprintf("%s: %s to forget, %s to put back as it was before, %s left.", prose.Plural(len(plan), "item"),
			prose.Group(counts[origin.ActForget]), prose.Group(counts[origin.ActRestore]), prose.Group(counts[origin.ActSkip]))},
	}
	if given := GivenWords(work.D, ctx, refs, since); !given.IsEmpty() { // the operator can ask them what they derived
		lines = append(lines, text.Line{Value: given, Kind: text.Alert})
	}
	lines = append(append(lines, work.D.Environments(stores...)...), text.Advice(esc, "One job. What cannot be taken back is left and named. The text is kept: `z` puts it back."))
	out := &dialog.Dialog{Title: esc.Const("Take back"), Lines: lines, Body: text.NewPage(rows, "")}
	if counts[origin.ActForget]+counts[origin.ActRestore] > 0 {
		if !work.D.TypedStore(stores...).IsEmpty() {
			out.Name = esc.Line(w.Source)
		}
		out.Choices = []dialog.Choice{{Verb: "Take back", Typed: true, Act: func(_ context.Context, f dialog.Filled) dialog.Acted {
			return dialog.Acted{Ok: true, Instead: work.Watching(takebackJob(work.D, plan, f.Reason))}
		}}}
	} else {
		out.NoReason = true
	}
	out.Choices = append(out.Choices, dialog.Choice{Verb: "Change", Run: func() tea.Cmd { return work.D.Modal.Show(takebackForm(work, w, 0, "")) }})
	return out
}

// takenLine is one item of a plan: its fate, and the reason if it stays.
func takenLine(esc safetext.Escaper, t origin.Taken) text.Line {
	word := map[string]string{origin.ActForget: "forget", origin.ActRestore: "put back", origin.ActSkip: "leave"}[t.Action]
	l := text.Line{Name: esc.Const(word), Value: esc.Sprintf("%s, %s", esc.LineMax(model.Ref{Store: t.Store, ID: t.ID}.String(), prose.MaxTitle), esc.Const(prose.Minute(t.At)))}
	if t.Action == origin.ActSkip {
		l.Kind = text.Note
		l.Value = esc.Sprintf("%s: %s", l.Value, esc.LineMax(t.Reason, prose.MaxReason))
	}
	return l
}

// GivenWords says which agents were given some items since a time; empty: none.
func GivenWords(d *desk.Desk, ctx context.Context, refs []model.Ref, since time.Time) safetext.Text {
	given, err := d.Origins.Told(ctx, refs, since)
	if err != nil {
		return d.Esc.Sprintf("who was given them since is not known: %s", prose.Reason(d.Esc, err))
	}
	var who []safetext.Text
	seen := map[string]bool{}
	for _, r := range given {
		if !seen[r.Actor] {
			seen[r.Actor] = true
			who = append(who, d.Esc.LineMax(r.Actor, prose.MaxTitle))
		}
	}
	if len(who) == 0 {
		return safetext.Text{}
	}
	const most = 5
	more := d.Esc.Const("")
	if len(who) > most {
		more = d.Esc.Sprintf(" and %s", prose.Plural(len(who)-most, "other"))
		who = who[:most]
	}
	return d.Esc.Sprintf("given to agents %s since: %s%s", prose.Plural(len(given), "time"), d.Esc.Join(who, ", "), more)
}

// takebackForm asks for the writer and the start time; wrong names the error in a field.
func takebackForm(work *task.Underway, w Writing, at int, wrong string) *dialog.Dialog {
	esc := work.D.Esc
	names := make([]safetext.Text, len(w.Names))
	for i, n := range w.Names {
		names[i] = esc.LineMax(n, prose.MaxTitle)
	}
	lines := []text.Line{
		{Value: esc.Const("Take back everything that one source wrote"), Kind: text.Title},
		{Value: esc.Sprintf("A source is an actor, a session, a client or where a text came from, whole. This writer is known as: %s.", esc.Join(names, "; ")), Kind: text.Note},
		{Value: esc.Const("Since is a day, a moment or a time before now: 2026-05-21, 2026-05-21T10:00:00Z, 36h."), Kind: text.Note},
	}
	out := &dialog.Dialog{Title: esc.Const("Take back"), Lines: lines, NoReason: true, Form: true, Fields: []dialog.Field{{Label: esc.Const("source: ")}, {Label: esc.Const("since: ")}}}
	out.Fields[0].Input.Set(w.Source)
	out.Fields[1].Input.Set(w.Since)
	out.Fields[at].Wrong = esc.LineMax(wrong, prose.MaxReason)
	out.Choices = []dialog.Choice{{Verb: "Preview", Act: func(ctx context.Context, f dialog.Filled) dialog.Acted {
		next := Writing{Source: strings.TrimSpace(f.Fields[0]), Names: w.Names, Since: strings.TrimSpace(f.Fields[1])}
		since, plan, err := planTakeback(work.D, ctx, next)
		return dialog.Acted{Ok: true, Next: answerTakeback(work, ctx, next, since, plan, err)}
	}}}
	return out
}

// takebackJob is the job: one undo entry for each store.
func takebackJob(d *desk.Desk, plan []origin.Taken, why string) *task.Bulk {
	esc := d.Esc
	b := &task.Bulk{Kind: "console-takeback", Title: "take back " + prose.Plural(len(plan), "item"), Noun: "item", Total: len(plan)}
	b.Run = func(ctx context.Context, j operator.Running, b *task.Bulk) error {
		return j.Step(ctx, "takeback", func(ctx context.Context) error {
			done, undone, err := d.Origins.Takeback(context.WithoutCancel(ctx), plan, why)
			b.Locked(func() {
				for _, d := range undone {
					b.Undo = append(b.Undo, d.Undo)
				}
			})
			for _, t := range plan {
				o := task.Outcome{Store: t.Store, Name: t.ID, Ok: true}
				switch {
				case t.Action == origin.ActUnknown:
					o.Ok, o.Word, o.Why = false, "not known", esc.LineMax(t.Reason, prose.MaxReason)
				case t.Action == origin.ActSkip:
					o.Word, o.Why = "left", esc.LineMax(t.Reason, prose.MaxReason)
				case !slices.ContainsFunc(done, func(d origin.Taken) bool { return d.Store == t.Store }):
					o.Ok, o.Word, o.Why = false, "not known", prose.Reason(esc, err)
				case t.Action == origin.ActForget:
					o.Word = "forgotten"
				default:
					o.Word = "put back"
				}
				b.Add(o)
			}
			return err
		})
	}
	return b
}
