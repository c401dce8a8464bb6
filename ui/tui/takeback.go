package tui

import (
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
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// takebacks take back what a writer wrote.
type takebacks struct {
	d    *desk
	work *underway
}

// writing is whose writes are to be taken back, and since when.
type writing struct {
	source string
	names  []string // under which the writer is known; any of them is a source
	since  string   // a day or a moment, as it is typed
}

// writingOf is a writer whose writes since the day of one of them are to be taken back.
func writingOf(r origin.Row) writing {
	w := writing{since: r.At.UTC().Format(time.DateOnly)}
	client := r.Client
	if r.Version != "" {
		client += "/" + r.Version
	}
	for _, name := range []string{r.Actor, r.Session, client, r.Source()} {
		if name != "" && name != origin.Unknown && !slices.Contains(w.names, name) {
			w.names = append(w.names, name)
		}
	}
	if len(w.names) > 0 {
		w.source = w.names[0]
	}
	return w
}

// key is the act in a pane; of finds the writer of the row at the cursor, in a command.
func (tb *takebacks) key(why func() string, of func() func(ctx context.Context) (writing, bool)) act.Act {
	return act.Takeback.With(act.Unless(why, tb.refusal), func() tea.Cmd {
		find := of()
		return tb.d.modal.propose(func(ctx context.Context) (*dialog, safetext.Text) {
			w, ok := find(ctx)
			if !ok || w.source == "" {
				return nil, tb.d.esc.Const("nobody knows who wrote this: only what went through memdesk can be taken back")
			}
			return tb.propose(ctx, w), safetext.Text{}
		})
	})
}

func (tb *takebacks) refusal() string {
	if tb.d.Origins == nil {
		return "nothing is noted of who wrote what: memdesk takeback needs a state directory"
	}
	if why := tb.d.locked(""); why != "" {
		return why
	}
	return tb.d.noBulk()
}

// propose shows what would happen and asks, or asks whose writes are meant where
// there is nothing to take back. It runs in a command.
func (tb *takebacks) propose(ctx context.Context, w writing) *dialog {
	since, err := operator.ParseSince(w.since, tb.d.time.Clock.Now())
	if err != nil {
		return tb.form(w, 1, prose.Reason(tb.d.esc, err).String())
	}
	plan, err := tb.d.Origins.PlanTakeback(ctx, w.source, since)
	if err != nil {
		return tb.form(w, 1, prose.Reason(tb.d.esc, err).String())
	}
	if len(plan) == 0 {
		return tb.form(w, 0, "Nothing is noted that "+w.source+" wrote since "+w.since+".")
	}
	return tb.question(ctx, w, since, plan)
}

// question asks whether a plan should be done.
func (tb *takebacks) question(ctx context.Context, w writing, since time.Time, plan []origin.Taken) *dialog {
	esc := tb.d.esc
	counts := map[string]int64{}
	var rows, environments []text.Line
	var stores []string
	for _, t := range plan {
		counts[t.Action]++
		rows = append(rows, takenLine(esc, t))
		if t.Action != origin.ActSkip && !slices.Contains(stores, t.Store) {
			stores = append(stores, t.Store)
			environments = append(environments, tb.d.environmentOf(t.Store)...)
		}
	}
	lines := []text.Line{
		{Value: esc.Sprintf("Take back what %s wrote since %s?", esc.LineMax(w.source, prose.MaxTitle), esc.Line(w.since)), Kind: text.Title},
		{Value: esc.Sprintf("%s: %s to forget, %s to put back as it was before, %s left.", prose.Plural(int64(len(plan)), "item"),
			prose.Group(counts[origin.ActForget]), prose.Group(counts[origin.ActRestore]), prose.Group(counts[origin.ActSkip]))},
	}
	if told := tb.toldWords(ctx, plan, since); !told.IsEmpty() {
		lines = append(lines, text.Line{Value: told, Kind: text.Warn})
	}
	lines = append(append(lines, environments...), text.Line{Value: esc.Const("One job, each store as a whole. What goes is kept: z puts it back."), Kind: text.Note})
	out := &dialog{title: esc.Const("Take back"), lines: lines, body: text.NewPage(rows, "")}
	if counts[origin.ActForget]+counts[origin.ActRestore] > 0 {
		for _, name := range stores {
			if s, err := tb.d.fleet.Store(name); err == nil && isProduction(s.Environment) {
				out.name = esc.Line(w.source).String()
			}
		}
		out.choices = []choice{{verb: "Take back", typed: true, act: func(_ context.Context, f filled) acted {
			return acted{ok: true, instead: tb.work.watching(tb.begin(plan, f.reason))}
		}}}
	} else {
		out.noReason = true
	}
	out.choices = append(out.choices, choice{verb: "Change", run: func() tea.Cmd { return tb.d.modal.show(tb.form(w, 0, "")) }})
	return out
}

// takenLine is one item of a plan: what would become of it, and why it stays.
func takenLine(esc safetext.Escaper, t origin.Taken) text.Line {
	word := map[string]string{origin.ActForget: "forget", origin.ActRestore: "put back", origin.ActSkip: "leave"}[t.Action]
	l := text.Line{Name: esc.Const(word), Value: esc.Sprintf("%s, %s", esc.LineMax(model.Ref{Store: t.Store, ID: t.ID}.String(), prose.MaxTitle), esc.Const(prose.Minute(t.At)))}
	if t.Action == origin.ActSkip {
		l.Kind = text.Note
		l.Value = esc.Sprintf("%s: %s", l.Value, esc.LineMax(t.Reason, prose.MaxReason))
	}
	return l
}

// toldWords say which agents were given the items since, so that they can be asked what they
// made of them.
func (tb *takebacks) toldWords(ctx context.Context, plan []origin.Taken, since time.Time) safetext.Text {
	var refs []model.Ref
	for _, t := range plan {
		refs = append(refs, model.Ref{Store: t.Store, ID: t.ID})
	}
	if words := tb.givenWords(ctx, refs, since); !words.IsEmpty() {
		return tb.d.esc.Sprintf("!! %s", words)
	}
	return safetext.Text{}
}

// givenWords say which agents were given some items since a time; empty: none.
func (tb *takebacks) givenWords(ctx context.Context, refs []model.Ref, since time.Time) safetext.Text {
	given, err := tb.d.Origins.Told(ctx, refs, since)
	if err != nil {
		return tb.d.esc.Sprintf("who was given them since is not known: %s", prose.Reason(tb.d.esc, err))
	}
	var who []safetext.Text
	seen := map[string]bool{}
	for _, r := range given {
		if !seen[r.Actor] {
			seen[r.Actor] = true
			who = append(who, tb.d.esc.LineMax(r.Actor, prose.MaxTitle))
		}
	}
	if len(who) == 0 {
		return safetext.Text{}
	}
	const most = 5
	more := tb.d.esc.Const("")
	if len(who) > most {
		more = tb.d.esc.Sprintf(" and %s", prose.Plural(int64(len(who)-most), "other"))
		who = who[:most]
	}
	return tb.d.esc.Sprintf("given to agents %s since: %s%s", prose.Plural(int64(len(given)), "time"), tb.d.esc.Join(who, ", "), more)
}

// form asks whose writes are meant and since when; wrong says what to put right in a field.
func (tb *takebacks) form(w writing, at int, wrong string) *dialog {
	esc := tb.d.esc
	names := make([]safetext.Text, len(w.names))
	for i, n := range w.names {
		names[i] = esc.LineMax(n, prose.MaxTitle)
	}
	lines := []text.Line{
		{Value: esc.Const("Take back everything that one source wrote"), Kind: text.Title},
		{Value: esc.Sprintf("A source is an actor, a session, a client or where a text came from, whole. This writer is known as: %s.", esc.Join(names, "; ")), Kind: text.Note},
		{Value: esc.Const("Since is a day, a moment or a time before now: 2026-05-21, 2026-05-21T10:00:00Z, 36h."), Kind: text.Note},
	}
	out := &dialog{title: esc.Const("Take back"), lines: lines, noReason: true, form: true, fields: []field{{label: esc.Const("source: ")}, {label: esc.Const("since: ")}}}
	out.fields[0].input.Set(w.source)
	out.fields[1].input.Set(w.since)
	out.fields[at].wrong = esc.LineMax(wrong, prose.MaxReason)
	out.choices = []choice{{verb: "Preview", act: func(ctx context.Context, f filled) acted {
		next := writing{source: strings.TrimSpace(f.fields[0]), names: w.names, since: strings.TrimSpace(f.fields[1])}
		return acted{ok: true, next: tb.propose(ctx, next)}
	}}}
	return out
}

// begin is the job: each store as a whole or not at all.
func (tb *takebacks) begin(plan []origin.Taken, why string) *bulk {
	esc := tb.d.esc
	b := &bulk{kind: "console-takeback", title: "take back " + prose.Plural(int64(len(plan)), "item"), noun: "item", total: len(plan)}
	b.run = func(ctx context.Context, j Job, b *bulk) error {
		return j.Step(ctx, "takeback", func(ctx context.Context) error {
			undone, err := tb.d.Origins.Takeback(context.WithoutCancel(ctx), plan, why)
			b.mu.Lock()
			b.undo = append(b.undo, undone...)
			b.mu.Unlock()
			for _, t := range plan {
				o := outcome{store: t.Store, name: t.ID, ok: true}
				switch {
				case t.Action == origin.ActSkip:
					o.word, o.why = "left", esc.LineMax(t.Reason, prose.MaxReason)
				case err != nil:
					o.ok, o.word, o.why = false, "not known", prose.Reason(esc, err)
				case t.Action == origin.ActForget:
					o.word = "forgotten"
				default:
					o.word = "put back"
				}
				b.add(o)
			}
			return err
		})
	}
	return b
}
