package crewship_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"memdesk/backends/backendtest"
	"memdesk/backends/seam/crewship"
	"memdesk/model"
	"memdesk/quarantine"
)

func scopeTitle(t *testing.T, s model.Store, scope string) string {
	t.Helper()
	counts, err := s.Browser.Tiers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range counts {
		if c.Scope == scope {
			return c.ScopeTitle
		}
	}
	return ""
}

// TestCopiesOfAKilledRun: a run that was killed while it read a copy of the database leaves the copy.
func TestCopiesOfAKilledRun(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	old, fresh := filepath.Join(temp, "memdesk-crewship-1"), filepath.Join(temp, "memdesk-crewship-2")
	for _, dir := range []string{old, fresh} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "crewship.db"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(old, long, long); err != nil {
		t.Fatal(err)
	}
	open(t, crewship.Config{Name: "s", Path: data(t, nil)})
	if _, err := os.Lstat(old); !os.IsNotExist(err) {
		t.Errorf("the left copy stays: %v", err)
	}
	if _, err := os.Lstat(fresh); err != nil {
		t.Errorf("a copy that may be read is gone: %v", err)
	}
}

// TestADatabaseInUse reads while a writer's changes are only in its log.
func TestADatabaseInUse(t *testing.T) {
	dir := data(t, nil)
	path := filepath.Join(dir, "crewship.db")
	db := sql.OpenDB(connector("file:" + path + "?_journal_mode=WAL&_synchronous=OFF"))
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "UPDATE agents SET name = 'Fresh' WHERE id = 'a1'"); err != nil {
		t.Fatal(err)
	}
	before := beside(t, dir)
	s := open(t, crewship.Config{Name: "s", Path: dir})
	if got := scopeTitle(t, s, "crews/c_red/agents/ada"); got != "First / Red / Fresh" {
		t.Errorf("the title is %q: the log was not read", got)
	}
	// A writer's open transaction must not block the reader.
	if _, err := db.ExecContext(t.Context(), "BEGIN IMMEDIATE; UPDATE agents SET name = 'Later' WHERE id = 'a1'"); err != nil {
		t.Fatal(err)
	}
	if got := scopeTitle(t, s, "crews/c_red/agents/ada"); got != "First / Red / Fresh" {
		t.Errorf("during a transaction the title is %q", got)
	}
	if _, err := db.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if got := scopeTitle(t, s, "crews/c_red/agents/ada"); got != "First / Red / Later" {
		t.Errorf("after it the title is %q", got)
	}
	if after := beside(t, dir); after != before {
		t.Errorf("files beside the database: %s, were %s", after, before)
	}
}

// TestADatabaseWhoseWriterDied has a log but no shared-memory file.
func TestADatabaseWhoseWriterDied(t *testing.T) {
	dir := data(t, nil)
	path := filepath.Join(dir, "crewship.db")
	db := sql.OpenDB(connector("file:" + path + "?_journal_mode=WAL&_synchronous=OFF"))
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "UPDATE agents SET name = 'Fresh' WHERE id = 'a1'"); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(t.TempDir(), "dead")
	if err := os.CopyFS(dead, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	must(t, db.Close())
	must(t, os.Remove(filepath.Join(dead, "crewship.db-shm")))
	before := tree(t, dead)
	s := open(t, crewship.Config{Name: "s", Path: dead})
	if got := scopeTitle(t, s, "crews/c_red/agents/ada"); got != "First / Red / Fresh" {
		t.Errorf("the title is %q: the log was not read", got)
	}
	if after := tree(t, dead); after != before {
		t.Errorf("reading changed the disk:\n%s\nwas\n%s", after, before)
	}
}

