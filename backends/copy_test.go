package backends_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/internal/testpg"
	"memdesk/model"
	"memdesk/transfer"
)

const (
	copiesBegin = "<!-- copies: written by `make golden` from a test over all pairs; begin -->\n"
	copiesEnd   = "<!-- copies: end -->\n"
)

// recordRows are rows to copy, for the kinds whose stores other programs fill.
var recordRows = map[string]string{
	"mastra": `INSERT INTO mastra_threads VALUES ('t1', 'maren', 'On boats', NULL, '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z');
		INSERT INTO mastra_messages VALUES ('m1', 't1', '{"format":2,"parts":[{"type":"text","text":"Hello from the pier"}]}', 'user', 'v2', '2026-01-01T00:00:00.000Z', 'maren');
		INSERT INTO mastra_resources VALUES ('maren', '# Maren', jsonb('{"a":1}'), '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z');`,
	"mem0":   `INSERT INTO vectors VALUES ('9c1f', x'0000803f0000803f', '{"user_id":"maren","agent_id":"desk","data":"Likes rye","hash":"x","mood":"calm","createdAt":"2026-01-01T00:00:00.000Z"}');`,
	"engram": `INSERT INTO sessions (id, project, directory, summary) VALUES ('s1', 'atlas', '/srv/atlas', 'about tides'); INSERT INTO observations (session_id, type, title, content, project) VALUES ('s1', 'decision', 'Use WAL', 'the reader was blocked', 'atlas');`,
}

// opened opens a store beside the demo's.
func opened(t *testing.T, name, path string) model.Store {
	t.Helper()
	kind, _ := backends.Builtin().Kind(name)
	c := backends.StoreConfig{Name: name, Kind: name, Path: path}
	if kind.Create != nil {
		must(t, kind.Create(t.Context(), c, backends.Env{}))
	}
	s, err := kind.Open(t.Context(), c, backends.Env{})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	s.Name, s.Kind = name, name
	return s
}

// agentMemory is the memory of one Crewship agent.
func agentMemory(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".memory")
	must(t, os.MkdirAll(filepath.Join(dir, "daily"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "AGENT.md"), []byte("I keep notes.\n"), 0o600))
	return dir
}

