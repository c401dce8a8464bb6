package backendtest

import (
	"strings"

	"memdesk/model"
)

// addressTells checks a store's Address: undo uses it to find the item that it keeps before a write.
func addressTells(t TB, e *Env) {
	s := e.open(t)
	if s.Address == nil {
		t.Skip("the store does not tell addresses")
	}
	for _, ts := range e.tiers(s) {
		r := e.request(ts, 0, model.Replace, "text")
		told, err := s.Address(r)
		if err != nil {
			t.Errorf("tier %q: no address: %v", ts.Name, err)
			continue
		}
		if strings.HasPrefix(told, "/") {
			t.Errorf("tier %q: the address %q is an absolute path (R15)", ts.Name, told)
		}
		if s.Browser != nil {
			if _, err := s.Browser.Read(t.Context(), told); !isKind(err, model.NotFound) {
				t.Errorf("tier %q: telling the address %q made the item, or reading it fails: %v", ts.Name, told, err)
			}
		}
		if res := retain(t, s, r); res.ID != told {
			t.Errorf("tier %q: address %q, but %q was written", ts.Name, told, res.ID)
		}
		if again, err := s.Address(r); err != nil || again != told {
			t.Errorf("tier %q: the address of an item that exists is %q, %v; it was %q", ts.Name, again, err, told)
		}
	}
	bad := e.scoped()
	bad.Tier, bad.Mode, bad.Content = "no-such-tier", model.Replace, "x"
	if id, err := s.Address(bad); !isKind(err, model.InvalidInput) {
		t.Errorf("an unknown tier has the address %q, %v", id, err)
	}
}

func isKind(err error, k model.Kind) bool { return err != nil && model.KindOf(err) == k }
