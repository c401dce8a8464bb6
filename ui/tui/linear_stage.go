package tui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/model"
)

// linearEvery is the pause between two words on long work.
const linearEvery = 10 * time.Second

// do carries a command of the console out and goes on with what comes of it: a
// question, a text to be written, a page, a list.
func (l *linear) do(ctx context.Context, cmd tea.Cmd) {
	a := l.a
	l.cancelled = false
	l.drain(cmd)
	for !l.leaving {
		switch {
		case a.d.modal.dialog != nil:
			d := a.d.modal.dialog
			a.d.modal.dialog = nil
			l.drain(l.converse(ctx, d))
			l.stop = nil
		case a.d.edits.editing != nil:
			l.drain(l.compose(ctx, a.d.edits.editing))
		case a.pages.overlay != nil:
			page := a.pages.overlay
			a.pages.overlay = nil
			l.say("%s.", page.title)
			l.read(page.pager.Text)
		case a.side != nil && a.d.work.bulkIn(a.side.list) != nil:
			l.jobEnded(ctx, a.side, a.d.work.bulkIn(a.side.list))
		case a.side != nil && (l.board == nil || l.board.side != a.side):
			l.enter(ctx, newSideBoard(l, a.side))
		default:
			return
		}
	}
}

// drain runs commands at once, as the console does, and takes their messages one
// by one until none is under way. The end of the session ends them.
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
			if l.working() {
				l.beginJob()
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

// take delivers one message.
func (l *linear) take(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case reply:
		if done, ok := m.msg.(acted); ok && !done.quiet {
			l.prefix = "Done: "
			if !done.ok {
				l.prefix = "NOT done: "
			}
			defer func() { l.prefix = "" }()
			defer l.undoable(done)
		}
		return l.a.deliver(m)
	case crashMsg:
		l.say("Failed: an internal error in %s; an act that was under way is an open intent in the audit log.", string(m))
	}
	return nil // what is for a screen
}

// undoable says how an act is taken back.
func (l *linear) undoable(done acted) {
	if n := len(done.undo); n > 0 {
		l.say("undo %s takes it back.", done.undo[n-1])
	}
}

// later keeps a message that is no matter of a screen until its time has come:
// the question whether a removed copy was brought back.
func (l *linear) later(pane int) func(time.Duration, any) tea.Cmd {
	return func(pause time.Duration, msg any) tea.Cmd {
		if _, ok := msg.(someday); ok {
			l.due = append(l.due, later{time.NewTimer(pause), reply{pane, msg}})
		}
		return nil
	}
}

// elapsed delivers the messages whose time has come.
func (l *linear) elapsed(ctx context.Context) {
	waiting := l.due
	l.due = nil
	for _, d := range waiting {
		select {
		case <-d.at.C:
			l.do(ctx, l.a.deliver(d.msg))
		default:
			l.due = append(l.due, d)
		}
	}
}

// working reports whether something is under way that can be stopped.
func (l *linear) working() bool { return len(l.a.d.work.bulks) > 0 || l.stop != nil }

// beginJob says once how long work is stopped.
func (l *linear) beginJob() {
	if l.told == "" && len(l.a.d.work.bulks) > 0 {
		l.told = "begun"
		l.say("Long work has begun: %s. Type stop to end it; what is done stays done.", l.a.d.work.bulks[0].title)
		_ = l.out.Flush()
	}
}

// interrupt takes a line that was typed while something was under way: stop ends
// it, anything else is the next command.
func (l *linear) interrupt(h heardLine) {
	if h.err != nil || !strings.EqualFold(strings.TrimSpace(h.text), "stop") {
		l.ear.ahead = append(l.ear.ahead, h)
		return
	}
	for _, b := range l.a.d.work.bulks {
		b.stop()
		b.cancel()
	}
	if l.stop != nil {
		l.stop()
	}
	l.say("Stopping.")
	_ = l.out.Flush()
}

// progress says how far long work is, when it has moved.
func (l *linear) progress() {
	for _, b := range l.a.d.work.bulks {
		if s := b.progress(l.a.d.esc); s.String() != l.told {
			l.told = s.String()
			l.sentence(s)
			_ = l.out.Flush()
		}
	}
}

// jobEnded reads what was left undone by long work that has just ended.
func (l *linear) jobEnded(ctx context.Context, job *side, b *bulk) {
	l.told = ""
	l.a.side = nil
	if l.board != nil {
		l.a.side = l.board.side
	}
	b.mu.Lock()
	left := b.failed
	b.mu.Unlock()
	if left == 0 {
		return
	}
	kind := l.a.d.work.bulkKind(b)
	kind.pane, kind.fetch = job.list.address(), failures(kind.fetch)
	job.list = newRecords(l.a.d.desk, kind) // it is over: a list like any other
	l.say("Not done:")
	l.enter(ctx, newSideBoard(l, job))
}

// failures leaves out of a list of outcomes what went well.
func failures(all func(context.Context, PageQuery) (span[record[outcome]], said, error)) func(context.Context, PageQuery) (span[record[outcome]], said, error) {
	return func(ctx context.Context, q PageQuery) (span[record[outcome]], said, error) {
		for {
			page, _, err := all(ctx, q)
			page.rows = slices.DeleteFunc(page.rows, func(r record[outcome]) bool { return r.raw.ok })
			if err != nil || len(page.rows) > 0 || page.next == "" {
				page.total = model.Count{Unknown: true}
				return page, said{}, err
			}
			q.Cursor = page.next
		}
	}
}
