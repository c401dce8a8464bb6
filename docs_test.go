package main

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"memdesk/backends"
)

var update = flag.Bool("update", false, "draw the packages of docs/architecture.md anew")

// As `memdesk`, the test binary is the program: the documents' commands run it.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "memdesk" {
		os.Exit(run())
	}
	os.Exit(m.Run())
}

// documents are the pages for readers, by path from the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	add := func(path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[path] = string(b)
	}
	for _, path := range []string{"README.md", "CONTRIBUTING.md", "BENCHMARKS.md"} {
		add(path)
	}
	err := filepath.WalkDir("docs", func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			add(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)
)

// Every link must lead to an existing file, and to a heading in it.
func TestLinks(t *testing.T) {
	pages := documents(t)
	followed := 0
	for path, text := range pages {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			u, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if u.Scheme != "" { // another site: tests need no network
				continue
			}
			followed++
			target := path
			if u.Path != "" {
				target = filepath.Join(filepath.Dir(path), u.Path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", path, m[1])
				continue
			}
			if u.Fragment == "" {
				continue
			}
			b, err := os.ReadFile(target)
			if err != nil || !slices.Contains(anchors(string(b)), u.Fragment) {
				t.Errorf("%s: %s has no heading #%s", path, target, u.Fragment)
			}
		}
	}
	if followed < 30 {
		t.Errorf("only %d links were followed: the test looks at the wrong thing", followed)
	}
}

// anchors are the names that GitHub gives to a page's headings.
func anchors(text string) (out []string) {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		out = append(out, strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, m[1]))
	}
	return out
}

// Every page must be reachable from the README, and every kind must have a page that its table links.
func TestPagesAreReached(t *testing.T) {
	pages := documents(t)
	reached := map[string]bool{}
	var visit func(path string)
	visit = func(path string) {
		if reached[path] {
			return
		}
		reached[path] = true
		for _, m := range link.FindAllStringSubmatch(pages[path], -1) {
			visit(filepath.Join(filepath.Dir(path), strings.Split(m[1], "#")[0]))
		}
	}
	visit("README.md")
	for path := range pages {
		if !reached[path] {
			t.Errorf("no link leads from the README to %s", path)
		}
	}
	for _, kind := range backends.Builtin().Names() {
		if !strings.Contains(pages["README.md"], "[`"+kind+"`](docs/kinds/"+kind+".md)") {
			t.Errorf("the README's table of kinds has no link to docs/kinds/%s.md", kind)
		}
	}
}

// The README must stay a short entrance, and the glossary short enough to remember.
func TestPagesStayShort(t *testing.T) {
	pages := documents(t)
	if n := len(strings.Fields(pages["README.md"])); n > 2600 {
		t.Errorf("the README has %d words, at most 2,600 are wanted", n)
	}
	if n := strings.Count(pages["README.md"], "\n"); n > 250 {
		t.Errorf("the README has %d lines, at most 250 are wanted", n)
	}
	if n := len(regexp.MustCompile(`(?m)^\| *[^|\s-]`).FindAllString(pages["docs/glossary.md"], -1)); n < 20 || n > 61 {
		t.Errorf("the glossary has %d rows; it is a table of at most 60 terms and a head", n)
	}
}

var runnable = regexp.MustCompile("(?ms)^```sh runnable\n(.*?)^```$")

// Every block marked as runnable must run to its end, in its own home.
func TestRunnableBlocks(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	verify := filepath.Join(t.TempDir(), "memdesk-verify") // a separate program
	if out, err := exec.Command("go", "build", "-o", verify, "./cmd/memdesk-verify").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ran := 0
	for path, text := range documents(t) {
		for i, m := range runnable.FindAllStringSubmatch(text, -1) {
			ran++
			t.Run(fmt.Sprint(path, " ", i+1), func(t *testing.T) {
				home := t.TempDir()
				for name, program := range map[string]string{"memdesk": self, "memdesk-verify": verify} {
					if err := os.Symlink(program, filepath.Join(home, name)); err != nil {
						t.Fatal(err)
					}
				}
				cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", m[1])
				cmd.Dir = home
				cmd.Env = []string{"HOME=" + home, "PATH=" + home + ":" + os.Getenv("PATH"), "XDG_STATE_HOME=" + filepath.Join(home, "state"), "TERM=dumb", "LANG=C.UTF-8"}
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
				if _, err := os.Stat(filepath.Join(home, "state")); err == nil {
					t.Error("it writes into the reader's own state: a trial exports an XDG_STATE_HOME of its own")
				}
			})
		}
	}
	if ran == 0 {
		t.Error("no block is marked as runnable")
	}
}

