// Package act holds an operator's acts as data. Footer, help, key table, the commands after `:` and the words
// of the linear mode are made from acts, so they always agree with the keys. It runs nothing by itself.
package act

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Act is one thing that an operator can do.
type Act struct {
	Name string   // one or two words for the footer; empty: not in the footer
	Keys []string // keystrokes as Bubble Tea names them: "enter", "ctrl+r"; none: the act has a verb only
	Show string   // the keys as people read them; empty: the first of Keys

	Verb     string   // the command after `:` and in the linear mode; empty: only keys do it
	Args     string   // the arguments of Verb, in capitals; empty: none
	Marks    bool     // it is done on the marked rows, where there are any
	Examples []string // each with its effect, after a semicolon

	Doc string // what it does, for the help
	// Why says why the act is impossible here and now; nil or an empty answer: it is possible.
	Why func() string
	Do  func() tea.Cmd
	// Ask does the act with the arguments of Verb; nil: Verb takes none, and Do is used.
	Ask func(args string) tea.Cmd

	Choices func() []string                 // completions of Args; nil: none
	Says    func(choice string) string      // what one of them is; nil: it says so itself
	Words   func() []string                 // completions of the last word of Args; nil: none
	More    func(line, word string) tea.Cmd // asks a store for further choices; nil: none
}

// With is the act in one place: why it is impossible there, and how it is done.
func (a Act) With(why func() string, do func() tea.Cmd) Act {
	a.Why, a.Do = why, do
	return a
}

// Taking is the act with its verb's arguments.
func (a Act) Taking(ask func(args string) tea.Cmd) Act {
	a.Ask = ask
	return a
}

// Called is the act with another description, where it means something narrower.
func (a Act) Called(doc string) Act {
	a.Doc = doc
	return a
}

// Whole is the act on a whole list, where Verb takes no row.
func (a Act) Whole() Act {
	a.Args = ""
	return a
}

// Takes returns the arguments of Verb on a line that begins with it.
func (a Act) Takes(line string) (args string, ok bool) {
	args, ok = strings.CutPrefix(line+" ", a.Verb+" ")
	return strings.TrimSpace(args), ok && a.Verb != ""
}

// Usage is the verb with its arguments.
func (a Act) Usage() string { return strings.TrimSpace(a.Verb + " " + a.Args) }

// Run does the act with the arguments of its verb.
func (a Act) Run(args string) tea.Cmd {
	if a.Ask != nil {
		return a.Ask(args)
	}
	return a.Do()
}

// Label is the keys as people read them.
func (a Act) Label() string {
	if a.Show != "" {
		return a.Show
	}
	return a.Keys[0]
}

// Reason says why the act cannot be done here; empty when it can.
func (a Act) Reason() string {
	if a.Why == nil {
		return ""
	}
	return a.Why()
}

// Unless joins reasons why a key does not work: the first one counts.
func Unless(reasons ...func() string) func() string {
	return func() string {
		for _, r := range reasons {
			if why := r(); why != "" {
				return why
			}
		}
		return ""
	}
}

// When is a reason under a condition.
func When(is bool, why string) string {
	if is {
		return why
	}
	return ""
}

// Find returns the act of a key; the first match wins, so a pane's keys precede the global ones.
func Find(acts []Act, key string) (Act, bool) {
	for _, b := range acts {
		if slices.Contains(b.Keys, key) {
			return b, true
		}
	}
	return Act{}, false
}

// Section is a heading of the help with its keys.
type Section struct {
	Title string
	Acts  []Act
}

// Mover is moved by the keys of movement: a list, a table or the pager.
type Mover interface {
	Move(by int) tea.Cmd
	Page(by float64) tea.Cmd // in screens: 1, -1, 0.5
	Home() tea.Cmd
	End() tea.Cmd
}

// Aside binds the keys that scroll the detail of a list, while the other movement keys stay with the list.
func Aside(m Mover, noun string) []Act {
	return []Act{
		{Keys: []string{"J", "shift+down"}, Show: "J", Doc: "scroll the " + noun + " down", Do: func() tea.Cmd { return m.Move(1) }},
		{Keys: []string{"K", "shift+up"}, Show: "K", Doc: "scroll the " + noun + " up", Do: func() tea.Cmd { return m.Move(-1) }},
		More.Called("scroll the "+noun+" half a screen down").With(nil, func() tea.Cmd { return m.Page(0.5) }),
		{Keys: []string{"{"}, Doc: "scroll the " + noun + " half a screen up", Do: func() tea.Cmd { return m.Page(-0.5) }},
	}
}

// Movement binds the keys that lists and texts share.
func Movement(m Mover, noun string) []Act {
	return []Act{
		{Keys: []string{"down", "j"}, Show: "Down j", Doc: "one " + noun + " down", Do: func() tea.Cmd { return m.Move(1) }},
		{Keys: []string{"up", "k"}, Show: "Up k", Doc: "one " + noun + " up", Do: func() tea.Cmd { return m.Move(-1) }},
		Next.With(nil, func() tea.Cmd { return m.Page(1) }),
		{Keys: []string{"pgup", "ctrl+b"}, Show: "PgUp", Doc: "one screen up", Do: func() tea.Cmd { return m.Page(-1) }},
		{Keys: []string{"ctrl+d"}, Doc: "half a screen down", Do: func() tea.Cmd { return m.Page(0.5) }},
		{Keys: []string{"ctrl+u"}, Doc: "half a screen up", Do: func() tea.Cmd { return m.Page(-0.5) }},
		{Keys: []string{"home", "g"}, Show: "Home g", Doc: "to the first " + noun, Do: m.Home},
		{Keys: []string{"end", "G"}, Show: "End G", Doc: "to the last " + noun, Do: m.End},
	}
}

// Steps is the rows of a page movement on a screen of height rows.
func Steps(by float64, height int) int {
	n := int(by * float64(max(height-1, 1)))
	switch {
	case n == 0 && by > 0:
		return 1
	case n == 0 && by < 0:
		return -1
	}
	return n
}
