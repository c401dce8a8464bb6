package door_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/internal/bearer"
	"memdesk/ui/door"
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
