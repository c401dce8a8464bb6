package linear

import (
	"bufio"
	"context"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// voice speaks and listens: lines out, lines in.
type voice struct {
	ctx     context.Context // of the session
	esc     safetext.Escaper
	ear     *ear
	out     *bufio.Writer
	width   func() int // of the terminal, in columns; 0: unknown, and no line is wrapped
	prefix  string     // of the next message: the result of an act
	spoken  int        // lines so far
	more    func()     // the rest of a long text; nil: none
	leaving bool
	away    func() bool // the operator was away for too long before the last line, and is back now
}

// errAway says that a line was not taken: nobody had typed for a while before it.
var errAway = errors.New("nobody had typed for a while")

// ask takes a line, be it a command, an answer or a line of a text.
func (v *voice) ask(prompt string) (string, error) {
	line, err := v.listen(prompt)
	if err == nil && v.away() {
		return "", errAway
	}
	return line, err
}

// listen is ask without a look at how long it took.
func (v *voice) listen(prompt string) (string, error) {
	parts := v.broken(safetext.Const(prompt))
	last := len(parts) - 1
	for _, part := range parts[:last] {
		v.print(part)
	}
	_ = v.out.Flush()
	line, err := v.ear.ask(v.ctx, parts[last].String())
	if err != nil {
		v.leaving = true
	}
	return line, err
}

// print writes a line, wrapped at blanks.
func (v *voice) print(t safetext.Text) {
	for _, part := range v.broken(t) {
		_, _ = v.out.WriteString(part.String() + "\n")
		v.spoken++
	}
}

func (v *voice) broken(t safetext.Text) []safetext.Text {
	if w := v.width() - 1; w > 0 && t.Width() > w { // a full last column makes an empty line on some terminals
		return v.esc.Wrap(t, w)
	}
	return []safetext.Text{t}
}

// say writes one line; arguments are escaped. It returns nil.
func (v *voice) say(format string, args ...any) tea.Cmd {
	v.print(v.esc.Sprintf(format, args...))
	return nil
}

// sentence writes one line and ends it as a sentence.
func (v *voice) sentence(t safetext.Text) {
	if s := t.String(); s == "" || strings.ContainsAny(s[len(s)-1:], ".?!:") {
		v.print(t)
		return
	}
	v.say("%s.", t)
}

// hear takes the messages of the status line.
func (v *voice) hear(t safetext.Text) {
	if t.IsEmpty() {
		return
	}
	v.sentence(v.esc.Sprintf("%s%s", v.prefix, t))
	v.prefix = ""
}

// failed says why an act failed. A reason is the program's own, and names keys as the console does.
func (v *voice) failed(err error) tea.Cmd {
	if err == nil {
		return nil
	}
	return v.say("Failed: %s.", prose.Reason(v.esc, err))
}

// readAll speaks the text of a question: each piece on request.
func (v *voice) readAll(t *text.Page) {
	v.read(t)
	for v.more != nil {
		line, err := v.ask("Enter reads on, skip goes to the question: ")
		if err != nil || strings.TrimSpace(line) != "" {
			break
		}
		v.more()
	}
	v.more = nil
}

// worded is a line for a listener: a warning, which is a sign on a screen, is a word here.
func (v *voice) worded(l text.Line) safetext.Text {
	if l.Kind == text.Alert {
		return v.esc.Sprintf("Warning: %s", l.Value)
	}
	return l.Value
}

// read speaks a text in pieces that a listener can take in; more continues.
func (v *voice) read(t *text.Page) {
	v.lines(t.Head)
	v.body(&spoken{t: t})
}

func (v *voice) lines(all []text.Line) {
	for _, h := range all {
		switch {
		case h.Kind == text.Blank:
		case h.Name.IsEmpty():
			v.print(v.worded(h))
		default:
			v.say("%s: %s", h.Name, v.worded(h))
		}
	}
}

type spoken struct {
	t   *text.Page
	off int
}

func (v *voice) body(s *spoken) {
	t := s.t
	if s.off == 0 && t.Body != "" {
		v.say("Body, %s:", prose.Plural(t.Total, "line"))
	}
	for n := 0; s.off < len(t.Body) && n < linearText; n++ {
		end, next := t.PieceEnd(s.off)
		line := v.esc.EscapeLine([]byte(strings.TrimSuffix(t.Body[s.off:end], "\r")), 8)
		if t.Kind == text.Diff && (s.off == 0 || t.Body[s.off-1] == '\n') {
			line = diffWord(v.esc, t.Body[s.off:end])
		}
		v.print(line)
		s.off = next
	}
	v.more = nil
	switch {
	case s.off < len(t.Body):
		v.say("Line %s of %s; more goes on.", prose.Group(t.LineAt(s.off)), prose.Group(t.Total))
		v.more = func() { v.body(s) }
		return
	case t.Body != "":
		v.say("End.")
	}
	v.lines(t.Foot)
}

// diffWords are the words for the signs of a comparison.
var diffWords = []struct{ sign, says string }{
	{"# ", "Next, %s:"}, {"--- ", "Removed lines are of the text %s;"}, {"+++ ", "added lines are of the text %s."},
	{"@@ ", "From %s on:"}, {"- ", "removed: %s"}, {"+ ", "added: %s"}, {"  ", "same: %s"}, {"", "%s"},
}

// diffWord says a line of a comparison in words: signs at its beginning are easily missed by ear.
func diffWord(esc safetext.Escaper, line string) safetext.Text {
	i := slices.IndexFunc(diffWords, func(w struct{ sign, says string }) bool { return strings.HasPrefix(line, w.sign) })
	w := diffWords[i]
	return esc.Sprintf(w.says, esc.EscapeLine([]byte(strings.TrimSuffix(line[len(w.sign):], "\r")), 8))
}

func (v *voice) goOn(string) tea.Cmd {
	if v.more == nil {
		return v.say("There is no more.")
	}
	v.more()
	return nil
}
