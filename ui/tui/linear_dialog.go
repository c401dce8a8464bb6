package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// converse asks what a dialog asks, and gives what comes of it. Nothing is done
// unless the word is typed that the question names.
func (l *linear) converse(ctx context.Context, d *dialog) tea.Cmd {
	for _, line := range d.lines {
		l.sentence(line.Value)
	}
	if d.body != nil {
		l.readAll(d.body)
	}
	if len(d.choices) == 0 {
		return nil
	}
	f, ok := l.fillIn(d)
	if !ok {
		return l.no(d)
	}
	c, ok := l.choose(d)
	if !ok {
		return l.no(d)
	}
	if c.act == nil {
		return c.run()
	}
	if !d.noReason && !l.why(d, &f) {
		return l.no(d)
	}
	return l.act(d, c, f)
}

// no is Cancel.
func (l *linear) no(d *dialog) tea.Cmd {
	l.cancelled = true
	if d.canceled != nil {
		return d.canceled()
	}
	l.say("Nothing was changed.")
	return nil
}

// act runs what was chosen.
func (l *linear) act(d *dialog, c choice, f filled) tea.Cmd {
	ctx, cancel := context.WithCancel(l.a.d.ctx)
	if c.stops {
		l.stop = cancel
	}
	return l.a.ask(func(context.Context) any {
		defer cancel()
		out := c.act(ctx, f)
		out.gen = d.gen
		return out
	})
}

// fillIn asks for the fields. An empty line keeps what stands in one, a dot alone
// ends the question.
func (l *linear) fillIn(d *dialog) (f filled, ok bool) {
	for i := range d.fields {
		in := &d.fields[i].input
		prompt := strings.TrimSuffix(d.fields[i].label.String(), ": ")
		if was := l.a.d.esc.Line(in.Value()); !was.IsEmpty() {
			prompt += fmt.Sprintf(" (enter keeps %s)", was)
		}
		line, err := l.ask(prompt + ", a dot alone cancels: ")
		if err != nil || strings.TrimSpace(line) == "." {
			return f, false
		}
		if line != "" {
			in.Set("")
			l.typed(in, line)
		}
		f.fields = append(f.fields, in.Value())
	}
	return f, true
}

// typed puts a line into an input of the console, with its rules for what is typed.
func (l *linear) typed(in *text.Input, line string) {
	if note := in.Paste(l.a.d.esc, line); !note.IsEmpty() {
		l.sentence(note)
	}
}

// choose asks which of the buttons is pressed; the name first where one must be
// typed.
func (l *linear) choose(d *dialog) (c choice, ok bool) {
	if len(d.choices) == 1 {
		c = d.choices[0]
		word := strings.ToLower(c.verb)
		if d.name != "" && c.typed {
			return c, l.confirm(d.name, true)
		}
		return c, l.confirm(word, false)
	}
	var words []string
	for _, c := range d.choices {
		words = append(words, strings.ToLower(c.verb))
	}
	l.say("You can answer: %s. Anything else does nothing.", strings.Join(words, "; "))
	line, err := l.ask("Your answer: ")
	i := slices.Index(words, strings.ToLower(strings.TrimSpace(line)))
	if err != nil || i < 0 {
		return c, false
	}
	c = d.choices[i]
	return c, d.name == "" || !c.typed || l.confirm(d.name, true)
}

// confirm asks for a word, or for a name exactly as it is; anything else does
// nothing.
func (l *linear) confirm(word string, exact bool) bool {
	answer, err := l.ask(fmt.Sprintf("Type %s to do it, anything else does nothing: ", l.a.d.esc.Line(word)))
	var in text.Input
	if err == nil {
		l.typed(&in, strings.TrimSpace(answer))
	}
	return err == nil && (in.Value() == word || !exact && strings.EqualFold(in.Value(), word))
}