// beside names the files beside the database.
func beside(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "crewship.db*"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

// version adds a row and, unless text is empty, its blob.
func version(t *testing.T, dir, id, workspace, path, sha, payload, text string, n int) {
	t.Helper()
	database(t, filepath.Join(dir, "crewship.db"), fmt.Sprintf(
		`INSERT INTO memory_versions VALUES ('%s','%s','%s','agent','%s',%d,'2026-05-2%dT10:00:00.000000001Z','audit-watcher',NULL,'%s',NULL)`,
		id, workspace, path, sha, len(text), n, payload))
	if text != "" {
		files(t, dir, map[string]string{"memory/versions/" + sha[:2] + "/" + sha: text})
	}
}

func TestHistory(t *testing.T) {
	dir := data(t, nil)
	good, other := quarantine.Sum("one"), quarantine.Sum("two")
	version(t, dir, "v1", "w1", "agent:ada/AGENT.md", good, "/var/lib/crewship/memory/versions/"+good[:2]+"/"+good, "one", 1)
	version(t, dir, "v2", "w1", "agent:ada/AGENT.md", other, "/elsewhere/memory/versions/"+other[:2]+"/"+other, "tampered", 2)
	version(t, dir, "v3", "w2", "agent:ada/AGENT.md", good, "x/versions/"+good[:2]+"/"+good, "", 3)
	version(t, dir, "v4", "w1", "agent:ada/PERSONA.md", good, "/var/lib/crewship/output/PERSONA.md", "", 1)
	version(t, dir, "v5", "w1", "crew:c_red/learned-2026-05-01.md", good, "/x/versions/"+good[:2]+"/"+good, "", 1)
	version(t, dir, "v6", "w1", "agent:ada/pins.md", "../../../../etc/passwd", "/x/versions/../../../../../etc/passwd", "", 1)
	s := open(t, crewship.Config{Name: "s", Path: dir})
	history := func(id string) model.Versions {
		v, err := s.History.Revisions(t.Context(), id)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		return v
	}
	ada := "crews/c_red/agents/ada/"
	v := history(ada + "AGENT.md")
	if v.State != model.Recorded || len(v.Versions) != 2 || v.Versions[0].ID != "v2" || !v.Versions[1].Readable || v.Versions[1].By != "audit-watcher" || v.Versions[1].At.Nanosecond() != 1 {
		t.Errorf("AGENT: %+v", v)
	}
	if it, err := s.History.ReadRevision(t.Context(), ada+"AGENT.md", "v1"); err != nil || it.Body != "one" || it.Revision != revision("one") {
		t.Errorf("v1: %+v, %v", it, err)
	}
	_, err := s.History.ReadRevision(t.Context(), ada+"AGENT.md", "v2")
	refused(t, err, model.Internal, "hash")
	_, err = s.History.ReadRevision(t.Context(), ada+"AGENT.md", "v3")
	refused(t, err, model.NotFound)
	_, err = s.History.ReadRevision(t.Context(), ada+"PERSONA.md", "v4")
	refused(t, err, model.NotFound, "without its text")
	_, err = s.History.ReadRevision(t.Context(), ada+"pins.md", "v6")
	refused(t, err, model.NotFound)
	for id, want := range map[string]struct {
		state model.HistoryState
		n     int
	}{
		"crews/c_blue/agents/ada/AGENT.md":                    {model.Recorded, 1},
		ada + "PERSONA.md":                                    {model.Recorded, 1},
		"crews/c_blue/agents/ada/PERSONA.md":                  {model.Unrecorded, 0},
		"crews/c_red/shared/red/topics/learned-2026-05-01.md": {model.Recorded, 1},
		"crews/c_red/shared/CREW.md":                          {model.Recorded, 0},
		"crews/c_red/shared/lessons.md":                       {model.Unrecorded, 0},
		ada + "peers/u.md":                                    {model.Unrecorded, 0},
		"solo/w1/milo/AGENT.md":                               {model.Recorded, 0},
	} {
		v := history(id)
		if v.State != want.state || len(v.Versions) != want.n || want.n == 0 && v.Reason == "" {
			t.Errorf("%s: %+v, want %+v", id, v, want)
		}
	}
}

func TestHistoryWithoutAWorkspace(t *testing.T) {
	dir := data(t, nil)
	good := quarantine.Sum("one")
	version(t, dir, "v1", "w1", "agent:ada/AGENT.md", good, "/x", "one", 1)
	version(t, dir, "v2", "w2", "agent:ada/AGENT.md", good, "/x", "", 2)
	database(t, filepath.Join(dir, "crewship.db"), "DELETE FROM crews")
	s := open(t, crewship.Config{Name: "s", Path: dir})
	v, err := s.History.Revisions(t.Context(), "crews/c_red/agents/ada/AGENT.md")
	if err != nil || v.State != model.HistoryUnavailable || !strings.Contains(v.Reason, "several workspaces") {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestAHostileDatabase has names that leave the directory, and a view in place of a table.
func TestAHostileDatabase(t *testing.T) {
	dir := data(t, nil)
	database(t, filepath.Join(dir, "crewship.db"), `
		INSERT INTO agents VALUES ('e1','c_red','w1','Eve','../../../../eve'), ('e2','../..','w1','Eve','eve'), ('e3',NULL,'..','Eve','eve'), ('e4','c_red','w1','',''), ('e5','c_red','w1','Eve','x/y');
		INSERT INTO crews VALUES ('../..','w1','Up','up'), ('c_new','w1','New','a/b');`)
	s := open(t, crewship.Config{Name: "s", Path: dir})
	for _, slug := range []string{"../../../../eve", "eve", "e1", "e2", "e3", "e5"} {
		_, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "AGENT", AgentID: slug, Content: "x", Mode: model.Replace})
		refused(t, err, model.InvalidInput)
	}
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "learned", Key: "k", CrewID: "c_new", Content: "x", Mode: model.Replace})
	refused(t, err, model.InvalidInput)
	if st := backendtest.Health(t, s); !st.OK {
		t.Errorf("%+v", st)
	}
}

// TestADatabaseThatIsNoneIsNotHealthy: without it names and history are unknown.
func TestADatabaseThatIsNoneIsNotHealthy(t *testing.T) {
	dir := data(t, nil)
	if st := backendtest.Health(t, open(t, crewship.Config{Name: "d", Path: dir})); st.State != model.HealthOK {
		t.Errorf("%+v", st)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(filepath.Join(dir, "crewship.db"+suffix)) // may be absent
	}
	if err := os.WriteFile(filepath.Join(dir, "crewship.db"), []byte("garbage\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	st := backendtest.Health(t, open(t, crewship.Config{Name: "d", Path: dir}))
	if !st.OK || st.State != model.HealthDegraded || len(st.Findings) != 1 || !strings.Contains(st.Findings[0].Message, "crewship.db") {
		t.Errorf("%+v", st)
	}
}
