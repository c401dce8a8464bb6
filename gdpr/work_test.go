package gdpr_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends"
	"memdesk/gdpr"
)

// TestErasesWorkItems removes a subject from every field of a tracker's lines and changes nothing else.
func TestErasesWorkItems(t *testing.T) {
	t.Parallel()
	const also = `{"id":"h-9","title":"tea", "created_by":"bob", "n":1.50e3}` + "\n"
	tests := []struct {
		name, line, want string // want, up to the time of change
		deps, wantDeps   string
	}{
		{name: "a title", line: `{"id":"h-1","title":"` + name + `","priority":2}`, want: `{"id":"h-1","title":"[erased]","priority":2`},
		{name: "a title and labels", line: `{"id":"h-1","title":"` + name + `","description":"d","labels":["tea","` + name + `"],"priority":2}`,
			want: `{"id":"h-1","title":"[erased]","description":"d","labels":["tea","erased"],"priority":2`},
		{name: "a label that comes first", line: `{"id":"h-1","title":"t","labels":["` + name + `","tea"]}`, want: `{"id":"h-1","title":"t","labels":["erased","tea"]`},
		{name: "a status", line: `{"id":"h-1","title":"t","status":"` + ana + `"}`, want: `{"id":"h-1","title":"t","status":"erased"`},
		{name: "who made it", line: `{"id":"h-1", "title":"t", "created_by":"` + ana + `", "n":1.50e3}`, want: `{"id":"h-1", "title":"t", "created_by":"[erased]", "n":1.50e3}`},
		{name: "comments", line: `{"id":"h-1","title":"t","comments":[{"id":7,"author":"` + name + `","text":"a\u00e9 \n` + name + ` b"}, {"author":"bob","text":"\u00e9"}]}`,
			want: `{"id":"h-1","title":"t","comments":[{"id":7,"author":"[erased]","text":"a\u00e9 \n[erased] b"}, {"author":"bob","text":"\u00e9"}]}`},
		{name: "a dependency's maker", line: `{"id":"h-1","title":"t","dependencies":[{"issue_id":"h-1","depends_on_id":"h-9","created_by":"` + ana + `"}]}`,
			want: `{"id":"h-1","title":"t","dependencies":[{"issue_id":"h-1","depends_on_id":"h-9","created_by":"[erased]"}]}`},
		{name: "fields of one's own", line: `{"id":"h-1","title":"t","x":{"` + ana + `":[1,"` + mail + `"],"` + name + `":{"k":["` + name + `"]}},"created_by":"` + ana + `","created_by":"` + ana + `"}`,
			want: `{"id":"h-1","title":"t","x":{"[erased]":[1,"[erased]"],"[erased]-2":{"k":["[erased]"]}},"created_by":"[erased]","created_by":"[erased]"}`},
		{name: "a title and who made it", line: `{"id":"h-1","title":"ask ` + name + `","created_by":"` + ana + `"}`, want: `{"id":"h-1","title":"ask [erased]","created_by":"[erased]"`},
		{name: "a task of hers", line: `{"id":"h-1","title":"t","description":"` + name + ` does it","assignee":"` + ana + `"}`, want: `{"id":"h-1","title":"t","description":"[erased] does it"`},
		{name: "a pair's maker", line: `{"id":"h-1","title":"t"}`, want: `{"id":"h-1","title":"t"}`,
			deps:     `{"blockerId":"h-1","blockedId":"h-9","created_by":"` + ana + `" }` + "\n" + `{"blockerId":"h-9","blockedId":"h-1","created_by":"bob"}` + "\n",
			wantDeps: `{"blockerId":"h-1","blockedId":"h-9","created_by":"[erased]" }` + "\n" + `{"blockerId":"h-9","blockedId":"h-1","created_by":"bob"}` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			files := map[string]string{"w/.beads/issues.jsonl": tt.line + "\n" + also}
			if tt.deps != "" {
				files["w/.beads/deps.jsonl"] = tt.deps
			}
			plant(t, w.dir, files)
			w.more = []backends.StoreConfig{{Name: "s", Kind: "beads", Path: filepath.Join(w.dir, "w")}}
			w.open()
			out := w.complete(w.plan(w.file().ID))
			if out.Redacted == 0 && tt.wantDeps == tt.deps {
				t.Errorf("nothing was redacted: %+v", out)
			}
			got := text(t, filepath.Join(w.dir, "w/.beads/issues.jsonl"))
			if lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n"); len(lines) != 2 || lines[1]+"\n" != also || !isEdited(lines[0], tt.want) {
				t.Errorf("the lines are\n%s want\n%s\n%s", got, tt.want, also)
			}
			if got := text(t, filepath.Join(w.dir, "w/.beads/deps.jsonl")); got != tt.wantDeps {
				t.Errorf("the pairs are\n%s want\n%s", got, tt.wantDeps)
			}
		})
	}
}

