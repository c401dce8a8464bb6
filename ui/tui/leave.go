package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/jobs"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// underway is the work of this session, and whether it may end with the console.
type underway struct {
	d       *desk
	bulks   []*bulk   // long work
	ended   []*bulk   // long work that is over, the last first
	exports []*export // files that are being written
	tied    bool      // an erasure was begun that ends with this console
	leaving bool      // ctrl+c was pressed once meanwhile
}

// leaveNow is what the journal knows of work when the operator wants to leave.
type leaveNow struct {
	jobs []jobs.Status
	tied map[jobs.ID]bool
	err  error
}

// atWork reports whether something may end with this console.
func (w *underway) atWork() bool {
	writing := slices.ContainsFunc(w.exports, func(e *export) bool { return !e.ended.Load() })
	return len(w.bulks) > 0 || writing || w.tied
}

// workWords tell of work that goes on behind what is shown.
func (w *underway) workWords() safetext.Text {
	esc := w.d.st.Esc
	switch n := len(w.bulks); {
	case n == 1 && (w.d.app.side == nil || w.d.app.side.bulk != w.bulks[0]):
		b := w.bulks[0]
		return esc.Sprintf("at work: %s, %s of %s; :jobs shows it", jobKind(b.kind), prose.Group(int64(b.done())), prose.Plural(int64(b.total), b.noun))
	case n > 1:
		return esc.Sprintf("at work: %s; :jobs lists them", prose.Plural(int64(n), "job"))
	}
	return safetext.Text{}
}

// leave ends the console, after a question where work of this session would end
// with it.
func (w *underway) leave() tea.Cmd {
	if !w.atWork() {
		return tea.Quit
	}
	runner := w.d.Jobs
	return w.d.ask(func(ctx context.Context) any {
		out := leaveNow{tied: map[jobs.ID]bool{}}
		if runner == nil {
			return out
		}
		all, err := runner.List(ctx)
		out.err = err
		for _, st := range all {
			if underWay(st) {
				out.jobs = append(out.jobs, st)
				out.tied[st.ID] = runner.Tied(st.ID)
			}
		}
		return out
	})
}

// interrupt is ctrl+c: it asks like q, and leaves at once when it is pressed again.
func (w *underway) interrupt() tea.Cmd {
	if w.leaving || !w.atWork() {
		return tea.Quit
	}
	w.leaving = true
	if w.d.app.curtain.down || w.d.app.width == 0 || w.d.app.tooSmall() || w.d.modal.dialog != nil || w.d.edits.editing != nil {
		w.d.say(paint.ToneWarn, w.leaveWarning()) // there is no place for a question
		return nil
	}
	return w.leave()
}

// leaveWarning is for where no question can be asked.
func (w *underway) leaveWarning() safetext.Text {
	return w.d.st.Esc.Const("work of this session is under way: ctrl+c again stops it and leaves; any other key goes on")
}

// leaveNow asks when something would be stopped, and leaves when nothing would.
func (w *underway) leaveNow(m leaveNow) tea.Cmd {
	esc := w.d.esc
	var stops, goes []text.Line
	line := func(st jobs.Status) text.Line {
		return text.Line{Value: esc.Sprintf("- %s: %s (%s)", jobKind(st.Kind), esc.LineMax(st.Title, prose.MaxTitle), jobProgress(esc, st))}
	}
	known := map[jobs.ID]bool{}
	for _, st := range m.jobs {
		known[st.ID] = true
		if m.tied[st.ID] {
			stops = append(stops, line(st))
		} else {
			goes = append(goes, line(st))
		}
	}
	for _, b := range w.bulks {
		if !known[b.jobID()] {
			stops = append(stops, text.Line{Value: esc.Sprintf("- %s: %s (%s of %s)", jobKind(b.kind), b.title, prose.Group(int64(b.done())), prose.Plural(int64(b.total), b.noun))})
		}
	}
	for _, e := range w.exports {
		if !known[e.jobID()] && !e.ended.Load() {
			stops = append(stops, text.Line{Value: esc.Sprintf("- export: %s", e.words(esc))})
		}
	}
	switch {
	case len(stops) == 0:
		return tea.Quit
	case w.d.modal.dialog != nil || w.d.edits.editing != nil || w.d.app.curtain.down: // another question is asked meanwhile
		w.leaving = true
		w.d.say(paint.ToneWarn, w.leaveWarning())
		return nil
	}
	n := int64(len(stops))
	lines := []text.Line{
		{Value: esc.Const("Leave memdesk?"), Kind: text.Title},
		{Value: esc.Sprintf("!! This stops %s of this session after the step under way. What is done stays done, the rest is left as it is.", prose.Plural(n, "job")), Kind: text.Warn},
	}
	lines = append(lines, few(esc, stops)...)
	if m.err != nil {
		lines = append(lines, text.Line{Value: esc.Sprintf("!! What else runs is not known: %s.", prose.Reason(esc, m.err)), Kind: text.Warn})
	}
	if len(goes) > 0 {
		lines = append(lines, text.Line{Value: esc.Sprintf("%s run on their own and go on:", prose.Plural(int64(len(goes)), "job"))})
		lines = append(lines, few(esc, goes)...)
	}
	lines = append(lines, text.Line{Value: esc.Const("Cancel stays here; :jobs lists the work."), Kind: text.Note})
	return w.d.modal.show(&dialog{
		title: esc.Const("Leave"), lines: lines, noReason: true,
		choices:  []choice{{verb: "Stop and leave", run: func() tea.Cmd { return tea.Quit }}},
		canceled: func() tea.Cmd { w.d.say(paint.ToneInfo, esc.Const("you are still here: the work goes on")); return nil },
	})
}

// few names at most five, and counts the rest.
func few(esc safetext.Escaper, lines []text.Line) []text.Line {
	if len(lines) <= 5 {
		return lines
	}
	return append(lines[:4:4], text.Line{Value: esc.Sprintf("- and %s more", prose.Group(int64(len(lines)-4)))})
}
