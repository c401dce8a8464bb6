package desk

import (
	"path"
	"slices"
	"strings"
	"sync"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// NoBulk says why only one item can be changed at once.
func (d *Desk) NoBulk() string {
	return act.When(d.Jobs == nil, "there is no journal for long work here: one item at a time can be changed")
}

// Locked says why nothing can be changed in this console, or in one store; empty when changes are allowed.
func (d *Desk) Locked(store string) string {
	switch {
	case d.ReadOnly != "":
		return "this console is read-only: " + d.ReadOnly
	case d.Acts == nil:
		return "this console only shows; memdesk forget, retain and undo change memory"
	case store == "":
		return ""
	}
	s, err := d.Fleet.Store(store)
	switch {
	case err != nil:
		return "the store is not open: 1 Health tries it again"
	case s.ReadOnly:
		return "the store is read-only: " + s.ReadOnlyReason
	}
	return ""
}

// EnvironmentLine names the act's environment in a question; production is loud there too.
func EnvironmentLine(esc safetext.Escaper, environment string, stores ...string) text.Line {
	where := safetext.Text{}
	switch names := esc.Line(strings.Join(stores, ", ")); {
	case len(stores) > 1:
		where = esc.Sprintf(" The stores: %s.", names)
	case !names.IsEmpty():
		where = esc.Sprintf(" The store: %s.", names)
	}
	if IsProduction(environment) {
		return text.Line{Value: esc.Sprintf("The environment: PRODUCTION.%s", where), Kind: text.Alert, Pin: true}
	}
	return text.Line{Value: esc.Sprintf("The environment: %s.%s", esc.Line(environment), where), Kind: text.Note, Pin: true}
}

// EnvironmentOf is the line of a store that has a word for its environment.
func (d *Desk) EnvironmentOf(store string) []text.Line {
	s, err := d.Fleet.Store(store)
	if err != nil || s.Environment == "" {
		return nil
	}
	return []text.Line{EnvironmentLine(d.Esc, s.Environment, store)}
}

// EnvironmentsOf are the lines of the environments of an act, each with its stores.
func (d *Desk) EnvironmentsOf(stores []string) (lines []text.Line) {
	var order []string
	in := map[string][]string{}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(stores))) {
		if s, err := d.Fleet.Store(name); err == nil && s.Environment != "" {
			if in[s.Environment] == nil {
				order = append(order, s.Environment)
			}
			in[s.Environment] = append(in[s.Environment], name)
		}
	}
	for _, environment := range order {
		lines = append(lines, EnvironmentLine(d.Esc, environment, in[environment]...))
	}
	return lines
}

// TypedName is the text to type before a destructive act, as shown; empty outside production.
func (d *Desk) TypedName(s model.Store, id string) safetext.Text {
	if !IsProduction(s.Environment) {
		return safetext.Text{}
	}
	name := path.Base(id)
	if name == "." || name == "/" {
		name = id
	}
	return d.Esc.Line(name)
}

// IsProduction reports whether the frame is loud and destructive acts ask for a name.
func IsProduction(environment string) bool { return strings.EqualFold(environment, "production") }

// stuck says why the last act of this session cannot be undone. Acts run in commands of their own.
type stuck struct {
	mu  sync.Mutex
	why string
}

// Took notes the result of an act: one that z can undo clears the earlier reason.
func (s *stuck) Took(esc safetext.Escaper, done operator.Done) {
	if done.Undo == "" {
		s.Set("nothing was kept for undo")
		return
	}
	s.Set(esc.LineMax(done.Obstacle, prose.MaxReason).String())
}

func (s *stuck) Set(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.why = why
}

func (s *stuck) Get() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.why
}
