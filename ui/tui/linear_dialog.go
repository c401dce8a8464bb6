package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

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
	return l.a.d.ask(func(context.Context) any {
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
		if wrong := d.fields[i].wrong; !wrong.IsEmpty() {
			l.sentence(l.a.d.esc.Sprintf("!! %s", wrong))
		}
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