const (
	drawBegin = "<!-- packages: written by `make golden` from go list; begin -->\n"
	drawEnd   = "<!-- packages: end -->\n"
)

// The drawing of the packages must match go list.
func TestDrawing(t *testing.T) {
	const file = "docs/architecture.md"
	before, rest, ok := strings.Cut(documents(t)[file], drawBegin)
	have, after, closed := strings.Cut(rest, drawEnd)
	if !ok || !closed {
		t.Fatalf("%s has no place for the drawing", file)
	}
	want := "```mermaid\ngraph TD\n" + strings.Join(drawn(t), "\n") + "\n```\n"
	if *update {
		if err := os.WriteFile(file, []byte(before+drawBegin+want+drawEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != want {
		t.Errorf("the drawing of %s is not what go list says: run make golden. Want:\n%s", file, want)
	}
}

// box is the box in which a package is drawn; empty for a package that is not drawn.
func box(path string) string {
	parts := strings.Split(path, "/")
	switch {
	case parts[0] == "internal", parts[0] == "examples", parts[0] == "soak", path == "backends/backendtest", path == "ui/shots":
		return ""
	case under(path, "ui/tui"): // each of its parts, of the kit's and of the panes as one box
		return strings.Join(parts[:min(len(parts), 3)], "/")
	case parts[0] == "ui", path == "quarantine/review":
		return strings.Join(parts[:2], "/")
	}
	return parts[0]
}

// drawn are the arrows between boxes, without those that others imply.
func drawn(t *testing.T) (out []string) {
	edges := map[string]map[string]bool{}
	for _, p := range ours(t) {
		from := box(strings.TrimPrefix(p.ImportPath, "memdesk/"))
		for _, imp := range p.Imports {
			path, is := strings.CutPrefix(imp, "memdesk/")
			if to := box(path); is && from != "" && to != "" && to != from {
				if edges[from] == nil {
					edges[from] = map[string]bool{}
				}
				edges[from][to] = true
			}
		}
	}
	var reaches func(from, to string, seen map[string]bool) bool
	reaches = func(from, to string, seen map[string]bool) bool {
		for next := range edges[from] {
			if next == to {
				return true
			}
			if seen[next] {
				continue
			}
			seen[next] = true
			if reaches(next, to, seen) {
				return true
			}
		}
		return false
	}
	for _, from := range slices.Sorted(maps.Keys(edges)) {
		for _, to := range slices.Sorted(maps.Keys(edges[from])) {
			implied := false
			for other := range edges[from] {
				implied = implied || other != to && reaches(other, to, map[string]bool{})
			}
			if !implied {
				out = append(out, fmt.Sprintf("  %s --> %s", from, to))
			}
		}
	}
	return out
}

var testName = regexp.MustCompile("`((?:Test|Benchmark)[A-Za-z0-9]+)`")

// TestTheChecklist: every row must name tests, and each of them must exist.
func TestTheChecklist(t *testing.T) {
	b, err := os.ReadFile("docs/design/checklist.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	err = filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)\w+)\(`).FindAllSubmatch(text, -1) {
			there[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| \d+ \|.*$`).FindAllString(string(b), -1)
	if len(rows) != 34 {
		t.Errorf("%d rows, 34 are wanted", len(rows))
	}
	for _, row := range rows {
		names := testName.FindAllStringSubmatch(row, -1)
		if len(names) == 0 {
			t.Errorf("no test stands for %s", row)
		}
		for _, m := range names {
			if !there[m[1]] {
				t.Errorf("there is no %s, which stands for %s", m[1], row)
			}
		}
	}
}
