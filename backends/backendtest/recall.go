package backendtest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"memdesk/model"
)

var recallCases = []Case{
	{"R19", Upstream, "a blank query is an error", blankQuery},
	{"R20", Contract, "no tier means every tier, an unknown one is an error", recallTiers},
	{"R21", Contract, "never more than twenty hits, whatever the limit", hitLimit},
	{"R22", Contract, "no hit is an empty list, not a missing one", noHits},
	{"R23", Contract, "a snippet is at most 500 characters of valid UTF-8", snippetSize},
	{"R24", Contract, "scores lie in 0..1 and lines count from 1", scoresAndLines},
	{"R25", Contract, "text that the scanner rejects is named, never shown", quarantinedHits},
	{"R27", Contract, "recall honours the scope", recallScope},
}

// fits reports whether so many bytes may be written to the tier.
func fits(ts model.TierSpec, n int) bool {
	return ts.Cap == 0 || ts.CapUnit == model.CapEntries || int64(n) <= ts.Cap
}

func blankQuery(t TB, e *Env) {
	s := e.open(t)
	e.put(t, s, e.anyTier(t, s), 0, word)
	for _, q := range []string{"", " ", "\t\r\n", "\u00a0\u2003"} {
		_, err := s.Provider.Recall(t.Context(), e.query(q))
		wantKind(t, fmt.Sprintf("query %q", q), err, model.InvalidInput)
	}
}

func hitIDs(r model.RecallResult) []string {
	var out []string
	for _, h := range r.Hits {
		out = append(out, h.ID)
	}
	return out
}

func recallTiers(t TB, e *Env) {
	s := e.open(t)
	made := map[string]string{}
	for _, ts := range e.tiers(s) {
		made[ts.Name] = e.put(t, s, ts, 0, "the "+word+" of "+ts.Name).ID
	}
	all := hitIDs(e.recall(t, s, e.query(word)))
	for _, ts := range e.tiers(s) {
		switch there := slices.Contains(all, made[ts.Name]); {
		case ts.Aside && there:
			t.Errorf("recall without a tier gives %q of tier %q, which it leaves aside", made[ts.Name], ts.Name)
		case !ts.Aside && !ts.Hidden && len(made) <= model.RecallLimit && !there:
			t.Errorf("recall without a tier misses %q of tier %q", made[ts.Name], ts.Name)
		}
		q := e.query(word)
		q.Tier = ts.Name
		got := hitIDs(e.recall(t, s, q))
		if !slices.Contains(got, made[ts.Name]) {
			t.Errorf("recall in tier %q misses its item %q: %q", ts.Name, made[ts.Name], got)
		}
		for name, id := range made {
			if name != ts.Name && id != made[ts.Name] && slices.Contains(got, id) {
				t.Errorf("recall in tier %q returns %q of tier %q", ts.Name, id, name)
			}
		}
	}
	for _, name := range []string{"no-such-tier", " "} {
		q := e.query(word)
		q.Tier = name
		_, err := s.Provider.Recall(t.Context(), q)
		wantKind(t, fmt.Sprintf("recall in tier %q", name), err, model.InvalidInput)
	}
}

// crowd writes more than twenty matches, as items where there are keys, else as lines of one item.
func (e *Env) crowd(t TB, s model.Store) model.TierSpec {
	t.Helper()
	ts := e.anyTier(t, s)
	if ts.KeyRule == model.KeyIgnored {
		var lines strings.Builder
		for i := range 30 {
			fmt.Fprintf(&lines, "%s %d\n", word, i)
		}
		e.put(t, s, ts, 0, lines.String())
		return ts
	}
	for i := range 30 {
		e.put(t, s, ts, i, fmt.Sprintf("%s number %d", word, i))
	}
	return ts
}

func hitLimit(t TB, e *Env) {
	s := e.open(t)
	e.crowd(t, s)
	for limit, most := range map[int]int{-1: 20, 0: 20, 1: 1, 3: 3, 20: 20, 21: 20, 25: 20, 1000: 20} {
		q := e.query(word)
		q.Limit = limit
		got := e.recall(t, s, q)
		if len(got.Hits) > most {
			t.Errorf("limit %d gives %d hits, want at most %d", limit, len(got.Hits), most)
		}
		if len(got.Hits) == 0 {
			t.Errorf("limit %d gives no hit", limit)
		}
	}
}

func noHits(t TB, e *Env) {
	s := e.open(t)
	check := func(when string) {
		res := e.recall(t, s, e.query("nobody-wrote-this"))
		if res.Hits == nil {
			t.Errorf("%s: hits are missing, want an empty list", when)
		}
		if len(res.Hits) != 0 || len(res.Quarantined) != 0 {
			t.Errorf("%s: %d hits, %q quarantined", when, len(res.Hits), res.Quarantined)
		}
	}
	check("empty store")
	e.put(t, s, e.anyTier(t, s), 0, "some text")
	check("no match")
}

