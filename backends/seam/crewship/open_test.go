package crewship_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends/backendtest"
	"memdesk/backends/seam/crewship"
	"memdesk/model"
)

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	files(t, dir, map[string]string{
		"file": "x", "unrelated/notes.txt": "x", "empty/": "", "half/output/": "", "half/other": "", "db/crewship.db": "",
		"full/output/crews/": "", "full/crewship.db": "",
	})
	tests := []struct {
		name  string
		cfg   crewship.Config
		want  model.Kind
		words string
	}{
		{"no path", crewship.Config{}, model.InvalidInput, "needs a path"},
		{"missing", crewship.Config{Path: "none"}, model.NotFound, "does not exist"},
		{"a file", crewship.Config{Path: "file"}, model.InvalidInput, "is a file"},
		{"unrelated", crewship.Config{Path: "unrelated"}, model.InvalidInput, "no Crewship memory"},
		{"empty", crewship.Config{Path: "empty"}, model.InvalidInput, "no Crewship memory"},
		{"half written", crewship.Config{Path: "half"}, model.InvalidInput, "half"},
		{"a database alone", crewship.Config{Path: "db"}, model.InvalidInput, "base_path"},
		{"a missing base path", crewship.Config{Path: "db", BasePath: "none"}, model.NotFound, "base_path"},
		{"a missing memory root", crewship.Config{Path: "full", MemoryRoot: "none"}, model.NotFound, "memory_root"},
		{"a file as memory root", crewship.Config{Path: "full", MemoryRoot: "file"}, model.InvalidInput, "memory_root"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.Name = "s"
			for _, p := range []*string{&tt.cfg.Path, &tt.cfg.BasePath, &tt.cfg.MemoryRoot} {
				if *p != "" {
					*p = filepath.Join(dir, *p)
				}
			}
			before := tree(t, dir)
			_, err := crewship.Open(t.Context(), tt.cfg)
			refused(t, err, tt.want, tt.words)
			if tree(t, dir) != before {
				t.Error("a failed Open changed the disk")
			}
		})
	}
}

func TestOpenWithoutPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	dir := memory(t, nil)
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	_, err := crewship.Open(t.Context(), crewship.Config{Name: "s", Path: dir})
	refused(t, err, model.PermissionDenied, "root")
}

func TestOpenWhereNothingMayBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := memory(t, map[string]string{"AGENT.md": "x"})
	must(t, os.Chmod(dir, 0o555))
	defer os.Chmod(dir, 0o700) // so that it can be removed
	s := open(t, crewship.Config{Name: "s", Path: dir})
	if !s.ReadOnly || !strings.Contains(s.ReadOnlyReason, "may not write") {
		t.Errorf("read-only %v: %q", s.ReadOnly, s.ReadOnlyReason)
	}
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "AGENT", Content: "y", Mode: model.Append})
	refused(t, err, model.PermissionDenied)
}

func TestOpenRecognises(t *testing.T) {
	dir := data(t, nil)
	agentDir := filepath.Join(dir, redAda)
	tests := []struct {
		name string
		cfg  crewship.Config
		want string // an id that must exist
		not  string // a tier that must not be declared
	}{
		{"a data directory", crewship.Config{Path: dir}, "crews/c_red/agents/ada/AGENT.md", ""},
		{"a base path", crewship.Config{Path: filepath.Join(dir, "output")}, "crews/c_red/agents/ada/AGENT.md", ""},
		{"a base path and a memory root", crewship.Config{BasePath: filepath.Join(dir, "output"), MemoryRoot: filepath.Join(dir, "memory")}, "workspace/w1/handbook.md", ""},
		{"an agent's directory", crewship.Config{Path: agentDir}, "AGENT.md", "CREW"},
		{"a crew's directory", crewship.Config{Path: filepath.Join(dir, redAll)}, "CREW.md", "AGENT"},
		{"a solo agent's directory", crewship.Config{Path: filepath.Join(dir, solo)}, "AGENT.md", "users"},
		{"another name", crewship.Config{Path: renamed(t)}, "AGENT.md", "workspace"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.Name = "s"
			s := open(t, tt.cfg)
			if _, ok := everything(t, s)[tt.want]; !ok {
				t.Errorf("%s is not listed", tt.want)
			}
			if _, ok := s.Tier(tt.not); ok {
				t.Errorf("tier %s is declared", tt.not)
			}
			if !s.Capabilities()["history"] || !s.Capabilities()["quarantine"] || s.Capabilities()["cascade"] {
				t.Errorf("capabilities %v", s.Capabilities())
			}
		})
	}
	// A directory below a data directory must know its agent and its history.
	s := open(t, crewship.Config{Name: "s", Path: agentDir})
	if res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "ada", AgentID: "a1", CrewID: "red", WorkspaceID: "first"}); err != nil || len(res.Hits) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
	_, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "ada", AgentID: "bo"})
	refused(t, err, model.InvalidInput)
}

func renamed(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "backup")
	files(t, dir, map[string]string{"AGENT.md": "x"})
	return dir
}

func TestOpenAnEmptyDataDirectory(t *testing.T) {
	dir := t.TempDir()
	files(t, dir, map[string]string{"output/": "", "memory/": ""})
	s := open(t, crewship.Config{Name: "s", Path: dir})
	page := list(t, s, model.PageRequest{})
	if page.Items == nil || page.Total.N != 0 || page.Total.AtLeast {
		t.Errorf("%+v", page)
	}
	if st := backendtest.Health(t, s); !st.OK {
		t.Errorf("%+v", st)
	}
}

// TestTheDatabaseCostsOnlyNames opens data directories whose database is absent, invalid, or of another
// schema.
func TestTheDatabaseCostsOnlyNames(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, db string){
		"absent":         func(t *testing.T, db string) { must(t, os.Remove(db)) },
		"no database":    func(t *testing.T, db string) { must(t, os.WriteFile(db, []byte("not a database, not at all"), 0o644)) },
		"truncated":      func(t *testing.T, db string) { must(t, os.Truncate(db, 5000)) },
		"another schema": func(t *testing.T, db string) { must(t, os.Remove(db)); database(t, db, "CREATE TABLE x (y)") },
		"a directory":    func(t *testing.T, db string) { must(t, os.Remove(db)); must(t, os.Mkdir(db, 0o755)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := data(t, nil)
			db := filepath.Join(dir, "crewship.db")
			spoil(t, db)
			before := tree(t, dir)
			s := open(t, crewship.Config{Name: "s", Path: dir})
			if !slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, "crewship.db") }) {
				t.Errorf("notes %q", s.Notes)
			}
			for _, n := range s.Notes {
				if strings.Contains(n, dir) {
					t.Errorf("a note names a place on disk: %s", n)
				}
			}
			if _, ok := everything(t, s)["crews/c_red/agents/ada/AGENT.md"]; !ok {
				t.Error("the memories are not listed")
			}
			v, err := s.History.Revisions(t.Context(), "crews/c_red/agents/ada/AGENT.md")
			if err != nil || v.State != model.HistoryUnavailable || v.Reason == "" {
				t.Errorf("history: %+v, %v", v, err)
			}
			// Without names no item may count as part of a workspace.
			if _, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "harbour", WorkspaceID: "w2"}); err == nil {
				res := recall(t, s, model.RecallRequest{Query: "harbour", WorkspaceID: "w2"})
				if len(res.Hits) != 0 {
					t.Errorf("hits of an unknown workspace: %+v", res.Hits)
				}
			}
			if tree(t, dir) != before {
				t.Error("reading changed the disk")
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
