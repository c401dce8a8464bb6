package gdpr_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
)

// TestRenamedWorkItem: an item whose id names the subject must get a new id and lose nothing else;
// links from other items must lead to it, in their order.
func TestRenamedWorkItem(t *testing.T) {
	w := newWorld(t)
	const id = "x-" + ana
	lines := []string{
		`{"id":"` + id + `","title":"Plan","description":"one\ntwo\n` + name + `\nfour\nfive","status":"in_progress","priority":1,"issue_type":"task","created_at":"2026-01-01T10:00:00Z","created_by":"` + other + `","updated_at":"2026-01-02T10:00:00Z","started_at":"2026-01-01T12:00:00Z","content_hash":"abc","metadata":{"z":1,"a":[true,null],"who":"` + mail + `"},"estimate_note":"two days","dependencies":[{"issue_id":"` + id + `","depends_on_id":"x-1","type":"blocks","created_at":"2026-01-01T10:00:00Z"},{"issue_id":"` + id + `","depends_on_id":"x-3","type":"related","note":"n"}]}`,
		`{"id":"x-1","title":"tea","status":"open","issue_type":"task","priority":2,"created_at":"2026-01-01T10:00:00Z"}`,
		`{"id":"x-2","title":"milk","description":"a\nb\nc","status":"open","issue_type":"task","priority":2,"created_at":"2026-01-01T10:00:00Z","parent":"` + id + `","dependencies":[{"issue_id":"x-2","depends_on_id":"x-1","type":"blocks"},{"issue_id":"x-2","depends_on_id":"` + id + `","type":"blocks","by":"` + other + `"},{"issue_id":"x-2","depends_on_id":"` + id + `","type":"discovered-from"},{"issue_id":"x-2","depends_on_id":"x-3","type":"blocks"}]}`,
		`{"id":"x-3","title":"of ` + other + `","status":"open","issue_type":"task","priority":2,"created_at":"2026-01-01T10:00:00Z"}`,
		"",
	}
	plant(t, w.dir, map[string]string{"w/.beads/issues.jsonl": strings.Join(lines, "\n")})
	w.more = []backends.StoreConfig{{Name: "work", Kind: "beads", Path: filepath.Join(w.dir, "w")}}
	w.open()
	r := w.file()
	for _, ref := range []string{id, "x-2"} {
		if _, err := w.desk.Choose(t.Context(), r.ID, gdpr.Choice{Store: "work", ID: ref, Action: gdpr.Redact}); err != nil {
			t.Fatal(err)
		}
	}
	w.complete(w.plan(r.ID))
	got := tree(t, filepath.Join(w.dir, "w"))[".beads/issues.jsonl"]
	if strings.Contains(got, ana) || strings.Contains(got, name) || strings.Contains(got, mail) {
		t.Errorf("she is still there: %s", got)
	}
	if !strings.Contains(got, lines[1]+"\n") || !strings.Contains(got, lines[3]+"\n") {
		t.Errorf("a line that is none of hers changed: %s", got)
	}
	items := map[string]map[string]any{}
	for line := range strings.Lines(got) {
		var item map[string]any
		if err := json.Unmarshal([]byte(line), &item); err != nil {
			t.Fatal(err)
		}
		items[item["id"].(string)] = item
	}
	it := items["x-erased"]
	if it == nil {
		t.Fatalf("it has no new id: %s", got)
	}
	var was map[string]any
	if err := json.Unmarshal([]byte(lines[0]), &was); err != nil {
		t.Fatal(err)
	}
	for member := range was {
		if _, there := it[member]; !there {
			t.Errorf("member %s is lost", member)
		}
	}
	for member, want := range map[string]any{"created_at": "2026-01-01T10:00:00Z", "created_by": other, "started_at": "2026-01-01T12:00:00Z", "content_hash": "abc", "estimate_note": "two days", "status": "in_progress"} {
		if it[member] != want {
			t.Errorf("%s is %v; want %v", member, it[member], want)
		}
	}
	if own, err := json.Marshal(it["dependencies"]); err != nil || string(own) != `[{"created_at":"2026-01-01T10:00:00Z","depends_on_id":"x-1","issue_id":"x-erased","type":"blocks"},{"depends_on_id":"x-3","issue_id":"x-erased","note":"n","type":"related"}]` {
		t.Errorf("its own links are %s, %v", own, err)
	}
	if by := items["x-2"]["dependencies"].([]any)[1].(map[string]any)["by"]; by != other {
		t.Errorf("a link lost who made it: %v", by)
	}
	var deps []string
	for _, d := range items["x-2"]["dependencies"].([]any) {
		deps = append(deps, d.(map[string]any)["depends_on_id"].(string))
	}
	if strings.Join(deps, " ") != "x-1 x-erased x-erased x-3" || items["x-2"]["parent"] != "x-erased" {
		t.Errorf("x-2 hangs under %v and waits for %q", items["x-2"]["parent"], deps)
	}
}

