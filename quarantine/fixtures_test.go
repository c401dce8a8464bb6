package quarantine_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/quarantine"
)

const fixtures = "../../shared/fixtures"

// fixture reads a file written by the real systems, or skips.
func fixture(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures, path))
	if os.IsNotExist(err) {
		t.Skip("the shared fixtures are not beside this repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

type hostileFile struct {
	Injection     *string                             `json:"injection"`
	Benign        bool                                `json:"benign"`
	Evasion       bool                                `json:"evasion"`
	FalsePositive bool                                `json:"upstream_false_positive"`
	Scan          *struct{ Category, Pattern string } `json:"upstream_scan"`
}

func hostileCorpus(t *testing.T) map[string]hostileFile {
	t.Helper()
	var expected struct {
		Files map[string]hostileFile `json:"files"`
	}
	if err := json.Unmarshal(fixture(t, "hostile/expected.json"), &expected); err != nil {
		t.Fatal(err)
	}
	return expected.Files
}

func TestHostileCorpus(t *testing.T) {
	files := hostileCorpus(t)
	if len(files) != 248 {
		t.Fatalf("%d files, want 248", len(files))
	}
	strictHits := 0
	for name, want := range files {
		text := string(fixture(t, "hostile/"+name))
		got, _ := quarantine.Scan(text)
		var verdict quarantine.Verdict
		if want.Scan != nil {
			verdict = quarantine.Verdict(*want.Scan)
		}
		if got != verdict {
			t.Errorf("%s: Scan = %+v, upstream %+v", name, got, verdict)
		}
		if want.Benign && !want.FalsePositive && !got.Clean() {
			t.Errorf("%s: benign, but %+v", name, got)
		}
		checkLabels(t, name, text, want)
		strict := quarantine.Strict(text)
		if want.Evasion && len(strict) == 0 {
			t.Errorf("%s: no strict rule sees the evasion", name)
		}
		if want.Benign && len(strict) > 0 {
			strictHits++
			t.Logf("%s: benign, but strict says %s %q", name, strict[0].Pattern, strict[0].Match)
		}
	}
	if strictHits > 0 {
		t.Errorf("strict rules hit %d of the benign files", strictHits)
	}
}

func checkLabels(t *testing.T, name, text string, want hostileFile) {
	t.Helper()
	reason, label := quarantine.Triage(text)
	if want.FalsePositive && (!label || reason == "") {
		t.Errorf("%s: a known false positive without a label", name)
	}
	for _, f := range quarantine.ScanAll(text) {
		reason, ok := quarantine.KnownFalsePositive(text, f)
		if want.Injection != nil && ok {
			t.Errorf("%s: an injection labelled %q", name, reason)
		}
		if want.FalsePositive && !ok {
			t.Errorf("%s: %+v without a label", name, f)
		}
	}
}

type crewshipExpected struct {
	Quarantine []struct {
		File, Category, Pattern, Source, SHA256 string
		Matches                                 bool   `json:"body_sha256_matches"`
		Live                                    string `json:"live_file"`
		Blocked                                 bool   `json:"live_file_still_blocked"`
	} `json:"quarantine"`
	Live map[string]struct{ Category, Pattern string } `json:"live_files_blocked_by_the_scanner"`
}

func crewship(t *testing.T) crewshipExpected {
	t.Helper()
	var e crewshipExpected
	if err := json.Unmarshal(fixture(t, "crewship/expected.json"), &e); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestCrewshipQuarantine(t *testing.T) {
	e := crewship(t)
	if len(e.Quarantine) != 10 {
		t.Fatalf("%d quarantine files, want 10", len(e.Quarantine))
	}
	for _, want := range e.Quarantine {
		data := fixture(t, "crewship/"+want.File)
		f, err := quarantine.ParseNamed(filepath.Base(want.File), data)
		if (err == nil) != want.Matches {
			t.Errorf("%s: error %v, hash matches upstream %v", want.File, err, want.Matches)
		}
		if f.Category != want.Category || f.Pattern != want.Pattern || f.Source != want.Source || f.SHA256 != want.SHA256 {
			t.Errorf("%s: parsed %+v", want.File, f)
		}
		if !bytes.Equal(f.Encode(), data) {
			t.Errorf("%s: encoding is not the file", want.File)
		}
		if got, _ := quarantine.Scan(f.Body); got != (quarantine.Verdict{Category: want.Category, Pattern: want.Pattern}) {
			t.Errorf("%s: body scans %+v", want.File, got)
		}
		if reason, ok := quarantine.Triage(f.Body); ok {
			t.Errorf("%s: poison labelled %q", want.File, reason)
		}
		if want.Live != "" {
			_, hit := quarantine.Scan(string(fixture(t, "crewship/"+want.Live)))
			if hit != want.Blocked {
				t.Errorf("%s: live file blocked %v, want %v", want.File, hit, want.Blocked)
			}
		}
	}
}

// TestCrewshipLiveFiles scans every markdown file that the real system left: exactly the listed ones
// must be blocked.
func TestCrewshipLiveFiles(t *testing.T) {
	e := crewship(t)
	root := filepath.Join(fixtures, "crewship", "output")
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".quarantine" {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".md") {
			return nil
		}
		name, err := filepath.Rel(filepath.Join(fixtures, "crewship"), path)
		if err != nil {
			return err
		}
		text := string(fixture(t, "crewship/"+name))
		got, _ := quarantine.Scan(text)
		if want := quarantine.Verdict(e.Live[filepath.ToSlash(name)]); got != want {
			t.Errorf("%s: Scan = %+v, want %+v", name, got, want)
		}
		for _, f := range quarantine.ScanAll(text) {
			if reason, ok := quarantine.KnownFalsePositive(text, f); ok {
				t.Errorf("%s: poison labelled %q", name, reason)
			}
		}
		delete(e.Live, filepath.ToSlash(name))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Live) > 0 {
		t.Errorf("not found: %v", e.Live)
	}
}
