package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// jobRow is long work as the list shows it.
type jobRow struct {
	jobs.Status
	tied bool // it ends with this console
}

// jobKind is the kind of a job in a word.
func jobKind(kind string) string {
	if kind == "gdpr-erase" {
		return "erasure"
	}
	return strings.TrimPrefix(kind, "console-")
}

func (w *underway) runJobs() tea.Cmd {
	if w.d.Jobs == nil {
		w.d.say(paint.ToneWarn, w.d.st.Esc.Const("there is no journal for long work here, so there are no jobs"))
		return nil
	}
	return openSide(w.d, "Jobs", w.jobsKind())
}

// jobsKind is the list of long work, of this console and of other processes.
func (w *underway) jobsKind() recordKind[jobRow] {
	d := w.d
	return recordKind[jobRow]{
		noun: "job", empty: "No long work is on record: nothing runs, and nothing has run lately.", name: "jobs",
		columns: []column{{"STATE", 13, false}, {"KIND", 11, false}, {"PROGRESS", 26, false}, {"AGE", 5, true}, {"WHAT", 0, false}},
		fetch: func(ctx context.Context, q PageQuery) (span[record[jobRow]], said, error) {
			return d.fetchJobs(ctx, q)
		},
		detail: func(_ context.Context, raw jobRow) *text.Page { return d.jobText(raw) },
		field:  func(raw jobRow) string { return string(raw.ID) }, datum: jobDatum,
		live: func(ctx context.Context) string {
			all, err := d.Jobs.List(ctx)
			return fmt.Sprint(all, err) // compared only
		},
		keys: func(p *records[jobRow]) []act.Act {
			return []act.Act{
				act.Stop.With(func() string { return w.noCancel(p) }, func() tea.Cmd { return w.cancelJob(jobAt(p)) }),
				act.Outcomes.With(p.none, func() tea.Cmd { return w.openOutcomes(p) }),
			}
		},
	}
}

func jobAt(p *records[jobRow]) jobRow {
	r, _ := p.list.current()
	return r.raw
}

func (d *desk) fetchJobs(ctx context.Context, q PageQuery) (span[record[jobRow]], said, error) {
	all, err := d.Jobs.List(ctx)
	if err != nil {
		return span[record[jobRow]]{}, said{}, err
	}
	start := 0
	if q.Cursor != "" {
		if start, err = strconv.Atoi(q.Cursor); err != nil || start < 0 || start > len(all) {
			return span[record[jobRow]]{}, said{}, model.Errorf(model.InvalidInput, "jobs", "this cursor is of another list")
		}
	}
	out := span[record[jobRow]]{total: model.Count{N: int64(len(all)), Unknown: q.Filter != ""}}
	i := start
	for ; i < len(all) && len(out.rows) < q.Limit; i++ {
		row := jobRow{all[i], d.Jobs.Tied(all[i].ID)}
		if q.Matches(string(row.State), jobWord(row.State), jobKind(row.Kind), row.Title, string(row.ID)) {
			out.rows = append(out.rows, d.jobRecord(row))
		}
	}
	if i < len(all) {
		out.next = strconv.Itoa(i)
	}
	running := 0
	for _, st := range all {
		if underWay(st) {
			running++
		}
	}
	return out, said{text: d.esc.Sprintf("%s under way, %s ended or broken off. memdesk jobs lists the same.", prose.Plural(int64(running), "job"), prose.Group(int64(len(all)-running))), calm: true}, nil
}

// underWay reports whether a job is at work or waits for its turn.
func underWay(st jobs.Status) bool {
	return st.State == jobs.Queued || st.State == jobs.Running || st.State == jobs.Paused
}

