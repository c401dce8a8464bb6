package crewship_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/model"
	"memdesk/quarantine"
)

func TestQuarantineListsEveryEntryWithItsProblem(t *testing.T) {
	whole := quarantine.File{QuarantinedAt: now, Category: "prompt_injection", Pattern: "ignore_previous_instructions", Source: "AGENT.md", Body: poison}
	sha := quarantine.Sum(poison)
	zero := strings.Repeat("0", 64)
	s, dir := openMemory(t, map[string]string{
		"AGENT.md":                                        poison,
		".quarantine/" + sha + ".md":                      string(whole.Encode()),
		".quarantine/" + zero + ".md":                     string(whole.Encode()),
		".quarantine/broken.md":                           "no header",
		".quarantine/" + sha + ".md.tmp.0123456789abcdef": "half",
	})
	must(t, os.Symlink("/etc/hostname", filepath.Join(dir, ".quarantine", strings.Repeat("1", 64)+".md")))
	rows, err := s.Quarantine.Quarantined(t.Context())
	if err != nil || len(rows) != 4 {
		t.Fatalf("%d rows, %v: %+v", len(rows), err, rows)
	}
	for _, q := range rows {
		good := strings.Contains(q.ID, sha)
		if (q.Problem == "") != good || q.Body != "" {
			t.Errorf("%+v", q)
		}
		if good && (q.SourceID != "AGENT.md" || !q.At.Equal(now) || q.Bytes != int64(len(poison))) {
			t.Errorf("%+v", q)
		}
	}
	q, err := s.Quarantine.ReadQuarantined(t.Context(), ".quarantine/"+sha+".md")
	if err != nil || q.Body != poison {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err := s.Quarantine.ReadQuarantined(t.Context(), ".quarantine/broken.md"); err != nil || q.Problem == "" || q.Body != "no header" {
		t.Errorf("%+v, %v", q, err)
	}
	must(t, os.WriteFile(filepath.Join(dir, ".quarantine", "broken.md"), make([]byte, 5<<20), 0o600)) // more than a search reads
	if q, err := s.Quarantine.ReadQuarantined(t.Context(), ".quarantine/broken.md"); err != nil || q.Unread || len(q.Body) != 5<<20 {
		t.Errorf("unread %v, %d bytes, %v", q.Unread, len(q.Body), err)
	}
	for id, want := range map[string]model.Kind{"AGENT.md": model.InvalidInput, ".quarantine/../AGENT.md": model.InvalidInput, ".quarantine/a/b.md": model.InvalidInput, ".quarantine/none.md": model.NotFound} {
		_, err := s.Quarantine.ReadQuarantined(t.Context(), id)
		refused(t, err, want)
	}
}

func TestAQuarantineWithoutPermissionIsNotNone(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	s, dir := openMemory(t, map[string]string{"AGENT.md": "x", ".quarantine/": ""})
	must(t, os.Chmod(filepath.Join(dir, ".quarantine"), 0))
	defer os.Chmod(filepath.Join(dir, ".quarantine"), 0o755)
	rows, err := s.Quarantine.Quarantined(t.Context())
	if err != nil || len(rows) != 1 || !strings.Contains(rows[0].Problem, "no permission") {
		t.Errorf("%+v, %v", rows, err)
	}
}

// TestQuarantineFilesAreUpstreamsByteForByte encodes the real program's files again.
func TestQuarantineFilesAreUpstreamsByteForByte(t *testing.T) {
	dir := fixture(t)
	n := 0
	for _, e := range expected(t, dir).Quarantine {
		raw := onDisk(t, dir, e.File)
		f, err := quarantine.ParseNamed(filepath.Base(e.File), []byte(raw))
		if err != nil || string(f.Encode()) != raw {
			t.Errorf("%s: %v", e.File, err)
		}
		n++
	}
	if n != 10 {
		t.Errorf("%d entries", n)
	}
}

func TestFixtureLessonsParse(t *testing.T) {
	dir := fixture(t)
	paths, err := filepath.Glob(filepath.Join(dir, "output/crews/*/*/.memory/lessons.md"))
	more, err2 := filepath.Glob(filepath.Join(dir, "output/crews/*/agents/*/.memory/lessons.md"))
	if paths = append(paths, more...); err != nil || err2 != nil || len(paths) != 4 {
		t.Fatalf("%v, %v, %v", paths, err, err2)
	}
	for _, p := range paths {
		old := onDisk(t, filepath.Dir(p), "lessons.md")
		store, mem := openMemory(t, map[string]string{"lessons.md": old})
		cut := strings.Index(old, "    - id:")
		end := strings.Index(old[cut+5:], "    - id:") + cut + 5
		less := old[:cut] + old[end:]
		retain(t, store, model.RetainRequest{ID: "lessons.md", Content: less, Mode: model.Replace, IfMatch: revision(old)})
		if onDisk(t, mem, "lessons.md") != less {
			t.Errorf("%s: the first lesson could not be removed", p)
		}
	}
}
