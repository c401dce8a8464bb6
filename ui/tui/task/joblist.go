package task

import (
	"cmp"
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
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/record"
)

type jobRow struct {
	jobs.Status
	tied bool // it ends with this console
}

func JobKind(kind string) string {
	if kind == "gdpr-erase" {
		return "erasure"
	}
	return strings.TrimPrefix(kind, "console-")
}

func (w *Underway) OpenJobs() tea.Cmd {
	if w.D.Jobs == nil {
		return w.D.Warn("there is no journal for long work here, so there are no jobs")
	}
	return w.D.Frame.Beside("Jobs", false, w.Jobs)
}

// Jobs is the list of long work, of this console and of other processes.
func (w *Underway) Jobs(address int) desk.Listing { return record.Of(w.D, jobsKind(w), address) }

func jobsKind(w *Underway) record.Kind[jobRow] {
	d := w.D
	return record.Kind[jobRow]{
		Noun: "job", Empty: "No long work is on record: nothing runs, and nothing has run lately.", Name: "jobs", Traits: record.Traits[jobRow]{Badge: 1},
		Columns: []record.Column{{Title: "STATE", Width: 18, Least: 12}, {Title: "KIND", Width: 11, Dim: true}, {Title: "PROGRESS", Width: 26, Least: 19}, {Title: "AGE", Width: 5, Least: 5, Right: true, Dim: true, Age: true}, {Title: "WHAT", Least: 16}},
		Fetch:   w.fetchJobs,
		Detail:  func(_ context.Context, raw jobRow) *text.Page { return jobText(d, raw) },
		Field:   func(raw jobRow) string { return string(raw.ID) },
		Datum: func(row jobRow) desk.Datum {
			return desk.DatumOf("job", string(row.ID), "kind", row.Kind, "title", row.Title, "state", string(row.State), "done", row.Done, "total", row.Total,
				"unit", row.Unit, "class", row.Class, "started", desk.StampOf(row.Started), "updated", desk.StampOf(row.Updated))
		},
		Live: func(ctx context.Context) string {
			all, err := d.Jobs.List(ctx)
			return fmt.Sprint(all, err) // compared only
		},
		Keys: func(p *record.List[jobRow]) []act.Act {
			return []act.Act{
				act.Stop.With(func() string { return noCancel(w, p) }, func() tea.Cmd { return w.cancelJob(p.Here()) }),
				act.Outcomes.With(p.None, func() tea.Cmd { // of a job of another session, the job itself
					if b := w.bulkOf(p.Here().ID); b != nil {
						return w.openBulk(b, true)
					}
					p.Full = true
					return p.Layout()
				}),
			}
		},
	}
}

func (w *Underway) fetchJobs(ctx context.Context, q operator.PageQuery) (record.Page[jobRow], error) {
	d := w.D
	all, err := d.Jobs.List(ctx)
	if err != nil {
		return record.Page[jobRow]{}, err
	}
	return record.Cut(all, "", q, func(_ int, st jobs.Status) (record.Row[jobRow], bool) {
		row := jobRow{st, d.Jobs.Tied(st.ID)}
		return jobRecord(d, row), q.Matches(string(row.State), jobWord(row.State), JobKind(row.Kind), row.Title, string(row.ID))
	})
}

func jobRecord(d *desk.Desk, row jobRow) record.Row[jobRow] {
	esc := d.Esc
	t := map[jobs.State]paint.Tone{
		jobs.Done: paint.ToneGood, jobs.Failed: paint.ToneBad, jobs.Unreadable: paint.ToneBad,
		jobs.Interrupted: paint.ToneWarn, jobs.Cancelled: paint.ToneWarn, jobs.Paused: paint.ToneWarn,
	}[row.State]
	word := jobWord(row.State)
	if how := operator.ErasedHow(row.Status); how != "" {
		word = how
		if how != "complete" {
			t = paint.ToneWarn
		}
	}
	return record.Row[jobRow]{Key: string(row.ID), Raw: row, At: row.Started, Tones: []paint.Tone{t}, Cells: []safetext.Text{
		esc.Line(word), esc.LineMax(JobKind(row.Kind), prose.MaxTitle), JobProgress(esc, row.Status), {}, esc.LineMax(row.Title, prose.MaxTitle),
	}}
}

func JobProgress(esc safetext.Escaper, st jobs.Status) safetext.Text {
	switch {
	case st.Total > 0 && st.Done <= st.Total:
		return esc.Sprintf("%s of %s, %d%%", prose.Group(st.Done), prose.Plural(st.Total, cmp.Or(st.Unit, "step")), st.Done*100/st.Total)
	case st.Done > 0:
		return esc.Sprintf("%s", prose.Plural(st.Done, cmp.Or(st.Unit, "step")))
	case st.Steps > 0:
		return esc.Sprintf("%s", prose.Plural(st.Steps, "step"))
	}
	if st.State.UnderWay() {
		return esc.Const("no step done yet")
	}
	return safetext.Text{}
}

