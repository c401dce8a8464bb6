package text

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
)

func TestPasteShowsWhatItDoesNotObey(t *testing.T) {
	for name, c := range map[string]struct{ pasted, want, note string }{
		"plain":       {"deploy Friday", "deploy Friday", ""},
		"lines":       {"one\r\ntwo\nthree\tfour", "one two three four", ""},
		"escape":      {"a\x1b]52;c;aGk=\x07b", "a^[]52;c;aGk=^Gb", "2 control or invisible characters in what was pasted: inserted as text"},
		"direction":   {"x\u202Ey", "x⟦U+202E⟧y", "1 control or invisible character in what was pasted: inserted as text"},
		"broken":      {"x\xffy", `x\xffy`, "1 control or invisible character in what was pasted: inserted as text"},
		"wide":        {"東京 ✓", "東京 ✓", ""},
		"beyond room": {strings.Repeat("x", inputLimit+1), strings.Repeat("x", inputLimit), "only the first 1000 characters fit"},
	} {
		t.Run(name, func(t *testing.T) {
			in := &Input{Focus: true}
			note := in.Paste(safetext.Escaper{}, c.pasted).String()
			if in.Value() != c.want || note != c.note {
				t.Errorf("paste(%q) = %q, note %q; want %q, note %q", c.pasted, in.Value(), note, c.want, c.note)
			}
		})
	}
}

// An earlier text is replaced by what is typed, pasted or deleted first; a key that moves keeps it.
func TestEarlierText(t *testing.T) {
	x, left, back := tea.KeyPressMsg{Code: 'x', Text: "x"}, tea.KeyPressMsg{Code: tea.KeyLeft}, tea.KeyPressMsg{Code: tea.KeyBackspace}
	for want, keys := range map[string][]tea.KeyPressMsg{
		"earlier": {}, "x": {x}, "xx": {x, x}, "": {back}, "earliexr": {left, x}, "earlie": {left, tea.KeyPressMsg{Code: tea.KeyRight}, back},
	} {
		var in Input
		in.Edit("earlier")
		for _, k := range keys {
			in.Key(k)
		}
		if in.Value() != want {
			t.Errorf("%v: %q, want %q", keys, in.Value(), want)
		}
	}
	var in Input
	in.Edit("earlier")
	if in.Paste(safetext.Escaper{}, "pasted"); in.Value() != "pasted" {
		t.Errorf("pasted: %q", in.Value())
	}
}

func TestLineKeys(t *testing.T) {
	ctrl := func(c rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: c, Mod: tea.ModCtrl} }
	typed := func(c rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: c, Text: string(c)} }
	for name, c := range map[string]struct {
		keys          []tea.KeyPressMsg
		want          string
		changed, used bool // by the last key
	}{
		"typed":                   {[]tea.KeyPressMsg{typed('!')}, "one two!", true, true},
		"at the start":            {[]tea.KeyPressMsg{ctrl('a'), typed('!')}, "!one two", true, true},
		"and back":                {[]tea.KeyPressMsg{ctrl('a'), ctrl('e'), typed('!')}, "one two!", true, true},
		"word":                    {[]tea.KeyPressMsg{ctrl('w')}, "one ", true, true},
		"all before":              {[]tea.KeyPressMsg{ctrl('u')}, "", true, true},
		"all after":               {[]tea.KeyPressMsg{ctrl('a'), ctrl('k')}, "", true, true},
		"moved":                   {[]tea.KeyPressMsg{{Code: tea.KeyLeft}}, "one two", false, true},
		"before":                  {[]tea.KeyPressMsg{{Code: tea.KeyLeft}, {Code: tea.KeyBackspace}}, "one to", true, true},
		"under":                   {[]tea.KeyPressMsg{{Code: tea.KeyHome}, {Code: tea.KeyDelete}}, "ne two", true, true},
		"the host's clipboard":    {[]tea.KeyPressMsg{ctrl('v')}, "one two", false, false},
		"a key of the pane":       {[]tea.KeyPressMsg{{Code: tea.KeyTab}}, "one two", false, false},
		"another key of the pane": {[]tea.KeyPressMsg{{Code: tea.KeyDown}}, "one two", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := &Input{Focus: true}
			in.Set("one two")
			var changed, used bool
			for _, k := range c.keys {
				changed, used = in.Key(k)
			}
			if in.Value() != c.want || changed != c.changed || used != c.used {
				t.Errorf("%q, changed %v, used %v; want %q, %v, %v", in.Value(), changed, used, c.want, c.changed, c.used)
			}
		})
	}
}

// TestEveryKeyAtEveryPlace: no key may end the console, wherever the cursor stands.
func TestEveryKeyAtEveryPlace(t *testing.T) {
	var keys []tea.KeyPressMsg
	for _, mod := range []tea.KeyMod{0, tea.ModCtrl, tea.ModAlt, tea.ModShift} {
		for _, code := range []rune{tea.KeyLeft, tea.KeyRight, tea.KeyHome, tea.KeyEnd, tea.KeyBackspace, tea.KeyDelete} {
			keys = append(keys, tea.KeyPressMsg{Code: code, Mod: mod})
		}
		for code := 'a'; code <= 'z'; code++ {
			keys = append(keys, tea.KeyPressMsg{Code: code, Mod: mod})
		}
	}
	for _, words := range []string{"", "a", " ", "ab", "a ", " a", "  ", "ab cd", "ab  ", "漢 字"} {
		for at := range len([]rune(words)) + 1 {
			for _, first := range keys {
				for _, second := range []tea.KeyPressMsg{first, {Code: 'd', Mod: tea.ModAlt}} {
					in := &Input{Focus: true}
					in.Set(words)
					in.line().SetCursor(at)
					_, _ = in.Key(first)
					_, _ = in.Key(second)
				}
			}
		}
	}
	in := &Input{Focus: true}
	in.Set("one x")
	in.line().SetCursor(4)
	if changed, used := in.Key(tea.KeyPressMsg{Code: 'd', Mod: tea.ModAlt}); !changed || !used || in.Value() != "one " {
		t.Errorf("the last word: %q, changed %v, used %v", in.Value(), changed, used)
	}
}
