package backendtest

import (
	"fmt"
	"strings"
	"sync"
	"unicode"

	"memdesk/model"
)

var retainCases = []Case{
	{"R01", Contract, "the store has a provider with declared tiers", hasProvider},
	{"R02", Contract, "parallel appends to one item all survive", parallelAppends},
	{"R02", Contract, "mixed operations side by side", mixedOperations},
	{"R03", Contract, "an empty mode is an error, never a default", emptyMode},
	{"R04", Contract, "any mode but the two is an error and changes nothing", unknownMode},
	{"R05", Contract, "replace is byte-exact", replaceBytes},
	{"R06", Contract, "append adds no separator and creates an absent item", appendBytes},
	{"R07", Contract, "an unknown, empty or otherwise spelled tier is an error", unknownTier},
	{"R08", Upstream, "a tier that is not writable refuses new content", unwritableTier},
	{"R09", Contract, "a missing key is an error where one is required", missingKey},
	{"R10", Contract, "a key is ignored where the tier ignores it", ignoredKey},
	{"R11", Upstream, "a key is one path segment", badKey},
	{"R12", Contract, "empty content and invalid UTF-8 are refused", badContent},
	{"R13", Contract, "caps count the resulting item and refuse one more", caps},
	{"R14", Contract, "the id is stable and Forget accepts it", stableID},
	{"R15", Contract, "ids and sources are never absolute paths", relativeIDs},
	{"R16", Contract, "bytes is the size of the whole item", wholeBytes},
	{"R17", Upstream, "another scope than the store's is an error", foreignScope},
	{"R18", Upstream, "content that the scanner rejects is refused and changes nothing", poisonRefused},
}

func hasProvider(t TB, e *Env) {
	s := e.open(t)
	if s.Provider == nil {
		t.Fatalf("the store has no provider")
	}
	seen := map[string]bool{}
	for _, ts := range s.Tiers {
		switch {
		case ts.Name == "" || seen[ts.Name]:
			t.Errorf("tier %q is declared twice or has no name", ts.Name)
		case ts.KeyRule != model.KeyIgnored && ts.KeyRule != model.KeyRequired && ts.KeyRule != model.KeyOptional:
			t.Errorf("tier %q declares the key rule %q", ts.Name, ts.KeyRule)
		case ts.Document != model.Opaque && ts.Document != model.Structured:
			t.Errorf("tier %q declares the document kind %q", ts.Name, ts.Document)
		case ts.Cap > 0 && ts.CapUnit == "":
			t.Errorf("tier %q has a cap without a unit", ts.Name)
		}
		seen[ts.Name] = true
	}
	if len(s.Tiers) == 0 {
		t.Errorf("the store declares no tier")
	}
}

// writers is how many goroutines the concurrency cases use.
const writers = 8

