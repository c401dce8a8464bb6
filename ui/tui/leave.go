package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/jobs"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/task"
)

// leaver ends the console: it asks first while work of this session is running.
type leaver struct {
	a      *App
	d      *pane.Bench
	warned bool // ctrl+c was pressed once meanwhile
}

// leaveNow is the running work when the operator wants to leave.
type leaveNow struct {
	jobs []jobs.Status
	tied map[jobs.ID]bool
	err  error
}

// atWork reports whether something may end with this console.
func (l *leaver) atWork() bool { return len(l.d.Work.Bulks) > 0 || l.d.Exports.AtWork() || l.d.Tied }

// leave ends the console, after a question where running work of this session would end too.
func (l *leaver) leave() tea.Cmd {
	if !l.atWork() {
		return tea.Quit
	}
	runner := l.d.Jobs
	return l.d.Ask(func(ctx context.Context) any {
		out := leaveNow{tied: map[jobs.ID]bool{}}
		then := loop.Then(func() tea.Cmd { return l.leaveNow(out) })
		if runner == nil {
			return then
		}
		all, err := runner.List(ctx)
		out.err = err
		for _, st := range all {
			if task.UnderWay(st) {
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
	if l.a.Curtain.down || l.a.width == 0 || l.a.tooSmall() || l.d.Modal.Dialog != nil || l.d.Edits.Editing != nil {
		l.d.Say(paint.ToneWarn, l.leaveWarning()) // no question can be shown
		return nil
	}
	return l.leave()
}

// leaveWarning is for a screen without room for a question.
func (l *leaver) leaveWarning() safetext.Text {
	return l.d.St.Esc.Const("work of this session is under way: ctrl+c again stops it and leaves; any other key goes on")
}

// leaveNow asks if leaving would stop work, and else leaves.
func (l *leaver) leaveNow(m leaveNow) tea.Cmd {
	esc := l.d.Esc
	var stops, goes []text.Line
	line := func(st jobs.Status) text.Line {
		return text.Line{Value: esc.Sprintf("- %s: %s (%s)", task.JobKind(st.Kind), esc.LineMax(st.Title, prose.MaxTitle), task.JobProgress(esc, st))}
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
	for _, b := range l.d.Work.Bulks {
		if !known[b.JobID()] {
			stops = append(stops, text.Line{Value: esc.Sprintf("- %s: %s (%s of %s)", task.JobKind(b.Kind), b.Title, prose.Group(int64(b.Done())), prose.Plural(int64(b.Total), b.Noun))})
		}
	}
	for _, e := range l.d.Exports.Files {
		if !known[e.JobID()] && !e.Ended.Load() {
			stops = append(stops, text.Line{Value: esc.Sprintf("- export: %s", e.Words(esc))})
		}
	}
	switch {
	case len(stops) == 0:
		return tea.Quit
	case l.d.Modal.Dialog != nil || l.d.Edits.Editing != nil || l.a.Curtain.down: // another question is open
		l.warned = true
		l.d.Say(paint.ToneWarn, l.leaveWarning())
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
	return l.d.Modal.Show(&dialog.Dialog{
		Title: esc.Const("Leave"), Lines: lines, NoReason: true,
		Choices:  []dialog.Choice{{Verb: "Stop and leave", Run: func() tea.Cmd { return tea.Quit }}},
		Canceled: func() tea.Cmd { l.d.Say(paint.ToneInfo, esc.Const("you are still here: the work goes on")); return nil },
	})
}

// few names at most five, and counts the rest.
func few(esc safetext.Escaper, lines []text.Line) []text.Line {
	if len(lines) <= 5 {
		return lines
	}
	return append(lines[:4:4], text.Line{Value: esc.Sprintf("- and %s more", prose.Group(int64(len(lines)-4)))})
}
