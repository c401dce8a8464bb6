package cli

import (
	"testing"

	"memdesk/origin"
)

// TestWriterWords: the cell says what is known, once.
func TestWriterWords(t *testing.T) {
	row := func(actor, channel, detail, trust string) (r origin.Row) {
		r.Actor, r.Channel, r.Detail, r.Trust = actor, channel, detail, trust
		return r
	}
	for want, r := range map[string]origin.Row{
		"ada agent:notes.md:3 untrusted":     row("ada", origin.Agent, "notes.md:3", "untrusted"),
		"user:interactive untrusted":         row(origin.Unknown, origin.User, "interactive", "untrusted"),
		"origin_class untrusted interactive": row(origin.Unknown, origin.Unknown, "origin_class untrusted interactive", "untrusted"),
		"unknown":                            row(origin.Unknown, origin.Unknown, "", ""),
	} {
		if got := writerWords(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
