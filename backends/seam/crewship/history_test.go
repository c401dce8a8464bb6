package crewship_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends/seam/crewship"
	"memdesk/internal/clock"
	"memdesk/model"
)

// TestAnErasedVersionIsToldFromADamagedOne: a version that names the subject loses its text but keeps
// its record, and every reader must say so; the other version must stay readable.
func TestAnErasedVersionIsToldFromADamagedOne(t *testing.T) {
	root := data(t, nil)
	db, err := sql.Open("sqlite3", filepath.Join(root, "crewship.db"))
	must(t, err)
	for id, text := range map[string]string{"mv_hers": "met " + hers + "\n", "mv_his": "met " + his + "\n"} {
		sum := sha256.Sum256([]byte(text))
		sha := hex.EncodeToString(sum[:])
		blob := "memory/versions/" + sha[:2] + "/" + sha
		files(t, root, map[string]string{blob: text})
		_, err := db.Exec(`INSERT INTO memory_versions VALUES (?, 'w1', 'agent:ada/AGENT.md', 'agent', ?, ?, '2026-05-20T10:00:00.000000000Z', 'audit-watcher', NULL, ?, NULL)`,
			id, sha, len(text), "/elsewhere/"+blob)
		must(t, err)
	}
	must(t, db.Close())
	s := open(t, crewship.Config{Name: "d", Path: root, Clock: clock.Fixed(now)})
	const id = "crews/c_red/agents/ada/AGENT.md"
	before, err := s.History.Revisions(t.Context(), id)
	if err != nil || len(before.Versions) != 2 || before.Reason != "" {
		t.Fatalf("before: %+v, %v", before, err)
	}
	res, err := s.Maintainer.Scrub(t.Context(), naming())
	must(t, err)
	if !slices.ContainsFunc(res, func(r model.LayerResult) bool {
		return strings.HasPrefix(r.Layer, "versions/") && r.Verdict == model.VerdictClean && strings.Contains(r.Method, "crewship.db stays")
	}) {
		t.Errorf("the erasure does not say that the record stays: %+v", res)
	}
	after, err := s.History.Revisions(t.Context(), id)
	if err != nil || len(after.Versions) != 2 || !strings.Contains(after.Reason, "1 of 2 versions is gone") {
		t.Errorf("after: %+v, %v", after, err)
	}
	for _, v := range after.Versions {
		it, err := s.History.ReadRevision(t.Context(), id, v.ID)
		if v.ID == "mv_his" {
			if err != nil || !v.Readable || it.Body != "met "+his+"\n" {
				t.Errorf("%+v: %q, %v", v, it.Body, err)
			}
			continue
		}
		if refused(t, err, model.NotFound, "is gone", "erasure"); v.Readable {
			t.Errorf("%+v is readable", v)
		}
	}
}
