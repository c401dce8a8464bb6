package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// layer is a rule of the design: which of memdesk's packages the packages under a path may import.
type layer struct {
	path string   // package path below the module, or a prefix of it
	may  []string // prefixes that it may depend on, directly or not
}

// layers are the permitted dependencies, downwards only. Every package must match one.
var layers = []layer{
	{"internal/clock", nil},
	{"internal/gitlog", nil},
	{"internal/filelock", nil},
	{"internal/exactjson", nil},
	{"internal/linefile", []string{"internal/atomicfile", "internal/filelock"}},
	{"internal/frontmatter", nil},
	{"internal/safetext", nil},
	{"internal/sdnotify", nil},
	{"internal/lines", nil},
	{"internal/meant", nil},
	{"internal/statedir", []string{"internal/atomicfile", "internal/filelock"}},
	{"internal/keyfile", []string{"internal/atomicfile", "internal/filelock", "internal/statedir", "model"}},
	{"internal/counts", []string{"internal/atomicfile", "internal/filelock"}},
	{"internal/testcpu", nil},
	{"internal/testnpm", nil},
	{"internal/testpg", []string{"internal/testnpm"}},
	{"internal/privatefile", nil},
	{"internal/recalled", []string{"model"}},
	{"internal/bearer", []string{"internal/privatefile", "model"}},
	{"internal/drafts", []string{"internal", "model"}},
	{"internal/atomicfile", []string{"internal/atomicfile", "internal/filelock"}},
	{"model", nil},
	{"quarantine/review", []string{"internal", "model", "quarantine", "undo"}},
	{"quarantine", []string{"internal/safetext"}}, // the scanner, which backends use
	{"audit/checkpoint", nil},
	{"audit/witness", []string{"internal", "audit/checkpoint"}},
	{"audit", []string{"internal", "model", "quarantine", "backends", "audit"}},
	{"cmd/memdesk-verify", nil}, // readable by itself
	{"packaging/sbom", nil},
	{"undo", []string{"internal", "model", "quarantine", "backends"}},
	{"transfer", []string{"internal/atomicfile", "internal/filelock", "internal/safetext", "model"}},
	{"work", []string{"model", "work"}},
	{"jobs", []string{"internal", "model", "quarantine", "backends"}},
	{"origin", []string{"internal", "model", "quarantine", "backends", "undo"}},
	{"conflict/names", nil},
	{"conflict/merge", nil},
	{"conflict", []string{"internal", "model", "quarantine", "backends", "undo", "conflict"}},
	{"gdpr/subject", []string{"internal", "model"}},
	{"gdpr/identifier", []string{"internal", "model", "gdpr/subject"}},
	{"gdpr/suppress", []string{"internal", "model", "gdpr/subject"}},
	{"gdpr/sshsig", []string{"internal", "model"}},
	{"gdpr/receipt", []string{"internal", "model"}},
	{"gdpr/papers", []string{"internal", "model", "gdpr/receipt"}},
	{"operator/metrics", []string{"operator", "internal", "model", "quarantine", "backends", "audit", "undo", "jobs", "conflict", "gdpr", "origin", "transfer", "work"}},
	{"operator", []string{"internal", "model", "quarantine", "backends", "audit", "undo", "jobs", "conflict", "gdpr", "origin", "transfer", "work"}},
	{"gdpr", []string{"internal", "model", "quarantine", "backends", "audit", "undo", "jobs", "conflict", "gdpr"}},
	{"backends/backendtest", []string{"internal", "model", "quarantine", "backends/hypergraph"}},
	{"backends/internal", []string{"internal/atomicfile", "internal/filelock", "internal/safetext", "model", "quarantine", "backends/internal"}}, // what families share
	{"backends/seam", []string{"internal", "model", "quarantine", "backends/seam", "backends/internal"}},
	{"backends/hypergraph", []string{"internal", "model", "quarantine", "backends/hypergraph", "backends/internal"}},
	{"backends/gateway", []string{"internal", "model", "quarantine", "backends/gateway", "backends/internal"}},
	{"backends/tracker", []string{"internal", "model", "quarantine", "backends/tracker", "backends/internal"}},
	{"backends/remote", []string{"internal", "model", "backends/internal"}},
	{"backends/mcpclient", []string{"internal", "model", "quarantine", "backends/internal"}},
	{"backends/records/recordstest", []string{"model", "backends/backendtest"}},
	{"backends/demodata", []string{"internal", "model", "quarantine", "backends"}},
	{"backends", []string{"internal", "model", "quarantine", "backends"}},
	{"ui/act", nil},
	{"ui/tui/kit", []string{"internal", "model", "quarantine", "conflict/merge", "ui/act", "ui/tui/kit"}},
	{"ui/tui/desk/desktest", console("desk")},
	{"ui/tui/desk", console()},
	{"ui/tui/record", console("desk")},
	{"ui/tui/task", console("desk", "record")},
	{"ui/tui/edit", console("desk", "record")},
	{"ui/tui/change", console("desk", "record", "task", "edit")},
	{"ui/tui/pane", console("desk", "record", "task", "edit", "change", "pane")},
	{"ui/tui/linear", console("")},
	{"ui/tui", console("desk", "record", "task", "edit", "change", "pane")},
	{"ui/cli", []string{"operator", "work", "transfer", "internal", "model", "quarantine", "backends", "audit", "undo", "jobs", "conflict", "ui/act", "ui/tui", "ui/tour", "ui/sshd", "ui/door", "origin", "gdpr"}},
	{"ui/door", []string{"operator", "transfer", "work", "internal", "model", "quarantine", "backends", "audit", "undo", "jobs", "conflict", "origin", "gdpr"}},
	{"ui/shots", []string{"work", "internal", "model", "quarantine", "backends", "audit", "undo", "jobs", "conflict", "gdpr", "transfer", "origin", "operator", "ui"}},
	{"soak", []string{"work", "internal", "model", "quarantine", "backends", "audit", "undo", "jobs", "conflict", "gdpr", "transfer", "origin", "operator", "ui"}},
	{"examples", []string{"work", "internal", "model", "quarantine", "backends", "audit", "undo", "jobs", "conflict", "gdpr", "transfer", "origin", "operator", "ui"}},
	{"ui/tour", []string{"operator", "origin", "transfer", "work", "internal", "model", "quarantine", "backends", "audit", "undo", "jobs", "conflict", "ui/act", "ui/tui", "gdpr"}},
	{"ui/sshd", []string{"operator", "origin", "transfer", "work", "internal", "model", "quarantine", "backends", "audit", "undo", "jobs", "conflict", "ui/act", "ui/tui", "gdpr"}},
}

