package gdpr_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// attribute sets an extended attribute of a file, or skips the test where the file system has none.
func attribute(t *testing.T, path, name, value string) {
	t.Helper()
	switch err := unix.Setxattr(path, name, []byte(value), 0); {
	case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EPERM):
		t.Skip("the file system of the temporary directory keeps no extended attributes of users")
	case err != nil:
		t.Fatal(err)
	}
}

// TestAttributes removes the extended attributes that name the subject, in stores of every family whose
// items do not name it, and keeps those that name a bystander.
func TestAttributes(t *testing.T) {
	w := newWorld(t)
	w.agent(map[string]string{"AGENT.md": "prefers tea\n"})
	w.put("db", model.RetainRequest{Tier: "session", Key: "n0", Content: "prefers tea"})
	files := []string{w.path("db"), filepath.Join(w.path("agent"), "AGENT.md")}
	for kind, name := range map[string]string{"vault": "memory/idea/user.notes/tea.md", "curated": "MEMORY.md", "beads": ".beads/issues.jsonl", "mcpgraph": "memory.jsonl"} {
		at := filepath.Join(w.dir, kind, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		text := map[string]string{"beads": `{"id":"b-1","title":"tea","status":"open","priority":2,"issue_type":"task","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z"}` + "\n",
			"mcpgraph": `{"type":"entity","name":"tea","entityType":"drink","observations":["green"]}` + "\n", "vault": "---\nkind: idea\n---\ntea\n", "curated": "tea\n"}[kind]
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, at)
		c := backends.StoreConfig{Name: kind, Kind: kind, Path: filepath.Join(w.dir, kind)}
		if kind == "mcpgraph" {
			c.Path = at
		}
		w.more = append(w.more, c)
	}
	files = append(files, filepath.Join(w.dir, "vault"), filepath.Join(w.dir, "vault/memory/idea/user.notes"), w.path("agent")) // directories have them too
	for _, f := range files {
		attribute(t, f, "user.author", "by "+name)
		attribute(t, f, "user.reader", "by "+other)
		attribute(t, f, "user.of."+ana, "yes")
	}
	w.open()
	r := w.file()
	p := w.plan(r.ID)
	planned := 0
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			if st.Action == gdpr.Scrub && (filepath.Base(st.ID) == "user.author" || filepath.Base(st.ID) == "user.of."+ana) {
				planned++
			}
		}
	}
	if planned != 2*len(files) {
		t.Errorf("%d of %d attributes are planned: %+v", planned, 2*len(files), p)
	}
	rows, err := w.desk.Verify(t.Context(), r.ID, "", w.fleet)
	if err != nil {
		t.Fatal(err)
	}
	residue := 0
	for _, l := range rows {
		if filepath.Base(l.Layer) == "user.author" && l.Verdict == model.VerdictResidue {
			residue++
		}
	}
	if residue != len(files) {
		t.Errorf("%d of %d attributes are residue before the erasure: %+v", residue, len(files), rows)
	}
	out, err := w.erase(p)
	if err != nil || out.Status != gdpr.StateComplete && out.Status != gdpr.StateInScope {
		t.Errorf("%+v, %v", out, err)
	}
	for _, f := range files {
		buf := make([]byte, 1024)
		n, err := unix.Listxattr(f, buf)
		if err != nil {
			t.Fatal(err)
		}
		if left := string(buf[:n]); left != "user.reader\x00" {
			t.Errorf("%s keeps %q", f, left)
		}
	}
	if i := slices.IndexFunc(out.Layers, func(l receipt.Layer) bool { return l.HoldsPerson() }); i >= 0 {
		t.Errorf("%+v", out.Layers[i])
	}
}