// fill gives every empty kind something to copy; the others have the demo's content.
func fill(t *testing.T, stores map[string]model.Store) {
	t.Helper()
	for kind, rows := range recordRows {
		path := stores[kind].Location
		if kind == "mem0" {
			path = filepath.Join(path, "vector_store.db")
		}
		db, err := sql.Open("sqlite3", path)
		must(t, err)
		_, err = db.Exec(rows)
		must(t, err)
		must(t, db.Close())
	}
	testpg.Exec(t, os.Getenv("MEMDESK_MATRIX_LANGGRAPH"), `INSERT INTO store (namespace_path, key, value) VALUES ('users:maren', 'k', '{"text":"Likes rye","user_id":"maren"}')`)
	for kind, req := range map[string]model.RetainRequest{
		"mcpgraph": {ID: "Maren", Content: "- likes rye\n- met Ada"},
		"postgres": {Tier: "task", Key: "p1", Content: "Likes rye", DataSubjectID: "maren", Beside: &model.Beside{Vector: []float32{1, 2}, VectorModel: "m"}},
		"sqlite":   {Tier: "task", Key: "s1", Content: "Likes tea", DataSubjectID: "maren", Beside: &model.Beside{Vector: []float32{1, 2}, VectorModel: "m"}},
		"inmem":    {Tier: "task", Key: "n1", Content: "Likes rye", DataSubjectID: "maren"},
		"remote":   {Tier: "task", Key: "n2", Content: "Likes boats", DataSubjectID: "maren"},
		"mcp":      {Tier: "far/task", Key: "f1", Content: "Likes the sea"},
	} {
		req.Mode = model.Replace
		_, err := stores[kind].Provider.Retain(t.Context(), req)
		must(t, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// first lists only the first items of each tier.
type first struct{ model.Browser }

func (f first) List(ctx context.Context, req model.PageRequest) (model.Page, error) {
	var out model.Page
	counts, err := f.Tiers(ctx)
	seen := map[string]bool{}
	for _, c := range counts {
		if seen[c.Tier] || req.Tier != "" && req.Tier != c.Tier {
			continue
		}
		seen[c.Tier] = true
		page, err := f.Browser.List(ctx, model.PageRequest{Tier: c.Tier, Hidden: true, Limit: 2})
		if err != nil {
			return out, err
		}
		out.Items = append(out.Items, page.Items...)
	}
	return out, err
}

// steps runs every step.
type steps struct{}

func (steps) Step(ctx context.Context, _ string, fn func(context.Context) error) error {
	return fn(ctx)
}
func (steps) Progress(int64, int64, string, string) {}

// goal is the tier that copies go to: the first that takes new items under a key.
func goal(s model.Store) string {
	for _, t := range s.Tiers {
		if t.Writable && !t.OwnerMakes && t.KeyRule != model.KeyIgnored && !t.Hidden {
			return t.Name
		}
	}
	return ""
}

// named matches names of single items, and sizes, in a reason.
var named = regexp.MustCompile(`"[^"]*"|[0-9]{3,}`)

// copyCell copies a few items of one store into another and describes the result. Whatever is missing
// in the destination must be named as not carried.
func copyCell(t *testing.T, from, to model.Store) (result, lost string) {
	tier := goal(to)
	if from.Browser == nil {
		return "unsupported", "the source cannot be listed"
	}
	if to.Browser == nil {
		return "unsupported", "the destination cannot be looked at"
	}
	if to.Kind == "knots" {
		return "not tried", "kno is another program, which this test does not run"
	}
	if to.ReadOnly || tier == "" {
		return "unsupported", "its own program alone makes new items"
	}
	from.Name, to.Name = from.Kind, "to"
	from.Browser = first{from.Browser}
	plan, err := transfer.NewPlan(from, to, transfer.Options{Map: map[string]string{"*": tier}})
	must(t, err)
	write := func(ctx context.Context, s model.Store, req model.RetainRequest) (model.RetainResult, error) {
		return s.Provider.Retain(ctx, req)
	}
	reasons, same := map[string]bool{}, 0
	sum, err := plan.Run(t.Context(), steps{}, write, func(o transfer.Outcome) {
		switch o.Result {
		case transfer.Copied:
			check(t, from, to, o)
			if what, ok := strings.CutPrefix(o.Reason, "not carried: "); ok {
				for _, w := range strings.Split(what, ", ") {
					reasons[w] = true
				}
			}
		case transfer.Skipped:
			if strings.HasSuffix(o.Reason, "the same") {
				same++
			}
		case transfer.Failed:
			reasons["some refused: "+named.ReplaceAllString(o.Reason, "…")] = true
		}
	})
	must(t, err)
	var words []string
	for w := range reasons {
		words = append(words, w)
	}
	slices.Sort(words)
	switch {
	case same > 0 && sum.Copied == 0 && sum.Failed == 0:
		return "carried", "the demo's own content stands there, the same"
	case sum.Copied == 0 && sum.Failed > 0:
		return "refused", strings.Join(words, "; ")
	case sum.Copied == 0:
		return "nothing", "the source is empty here"
	case sum.Failed > 0:
		return "in part", strings.Join(words, ", ")
	}
	return "carried", strings.Join(words, ", ")
}

// check compares a copied item with the copy's report on it.
func check(t *testing.T, from, to model.Store, o transfer.Outcome) {
	t.Helper()
	a, err := from.Browser.Read(t.Context(), o.ID)
	must(t, err)
	b, err := to.Browser.Read(t.Context(), o.To)
	if err != nil {
		t.Errorf("%s to %s: %s was said to be copied to %s: %v", from.Kind, to.Kind, o.ID, o.To, err)
		return
	}
	whole := b.Body
	for _, f := range b.Meta {
		whole += "\n" + f.Value
	}
	plain := func(s string) string { // ignores the destination's quotes and indentation
		return strings.NewReplacer(`\n`, "", "\n", "", `\`, "", " ", "", `\u003c`, "<", `\u003e`, ">", `\u0026`, "&", "'", "", `"`, "").Replace(s)
	}
	if !strings.Contains(plain(whole), plain(strings.TrimSpace(a.Body))) {
		t.Errorf("%s to %s: the text of %s is not in %q", from.Kind, to.Kind, o.ID, b.Body)
	}
	if from.Kind == to.Kind || o.To == o.ID && strings.Contains(o.Reason, "not carried") {
		return
	}
	if a.Scope != "" && !strings.Contains(o.Reason, "scope") && !strings.Contains(plain(whole), plain(a.Scope)) {
		t.Errorf("%s to %s: the scope %q of %s went without a word: %q, %q", from.Kind, to.Kind, a.Scope, o.ID, o.Reason, whole)
	}
	if from.Beside != nil && to.Beside != nil && !strings.Contains(o.Reason, "vector") {
		x, err := from.Beside(t.Context(), o.ID)
		must(t, err)
		y, err := to.Beside(t.Context(), o.To)
		must(t, err)
		if !slices.Equal(x.Vector, y.Vector) {
			t.Errorf("%s to %s: the vector of %s went without a word", from.Kind, to.Kind, o.ID)
		}
	}
	day := a.Modified.UTC().Format(time.DateOnly)
	if !a.Modified.IsZero() && !strings.Contains(o.Reason, "modified") && !strings.Contains(whole, day) {
		t.Errorf("%s to %s: the time of %s went without a word: %q", from.Kind, to.Kind, o.ID, o.Reason)
	}
}

// TestCopies copies between all pairs of kinds and compares the results with the table of docs/copy.md.
func TestCopies(t *testing.T) {
	sources := oneOfEveryKind(t)
	sources["sqlite"] = opened(t, "sqlite", filepath.Join(t.TempDir(), "graph.db")) // the demo's items refer to others that are not copied here
	fill(t, sources)
	kinds := make([]string, 0, len(sources))
	for k := range sources {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	goals := oneOfEveryKind(t)
	goals["curated"] = opened(t, "curated", t.TempDir()) // the demo's is nearly full
	goals["crewship"] = opened(t, "crewship", agentMemory(t))
	var b strings.Builder
	for _, to := range kinds {
		type cell struct{ result, lost string }
		groups := map[cell][]string{}
		for _, from := range kinds {
			result, lost := copyCell(t, sources[from], goals[to])
			c := cell{result, lost}
			groups[c] = append(groups[c], from)
		}
		fmt.Fprintf(&b, "\n### To %s", to)
		if tier := goal(goals[to]); tier != "" {
			fmt.Fprintf(&b, ", tier %s", tier)
		}
		b.WriteString("\n\n| from | result | lost, or why not |\n|---|---|---|\n")
		order := make([]cell, 0, len(groups))
		for c := range groups {
			order = append(order, c)
		}
		slices.SortFunc(order, func(x, y cell) int { return cmp.Compare(groups[x][0], groups[y][0]) })
		for _, c := range order {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(groups[c], ", "), c.result, strings.ReplaceAll(cmp.Or(c.lost, "–"), "|", `\|`))
		}
	}
	page, err := os.ReadFile("../docs/copy.md")
	must(t, err)
	head, rest, ok := strings.Cut(string(page), copiesBegin)
	have, tail, closed := strings.Cut(rest, copiesEnd)
	if !ok || !closed {
		t.Fatal("docs/copy.md has no place for the table")
	}
	if *update {
		must(t, os.WriteFile("../docs/copy.md", []byte(head+copiesBegin+b.String()+copiesEnd+tail), 0o644))
		return
	}
	if have != b.String() {
		t.Errorf("the table of docs/copy.md is not what copies do; run make golden. Want:\n%s", b.String())
	}
}
