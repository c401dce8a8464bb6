package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/jobs"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// leaver is the way out: it asks first while work of this session is under way.
type leaver struct {
	a      *App
	d      *bench
	warned bool // ctrl+c was pressed once meanwhile
}

// leaveNow is what the journal knows of work when the operator wants to leave.
type leaveNow struct {
	jobs []jobs.Status
	tied map[jobs.ID]bool
	err  error
}

// atWork reports whether something may end with this console.
func (l *leaver) atWork() bool { return len(l.d.work.bulks) > 0 || l.d.exports.atWork() || l.d.tied }

// leave ends the console, after a question where work of this session would end
// with it.
func (l *leaver) leave() tea.Cmd {
	if !l.atWork() {
		return tea.Quit
	}
	runner := l.d.Jobs
	return l.d.ask(func(ctx context.Context) any {
		out := leaveNow{tied: map[jobs.ID]bool{}}
		then := onLoop(func() tea.Cmd { return l.leaveNow(out) })
		if runner == nil {
			return then
		}
		all, err := runner.List(ctx)
		out.err = err
		for _, st := range all {
			if underWay(st) {
				out.jobs = append(out.jobs, st)
				out.tied[st.ID] = runner.Tied(st.ID)
			}
		}
		return then
	})
}

// interrupt is ctrl+c: it asks like q, and leaves at once when it is pressed again.
func (l *leaver) interrupt() tea.Cmd {
	if l.warned || !l.atWork() {
		return tea.Quit
	}
	l.warned = true
	if l.a.curtain.down || l.a.width == 0 || l.a.tooSmall() || l.d.modal.dialog != nil || l.d.edits.editing != nil {
		l.d.say(paint.ToneWarn, l.leaveWarning()) // there is no place for a question
		return nil
	}
	return l.leave()
}

// leaveWarning is for where no question can be asked.
func (l *leaver) leaveWarning() safetext.Text {
	return l.d.st.Esc.Const("work of this session is under way: ctrl+c again stops it and leaves; any other key goes on")
}

// leaveNow asks when something would be stopped, and leaves when nothing would.
func (l *leaver) leaveNow(m leaveNow) tea.Cmd {
	esc := l.d.esc
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
	for _, b := range l.d.work.bulks {
		if !known[b.jobID()] {
			stops = append(stops, text.Line{Value: esc.Sprintf("- %s: %s (%s of %s)", jobKind(b.kind), b.title, prose.Group(int64(b.done())), prose.Plural(int64(b.total), b.noun))})
		}
	}
	for _, e := range l.d.exports.files {
		if !known[e.jobID()] && !e.ended.Load() {
			stops = append(stops, text.Line{Value: esc.Sprintf("- export: %s", e.words(esc))})
		}
	}
	switch {
	case len(stops) == 0:
		return tea.Quit
	case l.d.modal.dialog != nil || l.d.edits.editing != nil || l.a.curtain.down: // another question is asked meanwhile
		l.warned = true
		l.d.say(paint.ToneWarn, l.leaveWarning())
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
	return l.d.modal.show(&dialog{
		title: esc.Const("Leave"), lines: lines, noReason: true,
		choices:  []choice{{verb: "Stop and leave", run: func() tea.Cmd { return tea.Quit }}},
		canceled: func() tea.Cmd { l.d.say(paint.ToneInfo, esc.Const("you are still here: the work goes on")); return nil },
	})
}

// few names at most five, and counts the rest.
func few(esc safetext.Escaper, lines []text.Line) []text.Line {
	if len(lines) <= 5 {
		return lines
	}
	return append(lines[:4:4], text.Line{Value: esc.Sprintf("- and %s more", prose.Group(int64(len(lines)-4)))})
}