// why asks for the reason; one that is required and missing does nothing.
func (l *linear) why(d *dialog, f *filled) bool {
	prompt := "Reason, for the audit log (may be empty): "
	if d.must {
		prompt = "Reason, for the audit log, required: "
	}
	line, err := l.ask(prompt)
	if err != nil {
		return false
	}
	l.typed(&d.reason, strings.TrimSpace(line))
	f.reason = d.reason.Value()
	if d.must && f.reason == "" {
		l.say("A reason is required.")
		return false
	}
	return true
}

// read speaks a text in pieces that a listener can take in; more goes on.
func (l *linear) read(t *text.Page) {
	l.head(t)
	l.body(&spoken{t: t})
}

// readAll speaks a text that a question is about: each piece on demand.
func (l *linear) readAll(t *text.Page) {
	l.head(t)
	s := &spoken{t: t}
	l.body(s)
	for s.off < len(t.Body) {
		line, err := l.ask("Enter reads on, skip goes to the question: ")
		if err != nil || strings.TrimSpace(line) != "" {
			break
		}
		l.body(s)
	}
	l.more = nil
}

func (l *linear) head(t *text.Page) {
	for _, h := range t.Head {
		switch {
		case h.Kind == text.Blank:
		case h.Name.IsEmpty():
			l.print(h.Value)
		default:
			l.say("%s: %s", h.Name, h.Value)
		}
	}
}

// spoken is a text that is being read.
type spoken struct {
	t      *text.Page
	off    int
	inHunk bool // of a comparison
}

// body reads on.
func (l *linear) body(s *spoken) {
	t := s.t
	if s.off == 0 && t.Body != "" {
		l.say("Body, %s:", prose.Plural(int64(t.Total), "line"))
	}
	for n := 0; s.off < len(t.Body) && n < linearText; n++ {
		end, next := t.PieceEnd(s.off)
		line := l.a.d.esc.EscapeLine([]byte(strings.TrimSuffix(t.Body[s.off:end], "\r")), 8)
		if t.Kind == text.Diff && (s.off == 0 || t.Body[s.off-1] == '\n') {
			line = s.words(l.a.d.esc, t.Body[s.off:end])
		}
		l.print(line)
		s.off = next
	}
	l.more = nil
	switch {
	case s.off < len(t.Body):
		l.say("Line %s of %s; more goes on.", prose.Group(int64(t.LineAt(s.off))), prose.Group(int64(t.Total)))
		l.more = func() { l.body(s) }
	case t.Body != "":
		l.say("End.")
	}
}

// words says a line of a comparison in words: signs at its beginning are easily
// missed by ear.
func (s *spoken) words(esc safetext.Escaper, line string) safetext.Text {
	rest := func(n int) safetext.Text {
		return esc.EscapeLine([]byte(strings.TrimSuffix(line[n:], "\r")), 8)
	}
	switch {
	case strings.HasPrefix(line, "@@"):
		s.inHunk = true
		return esc.Sprintf("From line %s on:", strings.TrimPrefix(strings.Fields(line + " - -")[1], "-"))
	case strings.HasPrefix(line, "# "):
		s.inHunk = false
		return esc.Sprintf("Next, %s:", rest(2))
	case !s.inHunk && strings.HasPrefix(line, "--- "):
		return esc.Sprintf("Removed lines are of the text %s;", rest(4))
	case !s.inHunk && strings.HasPrefix(line, "+++ "):
		return esc.Sprintf("added lines are of the text %s.", rest(4))
	case strings.HasPrefix(line, "-"):
		return esc.Sprintf("removed: %s", rest(1))
	case strings.HasPrefix(line, "+"):
		return esc.Sprintf("added: %s", rest(1))
	case strings.HasPrefix(line, " ") && s.inHunk:
		return esc.Sprintf("same: %s", rest(1))
	}
	return rest(0)
}

func (l *linear) goOn(context.Context, string) {
	if l.more == nil {
		l.say("There is no more.")
		return
	}
	l.more()
}
