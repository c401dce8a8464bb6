package gdpr_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// latin1 is a text as old editors save it.
func latin1(s string) string {
	var b []byte
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

func gzipped(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTextsInOtherEncodings erases a subject from files that are not UTF-8: each mention must be cut
// out in place, and every other byte must stay.
func TestTextsInOtherEncodings(t *testing.T) {
	const zoe = "Zoë Ångström"
	text := "# Notes\r\n\r\nabout cafés\r\nask " + zoe + " for keys\r\nund schöne Grüße\r\n"
	want := strings.ReplaceAll(text, zoe, gdpr.Erased)
	w := newWorld(t)
	vault := filepath.Join(w.dir, "vault")
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: vault}}
	be := []byte(utf16le(text))
	for i := 0; i+1 < len(be); i += 2 {
		be[i], be[i+1] = be[i+1], be[i]
	}
	plant(t, vault, map[string]string{
		"memory/idea/latin.md":      latin1(text),
		"memory/idea/wide.md":       utf16le(text),
		"memory/idea/big.md":        string(be),
		"memory/idea/bare.md":       utf16le("ask " + ana + " for keys\nand others\nfor tea\n")[2:],
		"memory/idea/picture.md":    "\x89PNG\x00\x01\x02 " + ana + " \xff\xfe",
		"memory/idea/quiet.md":      latin1("# Bystander\n\nschöne Grüße\n"),
		"memory/idea/wide-other.md": utf16le("# Bystander " + other + "\n"),
		"memory/idea/plan.md":       "# Plan\n",
	})
	w.agent(map[string]string{
		"AGENT.md":  latin1(strings.ReplaceAll(text, "\r", "")),
		"topics.md": "nothing\n",
	})
	before := tree(t, vault)
	r, err := w.desk.File(t.Context(), gdpr.Intake{Subject: ana, Aliases: []string{zoe}, Received: "2026-02-20", Ground: "asked"})
	if err != nil {
		t.Fatal(err)
	}
	p := w.plan(r.ID)
	actions := map[string]gdpr.Step{}
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			actions[filepath.Base(st.ID)] = st
		}
	}
	for name, want := range map[string]gdpr.Action{"latin.md": gdpr.Redact, "wide.md": gdpr.Redact, "big.md": gdpr.Redact, "bare.md": gdpr.Redact, "AGENT.md": gdpr.Redact, "picture.md": gdpr.Forget} {
		st := actions[name]
		if st.Action != want {
			t.Errorf("%s: %+v; want %s", name, st, want)
		}
		if says := strings.Contains(st.Reason, "its text is ") || strings.Contains(st.Reason, "its bytes are no text"); !says {
			t.Errorf("%s: the plan does not say what it is: %q", name, st.Reason)
		}
		if want == gdpr.Redact && !strings.Contains(st.NewBody, "ask "+gdpr.Erased+" for keys") {
			t.Errorf("%s: the plan shows %q", name, st.NewBody)
		}
	}
	w.complete(p)
	after := tree(t, vault)
	wantBE := []byte(utf16le(want))
	for i := 0; i+1 < len(wantBE); i += 2 {
		wantBE[i], wantBE[i+1] = wantBE[i+1], wantBE[i]
	}
	for name, want := range map[string]string{
		"latin.md": latin1(want), "wide.md": utf16le(want), "big.md": string(wantBE), "bare.md": utf16le("ask " + gdpr.Erased + " for keys\nand others\nfor tea\n")[2:],
		"quiet.md": before["memory/idea/quiet.md"], "wide-other.md": before["memory/idea/wide-other.md"],
	} {
		if got := after["memory/idea/"+name]; got != want {
			t.Errorf("%s is %q; want %q", name, got, want)
		}
	}
	if _, there := after["memory/idea/picture.md"]; there {
		t.Error("bytes that name her are still there")
	}
	agent := tree(t, w.path("agent"))["AGENT.md"]
	if utf8 := strings.ReplaceAll(want, "\r", ""); agent != latin1(utf8) && agent != utf8 {
		t.Errorf("AGENT.md is %q", agent)
	}
}

// TestCompressedCopies erases a subject from compressed files beside the items.
func TestCompressedCopies(t *testing.T) {
	w := newWorld(t)
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "prefers tea", DataSubjectID: ana})
	w.agent(map[string]string{"AGENT.md": "The agent.\nAsk " + name + " for keys.\nAsk " + other + " for tea.\n"})
	hers, theirs := w.path("db")+".bak.gz", filepath.Join(w.path("agent"), ".snapshots", "r1", "AGENT.md.gz")
	vault := filepath.Join(w.dir, "vault")
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: vault}}
	plant(t, vault, map[string]string{"memory/idea/plan.md": "# Plan\n", "memory/idea/.plan.md.bak.gz": gzipped(t, "ask "+name+"\n"), "memory/idea/.other.md.bak.gz": gzipped(t, "ask "+other+"\n")})
	plant(t, filepath.Dir(theirs), map[string]string{"AGENT.md.gz": gzipped(t, "Ask "+mail+"\n")})
	if err := os.WriteFile(hers, []byte(gzipped(t, "ask "+name+"\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	w.open()
	r := w.file()
	p := w.plan(r.ID)
	out := w.inScope(p)
	after := tree(t, w.dir)
	for name, want := range map[string]bool{
		"agent/.memory/.snapshots/r1/AGENT.md.gz": false, "vault/memory/idea/.plan.md.bak.gz": false,
		"vault/memory/idea/.other.md.bak.gz": true, "memory.sqlite.bak.gz": true, // beside a database: named, but unchanged
	} {
		if _, there := after[name]; there != want {
			t.Errorf("%s: there is %v; want %v", name, there, want)
		}
	}
	if !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
		return l.Layer == "memory.sqlite.bak.gz" && l.Verdict == model.VerdictOutOfScope && l.Hits > 0
	}) {
		t.Error("the backup beside the database is not named as one that holds her")
	}
}