func snippetSize(t TB, e *Env) {
	s := e.open(t)
	any := false
	for _, ts := range e.tiers(s) {
		text := strings.Repeat("é", 600) + " " + word + " " + strings.Repeat("ü", 50)
		if !fits(ts, len(text)) {
			continue
		}
		any = true
		e.put(t, s, ts, 0, text)
		q := e.query(word)
		q.Tier = ts.Name
		res := e.recall(t, s, q)
		if len(res.Hits) == 0 {
			t.Errorf("tier %q: the long line is not found", ts.Name)
		}
		for _, h := range res.Hits {
			if n := utf8.RuneCountInString(h.Snippet); n > model.SnippetRunes || n == 0 {
				t.Errorf("tier %q: a snippet of %d characters", ts.Name, n)
			}
			if !utf8.ValidString(h.Snippet) || strings.ContainsRune(h.Snippet, utf8.RuneError) {
				t.Errorf("tier %q: the snippet was cut inside a character: %q", ts.Name, cut(h.Snippet))
			}
		}
	}
	if !any {
		t.Skip("no tier holds a text of more than 500 characters")
	}
}

func scoresAndLines(t TB, e *Env) {
	s := e.open(t)
	for _, ts := range e.tiers(s) {
		e.put(t, s, ts, 0, "first line\nsecond line\nthe "+word+" stands here\nlast "+word+" line\n")
	}
	e.put(t, s, e.anyTier(t, s), 1, word+" "+word+" "+word)
	res := e.recall(t, s, e.query(word))
	if len(res.Hits) == 0 {
		t.Errorf("no hit")
	}
	for _, h := range res.Hits {
		if !(h.Score >= 0 && h.Score <= 1) {
			t.Errorf("hit %q scores %v, want 0..1", h.ID, h.Score)
		}
		if h.Line < 0 {
			t.Errorf("hit %q is on line %d", h.ID, h.Line)
		}
		if h.Source == "" {
			t.Errorf("hit %q has no source", h.ID)
		}
		if h.Line > 0 && s.Browser != nil {
			lines := strings.Split(read(t, s, h.ID).Body, "\n")
			if h.Line > len(lines) || !strings.Contains(lines[h.Line-1], word) {
				t.Errorf("hit %q: line %d does not hold the query", h.ID, h.Line)
			}
		}
	}
}

func quarantinedHits(t TB, e *Env) {
	if e.Poison == "" || e.Plant == nil {
		t.Skip("the test cannot bring rejected content into the store")
	}
	plain := e.open(t)
	for _, ts := range e.tiers(plain) {
		if !fits(ts, len(e.Poison)+100) || ts.Hidden {
			continue
		}
		s := e.Plant(e.real, ts.Name, e.key(ts, 0), "a "+word+" first\n"+e.Poison+"\n"+word+" last\n")
		e.closes(s)
		q := e.query(word)
		if ts.Aside {
			q.Tier = ts.Name
		}
		res := e.recall(t, s, q)
		if len(res.Hits) != 0 {
			t.Errorf("tier %q: hits from a rejected item: %q", ts.Name, cut(res.Hits[0].Snippet))
		}
		if len(res.Quarantined) == 0 {
			t.Errorf("tier %q: the rejected item is not named", ts.Name)
		}
		for _, label := range res.Quarantined {
			if absolute(label) || label == "" || strings.Contains(label, e.Poison) {
				t.Errorf("tier %q: the rejected item is named %q", ts.Name, label)
			}
		}
		if ts.KeyRule != model.KeyIgnored {
			clean := e.put(t, s, ts, 1, "a clean "+word)
			if got := hitIDs(e.recall(t, s, q)); !slices.Contains(got, clean.ID) {
				t.Errorf("tier %q: a clean item beside the rejected one is not found: %q", ts.Name, got)
			}
		}
	}
}

func recallScope(t TB, e *Env) {
	s := e.open(t)
	id := e.put(t, s, e.anyTier(t, s), 0, word).ID
	for what, q := range map[string]model.RecallRequest{
		"its own scope": e.query(word),
		"no scope":      {Query: word},
	} {
		if got := hitIDs(e.recall(t, s, q)); !slices.Contains(got, id) {
			t.Errorf("recall in %s misses the item: %q", what, got)
		}
	}
	if e.Scope.WorkspaceID == "" {
		return
	}
	res, err := s.Provider.Recall(t.Context(), model.RecallRequest{WorkspaceID: "someone-else", Query: word})
	if len(res.Hits) != 0 || err == nil {
		t.Errorf("recall for another workspace gives %d hits, error %v", len(res.Hits), err)
	}
}
