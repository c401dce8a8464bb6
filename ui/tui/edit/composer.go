package edit

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

// The built-in editor lays out the whole text at each key; these bound it.
const (
	composedBytes = 64 << 10
	composedLines = 2000
)

// composedEvery is the pause between two saves of the draft, so that a broken session loses little.
const composedEvery = 2 * time.Second

// Composer is the built-in editor, for remote sessions. It reads the text from a draft and writes it there.
type Composer struct {
	ed      *Edits
	e       *Edit
	area    textarea.Model
	written string // the content of the draft
	waits   bool   // a save of the draft is due
	handed  int    // texts that were given to be written

	mu    sync.Mutex // of the draft
	wrote int        // the newest of them that was
}

// compose opens the built-in editor on a draft.
func (ed *Edits) compose(e *Edit) tea.Cmd {
	return ed.D.Ask(func(context.Context) any {
		text, err := e.Draft.Read()
		return loop.Then(func() tea.Cmd {
			if err != nil {
				return ed.Wrote(e, "", err, nil)
			}
			return ed.composed(e, text)
		})
	})
}

// composed shows the editor, unless it would not return the same text.
func (ed *Edits) composed(e *Edit, words string) tea.Cmd {
	c := &Composer{ed: ed, e: e, area: textarea.New(), written: words}
	c.area.MaxHeight, c.area.CharLimit, c.area.Prompt, c.area.ShowLineNumbers = 0, 0, "", false
	c.area.SetStyles(textarea.Styles{})
	c.area.SetVirtualCursor(false)
	m := &c.area.KeyMap // the clipboard would be the server's; a selection would be invisible
	for _, k := range []interface{ SetEnabled(bool) }{&m.Paste, &m.CopySelection, &m.SelectAll, &m.SelectLineUp, &m.SelectLineDown,
		&m.SelectCharacterForward, &m.SelectCharacterBackward, &m.SelectWordForward, &m.SelectWordBackward} {
		k.SetEnabled(false)
	}
	_ = c.area.Focus() // its cursor does not blink
	c.Resize(ed.D.Frame.Room())
	c.area.SetValue(marksOf(words))
	c.area.MoveToBegin()
	why := ""
	switch lines := strings.Count(words, "\n"); {
	case words == e.Original && (len(words) > composedBytes || lines > composedLines):
		why = "it has " + prose.Size(int64(len(words))) + " and " + prose.Plural(lines, "line") + ", too much for the built-in editor"
	case textOf(c.area.Value()) != words:
		why = "the built-in editor cannot hold this text as it is"
	}
	if why != "" {
		ed.Editing = nil
		return ed.D.Modal.Show(ed.troubleDialog(e, ed.D.Esc.Const("It was not opened: "+why+". An editor of your own can: through sshd, or on the machine itself."), ""))
	}
	ed.Page = c
	return nil
}

// Signs of the built-in editor for characters that it could not show.
const (
	tabSign   = '⇥'
	markBegin = "‹U+"
	markEnd   = "›"
)

