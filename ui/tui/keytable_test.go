package tui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/ui/act"
	"memdesk/ui/tui"
)

const (
	keysBegin = "<!-- keys: written by `make golden` from the program; begin -->\n"
	keysEnd   = "<!-- keys: end -->\n"
)

// The key table of docs/keys.md must equal the program's.
func TestKeyTableOfTheDocs(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "keys.md")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), keysBegin)
	have, after, ok2 := strings.Cut(rest, keysEnd)
	if !ok || !ok2 {
		t.Fatal("docs/keys.md has no place for the key table")
	}
	want := tui.KeyTableMarkdown()
	if *update {
		if err := os.WriteFile(file, []byte(before+keysBegin+want+keysEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != want {
		t.Error("the key table of docs/keys.md is not of this program: run make golden")
	}
	table := tui.KeyTable()
	for i, name := range strings.Fields("Health Tiers Recall Quarantine Conflicts Erasure Audit") {
		title := fmt.Sprint(i+1, " ", name)
		if !slices.ContainsFunc(table, func(s act.Section) bool { return strings.HasPrefix(s.Title, title) }) {
			t.Errorf("the table has nothing of pane %s", title)
		}
	}
	for _, s := range table {
		if len(s.Acts) == 0 {
			t.Errorf("%s has no keys", s.Title)
		}
		for _, k := range s.Acts {
			if k.Doc == "" {
				t.Errorf("%s: %v has no description", s.Title, k.Keys)
			}
		}
	}
}

// Every screenshot must be in the README, and every one in the README must exist.
func TestScreenshotsOfTheReadme(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join("..", "..", "docs", "screenshots", "*.svg"))
	if len(files) == 0 {
		t.Fatal("there are no screenshots: make screenshots")
	}
	for _, f := range files {
		if !strings.Contains(string(b), "docs/screenshots/"+filepath.Base(f)) {
			t.Errorf("%s is not in the README", filepath.Base(f))
		}
	}
	if n := strings.Count(string(b), "docs/screenshots/"); n != len(files) {
		t.Errorf("the README has %d screenshots, there are %d", n, len(files))
	}
}
