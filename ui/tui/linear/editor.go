package linear

import (
	"errors"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"memdesk/ui/tui/edit"
	"memdesk/ui/tui/kit/diff"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// compose gets the text of an edit: from the operator's editor where it can run, else line by line.
func (l *linear) compose(e *edit.Edit) tea.Cmd {
	d := l.a.D
	var out io.Writer = l.out
	if d.Edit == nil {
		if _, why := edit.Program(d.Desk); l.in == nil || d.Remote || why != "" {
			return l.typeIn(e)
		}
		_ = l.out.Flush()
		out = os.Stdout
	}
	c := d.Edits.EditorOn(e)
	c.SetStdin(l.in)
	c.SetStdout(out)
	c.SetStderr(out)
	failed := c.Run()
	l.a.Curtain.Idle() // whoever types in an editor is not away
	return d.Edits.Edited(e, failed)
}

// typeIn takes a text line by line.
func (l *linear) typeIn(e *edit.Edit) tea.Cmd {
	was, err := e.Draft.Read()
	if err != nil {
		return l.a.D.Edits.Edited(e, nil)
	}
	l.say("Type or paste the text of %s. A line with a single dot ends it; .cancel leaves it as it is; a line that begins with a dot is typed with one dot more.", l.esc.LineMax(e.Label, prose.MaxTitle))
	lines := strings.SplitAfter(was, "\n")
	if was != "" {
		l.say("The text as it stands has %s: .old puts them in, .old 2-5 puts in lines 2 to 5, .read reads them.", prose.Plural(text.NewPage(nil, was).Total, "line"))
	}
	var b strings.Builder
	for {
		line, err := l.ask("text> ")
		switch {
		case err != nil:
			l.a.D.Edits.Editing = nil // the typed text is kept, and named at the next start
			word := "the input ended"
			if errors.Is(err, errAway) {
				word = err.Error()
			}
			return l.ended(e, was, b.String(), word)
		case l.ear.cut(line):
			l.say("That line may have lost its end, for this terminal passes %s of a line, and was not taken. Type a shorter one, or say .cancel and use memdesk retain.", prose.Plural(int64(utf8.RuneCountInString(line)), "character"))
		case line == ".":
			text := b.String()
			if was != "" && !strings.HasSuffix(was, "\n") {
				text = strings.TrimSuffix(text, "\n") // a text without a final newline keeps that
			}
			return l.a.D.Edits.Edited(e, e.Draft.Write(text))
		case line == ".cancel" && was == e.Original && e.Original == e.Base:
			l.a.D.Edits.Editing = nil
			return l.a.D.Edits.ThrowAway(e, "cancelled: nothing was changed")
		case line == ".cancel":
			return l.a.D.Edits.Edited(e, nil) // the operator has typed a text: it is asked about
		case line == ".read":
			for i, old := range lines {
				if old != "" {
					l.say("Line %d: %s", i+1, l.esc.EscapeLine([]byte(strings.TrimRight(old, "\r\n")), 8))
				}
			}
		case line == ".old" || strings.HasPrefix(line, ".old "):
			part, ok := linesOf(lines, strings.TrimSpace(strings.TrimPrefix(line, ".old")))
			if !ok {
				l.say("There are no such lines: .old 2-5 takes lines 2 to 5 of %d.", len(lines))
				continue
			}
			b.WriteString(diff.Ended(part))
		case strings.HasPrefix(line, ".."):
			b.WriteString(line[1:] + "\n")
		case strings.HasPrefix(line, "."):
			l.say("%q is no command here, and was not taken: type one dot more for a text that begins with a dot.", line)
		default:
			b.WriteString(line + "\n")
		}
	}
}

// ended puts aside what the operator has typed when the input ends or nobody types on: an earlier text of theirs, then the new lines.
func (l *linear) ended(e *edit.Edit, was, typed, word string) tea.Cmd {
	if was == e.Base {
		was = ""
	}
	if was == "" && typed == "" {
		return l.a.D.Edits.ThrowAway(e, word+": nothing was changed")
	}
	if typed != "" {
		if err := e.Draft.Write(diff.Ended(was) + typed); err != nil {
			l.say("What you typed now could not be kept: %s.", l.esc.Err(err))
		}
	}
	return l.a.D.Edits.PutAside(e, word)
}

// linesOf returns lines of a text: all, one, or a range.
func linesOf(lines []string, which string) (string, bool) {
	if which == "" {
		return strings.Join(lines, ""), true
	}
	first, last, ok := fromTo(which)
	if !ok || last > len(lines) {
		return "", false
	}
	return strings.Join(lines[first-1:last], ""), true
}