func (d *desk) jobRecord(row jobRow) record[jobRow] {
	esc := d.esc
	t := paint.ToneInfo
	switch row.State {
	case jobs.Failed:
		t = paint.ToneBad
	case jobs.Interrupted, jobs.Cancelled, jobs.Paused:
		t = paint.ToneWarn
	}
	return record[jobRow]{key: string(row.ID), raw: row, tones: []paint.Tone{t}, cells: []safetext.Text{
		esc.Line(jobWord(row.State)), esc.LineMax(jobKind(row.Kind), prose.MaxTitle), jobProgress(esc, row.Status), esc.Const(d.time.Age(row.Started)), esc.LineMax(row.Title, prose.MaxTitle),
	}}
}

// jobProgress says how far a job is.
func jobProgress(esc safetext.Escaper, st jobs.Status) safetext.Text {
	switch {
	case st.Total > 0 && st.Done <= st.Total:
		return esc.Sprintf("%s of %s, %d%%", prose.Group(st.Done), prose.Plural(st.Total, orWord(st.Unit, "step")), st.Done*100/st.Total)
	case st.Done > 0:
		return esc.Sprintf("%s", prose.Plural(st.Done, orWord(st.Unit, "step")))
	case st.Steps > 0:
		return esc.Sprintf("%s", prose.Plural(int64(st.Steps), "step"))
	}
	return esc.Const("not told yet")
}

func orWord(word, other string) string {
	if word == "" {
		return other
	}
	return word
}

func (d *desk) jobText(row jobRow) *text.Page {
	esc := d.esc
	field := func(name string, v safetext.Text) text.Line { return text.Line{Name: esc.Const(name), Value: v} }
	head := []text.Line{
		{Value: esc.LineMax(row.Title, maxField), Kind: text.Title},
		field("state", esc.Sprintf("%s: %s", jobWord(row.State), esc.Const(jobState(row)))),
		field("progress", jobProgress(esc, row.Status)),
	}
	if underWay(row.Status) {
		word := "does not stop it: it runs on its own"
		if row.tied {
			word = "stops it after the item under way"
		}
		head = append(head, field("leaving", esc.Const(word)))
	}
	head = append(head,
		field("began", esc.Sprintf("%s, %s", prose.Moment(row.Started), d.time.Ago(row.Started))),
		field("last sign", esc.Sprintf("%s, %s", prose.Moment(row.Updated), d.time.Ago(row.Updated))),
		field("took", esc.Const(row.Updated.Sub(row.Started).Round(time.Second).String())),
	)
	if row.Note != "" {
		head = append(head, field("is at", esc.LineMax(row.Note, prose.MaxTitle)))
	}
	if row.Class != "" {
		head = append(head, field("ended by", esc.LineMax(row.Class, prose.MaxTitle)))
	}
	if row.Err != nil {
		head = append(head, text.Line{Name: esc.Const("why"), Value: prose.Reason(esc, row.Err), Kind: text.Warn})
	}
	head = append(head, field("steps", esc.Sprintf("%s in its journal", prose.Plural(int64(row.Steps), "complete step"))),
		field("job", esc.Line(string(row.ID))), field("kind", esc.LineMax(row.Kind, prose.MaxTitle)), field("process", esc.Const(strconv.Itoa(row.PID))))
	return text.NewPage(head, "")
}

// jobWord is a state as the program calls it everywhere: what an operator ends is
// stopped, what ends by itself before its end is broken off. Only a question is
// cancelled.
func jobWord(s jobs.State) string {
	switch s {
	case jobs.Cancelled:
		return "stopped"
	case jobs.Interrupted:
		return "broken off"
	}
	return string(s)
}

// jobState says what a state means and what can be done about it.
func jobState(row jobRow) string {
	switch row.State {
	case jobs.Queued:
		return "it waits for its turn"
	case jobs.Running:
		return "it is at work; C stops it at its next step"
	case jobs.Paused:
		return "it is held at its next step"
	case jobs.Done:
		return "it came to its end"
	case jobs.Cancelled:
		return "it was stopped; what was done stays done" + takeUp(row.Kind)
	case jobs.Failed:
		return "it ended before its end" + takeUp(row.Kind)
	case jobs.Interrupted:
		return "its process is gone; what was done stays done" + takeUp(row.Kind)
	}
	return "another version of memdesk wrote this"
}

