package text

import (
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

// inputLimit bounds typed or pasted text, in characters.
const inputLimit = 1000

// Input is an input line: the bubbles text input edits it, and rows draw it, because only escaped
// text reaches the screen (terminal-safety.md, policy 9). It never reads a clipboard: over SSH that
// would be the clipboard of memdesk's machine.
type Input struct {
	model textinput.Model
	made  bool
	Focus bool // keys are characters
	fresh bool // the text is an earlier one, which the first character replaces
}

// line is the editor, made on first use so that the zero input is ready.
func (in *Input) line() *textinput.Model {
	if !in.made {
		in.model = textinput.New()
		in.model.CharLimit = inputLimit
		in.model.SetVirtualCursor(false)
		in.model.KeyMap = lineKeys()
		_ = in.model.Focus() // the cursor is the terminal's own and does not blink
		in.made = true
	}
	return &in.model
}

// lineKeys are the keys of bubbles without paste and suggestions, which belong to the console.
func lineKeys() textinput.KeyMap {
	keys := textinput.DefaultKeyMap()
	none := key.NewBinding(key.WithDisabled())
	keys.Paste, keys.AcceptSuggestion, keys.NextSuggestion, keys.PrevSuggestion = none, none, none, none
	return keys
}

func (in *Input) Value() string { return in.line().Value() }

func (in *Input) Set(s string) {
	in.line().SetValue(s)
	in.line().CursorEnd()
}

// Edit opens the input on an earlier text, selected: typing replaces it, moving the cursor keeps it.
func (in *Input) Edit(s string) {
	in.Set(s)
	in.Focus, in.fresh = true, s != ""
}

// replaced empties the input where its text is still an earlier one.
func (in *Input) replaced() {
	if in.fresh {
		in.Set("")
	}
	in.fresh = false
}

// Insert adds text at the cursor and reports whether all of it fitted.
func (in *Input) Insert(s string) bool {
	in.replaced()
	fits := utf8.RuneCountInString(in.Value())+utf8.RuneCountInString(s) <= inputLimit
	in.model, _ = in.line().Update(tea.PasteMsg{Content: s})
	return fits
}

// lineBreaks become blanks: the input is one line.
var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")

// Paste inserts text from outside. Control, invisible and broken characters are inserted in escaped
// form, so nothing is obeyed and nothing vanishes; note says what else happened than a plain
// insert.
func (in *Input) Paste(esc safetext.Escaper, s string) (note safetext.Text) {
	s = lineBreaks.Replace(s)
	if n := safetext.Hidden(s) + strings.Count(s, "\uFFFD"); n > 0 {
		// The text input drops U+FFFD, which safetext has no reason to escape.
		s = strings.ReplaceAll(esc.Line(s).String(), "\uFFFD", "[U+FFFD]")
		note = esc.Sprintf("%s in what was pasted: inserted as text", prose.Plural(n, "control or invisible character"))
	}
	if !in.Insert(s) {
		note = esc.Sprintf("only the first %d characters fit", inputLimit)
	}
	return note
}

// Key edits the line; changed says that the text changed, used that the key has a meaning here.
func (in *Input) Key(k tea.KeyPressMsg) (changed, used bool) {
	m := in.line()
	keys := m.KeyMap
	editing := key.Matches(k, keys.CharacterForward, keys.CharacterBackward, keys.WordForward, keys.WordBackward,
		keys.DeleteWordBackward, keys.DeleteWordForward, keys.DeleteAfterCursor, keys.DeleteBeforeCursor,
		keys.DeleteCharacterBackward, keys.DeleteCharacterForward, keys.LineStart, keys.LineEnd)
	if !editing && k.Text == "" {
		return false, false
	}
	before := m.Value()
	if k.Text != "" || key.Matches(k, keys.DeleteCharacterBackward) {
		in.replaced()
	}
	in.fresh = false
	if key.Matches(k, keys.DeleteWordForward) && m.Position() == utf8.RuneCountInString(before)-1 {
		k = tea.KeyPressMsg{Code: tea.KeyDelete} // for a word of one character at the end, the library looks behind the end
	}
	in.model, _ = m.Update(k)
	return in.model.Value() != before, true
}

// Render draws the line, or the hint when it is empty, behind its prompt, and returns the column of the cursor.
func (in *Input) Render(r *paint.Row, prompt, hint safetext.Text) int {
	st, full := r.St, r.Left
	r.Put(st.Key, prompt)
	value, at := []rune(in.Value()), in.line().Position()
	if len(value) == 0 {
		at := full - r.Left
		if in.Focus {
			r.Blank(1) // for the cursor
		}
		r.Put(st.Dim, hint)
		return at
	}
	room := max(r.Left-1, 1)
	start := at
	for w := 0; start > 0; start-- {
		if w += st.Esc.EscapeLine([]byte(string(value[start-1])), 0).Width(); w > room {
			break
		}
	}
	before := st.Esc.EscapeLine([]byte(string(value[start:at])), 0)
	col := full - r.Left + before.Width()
	ink := st.Input
	if in.fresh && in.Focus {
		ink = st.Selected
	}
	r.Put(ink, st.Esc.EscapeLine([]byte(string(value[start:])), 0))
	return min(col, full-1)
}