// marksOf turns characters that a terminal would hide or obey into marks; textOf reverses it.
func marksOf(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n':
			b.WriteByte('\n')
		case r == '\t':
			b.WriteRune(tabSign)
		case r == tabSign, r == utf8.RuneError, strings.HasPrefix(text[i:], markBegin), safetext.Hidden(text[i:i+utf8.RuneLen(r)]) > 0:
			b.WriteString(markBegin + strings.ToUpper(strconv.FormatInt(int64(r), 16)) + markEnd)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func textOf(marks string) string {
	var b strings.Builder
	for marks = strings.ReplaceAll(marks, string(tabSign), "\t"); ; {
		before, after, found := strings.Cut(marks, markBegin)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		code, rest, ended := strings.Cut(after, markEnd)
		n, err := strconv.ParseUint(code, 16, 21)
		if marks = after; !ended || err != nil || !utf8.ValidRune(rune(n)) {
			b.WriteString(markBegin) // the operator's own words
			continue
		}
		b.WriteRune(rune(n))
		marks = rest
	}
}

func (c *Composer) Resize(width, height int) {
	c.area.SetWidth(width - 2)
	c.area.SetHeight(height)
}

// Bindings are the keys outside the text.
func (c *Composer) Bindings() []act.Act {
	return []act.Act{
		{Keys: []string{"esc", "ctrl+s", "ctrl+c"}, Show: "esc", Name: "done", Doc: "compare what you wrote, and ask before it is saved", Do: c.done},
	}
}

func (c *Composer) Key(k tea.KeyPressMsg) tea.Cmd {
	if b, ok := act.Find(c.Bindings(), k.String()); ok {
		return b.Do()
	}
	area, cmd := c.area.Update(k)
	c.area = area
	return tea.Batch(cmd, c.save())
}

// Paste puts a text in at the cursor.
func (c *Composer) Paste(s string) tea.Cmd {
	s = marksOf(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s))
	if c.area.Length()+len(s) > composedBytes || c.area.LineCount()+strings.Count(s, "\n") > composedLines {
		return c.ed.D.Warn("this is too much for the built-in editor, which holds " + prose.Size(composedBytes) + " and " + prose.Plural(composedLines, "line") + ": nothing was pasted")
	}
	c.area.InsertString(s)
	return c.save()
}

func (c *Composer) save() tea.Cmd {
	if c.waits {
		return nil
	}
	c.waits = true
	return c.ed.D.Later(loop.Over)(composedEvery, loop.Then(func() tea.Cmd {
		c.waits = false
		now := textOf(c.area.Value())
		if c.ed.Page != c || now == c.written {
			return nil
		}
		c.handed++
		n := c.handed
		return c.ed.D.Ask(func(context.Context) any {
			err := c.write(n, now)
			return loop.Then(func() tea.Cmd {
				if err == nil {
					c.written = now
					return nil
				}
				c.ed.D.Say(paint.ToneBad, c.ed.D.Esc.Sprintf("what you wrote is not in its file yet: %s", c.ed.D.Esc.Err(err)))
				return c.save()
			})
		})
	}))
}

// write puts the n-th text into the draft, unless a later one is there: the commands may run in any order.
func (c *Composer) write(n int, text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n < c.wrote {
		return nil
	}
	c.wrote = n
	return c.e.Draft.Write(text)
}

// Flush puts the text of an open built-in editor into its draft, at the end of a session: the next pause may not come.
func (ed *Edits) Flush() {
	c := ed.Page
	if c == nil {
		return
	}
	if now := textOf(c.area.Value()); now != c.written {
		c.handed++
		_ = c.write(c.handed, now) // the earlier text then stays, and nobody is there to be told
	}
}

// done hands the text on, as the end of an external editor does.
func (c *Composer) done() tea.Cmd {
	ed, now := c.ed, textOf(c.area.Value())
	ed.Page = nil
	c.handed++
	n := c.handed
	return ed.D.Ask(func(context.Context) any {
		err := c.write(n, now)
		return loop.Then(func() tea.Cmd {
			if err == nil {
				return ed.Edited(c.e, nil)
			}
			ed.Page = c
			ed.D.Say(paint.ToneBad, ed.D.Esc.Sprintf("what you wrote cannot be put into its file: %s", ed.D.Esc.Err(err)))
			return nil
		})
	})
}

// Render draws the text. Each line is escaped again: typed text is no safer than stored text.
func (c *Composer) Render(st *paint.Styles, width, height int) ([]string, *tea.Position) {
	var out []string
	for _, line := range strings.Split(c.area.View(), "\n") {
		out = append(out, st.Row(width).Blank(1).Put(st.Plain, st.Esc.Line(strings.TrimRight(line, " "))).End())
	}
	at := c.area.Cursor()
	if at == nil {
		return st.FillTo(out, width, height), nil
	}
	return st.FillTo(out, width, height), &tea.Position{X: at.X + 1, Y: at.Y}
}

func (c *Composer) Position() safetext.Text {
	return safetext.Sprintf("line %d of %d", c.area.Line()+1, c.area.LineCount())
}

// Label names what is being written.
func (c *Composer) Label() safetext.Text { return c.ed.D.Esc.LineMax(c.e.Label, prose.MaxTitle) }