// takeUp says how a job that broke off goes on.
func takeUp(kind string) string {
	switch {
	case kind == "gdpr-erase":
		return "; in 6 Erasure r does what is left"
	case kind == "copy":
		return "; the same memdesk copy goes on with it"
	case strings.HasPrefix(kind, "console-export"):
		return "; its file was not made"
	case strings.HasPrefix(kind, "console-"):
		return "; mark what is left and do it again, :undo lists what was done"
	}
	return ""
}

func jobDatum(row jobRow) datum {
	var r datum
	r.add("job", string(row.ID))
	r.add("kind", row.Kind)
	r.add("title", row.Title)
	r.add("state", string(row.State))
	r.add("done", row.Done)
	r.add("total", row.Total)
	r.add("unit", row.Unit)
	r.add("class", row.Class)
	r.add("started", stampOf(row.Started))
	r.add("updated", stampOf(row.Updated))
	return r
}

func (w *underway) noCancel(p *records[jobRow]) string {
	if why := p.none(); why != "" {
		return why
	}
	row := jobAt(p)
	switch {
	case row.State.Ended():
		return "it has ended"
	case row.State == jobs.Interrupted:
		return "its process is gone: there is nothing to stop"
	case w.d.readOnly != "" && !row.tied:
		return "it is not of this session, and this console is read-only: " + w.d.readOnly
	}
	return ""
}

// cancelJob asks whether a job should be stopped.
func (w *underway) cancelJob(row jobRow) tea.Cmd {
	d, esc := w.d, w.d.esc
	lines := []text.Line{
		{Value: esc.Sprintf("Stop the job %q?", row.Title), Kind: text.Title},
		{Value: esc.Sprintf("It is at %s and ends at its next step. What is done stays done, the rest is left as it is.", jobProgress(esc, row.Status))},
	}
	if then := strings.TrimPrefix(takeUp(row.Kind), "; "); then != "" {
		lines = append(lines, text.Line{Value: esc.Sprintf("Later: %s.", esc.Const(then)), Kind: text.Note})
	}
	if !row.tied {
		lines = append(lines, text.Line{Value: esc.Const("!! It is not of this session: somebody else, or an earlier session, began it."), Kind: text.Warn})
	}
	own := w.bulkOf(row.ID)
	return w.d.modal.show(&dialog{title: esc.Const("Stop a job"), lines: lines, noReason: true, choices: []choice{{verb: "Stop it", act: func(ctx context.Context, _ filled) acted {
		if own != nil {
			own.stop()
		}
		err := d.Jobs.Cancel(ctx, row.ID)
		switch {
		case errors.Is(err, model.Conflict), errors.Is(err, jobs.ErrEnded):
			return acted{ok: true, quiet: true, text: esc.Const("it had ended meanwhile"), then: w.d.frame.refresh}
		case err != nil:
			return acted{quiet: true, text: esc.Sprintf("not stopped: %s", prose.Reason(esc, err))}
		}
		return acted{ok: true, quiet: true, text: esc.Const("it stops at its next step"), then: w.d.frame.refresh}
	}}}})
}

// openOutcomes lists what became of each item of a job of this session, and shows
// the job itself where it is of another.
func (w *underway) openOutcomes(p *records[jobRow]) tea.Cmd {
	row := jobAt(p)
	if b := w.bulkOf(row.ID); b != nil {
		return w.openBulk(b, true)
	}
	p.full = true
	return p.layout()
}

// bulkOf is a job of this session, with its outcomes as long as they are kept.
func (w *underway) bulkOf(id jobs.ID) *bulk {
	for _, b := range slices.Concat(w.bulks, w.ended) {
		if id != "" && b.jobID() == id {
			return b
		}
	}
	return nil
}

// bulkIn is the job of this session whose outcomes a list has; nil: it lists something else.
func (w *underway) bulkIn(list listing) *bulk {
	for _, b := range slices.Concat(w.bulks, w.ended) {
		if b.list == list {
			return b
		}
	}
	return nil
}