// console is what a part of the console may import: the lower layers, the kit, and these parts of the
// console.
func console(parts ...string) []string {
	may := []string{"ui/act", "ui/tui/kit", "operator", "origin", "transfer", "work", "internal", "model", "quarantine", "backends", "audit", "undo", "jobs", "conflict", "gdpr"}
	for _, p := range parts {
		may = append(may, strings.TrimSuffix("ui/tui/"+p, "/"))
	}
	return may
}

// noDirect are imports that a package must not have itself, even if it reaches them through others.
var noDirect = map[string][]string{
	"ui":       {"backends/seam", "backends/hypergraph", "backends/tracker", "backends/records", "backends/gateway"}, // the interface knows no adapter
	"model":    {""},
	"examples": {"internal"}, // other programs cannot import it either
	"audit":    {"backends/seam", "backends/hypergraph", "backends/tracker", "backends/records"},
	"undo":     {"backends/seam", "backends/hypergraph", "backends/tracker", "backends/records"},
	"conflict": {"backends/seam", "backends/hypergraph", "backends/tracker", "backends/records"},
	"gdpr":     {"backends/seam", "backends/hypergraph", "backends/tracker", "backends/records", "backends/gateway"},
}

type listed struct {
	ImportPath string
	Imports    []string
	Deps       []string
	Standard   bool
}

func TestArrowsPointDown(t *testing.T) {
	for _, p := range ours(t) {
		path := strings.TrimPrefix(p.ImportPath, "memdesk/")
		if path == "memdesk" { // main wires everything
			continue
		}
		i := slices.IndexFunc(layers, func(l layer) bool { return under(path, l.path) })
		if i < 0 {
			t.Errorf("%s stands in no layer: add it to the table, and to the design", path)
			continue
		}
		for _, dep := range p.Deps {
			ours, ok := strings.CutPrefix(dep, "memdesk/")
			if ok && ours != path && !slices.ContainsFunc(layers[i].may, func(m string) bool { return under(ours, m) }) {
				t.Errorf("%s reaches %s, which lies above it or beside it", path, ours)
			}
		}
		for above, below := range noDirect {
			if !under(path, above) {
				continue
			}
			for _, imp := range p.Imports {
				ours, ok := strings.CutPrefix(imp, "memdesk/")
				if ok && slices.ContainsFunc(below, func(b string) bool { return under(ours, b) }) {
					t.Errorf("%s imports %s, which it must not know", path, ours)
				}
			}
		}
	}
}

// TestModelIsAVocabulary keeps I/O and libraries out of package model.
func TestModelIsAVocabulary(t *testing.T) {
	for _, p := range ours(t) {
		if p.ImportPath != "memdesk/model" {
			continue
		}
		for _, imp := range p.Imports {
			if strings.Contains(imp, ".") || slices.Contains([]string{"os", "net", "net/http", "database/sql"}, imp) {
				t.Errorf("model imports %s", imp)
			}
		}
		return
	}
	t.Fatal("model was not listed: the test looks at the wrong thing")
}

// TestFamiliesDoNotKnowEachOther includes their tests' helpers, and the console's panes.
func TestFamiliesDoNotKnowEachOther(t *testing.T) {
	families := []string{"backends/seam", "backends/hypergraph", "backends/tracker"}
	all := ours(t)
	var panes []string
	for _, p := range all {
		if path := strings.TrimPrefix(p.ImportPath, "memdesk/"); under(path, "ui/tui/pane") && path != "ui/tui/pane" {
			panes = append(panes, path)
		}
	}
	for _, siblings := range [][]string{families, panes} {
		seen := 0
		for _, p := range all {
			path := strings.TrimPrefix(p.ImportPath, "memdesk/")
			for _, one := range siblings {
				if !under(path, one) {
					continue
				}
				seen++
				for _, dep := range p.Deps {
					for _, other := range siblings {
						if other != one && under(strings.TrimPrefix(dep, "memdesk/"), other) {
							t.Errorf("%s reaches %s", path, dep)
						}
					}
				}
			}
		}
		if seen < 3 {
			t.Fatalf("only %d packages of %v were listed", seen, siblings)
		}
	}
}

// under reports whether path is prefix or below it; "" matches everything.
func under(path, prefix string) bool {
	return prefix == "" || path == prefix || strings.HasPrefix(path, prefix+"/")
}

func ours(t *testing.T) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-tags", "sqlite_fts5", "-deps", "-json=ImportPath,Imports,Deps,Standard", "./...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "memdesk" || strings.HasPrefix(p.ImportPath, "memdesk/") {
			all = append(all, p)
		}
	}
}
