package door_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/internal/bearer"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/ui/door"
	"memdesk/undo"
)

// TestAFileBeyondTheFacesLimits: a file of another program is shown in parts, up to the size of the face's own files.
func TestAFileBeyondTheFacesLimits(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "vault", "memory", "fix")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"lines.md": strings.Repeat("0123456\n", 100_000), "line.md": strings.Repeat("0", 800_000)} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := deskOver(t, bearer.Caller{Name: "planner"}, dir, "vault="+filepath.Join(dir, "vault"))
	d.Face = door.Memory
	c := client(t, d)
	view := func(name string, span ...int) string {
		s, _ := d.Fleet.Store("vault")
		it, err := s.Browser.Read(t.Context(), "memory/fix/"+name)
		if err != nil {
			t.Fatal(err)
		}
		a := args{"command": "view", "path": "/memories/vault/" + it.Tier + "/" + it.ID}
		if span != nil {
			a["view_range"] = span
		}
		r := call(t, c, "memory", a)
		if r.error || len(r.text) > 1<<20 {
			t.Fatalf("%s: %d bytes: %.200s", name, len(r.text), r.text)
		}
		return r.text
	}
	if got := view("lines.md"); !strings.HasSuffix(got, "\n...\tthere is more: view_range shows line 32769 and those after it") {
		t.Errorf("many lines end with %q", got[len(got)-100:])
	}
	if got := view("lines.md", 32769, 32770); !strings.HasSuffix(got, " 32769\t0123456\n 32770\t0123456") {
		t.Errorf("the lines after them: %q", got)
	}
	if got := view("line.md"); !strings.HasSuffix(got, "000... (the line is longer)") {
		t.Errorf("a long line ends with %q", got[len(got)-100:])
	}
}

// TestARefusedChangeOfAFileIsRecorded: a session that may change nothing must not answer before the log has the refusal.
func TestARefusedChangeOfAFileIsRecorded(t *testing.T) {
	dir := t.TempDir()
	d := deskOver(t, bearer.Caller{Name: "planner"}, dir, "vault="+dir)
	d.Face = door.Memory
	const path = "/memories/vault/fix/memory/fix/one.md"
	if r := call(t, client(t, d), "memory", args{"command": "create", "path": path, "file_text": "a heron\n"}); r.error {
		t.Fatalf("%+v", r)
	}
	configs, err := backends.ParseOpen(backends.Builtin(), []string{"vault=" + dir}, dir, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	const why = "the role reviewer changes nothing"
	var refused []model.Op
	d.Unwritable = func() string { return why }
	d.Fleet = backends.Open(t.Context(), backends.Builtin(), configs, backends.Env{Clock: clock.System{}, Getenv: os.Getenv}, backends.Policy{ReadOnly: why,
		Audit: func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
			err := next(ctx)
			if c.Op.Mutates() && model.IsRefusal(err) {
				refused = append(refused, c.Op)
			}
			return err
		}})
	t.Cleanup(func() { _ = d.Fleet.Close() })
	c := client(t, d)
	for _, a := range []args{
		{"command": "create", "path": "/memories/vault/fix/memory/fix/two.md", "file_text": "x\n"},
		{"command": "str_replace", "path": path, "old_str": "heron", "new_str": "gull"},
		{"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"},
		{"command": "rename", "old_path": path, "new_path": "/memories/vault/fix/memory/fix/three.md"},
		{"command": "delete", "path": path},
	} {
		refused = nil
		if r := call(t, c, "memory", a); !strings.Contains(r.text, "is read-only.") || len(refused) == 0 {
			t.Errorf("%v: %v recorded, %+v", a["command"], refused, r)
		}
	}
	if entries, _, err := d.Undo.(*undo.Keeper).List(); err != nil || len(entries) != 1 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	if r := call(t, c, "memory", args{"command": "view", "path": path}); !strings.Contains(r.text, "a heron") {
		t.Errorf("%+v", r)
	}
}
