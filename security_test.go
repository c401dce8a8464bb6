package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	codeSpan  = regexp.MustCompile("`([^`]+)`")
	testDecl  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	guardHead = "| guard | enforcing code | adversarial test | control case |"
)

// TestGuardTable compares docs/SECURITY.md with the code: every guard must name existing files and, for
// its attack and its control case, tests in them.
func TestGuardTable(t *testing.T) {
	page, err := os.ReadFile("docs/SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	guards, inTable := 0, false
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		switch {
		case line == guardHead:
			inTable = true
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case inTable && !strings.HasPrefix(line, "|---"):
			guards++
			checkGuard(t, line)
		}
	}
	if guards < 60 {
		t.Errorf("the page has %d guards: the test reads the wrong table, or guards were dropped", guards)
	}
}

func checkGuard(t *testing.T, row string) {
	t.Helper()
	cells := strings.Split(strings.Trim(row, "|"), "|")
	if len(cells) != 4 {
		t.Errorf("%d cells in %s", len(cells), row)
		return
	}
	name := strings.TrimSpace(cells[0])
	for _, m := range codeSpan.FindAllStringSubmatch(cells[1], -1) {
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i, cell := range cells[1:] {
		spans := codeSpan.FindAllStringSubmatch(cell, -1)
		if len(spans) == 0 {
			t.Errorf("%s: column %d is empty", name, i+2)
		}
	}
	for _, cell := range cells[2:] {
		var file string
		tests := 0
		for _, m := range codeSpan.FindAllStringSubmatch(cell, -1) {
			if strings.HasSuffix(m[1], ".go") {
				file = m[1]
				continue
			}
			tests++
			if !declares(t, file, m[1]) {
				t.Errorf("%s: %q has no test %s", name, file, m[1])
			}
		}
		if tests == 0 {
			t.Errorf("%s: %s names no test", name, cell)
		}
	}
}

func declares(t *testing.T, file, test string) bool {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return false
	}
	for _, m := range testDecl.FindAllStringSubmatch(string(source), -1) {
		if m[1] == test {
			return true
		}
	}
	return false
}