// TestErasesDuplicatesInOneRun: the lines behind one that goes get the handle before theirs.
func TestErasesDuplicatesInOneRun(t *testing.T) {
	t.Parallel()
	const first, last = `{"id":"h-0","title":"tea"}` + "\n", `{"id":"h-9","title":"milk"}` + "\n"
	const hers = `{"id":"h-1","title":"t","description":"` + name + `"}` + "\n"
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"w/.beads/issues.jsonl": first + hers + hers + last + hers})
	w.more = []backends.StoreConfig{{Name: "s", Kind: "beads", Path: filepath.Join(w.dir, "w")}}
	w.open()
	out := w.complete(w.plan(w.file().ID))
	if got := text(t, filepath.Join(w.dir, "w/.beads/issues.jsonl")); got != first+last {
		t.Errorf("%+v\n%s", out, got)
	}
}

var updated = regexp.MustCompile(`^,"updated_at":"[^"]*"}$`)

// isEdited reports whether a line equals the wanted one except for a time of change.
func isEdited(line, want string) bool {
	if line == want {
		return true
	}
	return len(line) > len(want) && line[:len(want)] == want && updated.MatchString(line[len(want):])
}

// text is a file's content; empty for a missing file.
func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

// bdScript stands in for bd over the file bd.data: the export, a deletion, and a change of one title.
const bdScript = `#!/bin/sh
case "$1" in
export) cat ../bd.data ;;
delete) for id; do :; done; grep -v "\"id\":\"$id\"" ../bd.data >../bd.next; mv ../bd.next ../bd.data; echo '{}' ;;
update) for id; do :; done; sed "/\"id\":\"$id\"/s/ for [^\"]*/ for [erased]/" ../bd.data >../bd.next; mv ../bd.next ../bd.data; echo '[]' ;;
*) echo "Error: unknown command $1" >&2; exit 1 ;;
esac
`

// TestErasesThroughBD: an item whose comment names the subject must go as a whole, since bd edits no
// comment; a task and a gate with the subject in their titles must stay without the name, and
// everything else must stay unchanged.
func TestErasesThroughBD(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const bystander = `{"_type":"issue","id":"h-9","title":"tea","status":"open","comments":[{"author":"bob","text":"yes"}]}` + "\n"
	plant(t, w.dir, map[string]string{"bd": bdScript, "w/.beads/metadata.json": "{}", "bd.data": `{"_type":"issue","id":"h-1","title":"Rye for ` + name + `","status":"open"}
{"_type":"issue","id":"h-2","title":"bread","status":"open","comments":[{"author":"bob","text":"` + name + ` called"}]}
{"_type":"issue","id":"h-3","title":"wait for ` + name + `","issue_type":"gate","status":"open"}
` + bystander})
	if err := os.Chmod(filepath.Join(w.dir, "bd"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.more = []backends.StoreConfig{{Name: "s", Kind: "beads", Path: filepath.Join(w.dir, "w"), Port: "cli", Command: filepath.Join(w.dir, "bd")}}
	w.open()
	p := w.plan(w.file().ID)
	got := map[string]gdpr.Action{}
	for _, sp := range p.Stores {
		for _, st := range sp.Steps {
			if st.Store == "s" && st.Layer == "item" {
				got[st.ID] = st.Action
			}
		}
	}
	if diff := cmp.Diff(map[string]gdpr.Action{"h-1": gdpr.Redact, "h-2": gdpr.Forget, "h-3": gdpr.Redact}, got); diff != "" {
		t.Errorf("the plan: %s", diff)
	}
	w.complete(p)
	left := text(t, filepath.Join(w.dir, "bd.data"))
	if strings.Contains(left, name) || !strings.Contains(left, bystander) {
		t.Errorf("left: %s", left)
	}
}