func parallelAppends(t TB, e *Env) {
	s := e.open(t)
	ts := e.anyTier(t, s)
	each(t, writers, func(i int) error {
		for j := range 4 {
			err := retry(func() error {
				_, err := s.Provider.Retain(t.Context(), e.request(ts, 0, model.Append, fmt.Sprintf("<%d.%d>", i, j)))
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	id := e.put(t, s, ts, 1, "other").ID
	all := everything(t, s)
	for _, h := range all {
		if h.ID == id {
			continue
		}
		body := read(t, s, h.ID).Body
		for i := range writers {
			last := -1
			for j := range 4 {
				at := strings.Index(body, fmt.Sprintf("<%d.%d>", i, j))
				if at < last || at < 0 {
					t.Errorf("append %d of writer %d is lost or out of its order in %q", j, i, cut(body))
				}
				last = at
			}
		}
	}
	if want := 2; ts.KeyRule != model.KeyIgnored && len(all) != want {
		t.Errorf("%d items, want %d", len(all), want)
	}
}

// retry repeats a call when the store says so. Locked means that nothing was written, so that an append
// may be repeated too.
func retry(fn func() error) error {
	var err error
	for range 200 {
		if err = fn(); model.KindOf(err) != model.Locked {
			return err
		}
	}
	return err
}

func each(t TB, n int, fn func(i int) error) {
	t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = fn(i) })
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("worker %d: %v", i, err)
		}
	}
}

func mixedOperations(t TB, e *Env) {
	s := e.open(t)
	tiers := e.tiers(s)
	if len(tiers) == 0 {
		t.Skip("the store has no tier that Retain writes")
	}
	each(t, writers, func(i int) error {
		ts := tiers[i%len(tiers)]
		for j := range 3 {
			var res model.RetainResult
			steps := []func() error{
				func() (err error) {
					res, err = s.Provider.Retain(t.Context(), e.request(ts, 10*i+j, model.Replace, word+" at work"))
					return err
				},
				func() error { _, err := s.Provider.Recall(t.Context(), e.query(word)); return err },
				func() error {
					if s.Browser == nil {
						return nil
					}
					_, err := s.Browser.List(t.Context(), model.PageRequest{})
					return err
				},
				func() error { _, err := s.Provider.Forget(t.Context(), e.forget(res.ID)); return err },
			}
			for _, step := range steps {
				if err := retry(step); err != nil {
					return err
				}
			}
			s.Provider.Health(t.Context())
		}
		return nil
	})
}

func emptyMode(t TB, e *Env) {
	s := e.open(t)
	ts := e.anyTier(t, s)
	unchanged(t, s, "an empty mode", func() { refused(t, s, e.request(ts, 0, "", "text"), model.InvalidInput) })
}

func unknownMode(t TB, e *Env) {
	s := e.open(t)
	ts := e.anyTier(t, s)
	e.put(t, s, ts, 0, "before")
	for _, m := range []model.Mode{"Replace", "REPLACE", "Append", "overwrite", " replace", "append\n", "r"} {
		unchanged(t, s, fmt.Sprintf("mode %q", m), func() { refused(t, s, e.request(ts, 0, m, "after"), model.InvalidInput) })
	}
}

// samples are texts that careless writers change.
var samples = []string{
	"plain", "one newline\n", "two newlines\n\n", "crlf\r\nand bare\rand\n", "  leading and trailing  ", "\n\nblank first",
	"tab\tand 'quotes' \"double\" \\ % _ $1 {x}", "日本語 é e\u0301 🙂", "---\nlooks: like\n---\nfront matter\n", "<b>&amp;</b>", "ends without newline",
}

func replaceBytes(t TB, e *Env) {
	s := e.open(t)
	for _, ts := range e.tiers(s) {
		for _, text := range samples {
			res := e.put(t, s, ts, 0, text)
			wantBody(t, s, res.ID, text)
		}
	}
}

func appendBytes(t TB, e *Env) {
	s := e.open(t)
	for _, ts := range e.tiers(s) {
		res := retain(t, s, e.request(ts, 3, model.Append, "one"))
		wantBody(t, s, res.ID, "one")
		again := retain(t, s, e.request(ts, 3, model.Append, "two\n"))
		wantBody(t, s, res.ID, "onetwo\n")
		if again.ID != res.ID {
			t.Errorf("tier %q: appending went to %q, not %q", ts.Name, again.ID, res.ID)
		}
	}
}

func unknownTier(t TB, e *Env) {
	s := e.open(t)
	names := []string{"", "no-such-tier", " "}
	for _, ts := range s.Tiers {
		for _, other := range []string{strings.ToUpper(ts.Name), strings.ToLower(ts.Name), ts.Name + " ", ts.Name + "/"} {
			if _, declared := s.Tier(other); !declared {
				names = append(names, other)
			}
		}
	}
	for _, name := range names {
		r := e.scoped()
		r.Tier, r.Key, r.Mode, r.Content = name, "key-1", model.Replace, "text"
		unchanged(t, s, fmt.Sprintf("tier %q", name), func() { refused(t, s, r, model.InvalidInput) })
	}
}

func unwritableTier(t TB, e *Env) {
	s := e.open(t)
	any := false
	for _, ts := range s.Tiers {
		if _, not := e.NotByRetain[ts.Name]; ts.Writable && !not {
			continue
		}
		any = true
		unchanged(t, s, "tier "+ts.Name, func() {
			_, err := s.Provider.Retain(t.Context(), e.request(ts, 0, model.Replace, "new text"))
			wantKind(t, "retain in tier "+ts.Name, err, model.InvalidInput, model.Unsupported, model.PermissionDenied)
		})
	}
	if !any {
		t.Skip("every declared tier is writable")
	}
}

func missingKey(t TB, e *Env) {
	s := e.open(t)
	any := false
	for _, ts := range e.tiers(s) {
		if ts.KeyRule != model.KeyRequired {
			continue
		}
		any = true
		r := e.request(ts, 0, model.Replace, "text")
		r.Key = ""
		unchanged(t, s, "a missing key in "+ts.Name, func() { refused(t, s, r, model.InvalidInput) })
	}
	if !any {
		t.Skip("no declared tier requires a key")
	}
}

func ignoredKey(t TB, e *Env) {
	s := e.open(t)
	any := false
	for _, ts := range e.tiers(s) {
		if ts.KeyRule != model.KeyIgnored {
			continue
		}
		any = true
		first := e.put(t, s, ts, 0, "one")
		for _, key := range []string{"key-1", "2026-05-21", "anything"} {
			r := e.request(ts, 0, model.Replace, "two "+key)
			r.Key = key
			if res := retain(t, s, r); res.ID != first.ID {
				t.Errorf("tier %q with key %q: id %q, want %q", ts.Name, key, res.ID, first.ID)
			}
			wantBody(t, s, first.ID, "two "+key)
		}
	}
	if !any {
		t.Skip("no declared tier ignores its key")
	}
}

func badKey(t TB, e *Env) {
	s := e.open(t)
	if len(e.keyed(s)) == 0 {
		t.Skip("no declared tier has keys")
	}
	for _, ts := range e.keyed(s) {
		for _, key := range []string{"..", "../x", "a/b", "/etc/passwd", `a\b`, "a\x00b", "x/../y", "..x..", "a/", "bad\xff"} {
			r := e.request(ts, 0, model.Replace, "text")
			r.Key = key
			unchanged(t, s, fmt.Sprintf("key %q", key), func() { refused(t, s, r, model.InvalidInput) })
		}
	}
}

func badContent(t TB, e *Env) {
	s := e.open(t)
	for _, ts := range e.tiers(s) {
		e.put(t, s, ts, 0, "before")
		for _, text := range []string{"", "\xff", "half \xe2\x82", "\xc0\xaf", "surrogate \xed\xa0\x80"} {
			for _, mode := range []model.Mode{model.Replace, model.Append} {
				unchanged(t, s, fmt.Sprintf("content %q", text), func() { refused(t, s, e.request(ts, 0, mode, text), model.InvalidInput) })
			}
		}
	}
}

func caps(t TB, e *Env) {
	s := e.open(t)
	any := false
	for _, ts := range e.tiers(s) {
		unit := map[model.CapUnit]string{model.CapBytes: "x", model.CapChars: "é"}[ts.CapUnit]
		if ts.Cap == 0 || unit == "" {
			continue
		}
		any = true
		full := strings.Repeat(unit, int(ts.Cap))
		if res := e.put(t, s, ts, 0, full); len(res.Warnings) == 0 {
			t.Errorf("tier %q: no warning at the cap", ts.Name)
		}
		unchanged(t, s, "one over the cap", func() {
			refused(t, s, e.request(ts, 0, model.Replace, full+"x"), model.InvalidInput)
			refused(t, s, e.request(ts, 0, model.Append, "x"), model.InvalidInput)
		})
		if res := e.put(t, s, ts, 0, strings.Repeat(unit, int(ts.SoftCap())-1)); len(res.Warnings) != 0 {
			t.Errorf("tier %q: a warning below 80 %% of the cap: %q", ts.Name, res.Warnings)
		}
		if res := retain(t, s, e.request(ts, 0, model.Append, unit)); len(res.Warnings) == 0 {
			t.Errorf("tier %q: no warning from 80 %% of the cap", ts.Name)
		}
	}
	if !any {
		t.Skip("no declared tier has a cap in bytes or characters")
	}
}

func stableID(t TB, e *Env) {
	s := e.open(t)
	for _, ts := range e.tiers(s) {
		first := e.put(t, s, ts, 0, "one")
		second := e.put(t, s, ts, 0, "two")
		if first.ID == "" || first.ID != second.ID {
			t.Errorf("tier %q: two writes to one item give the ids %q and %q", ts.Name, first.ID, second.ID)
		}
		if n := e.drop(t, s, first.ID); n != 1 {
			t.Errorf("tier %q: forget of %q removed %d, want 1", ts.Name, first.ID, n)
		}
		if third := e.put(t, s, ts, 0, "three"); third.ID != first.ID {
			t.Errorf("tier %q: after a forget the id is %q, not %q", ts.Name, third.ID, first.ID)
		}
	}
}

func absolute(id string) bool {
	drive := len(id) > 2 && unicode.IsLetter(rune(id[0])) && id[1] == ':' && (id[2] == '\\' || id[2] == '/')
	return strings.HasPrefix(id, "/") || strings.HasPrefix(id, `\`) || strings.HasPrefix(id, "~") || strings.HasPrefix(id, "file:") || drive
}

func relativeIDs(t TB, e *Env) {
	s := e.open(t)
	for _, ts := range e.tiers(s) {
		if id := e.put(t, s, ts, 0, word+" here").ID; absolute(id) {
			t.Errorf("tier %q: the id %q is an absolute path", ts.Name, id)
		}
	}
	for _, h := range e.recall(t, s, e.query(word)).Hits {
		if absolute(h.Source) || absolute(h.ID) {
			t.Errorf("a hit names the absolute path %q (id %q)", h.Source, h.ID)
		}
	}
	if s.Browser != nil {
		for _, h := range everything(t, s) {
			if absolute(h.ID) {
				t.Errorf("a list names the absolute path %q", h.ID)
			}
		}
	}
}

func wholeBytes(t TB, e *Env) {
	s := e.open(t)
	for _, ts := range e.tiers(s) {
		if res := e.put(t, s, ts, 0, "é12"); res.Bytes != 4 {
			t.Errorf("tier %q: replace reports %d bytes, want 4", ts.Name, res.Bytes)
		}
		if res := retain(t, s, e.request(ts, 0, model.Append, "345")); res.Bytes != 7 {
			t.Errorf("tier %q: append reports %d bytes, want the whole item's 7", ts.Name, res.Bytes)
		}
	}
}

func foreignScope(t TB, e *Env) {
	s := e.open(t)
	ts := e.anyTier(t, s)
	id := e.put(t, s, ts, 0, word+" here").ID
	bound := 0
	for _, f := range []struct {
		name, bound            string
		workspace, agent, crew string
	}{
		{"workspace", e.Scope.WorkspaceID, "someone-else", e.Scope.AgentID, e.Scope.CrewID},
		{"agent", e.Scope.AgentID, e.Scope.WorkspaceID, "someone-else", e.Scope.CrewID},
		{"crew", e.Scope.CrewID, e.Scope.WorkspaceID, e.Scope.AgentID, "someone-else"},
	} {
		if f.bound == "" {
			continue
		}
		bound++
		unchanged(t, s, "another "+f.name, func() {
			r := e.request(ts, 0, model.Replace, "changed")
			r.WorkspaceID, r.AgentID, r.CrewID = f.workspace, f.agent, f.crew
			refused(t, s, r, model.InvalidInput)
			q := e.query(word)
			q.WorkspaceID, q.AgentID, q.CrewID = f.workspace, f.agent, f.crew
			_, err := s.Provider.Recall(t.Context(), q)
			wantKind(t, "recall in another "+f.name, err, model.InvalidInput)
			d := e.forget(id)
			d.WorkspaceID, d.AgentID, d.CrewID = f.workspace, f.agent, f.crew
			_, err = s.Provider.Forget(t.Context(), d)
			wantKind(t, "forget in another "+f.name, err, model.InvalidInput)
		})
	}
	if bound == 0 {
		t.Skip("the store is bound to no scope")
	}
	r := e.request(ts, 0, model.Replace, word+" again")
	r.WorkspaceID, r.AgentID, r.CrewID = "", "", ""
	retain(t, s, r)
}

func poisonRefused(t TB, e *Env) {
	if e.Poison == "" {
		t.Skip("the store does not scan what it is given")
	}
	s := e.open(t)
	for _, ts := range e.tiers(s) {
		e.put(t, s, ts, 0, "before")
		unchanged(t, s, "poison in "+ts.Name, func() {
			refused(t, s, e.request(ts, 0, model.Replace, e.Poison), model.InvalidInput)
			refused(t, s, e.request(ts, 0, model.Append, "\n"+e.Poison), model.InvalidInput)
			if ts.KeyRule != model.KeyIgnored {
				refused(t, s, e.request(ts, 1, model.Replace, e.Poison), model.InvalidInput)
			}
		})
	}
}
