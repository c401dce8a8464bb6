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

// Environments names the environments of an act in its question, each with its stores; production is loud there too.
func (d *Desk) Environments(stores ...string) (lines []text.Line) {
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
		where, names := "store", in[environment]
		if len(names) > 1 {
			where = "stores"
		}
		line := text.Line{Value: d.Esc.Line(environment), Kind: text.Note, Pin: true}
		if IsProduction(environment) {
			line.Value, line.Kind = d.Esc.Const("PRODUCTION"), text.Alert
		}
		line.Value = d.Esc.Sprintf("The environment: %s. The %s: %s.", line.Value, where, strings.Join(names, ", "))
		lines = append(lines, line)
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

// TypedStore is that text for an act on stores: the name of one in production.
func (d *Desk) TypedStore(stores ...string) safetext.Text {
	for _, name := range stores {
		if s, err := d.Fleet.Store(name); err == nil && IsProduction(s.Environment) {
			return d.TypedName(s, name)
		}
	}
	return safetext.Text{}
}

// IsProduction reports whether the frame is loud and destructive acts ask for a name.
func IsProduction(environment string) bool { return strings.EqualFold(environment, "production") }

// WarningPage is the result of an act, with what is to be known of it.
func (d *Desk) WarningPage(result safetext.Text, warnings []string) *text.Page {
	head := []text.Line{{Value: result, Kind: text.Title}, {Kind: text.Blank}}
	return text.NewPage(append(head, text.Lines(d.Esc, text.Alert, warnings)...), "")
}

// stuck says why the last act of this session cannot be undone. Acts run in commands of their own.
type stuck struct {
	mu  sync.Mutex
	why string
}

// Took notes the result of an act, and returns its undo entry, or why z cannot undo it. One that it can clears the earlier reason.
func (s *stuck) Took(esc safetext.Escaper, done operator.Done) (undo []string, why safetext.Text) {
	obstacle := esc.LineMax(done.Obstacle, prose.MaxReason)
	switch {
	case done.Undo == "":
		why = esc.Const("nothing was kept for undo")
		obstacle = why
	case obstacle.IsEmpty():
		undo = []string{done.Undo}
	default:
		why = esc.Sprintf("it cannot be undone: %s; kept as %s", obstacle, done.Undo)
	}
	s.Set(obstacle.String())
	return undo, why
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
