package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/ui/act"
)

// customKeys maps the operator's own keys to the word of an act or, after a colon, to a command line.
type customKeys map[string]string

// named reports whether a word of the configuration means this act.
func named(a act.Act, word string) bool { return word != "" && (a.Verb == word || a.Name == word) }

// of adds the custom keys to acts.
func (c customKeys) of(acts []act.Act) []act.Act {
	if len(c) == 0 {
		return acts
	}
	out := slices.Clone(acts)
	for i := range out {
		for _, key := range slices.Sorted(maps.Keys(c)) {
			if named(out[i], c[key]) {
				out[i].Keys, out[i].Show = append([]string{key}, out[i].Keys...), key
			}
		}
	}
	return out
}

func (c customKeys) hotkeys(l *commandLine) (out []act.Act) {
	for _, key := range slices.Sorted(maps.Keys(c)) {
		if line, ok := strings.CutPrefix(c[key], ":"); ok {
			out = append(out, act.Act{Keys: []string{key}, Name: c[key], Doc: "run " + c[key], Do: func() tea.Cmd { return l.run(line) }})
		}
	}
	return out
}

// CheckKeys finds a configured key that no terminal sends, that names no act or view, or that two acts of a place share.
func CheckKeys(keys map[string]string, views map[string]backends.ViewConfig) (wrong string, err error) {
	c := customKeys(keys)
	a := NewApp(context.Background(), Options{})
	table := KeyTable()
	for _, key := range slices.Sorted(maps.Keys(c)) {
		word := c[key]
		switch line, hot := strings.CutPrefix(word, ":"); {
		case !pressable(key):
			return key, fmt.Errorf("[ui.keys] %q is no key: write one letter or sign, ctrl+LETTER, or f1 to f12", key)
		case hot:
			verb, name, _ := strings.Cut(line, " ")
			if !slices.ContainsFunc(a.Line.Verbs(), func(v act.Act) bool { return v.Verb == verb }) {
				return key, fmt.Errorf("[ui.keys] %s: there is no command :%s", key, verb)
			}
			if _, ok := views[strings.TrimSpace(name)]; verb == "view" && !ok {
				return key, fmt.Errorf("[ui.keys] %s: [ui.views] has no view %q; :save shows the lines to add, so that every session has it", key, strings.TrimSpace(name))
			}
		case !slices.ContainsFunc(places(table), func(s act.Section) bool {
			return slices.ContainsFunc(s.Acts, func(b act.Act) bool { return named(b, word) })
		}):
			return key, fmt.Errorf("[ui.keys] %s: no act is called %q; docs/keys.md has the words in its last column, and a command line begins with a colon", key, word)
		}
	}
	return c.clash(table)
}

// clash finds a key shared by two acts of one place.
func (c customKeys) clash(table []act.Section) (key string, err error) {
	var everywhere []act.Act
	for _, s := range table {
		if s.Title == sectionMoves || s.Title == sectionEverywhere {
			everywhere = append(everywhere, s.Acts...)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c)) {
		for _, s := range places(table) {
			acts := slices.Concat(s.Acts, everywhere)
			wanted := strings.HasPrefix(c[key], ":") || slices.ContainsFunc(acts, func(b act.Act) bool { return named(b, c[key]) })
			if taken, ok := act.Find(acts, key); wanted && ok && !named(taken, c[key]) {
				return key, fmt.Errorf("[ui.keys] %s: %q and %q would share this key (%s)", key, c[key], taken.Doc, s.Title)
			}
		}
	}
	return "", nil
}

// places are the sections of the key table where custom keys work: no text inputs and no questions.
func places(table []act.Section) []act.Section {
	return slices.DeleteFunc(slices.Clone(table), func(s act.Section) bool {
		return s.Title == sectionMoves || s.Title == sectionQuestion || s.Title == sectionLine || s.Title == sectionCommands || strings.HasSuffix(s.Title, "ing")
	})
}

// pressable reports whether terminals send a key under this name and the console takes it.
func pressable(key string) bool {
	if r, n := utf8.DecodeRuneInString(key); n == len(key) && unicode.IsGraphic(r) && r != ' ' && r != utf8.RuneError {
		return true
	}
	if letter, ok := strings.CutPrefix(key, "ctrl+"); ok { // i, j, m and [ are tab and enter and escape there
		return len(letter) == 1 && strings.Contains("abdefghklnopqrstuvwxyz", letter)
	}
	return slices.Contains([]string{"f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "f11", "f12"}, key)
}
