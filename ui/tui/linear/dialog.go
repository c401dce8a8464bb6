package linear

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/text"
)

// converse asks the questions of a dialog and returns the command of the answer. Only the words asked for act.
func (l *linear) converse(d *dialog.Dialog) tea.Cmd {
	for _, line := range d.Lines {
		l.sentence(l.worded(line))
	}
	if d.Body != nil {
		l.readAll(d.Body)
	}
	if len(d.Choices) == 0 {
		return nil
	}
	var c dialog.Choice
	ok := l.fillIn(d)
	if ok {
		c, ok = l.choose(d)
	}
	if ok && c.Act != nil && !d.NoReason {
		ok = l.why(d, d.Must && c.Typed)
	}
	switch {
	case !ok && d.Canceled != nil:
		return d.Canceled()
	case !ok:
		return l.say("Nothing was changed.")
	}
	return l.a.D.Modal.Do(d, c)
}

// fillIn asks for the fields. An empty line keeps a field's value, a single dot ends the question.
func (l *linear) fillIn(d *dialog.Dialog) bool {
	for i := range d.Fields {
		in := &d.Fields[i].Input
		if wrong := d.Fields[i].Wrong; !wrong.IsEmpty() {
			l.sentence(l.esc.Sprintf("Not taken: %s", wrong))
		}
		prompt := strings.TrimSuffix(d.Fields[i].Label.String(), ": ")
		if was := l.esc.Line(in.Value()); !was.IsEmpty() {
			prompt += fmt.Sprintf(" (enter keeps %s)", was)
		}
		line, err := l.ask(prompt + ", a dot alone cancels: ")
		if err != nil || strings.TrimSpace(line) == "." {
			return false
		}
		if line != "" {
			in.Set("")
			l.typed(in, line)
		}
	}
	return true
}

// typed puts a line into an input of the console, which applies its rules for typed text.
func (l *linear) typed(in *text.Input, line string) {
	if note := in.Paste(l.esc, line); !note.IsEmpty() {
		l.sentence(note)
	}
}

// choose asks for a button; before that for the name where one must be typed.
func (l *linear) choose(d *dialog.Dialog) (c dialog.Choice, ok bool) {
	var words []string
	for _, c := range d.Choices {
		words = append(words, strings.ToLower(c.Verb))
	}
	i := 0
	if len(words) > 1 {
		l.say("You can answer: %s. Anything else does nothing.", strings.Join(words, "; "))
		line, err := l.ask("Your answer: ")
		if i = slices.Index(words, strings.ToLower(strings.TrimSpace(line))); err != nil || i < 0 {
			return c, false
		}
	}
	switch c = d.Choices[i]; {
	case !d.Name.IsEmpty() && c.Typed:
		return c, l.confirm(d.Name, func(typed string) bool { return d.IsName(l.esc, typed) })
	case len(words) == 1:
		return c, l.confirm(l.esc.Const(words[0]), func(typed string) bool { return strings.EqualFold(typed, words[0]) })
	}
	return c, true
}

// confirm asks for a word; any other answer does nothing.
func (l *linear) confirm(word safetext.Text, meant func(typed string) bool) bool {
	var in text.Input
	ok := l.asks(&in, fmt.Sprintf("Type %s to do it, anything else does nothing: ", word))
	return ok && meant(in.Value())
}

// why asks for the reason; without a required reason nothing is done.
func (l *linear) why(d *dialog.Dialog, must bool) bool {
	prompt := "Reason, for the audit log (may be empty): "
	if must {
		prompt = "Reason, for the audit log, required: "
	}
	ok := l.asks(&d.Reason, prompt)
	if ok && must && strings.TrimSpace(d.Reason.Value()) == "" {
		l.say("A reason is required.")
		return false
	}
	return ok
}

// asks puts the answer to a question into an input.
func (l *linear) asks(in *text.Input, prompt string) bool {
	line, err := l.ask(prompt)
	if err == nil {
		l.typed(in, strings.TrimSpace(line))
	}
	return err == nil
}
