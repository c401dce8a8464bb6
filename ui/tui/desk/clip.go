package desk

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// maxClip is the most that is copied, in bytes: many terminals drop an OSC 52 of more than 100,000 characters.
const maxClip = 74_994

// screenChunk is the piece size, in bytes, that GNU screen passes on.
const screenChunk = 760

// clipboard is the sequence that hands text to the operator's terminal (OSC 52). The text travels as
// base64, so no byte of it can end the sequence. A multiplexer swallows it unless it is wrapped; over
// SSH only TERM tells of one.
func clipboard(env map[string]string, text string) string {
	plain, term := ansi.SetSystemClipboard(text), env["TERM"]
	switch {
	case env["TMUX"] != "", strings.HasPrefix(term, "tmux"): // it passes the plain one on with set-clipboard on
		return plain + ansi.TmuxPassthrough(plain)
	case env["STY"] != "":
		return ansi.ScreenPassthrough(plain, screenChunk)
	case strings.HasPrefix(term, "screen"): // GNU screen or tmux: both say so
		return plain + ansi.ScreenPassthrough(plain, screenChunk)
	}
	return plain
}

// TooLong says why a text cannot be copied whole; empty: it can.
func TooLong(words string) string {
	if n := int64(len(words)); n > maxClip {
		return "has " + prose.Group(n) + " bytes, and terminals take " + prose.Group(maxClip)
	}
	return ""
}

// CopyText puts text on the operator's clipboard, as bytes; text with invisible characters is asked about first.
func (d *Desk) CopyText(what safetext.Text, words string) tea.Cmd {
	esc := d.Esc
	if why := TooLong(words); why != "" {
		return d.Warn("not copied: %s %s; x writes it to a file", what, why)
	}
	send := func() tea.Cmd { return d.send(what, words) }
	hidden := int64(safetext.Hidden(words))
	if hidden == 0 && utf8.ValidString(words) {
		return send()
	}
	return d.Modal.Show(&dialog.Dialog{
		Title: esc.Const("Copy"), NoReason: true,
		Lines: []text.Line{
			{Value: esc.Sprintf("Copy %s?", what), Kind: text.Title},
			{Value: esc.Sprintf("It holds %s. The clipboard gets the bytes as they are stored; pasting them into a shell may run them.", prose.Plural(hidden, "control or invisible character")), Kind: text.Alert},
		},
		Choices: []dialog.Choice{{Verb: "Copy", Run: send}},
	})
}

func (d *Desk) send(what safetext.Text, text string) tea.Cmd {
	d.Tell("copied %s (%s) if the terminal permits", what, prose.Plural(len(text), "byte"))
	return tea.Raw(clipboard(d.Env, text))
}

// Copy puts a reference on the clipboard, encoded, so without control characters.
func (d *Desk) Copy(ref model.Ref) tea.Cmd {
	return d.send(d.Esc.LineMax(ref.String(), prose.MaxTitle), ref.String())
}

// CopyRow puts a row on the clipboard as one line of JSON.
func (d *Desk) CopyRow(v any) tea.Cmd {
	b, err := safetext.MarshalJSON(v)
	if err != nil {
		return d.Warn("not copied: %s", d.Esc.Err(err))
	}
	return d.CopyText(d.Esc.Const("the row as JSON"), string(b))
}
