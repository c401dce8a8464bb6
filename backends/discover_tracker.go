package backends

import (
	"fmt"
	"slices"

	"memdesk/backends/tracker"
)

// trackers picks the one tracker that discovery opens, by the table of managers
// and FOOLERY_BACKEND (provider-contract.md B9, B10).
type trackers struct {
	forced  string
	unknown bool // the variable says something that it cannot say
	won     string
}

func trackerChoice(env func(string) string) *trackers {
	t := &trackers{forced: env(tracker.EnvBackend)}
	known := []string{"", tracker.BackendAuto, tracker.BackendCLI, tracker.BackendStub, tracker.BackendBeads, tracker.BackendKnots}
	if t.unknown = !slices.Contains(known, t.forced); t.unknown {
		t.forced = ""
	}
	return t
}

// takes reports whether a row of the marker table may be opened: any that is no
// tracker, and the first tracker that the variable allows.
func (t *trackers) takes(m Marker) bool {
	if m.Kind != "knots" && m.Kind != "beads" {
		return true
	}
	switch t.forced {
	case tracker.BackendKnots:
		if m.Kind != "knots" {
			return false
		}
	case tracker.BackendBeads, tracker.BackendCLI:
		if m.Kind != "beads" {
			return false
		}
	}
	if t.won != "" {
		return false
	}
	t.won = m.Kind
	return true
}

// dress sets what the variable asks for and says so.
func (t *trackers) dress(c *StoreConfig, env func(string) string) {
	switch c.Kind {
	case "beads":
		c.Port = "auto"
		switch t.forced {
		case tracker.BackendBeads, tracker.BackendStub:
			c.Port = "jsonl"
		case tracker.BackendCLI:
			c.Port = "cli"
		}
	case "knots":
		c.Command = env("KNOTS_BIN")
	default:
		return
	}
	switch {
	case t.unknown:
		c.Origin += fmt.Sprintf("; $%s is %q, which is no backend, so auto was taken", tracker.EnvBackend, env(tracker.EnvBackend))
	case t.forced != "" && t.forced != tracker.BackendAuto:
		c.Origin += fmt.Sprintf("; $%s=%s", tracker.EnvBackend, t.forced)
	}
	if t.forced == tracker.BackendStub {
		c.ReadOnly, c.ReadOnlyReason = true, "$"+tracker.EnvBackend+"=stub asks for reading only"
	}
}