// TestRenamedDecisions: decisions of recurse whose ids name the subject get new ids in one run, and the tree
// stays as it was.
func TestRenamedDecisions(t *testing.T) {
	w := newWorld(t)
	statements := []string{recurseSchema(t)}
	decision := func(id, parent string) {
		statements = append(statements, `INSERT INTO nodes (id, type, subtype, content) VALUES ('`+id+`', 'decision', 'goal', 'pick a bridge')`,
			`INSERT INTO decisions (node_id, decision_type, parent_id) VALUES ('`+id+`', 'goal', nullif('`+parent+`', ''))`)
	}
	decision("top-"+ana, "")
	decision("mid-"+ana, "top-"+ana)
	decision("leaf", "mid-"+ana)
	decision(ana, "leaf") // goes as a whole where nothing hangs under it
	decision("end", ana)
	for i := range 20 {
		statements = append(statements, fmt.Sprintf(`INSERT INTO nodes (id, type, content) VALUES ('q%d', 'fact', 'note %d on bridges')`, i, i))
	}
	path := liteStore(t, w, "sqlite", statements...)
	w.open()
	w.complete(w.plan(w.file().ID))
	const query = `SELECT group_concat(node_id || '<' || ifnull(parent_id, ''), ' ') FROM (SELECT * FROM decisions WHERE node_id NOT IN ('g-goal', 'h-option') ORDER BY node_id)`
	if got, want := cell(t, path, query), "end<erased erased<leaf leaf<mid-erased mid-erased<top-erased top-erased<"; got != want {
		t.Errorf("the tree is %s; want %s", got, want)
	}
}

// TestARenamedParentOfAHeldItem: an item on hold stays as it is, so its parent keeps the id that it names.
func TestARenamedParentOfAHeldItem(t *testing.T) {
	w := newWorld(t)
	statements := []string{recurseSchema(t),
		`INSERT INTO nodes (id, type, subtype, content) VALUES ('top-` + ana + `', 'decision', 'goal', 'pick a bridge'), ('leaf', 'decision', 'goal', 'of ` + name + `')`,
		`INSERT INTO decisions (node_id, decision_type, parent_id) VALUES ('top-` + ana + `', 'goal', NULL), ('leaf', 'goal', 'top-` + ana + `')`}
	for i := range 20 {
		statements = append(statements, fmt.Sprintf(`INSERT INTO nodes (id, type, content) VALUES ('q%d', 'fact', 'note %d on bridges')`, i, i))
	}
	path := liteStore(t, w, "sqlite", statements...)
	w.open()
	r := w.file()
	w.plan(r.ID)
	if _, err := w.desk.Hold(t.Context(), r.ID, gdpr.Hold{Store: "sqlite", ID: "leaf", Ground: "Art. 17(3)(e)"}); err != nil {
		t.Fatal(err)
	}
	p := w.plan(r.ID)
	if out, err := w.erase(p); err != nil || len(out.Problems) > 0 || out.Status != gdpr.StatePartial {
		t.Errorf("erase = %s, %q, %v; want partial: the id still names her", out.Status, out.Problems, err)
	}
	if got := cell(t, path, `SELECT group_concat(node_id || '<' || ifnull(parent_id, ''), ' ') FROM (SELECT * FROM decisions WHERE node_id NOT IN ('g-goal', 'h-option') ORDER BY node_id)`); got != "leaf<top-"+ana+" top-"+ana+"<" {
		t.Errorf("the tree is %s", got)
	}
}