func jobText(d *desk.Desk, row jobRow) *text.Page {
	esc := d.Esc
	head := []text.Line{
		{Value: esc.LineMax(row.Title, desk.MaxField), Kind: text.Title},
		desk.Field("state", esc.Sprintf("%s: %s", jobWord(row.State), esc.Const(jobState(row)))),
		desk.Field("progress", desk.OrElse(JobProgress(esc, row.Status), esc.Const("not counted"))),
	}
	if row.State.UnderWay() {
		word := "does not stop it: it runs on its own"
		if row.tied {
			word = "stops it after the item under way"
		}
		head = append(head, desk.Field("leaving", esc.Const(word)))
	}
	head = append(head,
		desk.Field("began", esc.Sprintf("%s, %s", prose.Moment(row.Started), d.Time.Ago(row.Started))),
		desk.Field("last sign", esc.Sprintf("%s, %s", prose.Moment(row.Updated), d.Time.Ago(row.Updated))),
		desk.Field("took", esc.Const(row.Updated.Sub(row.Started).Round(time.Second).String())),
	)
	if row.Note != "" && operator.ErasedHow(row.Status) == "" {
		head = append(head, desk.Field("is at", esc.LineMax(row.Note, prose.MaxTitle)))
	}
	head = append(head, text.Known(desk.Field("ended by", esc.LineMax(row.Class, prose.MaxTitle)))...)
	if row.Err != nil {
		head = append(head, text.Line{Name: esc.Const("why"), Value: prose.Reason(esc, row.Err), Kind: text.Warn})
	}
	head = append(head, desk.Field("steps", esc.Sprintf("%s in its journal", prose.Plural(row.Steps, "complete step"))),
		desk.Field("job", esc.Line(string(row.ID))), desk.Field("kind", esc.LineMax(row.Kind, prose.MaxTitle)), desk.Field("process", esc.Const(strconv.Itoa(row.PID))))
	return text.NewPage(head, "")
}

// jobWord is a state in the standard word: what an operator ends is stopped, what ends by itself is broken off.
func jobWord(s jobs.State) string {
	return cmp.Or(map[jobs.State]string{jobs.Cancelled: "stopped", jobs.Interrupted: "broken off"}[s], string(s))
}

// jobState says what a state means and what to do about it.
func jobState(row jobRow) string {
	switch row.State {
	case jobs.Queued:
		return "it waits for its turn"
	case jobs.Running:
		return "it is at work; C stops it at its next step"
	case jobs.Paused:
		return "it is held at its next step"
	case jobs.Done:
		if how := operator.ErasedHow(row.Status); how != "" {
			return "it came to its end, and the request is " + how
		}
		if row.Kind == "gdpr-erase" { // of an earlier version
			return "the run came to its end; 6 Erasure says whether the request is complete"
		}
		return "it came to its end"
	case jobs.Cancelled:
		return "it was stopped; what was done stays done" + takeUp(row.Kind)
	case jobs.Failed:
		return "it ended before its end" + takeUp(row.Kind)
	case jobs.Interrupted:
		return "its process is gone; what was done stays done" + takeUp(row.Kind)
	case jobs.Unreadable:
		return "its journal cannot be read, so nothing is known of it"
	}
	return "another version of memdesk wrote this"
}

// takeUp says how to continue a job that broke off.
func takeUp(kind string) string {
	switch {
	case kind == "gdpr-erase":
		return "; in 6 Erasure r does what is left"
	case kind == "copy":
		return "; the same memdesk copy goes on with it"
	case strings.HasPrefix(kind, "console-"):
		return "; mark what is left and do it again, :undo lists what was done"
	}
	return ""
}

func noCancel(w *Underway, p *record.List[jobRow]) string {
	switch row := p.Here(); {
	case p.None() != "":
		return p.None()
	case row.State.Ended():
		return "it has ended"
	case row.State == jobs.Interrupted:
		return "its process is gone: there is nothing to stop"
	case w.D.ReadOnly != "" && !row.tied:
		return "it is not of this session, and this console is read-only: " + w.D.ReadOnly
	}
	return ""
}

func (w *Underway) cancelJob(row jobRow) tea.Cmd {
	d, esc := w.D, w.D.Esc
	lines := []text.Line{
		{Value: esc.Sprintf("Stop the job %q?", row.Title), Kind: text.Title},
		{Value: esc.Sprintf("Progress: %s.", JobProgress(esc, row.Status))},
		{Value: esc.Const("It ends at its next step. What is done stays done, the rest is left as it is.")},
	}
	if then := strings.TrimPrefix(takeUp(row.Kind), "; "); then != "" {
		lines = append(lines, text.Line{Value: esc.Sprintf("Later: %s.", esc.Const(then)), Kind: text.Note})
	}
	if !row.tied {
		lines = append(lines, text.Line{Value: esc.Const("It is not of this session: somebody else, or an earlier session, began it."), Kind: text.Alert})
	}
	own := w.bulkOf(row.ID)
	return w.D.Modal.Show(&dialog.Dialog{Title: esc.Const("Stop a job"), Lines: lines, NoReason: true, Choices: []dialog.Choice{{Verb: "Stop it", Act: func(ctx context.Context, _ dialog.Filled) dialog.Acted {
		if own != nil {
			own.Stop()
		}
		err := d.Jobs.Cancel(ctx, row.ID)
		switch {
		case errors.Is(err, model.Conflict), errors.Is(err, jobs.ErrEnded):
			return dialog.Acted{Ok: true, Quiet: true, Text: esc.Const("it had ended meanwhile"), Then: w.D.Frame.Refresh}
		case err != nil:
			return dialog.Acted{Quiet: true, Text: esc.Sprintf("not stopped: %s", prose.Reason(esc, err))}
		}
		return dialog.Acted{Ok: true, Quiet: true, Text: esc.Const("it stops at its next step"), Then: w.D.Frame.Refresh}
	}}}})
}

// bulkOf is a job of this session, with its outcomes while they are kept.
func (w *Underway) bulkOf(id jobs.ID) *Bulk {
	return w.bulkThat(func(b *Bulk) bool { return id != "" && b.JobID() == id })
}

// BulkIn is the job of this session whose outcomes a list shows; nil: another list.
func (w *Underway) BulkIn(list desk.Listing) *Bulk {
	return w.bulkThat(func(b *Bulk) bool { return b.list == list })
}

func (w *Underway) bulkThat(is func(*Bulk) bool) *Bulk {
	all := slices.Concat(w.Bulks, w.ended)
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}