// attributes lists the names of a file's extended attributes.
func attributes(t *testing.T, path string) string {
	t.Helper()
	buf := make([]byte, 1024)
	n, err := unix.Listxattr(path, buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

// TestAttributesOfALog: SQLite's files beside a database have attributes of their own.
func TestAttributesOfALog(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n0", Content: "prefers tea"})
	log := w.path("db") + "-wal"
	attribute(t, log, "user.author", "by "+name)
	if out, err := w.erase(w.plan(w.file().ID)); err != nil || out.Status != gdpr.StateComplete || attributes(t, log) != "" {
		t.Errorf("%s, %v, left %q", out.Status, err, attributes(t, log))
	}
}

// TestAttributesOfAForeignDirectory: a store that is one file does not own the directory in which it lies.
func TestAttributesOfAForeignDirectory(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.dir, "home")
	plant(t, w.dir, map[string]string{"home/memory.jsonl": `{"type":"entity","name":"tea","entityType":"drink","observations":["green"]}` + "\n"})
	attribute(t, dir, "user.author", "by "+name)
	w.more = []backends.StoreConfig{{Name: "graph", Kind: "mcpgraph", Path: filepath.Join(dir, "memory.jsonl")}}
	w.open()
	if out, err := w.erase(w.plan(w.file().ID)); err != nil || attributes(t, dir) == "" {
		t.Errorf("%s, %v: the attribute of the directory is gone", out.Status, err)
	}
}

// TestAnItemWithAnAttributeIsAttested: a browser notes where a file came from in an attribute of it. That can be
// read, and does not keep anybody from attesting the file, which cannot.
func TestAnItemWithAnAttributeIsAttested(t *testing.T) {
	w := vaultWith(t, map[string]string{"v/att/map.zst": shut, "v/memory/fix/a.md": "rain\n"})
	attribute(t, filepath.Join(w.dir, "v/att/map.zst"), "user.xdg.origin.url", "https://example.org/map.zst")
	r := w.file()
	if out, err := w.erase(w.planned(r.ID)); err != nil || out.Status != gdpr.StatePartial {
		t.Fatalf("%s %v; want partial: a file could not be opened", out.Status, err)
	}
	if _, err := w.desk.Attest(t.Context(), r.ID, w.fleet, gdpr.Looked{Store: "notes", Items: []string{"att/map.zst"}, Ground: "opened by the archivist"}); err != nil {
		t.Fatal(err)
	}
	w.complete(w.planned(r.ID))
}

// TestAttributesOfAnItemOnHold: the attributes of an item on hold must stay, whichever request holds
// it; those of other items must go.
func TestAttributesOfAnItemOnHold(t *testing.T) {
	for by, another := range map[string]bool{"this request": false, "another request": true} {
		t.Run(by, func(t *testing.T) {
			w := newWorld(t)
			w.agent(map[string]string{"AGENT.md": "prefers tea\n", "daily/2026-02-01.md": "- " + name + " called\n", "daily/2026-02-02.md": "quiet\n", "daily/2026-02-03.md": "quiet\n"})
			at := func(file string) string { return filepath.Join(w.path("agent"), file) }
			for _, f := range []string{"AGENT.md", "daily/2026-02-01.md", "daily/2026-02-02.md"} {
				attribute(t, at(f), "user.author", "by "+name)
			}
			w.open()
			r := w.file()
			holder := r.ID
			if another {
				o, err := w.desk.File(t.Context(), gdpr.Intake{Subject: other, Received: "2026-02-20", Ground: "asked"})
				if err != nil {
					t.Fatal(err)
				}
				holder = o.ID
			}
			w.hold(holder, "agent", "daily/2026-02-01.md")
			w.hold(holder, "agent", "daily/2026-02-02.md") // only the attribute names the subject
			p := w.plan(r.ID)
			for _, s := range p.Stores {
				for _, st := range s.Steps {
					if want := map[bool]gdpr.Action{true: gdpr.Scrub, false: gdpr.OutOfScope}[st.ID == "AGENT.md/user.author"]; filepath.Base(st.ID) == "user.author" && st.Action != want {
						t.Errorf("%+v; want %s", st, want)
					}
				}
			}
			out, err := w.erase(p)
			if err != nil || out.Status != gdpr.StateInScope {
				t.Errorf("%s, %q, %v", out.Status, out.Problems, err)
			}
			for file, want := range map[string]string{"AGENT.md": "", "daily/2026-02-01.md": "user.author\x00", "daily/2026-02-02.md": "user.author\x00"} {
				buf := make([]byte, 1024)
				n, err := unix.Listxattr(at(file), buf)
				if got := string(buf[:max(n, 0)]); err != nil || got != want {
					t.Errorf("%s has %q, %v; want %q", file, got, err, want)
				}
			}
			told := 0
			for _, l := range out.Layers {
				if filepath.Base(l.Layer) == "user.author" {
					told++
					if l.Verdict != model.VerdictOutOfScope && l.Verdict != model.VerdictClean {
						t.Errorf("%+v", l)
					}
				}
			}
			if told < 2 {
				t.Errorf("the attributes that stay are not spoken of: %+v", out.Layers)
			}
		})
	}
}

// TestAttributesThatCannotBeListed must appear at the end of a run as an unexamined layer: the request
// must not end as complete.
func TestAttributesThatCannotBeListed(t *testing.T) {
	w := newWorld(t)
	w.agent(map[string]string{"AGENT.md": "prefers tea\n", "daily/2026-02-01.md": "- " + name + " called\n", "daily/2026-02-02.md": "quiet\n", "daily/2026-02-03.md": "quiet\n"})
	at := filepath.Join(w.path("agent"), "AGENT.md")
	attribute(t, at, "user.reader", "by "+other)
	for i := range 300 { // more names than Linux lists at once (xattr(7))
		err := unix.Setxattr(at, fmt.Sprintf("user.%03d%s", i, strings.Repeat("x", 240)), nil, 0)
		if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
			t.Skip("the file system of the temporary directory keeps fewer attributes")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w.open()
	r := w.file()
	p, err := w.desk.MakePlan(t.Context(), r.ID, w.fleet, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.erase(p)
	if err != nil || out.Status == gdpr.StateComplete {
		t.Errorf("%s, %v; want a request that is not complete", out.Status, err)
	}
	i := slices.IndexFunc(out.Layers, func(l receipt.Layer) bool { return l.Layer == "AGENT.md/(extended attributes)" })
	if i < 0 || out.Layers[i].Verdict != model.VerdictUnaudited || !strings.Contains(out.Layers[i].Reason, "cannot be listed") {
		t.Errorf("the attributes are not spoken of: %+v", out.Layers)
	}
}

// TestAnAttributeOfAnItemOnHoldStays: a sweep must not take it for a person who came back.
func TestAnAttributeOfAnItemOnHoldStays(t *testing.T) {
	w := vaultWith(t, map[string]string{"v/memory/fix/a.md": name + " called\nrain\nwind\n"})
	attribute(t, filepath.Join(w.dir, "v/memory/fix/a.md"), "user.comment", "of "+name)
	r := w.file()
	w.hold(r.ID, "notes", "memory/fix/a.md")
	w.inScope(w.plan(r.ID))
	if swept, problems, err := w.desk.Sweep(t.Context(), w.fleet, "", nil); err != nil || len(swept) > 0 {
		t.Errorf("swept %+v, %q, %v; want nobody", swept, problems, err)
	}
}
