package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/jobs"
)

// leaveNow is what the journal knows of work when the operator wants to leave.
type leaveNow struct {
	jobs []jobs.Status
	tied map[jobs.ID]bool
	err  error
}

// atWork reports whether something may end with this console.
func (a *App) atWork() bool {
	writing := slices.ContainsFunc(a.exports, func(e *export) bool { return !e.ended.Load() })
	return len(a.bulks) > 0 || writing || a.tied
}

// workWords tell of work that goes on behind what is shown.
func (a *App) workWords() safetext.Text {
	esc := a.d.st.esc
	switch n := len(a.bulks); {
	case n == 1 && (a.side == nil || a.side.bulk != a.bulks[0]):
		b := a.bulks[0]
		return esc.Sprintf("at work: %s, %s of %s; :jobs shows it", jobKind(b.kind), group(int64(b.done())), plural(int64(b.total), b.noun))
	case n > 1:
		return esc.Sprintf("at work: %s; :jobs lists them", plural(int64(n), "job"))
	}
	return safetext.Text{}
}

// leave ends the console, after a question where work of this session would end
// with it.
func (a *App) leave() tea.Cmd {
	if !a.atWork() {
		return tea.Quit
	}
	runner := a.d.jobs
	return a.ask(func(ctx context.Context) any {
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
func (a *App) interrupt() tea.Cmd {
	if a.leaving || !a.atWork() {
		return tea.Quit
	}
	a.leaving = true
	if a.locked || a.width == 0 || a.tooSmall() || a.dialog != nil || a.editing != nil {
		a.say(toneWarn, a.leaveWarning()) // there is no place for a question
		return nil
	}
	return a.leave()
}

// leaveWarning is for where no question can be asked.
func (a *App) leaveWarning() safetext.Text {
	return a.d.st.esc.Const("work of this session is under way: ctrl+c again stops it and leaves; any other key goes on")
}

// leaveNow asks when something would be stopped, and leaves when nothing would.
func (a *App) leaveNow(m leaveNow) tea.Cmd {
	esc := a.d.esc
	var stops, goes []headLine
	line := func(st jobs.Status) headLine {
		return headLine{value: esc.Sprintf("- %s: %s (%s)", jobKind(st.Kind), esc.LineMax(st.Title, maxTitle), jobProgress(esc, st))}
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
	for _, b := range a.bulks {
		if !known[b.jobID()] {
			stops = append(stops, headLine{value: esc.Sprintf("- %s: %s (%s of %s)", jobKind(b.kind), b.title, group(int64(b.done())), plural(int64(b.total), b.noun))})
		}
	}
	for _, e := range a.exports {
		if !known[e.jobID()] && !e.ended.Load() {
			stops = append(stops, headLine{value: esc.Sprintf("- export: %s", e.words(esc))})
		}
	}
	switch {
	case len(stops) == 0:
		return tea.Quit
	case a.dialog != nil || a.editing != nil || a.locked: // another question is asked meanwhile
		a.leaving = true
		a.say(toneWarn, a.leaveWarning())
		return nil
	}
	n := int64(len(stops))
	lines := []headLine{
		{value: esc.Const("Leave memdesk?"), kind: headTitle},
		{value: esc.Sprintf("!! This stops %s of this session after the step under way. What is done stays done, the rest is left as it is.", plural(n, "job")), kind: headWarn},
	}
	lines = append(lines, few(esc, stops)...)
	if m.err != nil {
		lines = append(lines, headLine{value: esc.Sprintf("!! What else runs is not known: %s.", reason(esc, m.err)), kind: headWarn})
	}
	if len(goes) > 0 {
		lines = append(lines, headLine{value: esc.Sprintf("%s run on their own and go on:", plural(int64(len(goes)), "job"))})
		lines = append(lines, few(esc, goes)...)
	}
	lines = append(lines, headLine{value: esc.Const("Cancel stays here; :jobs lists the work."), kind: headNote})
	return a.show(&dialog{
		title: esc.Const("Leave"), lines: lines, noReason: true,
		choices:  []choice{{verb: "Stop and leave", run: func() tea.Cmd { return tea.Quit }}},
		canceled: func() tea.Cmd { a.say(toneInfo, esc.Const("you are still here: the work goes on")); return nil },
	})
}

// few names at most five, and counts the rest.
func few(esc safetext.Escaper, lines []headLine) []headLine {
	if len(lines) <= 5 {
		return lines
	}
	return append(lines[:4:4], headLine{value: esc.Sprintf("- and %s more", group(int64(len(lines)-4)))})
}
