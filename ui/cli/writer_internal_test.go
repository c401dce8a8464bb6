package cli

import (
	"testing"

	"memdesk/origin"
)

// TestWriterWords: the cell says what is known, once. Only a store's own words may stand for memdesk's word on trust: an
// agent may claim any.
func TestWriterWords(t *testing.T) {
	row := func(actor, channel, detail, trust string) (r origin.Row) {
		r.Actor, r.Channel, r.Detail, r.Trust = actor, channel, detail, trust
		return r
	}
	for _, c := range []struct {
		kept, want string
		r          origin.Row
	}{
		{origin.InLedger, "ada agent:notes.md:3 untrusted", row("ada", origin.Agent, "notes.md:3", "untrusted")},
		{origin.InStore, "user:interactive untrusted", row(origin.Unknown, origin.User, "interactive", "untrusted")},
		{origin.InStore, "origin_class untrusted interactive", row(origin.Unknown, origin.Unknown, "origin_class untrusted interactive", "untrusted")},
		{origin.InLedger, "ada agent:no longer untrusted untrusted", row("ada", origin.Agent, "no longer untrusted", "untrusted")},
		{origin.InStore, "unknown", row(origin.Unknown, origin.Unknown, "", "")},
	} {
		if got := writerWords(origin.Written{Row: c.r, Kept: c.kept}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
