package linear

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/task"
)

// linearEvery is the pause between two progress lines of long work.
const linearEvery = 10 * time.Second

// do runs a command of the console and handles what comes: a question, a text to edit, a page, a list.
func (l *linear) do(cmd tea.Cmd) {
	a := l.a
	defer func() { l.stale = false }()
	l.drain(cmd)
	for !l.leaving {
		switch {
		case a.D.Modal.Dialog != nil:
			l.asked, a.D.Modal.Dialog = a.D.Modal.Dialog, nil
			l.drain(l.converse(l.asked))
			l.asked = nil
		case a.D.Edits.Editing != nil:
			l.drain(l.compose(a.D.Edits.Editing))
		case a.Pages.Overlay != nil:
			page := a.Pages.Overlay
			a.Pages.Overlay = nil
			l.say("%s.", page.Title)
			l.read(page.Pager.Text)
		case l.another():
			if side := a.Side; side == nil || a.D.Work.BulkIn(side.List) == nil {
				l.again()
			} else {
				l.jobEnded(a.D.Work.BulkIn(side.List))
			}
		case l.stale && len(l.board.keys) == 0: // no number of an empty list can change its meaning
			l.again()
		default:
			if l.stale {
				l.say("The numbers stay as they are; refresh reads %s as they are now.", l.called())
			}
			return
		}
	}
}

// drain runs commands at once and takes their messages one by one until none runs or the session ends.
func (l *linear) drain(cmd tea.Cmd) {
	msgs := make(chan tea.Msg)
	under := 0
	start := func(c tea.Cmd) {
		if c != nil {
			under++
			go func() { msgs <- c() }()
		}
	}
	start(cmd)
	tick := time.NewTicker(linearEvery)
	defer tick.Stop()
	deaf := false
	for under > 0 {
		var lines <-chan heardLine
		if l.working() && !deaf {
			lines = l.ear.listen("")
		}
		select {
		case m := <-msgs:
			under--
			if batch, ok := m.(tea.BatchMsg); ok {
				for _, c := range batch {
					start(c)
				}
				continue
			}
			start(l.take(m))
			if l.told == "" {
				l.progress()
			}
		case h := <-lines:
			l.ear.busy = false
			deaf = h.err != nil
			l.interrupt(h)
		case <-tick.C:
			l.progress()
		}
	}
}

func (l *linear) take(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case loop.Reply:
		if done, ok := m.Msg.(dialog.Acted); ok && !done.Quiet {
			l.prefix = "Done: "
			if !done.Ok {
				l.prefix = "NOT done: "
			}
			l.stale = l.stale || done.Ok
			defer func() {
				l.prefix = ""
				if n := len(done.Undo); n > 0 {
					l.say("undo %s undoes it.", done.Undo[n-1])
				}
			}()
		}
		return l.a.Deliver(m)
	case tea.QuitMsg:
		l.leaving = true
	case loop.Crash:
		l.say("Failed: an internal error in %s; an act that was under way is an open intent in the audit log.", string(m))
	}
	return nil // a message for a screen
}

// later delays a message that needs no screen: the question whether a removed copy has returned.
func (l *linear) later(pane int) func(time.Duration, any) tea.Cmd {
	return func(pause time.Duration, msg any) tea.Cmd {
		if _, ok := msg.(loop.Someday); ok {
			l.due = append(l.due, later{time.NewTimer(pause), loop.Reply{Pane: pane, Msg: msg}})
		}
		return nil
	}
}

func (l *linear) elapsed() {
	for range l.due {
		d := l.due[0]
		l.due = l.due[1:]
		select {
		case <-d.at.C:
			l.do(l.a.Deliver(d.msg))
		default:
			l.due = append(l.due, d)
		}
	}
}

// working reports whether running work can be stopped.
func (l *linear) working() bool {
	return len(l.a.D.Work.Bulks) > 0 || l.asked != nil && l.asked.Stop != nil
}

// interrupt takes a line typed during work: stop ends the work, anything else is the next command.
func (l *linear) interrupt(h heardLine) {
	if h.err != nil || !strings.EqualFold(strings.TrimSpace(h.text), "stop") {
		l.ear.ahead = append(l.ear.ahead, h)
		return
	}
	for _, b := range l.a.D.Work.Bulks {
		b.Stop()
		b.Cancel()
	}
	if l.asked != nil && l.asked.Stop != nil {
		l.asked.Stop()
	}
	l.say("Stopping.")
	_ = l.out.Flush()
}

// progress says once how to stop long work, and then its progress when that has changed.
func (l *linear) progress() {
	for _, b := range l.a.D.Work.Bulks {
		s := b.Progress(l.esc)
		if l.told == "" {
			s = l.esc.Sprintf("Long work has begun: %s. Type stop to end it; what is done stays done.", b.Title)
		}
		if s.String() != l.told {
			l.told = s.String()
			l.sentence(s)
			_ = l.out.Flush()
		}
	}
}

// jobEnded reads out the failures of long work that has just ended; without one the list before is on the screen again.
func (l *linear) jobEnded(b *task.Bulk) {
	l.told = ""
	failed := 0
	if b.Locked(func() { failed = b.Failed }); failed > 0 {
		l.say("Not done:")
		l.again() // it is over: a list like any other
		return
	}
	l.a.Side = l.board.side
	l.stale = b.Then == nil // else it only looked
}
