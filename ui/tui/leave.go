package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/jobs"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/task"
)

// leaver ends the console: it asks first while work of this session is running.
type leaver struct {
	a      *App
	warned bool // ctrl+c was pressed once meanwhile
}

// atWork reports whether something may end with this console.
func (l *leaver) atWork() bool {
	d := l.a.D.Modal.Dialog
	return d != nil && d.Busy || len(l.a.D.Work.Bulks) > 0 || l.a.D.Exports.AtWork() || l.a.D.Tied
}

// leave ends the console, after a question where running work of this session would end too.
func (l *leaver) leave() tea.Cmd {
	if !l.atWork() {
		return tea.Quit
	}
	runner := l.a.D.Jobs
	return l.a.D.Ask(func(ctx context.Context) any {
		var running []jobs.Status
		var err error
		tied := map[jobs.ID]bool{}
		if runner != nil {
			running, err = runner.List(ctx)
			running = slices.DeleteFunc(running, func(st jobs.Status) bool { return !st.State.UnderWay() })
		}
		for _, st := range running {
			tied[st.ID] = runner.Tied(st.ID)
		}
		return loop.Then(func() tea.Cmd { return l.leaveNow(running, tied, err) })
	})
}

// interrupt is ctrl+c: it asks like q, and leaves at once when it is pressed again.
func (l *leaver) interrupt() tea.Cmd {
	if l.warned || !l.atWork() {
		return tea.Quit
	}
	l.warned = true
	if l.a.Curtain.down || l.a.width == 0 || tooSmall(l.a) || l.a.D.Modal.Dialog != nil || l.a.D.Edits.Editing != nil {
		return l.a.D.Warn("%s", l.leaveWarning()) // no question can be shown
	}
	return l.leave()
}

// leaveWarning is for a screen without room for a question.
func (l *leaver) leaveWarning() safetext.Text {
	return l.a.D.Esc.Const("work of this session is under way: ctrl+c again stops it and leaves; any other key goes on")
}

// leaveNow leaves, after a question where that stops work; tied are jobs that end here, unknown is the error of listing.
func (l *leaver) leaveNow(running []jobs.Status, tied map[jobs.ID]bool, unknown error) tea.Cmd {
	esc := l.a.D.Esc
	var stops, goes []text.Line
	line := func(st jobs.Status) text.Line {
		return text.Line{Value: esc.Sprintf("- %s: %s (%s)", task.JobKind(st.Kind), esc.LineMax(st.Title, prose.MaxTitle), task.JobProgress(esc, st))}
	}
	for _, st := range running {
		if tied[st.ID] {
			stops = append(stops, line(st))
		} else {
			goes = append(goes, line(st))
		}
	}
	for _, b := range l.a.D.Work.Bulks {
		if _, listed := tied[b.JobID()]; !listed {
			stops = append(stops, text.Line{Value: esc.Sprintf("- %s: %s (%s of %s)", task.JobKind(b.Kind), b.Title, prose.Group(b.Done()), prose.Plural(b.Total, b.Noun))})
		}
	}
	for _, e := range l.a.D.Exports.Files {
		if !e.Ended.Load() {
			stops = append(stops, text.Line{Value: esc.Sprintf("- export: %s", e.Words(esc))})
		}
	}
	switch {
	case len(stops) == 0 && unknown == nil:
		return tea.Quit
	case l.a.D.Modal.Dialog != nil || l.a.D.Edits.Editing != nil || l.a.Curtain.down: // another question is open
		l.warned = true
		return l.a.D.Warn("%s", l.leaveWarning())
	}
	lines := []text.Line{{Value: esc.Const("Leave memdesk?"), Kind: text.Title}}
	if n := len(stops); n > 0 {
		lines = append(lines, text.Line{Value: esc.Sprintf("This stops %s of this session after the step under way, unless it has ended meanwhile. What is done stays done, the rest is left as it is.", prose.Plural(n, "job")), Kind: text.Alert})
		lines = append(lines, few(esc, stops)...)
	}
	if unknown != nil {
		lines = append(lines, text.Line{Value: esc.Sprintf("What else runs, and would stop, is not known: %s.", prose.Reason(esc, unknown)), Kind: text.Alert})
	}
	if len(goes) > 0 {
		lines = append(lines, text.Line{Value: esc.Sprintf("%s run on their own and go on:", prose.Plural(len(goes), "job"))})
		lines = append(lines, few(esc, goes)...)
	}
	lines = append(lines, text.Line{Value: esc.Const("Cancel stays here; :jobs lists the work."), Kind: text.Note})
	return l.a.D.Modal.Show(&dialog.Dialog{
		Title: esc.Const("Leave"), Lines: lines, NoReason: true,
		Choices:  []dialog.Choice{{Verb: "Stop and leave", Run: func() tea.Cmd { return tea.Quit }}},
		Canceled: func() tea.Cmd { return l.a.D.Tell("you are still here: the work goes on") },
	})
}

// few names at most five, and counts the rest.
func few(esc safetext.Escaper, lines []text.Line) []text.Line {
	if len(lines) <= 5 {
		return lines
	}
	return append(lines[:4:4], text.Line{Value: esc.Sprintf("- and %s more", prose.Group(len(lines)-4))})
}
