package keys

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// Binding is one key as data. The footer, the help and the key table are made
// from bindings, so they cannot tell anything else than what the keys do.
type Binding struct {
	Keys        []string // keystrokes as Bubble Tea names them: "enter", "ctrl+r"
	Show        string   // how the keys are written for people; empty: the first of Keys
	Hint        string   // one or two words for the footer; empty: not in the footer
	Description string   // what the key does, for the help
	// Disabled says why the key does not work here and now, in words; nil or an
	// empty answer means that it works.
	Disabled func() string
	Handler  func() tea.Cmd
}

func (b Binding) Label() string {
	if b.Show != "" {
		return b.Show
	}
	return b.Keys[0]
}

func (b Binding) Reason() string {
	if b.Disabled == nil {
		return ""
	}
	return b.Disabled()
}

// Unless joins reasons why a key does not work: the first that there is.
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

// Find returns the binding of a keystroke; the first that has it wins, so what a
// pane binds comes before what works everywhere.
func Find(bindings []Binding, key string) (Binding, bool) {
	for _, b := range bindings {
		if slices.Contains(b.Keys, key) {
			return b, true
		}
	}
	return Binding{}, false
}

// Section is a heading of the help with its keys.
type Section struct {
	Title    string
	Bindings []Binding
}

// Mover is what the keys of movement act on: a list, a table or the pager.
type Mover interface {
	Move(by int) tea.Cmd
	Page(by float64) tea.Cmd // in screens: 1, -1, 0.5
	Home() tea.Cmd
	End() tea.Cmd
}

// Aside binds the keys that scroll what stands beside a list, or below it, while
// the other keys of movement stay with the list.
func Aside(m Mover, noun string) []Binding {
	return []Binding{
		{Keys: []string{"J", "shift+down"}, Show: "J", Description: "scroll the " + noun + " down", Handler: func() tea.Cmd { return m.Move(1) }},
		{Keys: []string{"K", "shift+up"}, Show: "K", Description: "scroll the " + noun + " up", Handler: func() tea.Cmd { return m.Move(-1) }},
		{Keys: []string{">"}, Description: "scroll the " + noun + " half a screen down", Handler: func() tea.Cmd { return m.Page(0.5) }},
		{Keys: []string{"<"}, Description: "scroll the " + noun + " half a screen up", Handler: func() tea.Cmd { return m.Page(-0.5) }},
	}
}

// Movement binds the keys that lists and texts share.
func Movement(m Mover, noun string) []Binding {
	return []Binding{
		{Keys: []string{"down", "j"}, Show: "Down j", Description: "one " + noun + " down", Handler: func() tea.Cmd { return m.Move(1) }},
		{Keys: []string{"up", "k"}, Show: "Up k", Description: "one " + noun + " up", Handler: func() tea.Cmd { return m.Move(-1) }},
		{Keys: []string{"pgdown", "ctrl+f"}, Show: "PgDn", Description: "one screen down", Handler: func() tea.Cmd { return m.Page(1) }},
		{Keys: []string{"pgup", "ctrl+b"}, Show: "PgUp", Description: "one screen up", Handler: func() tea.Cmd { return m.Page(-1) }},
		{Keys: []string{"ctrl+d"}, Description: "half a screen down", Handler: func() tea.Cmd { return m.Page(0.5) }},
		{Keys: []string{"ctrl+u"}, Description: "half a screen up", Handler: func() tea.Cmd { return m.Page(-0.5) }},
		{Keys: []string{"home", "g"}, Show: "Home g", Description: "to the first " + noun, Handler: m.Home},
		{Keys: []string{"end", "G"}, Show: "End G", Description: "to the last " + noun, Handler: m.End},
	}
}

// Steps is how far a page movement goes on a screen of height rows.
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
