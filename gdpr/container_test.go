package gdpr_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/zlib"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

func zipOf(t testing.TB, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range sorted(files) {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func tarOf(t testing.TB, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range sorted(files) {
		err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(files[name])), Mode: 0o600})
		if err == nil {
			_, err = w.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func sorted(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// pdfOf is a PDF of one page whose text is stored as characters.
func pdfOf(t testing.TB, text string) string {
	t.Helper()
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	if _, err := w.Write([]byte("BT /F1 12 Tf 72 720 Td [(" + strings.Join(strings.Split(text, ""), ")-12(") + ")] TJ ET")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", z.Len(), z.String()), "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
	} {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 6\n0000000000 65535 f \n")
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", start)
	return b.String()
}

func document(t testing.TB, text string) string {
	return zipOf(t, map[string]string{"[Content_Types].xml": "<Types/>", "word/document.xml": "<w:document><w:p><w:r><w:t>" + text + "</w:t></w:r></w:p></w:document>"})
}

// containers are the usual container formats, each around a text.
func containers(t testing.TB, text string) map[string]string {
	t.Helper()
	body := "asked " + text + " for keys\n"
	out := map[string]string{
		"a.zip":    zipOf(t, map[string]string{"notes/a.md": body, "b.md": "quiet\n"}),
		"b.tar":    tarOf(t, map[string]string{"notes/a.md": body}),
		"c.tar.gz": gzipped(t, tarOf(t, map[string]string{"notes/a.md": body})),
		"d.zip":    zipOf(t, map[string]string{"old/a.md.gz": gzipped(t, body)}),
		"e.docx":   document(t, body),
		"g.zip":    zipOf(t, map[string]string{text + ".md": "quiet\n"}),
	}
	if _, err := exec.LookPath("pdftotext"); err == nil {
		out["f.pdf"] = pdfOf(t, body)
	} else {
		t.Log("no pdftotext on this machine: PDFs are left out; to try them: apt-get install -y poppler-utils")
	}
	return out
}

// TestAPDFWithoutAReader: where no program reads a PDF's pages, the plan must name the file and not
// call it clean.
func TestAPDFWithoutAReader(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	w := newWorld(t)
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "vault")}}
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "prefers tea", DataSubjectID: ana})
	plant(t, filepath.Join(w.dir, "vault"), map[string]string{"memory/idea/plan.md": "# Plan\n", "memory/idea/a.pdf": pdfOf(t, "asked "+name)})
	w.open()
	p, err := w.desk.MakePlan(t.Context(), w.file().ID, w.fleet, nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(p.Stores, func(s gdpr.StorePlan) bool { return s.Store == "notes" })
	if got := p.Stores[i].Problems; len(got) != 1 || !strings.Contains(got[0], "memory/idea/a.pdf") || !strings.Contains(got[0], "no pdftotext") {
		t.Errorf("the plan says %q", got)
	}
}

// TestArchives erases a subject from archives and documents, among the items and beside them: a
// container that holds the subject must go as a whole, one that holds a bystander must stay unchanged.
func TestArchives(t *testing.T) {
	w := newWorld(t)
	vault := filepath.Join(w.dir, "vault")
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: vault}}
	w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "prefers tea", DataSubjectID: ana})
	files := map[string]string{"memory/idea/plan.md": "# Plan\n"}
	gone, stays := []string{}, []string{}
	for _, of := range []struct {
		prefix, text string
		list         *[]string
	}{{"hers", name, &gone}, {"his", other, &stays}} {
		for n, body := range containers(t, of.text) {
			for _, at := range []string{"memory/idea/" + of.prefix + "-" + n, "memory/idea/." + of.prefix + ".md.bak." + n} {
				files[at] = body
				*of.list = append(*of.list, at)
			}
		}
	}
	plant(t, vault, files)
	w.agent(map[string]string{"AGENT.md": "The agent.\n"})
	snapshots := filepath.Join(w.path("agent"), ".snapshots", "r1")
	plant(t, snapshots, map[string]string{"AGENT.md.zip": zipOf(t, map[string]string{"AGENT.md": "Ask " + mail + "\n"}), "other.zip": zipOf(t, map[string]string{"AGENT.md": "Ask " + other + "\n"})})
	w.open()
	r := w.file()
	p := w.plan(r.ID)
	told := false
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			told = told || strings.HasSuffix(st.ID, "hers-d.zip") && strings.Contains(st.Reason, "in old/a.md.gz")
			if strings.Contains(st.Reason, name) {
				t.Errorf("a reason names her: %q", st.Reason)
			}
		}
	}
	if !told {
		t.Error("the plan does not name the member that holds her")
	}
	w.complete(p)
	after := tree(t, vault)
	for _, f := range gone {
		if _, there := after[f]; there {
			t.Errorf("%s still holds her", f)
		}
	}
	for _, f := range stays {
		if after[f] != files[f] {
			t.Errorf("%s was changed", f)
		}
	}
	left := tree(t, snapshots)
	if _, there := left["AGENT.md.zip"]; there || left["other.zip"] == "" {
		t.Errorf("the snapshots are %v", sorted(left))
	}
}

// TestUnopenedIsNotClean: a container that cannot be opened must never count as clean, must be named in
// the plan, and must withhold the receipt.
func TestUnopenedIsNotClean(t *testing.T) {
	for name, data := range map[string]string{
		"a.xz": "\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4\x46", "note.md": "\x28\xb5\x2f\xfd\x04\x00\x01\x00\x00", "b.7z": "7z\xbc\xaf\x27\x1c\x00\x04\x00", "c.md": "-----BEGIN PGP MESSAGE-----\n\nhQEM\n",
	} {
		for _, at := range []string{"memory/idea/" + name, "memory/idea/.x.md.bak." + name} {
			t.Run(at, func(t *testing.T) {
				w := newWorld(t)
				vault := filepath.Join(w.dir, "vault")
				w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: vault}}
				w.put("db", model.RetainRequest{Tier: "session", Key: "n1", Content: "prefers tea", DataSubjectID: ana})
				plant(t, vault, map[string]string{"memory/idea/plan.md": "# Plan\n", at: data})
				w.open()
				p, err := w.desk.MakePlan(t.Context(), w.file().ID, w.fleet, nil)
				if err != nil {
					t.Fatal(err)
				}
				i := slices.IndexFunc(p.Stores, func(s gdpr.StorePlan) bool { return s.Store == "notes" })
				if got := p.Stores[i].Problems; len(got) != 1 || !strings.Contains(got[0], at) || !strings.Contains(got[0], "look inside by hand") {
					t.Errorf("the plan says %q", got)
				}
				out, err := w.erase(p)
				if err != nil || out.Status != gdpr.StatePartial {
					t.Fatalf("erase = %s, %v; want partial", out.Status, err)
				}
				if !slices.ContainsFunc(out.Layers, func(l receipt.Layer) bool {
					return l.Layer == at && l.Verdict == model.VerdictUnaudited && (strings.Contains(l.Reason, "not opened") || strings.Contains(l.Reason, "could not be read to the end"))
				}) {
					t.Errorf("no layer says that it was not opened: %+v", out.Layers)
				}
				if b, err := os.ReadFile(filepath.Join(vault, at)); err != nil || string(b) != data {
					t.Errorf("it is %q, %v", b, err)
				}
			})
		}
	}
}

// TestBytesAreNeverRedacted chooses redact for what cannot be edited: an archive and a quarantine entry go as a
// whole, and the plan says so.
func TestBytesAreNeverRedacted(t *testing.T) {
	w := newWorld(t)
	plant(t, w.dir, map[string]string{"v/memory/idea/doc.zip": zipOf(t, map[string]string{"a.txt": "of " + name, "b.txt": "of the team"}), "v/memory/idea/b.md": "rain\n"})
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "v")}}
	w.open()
	r := w.file()
	w.plan(r.ID)
	if _, err := w.desk.Choose(t.Context(), r.ID, gdpr.Choice{Store: "notes", ID: "memory/idea/doc.zip", Action: gdpr.Redact}); err != nil {
		t.Fatal(err)
	}
	var step gdpr.Step
	p := w.plan(r.ID)
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			if st.ID == "memory/idea/doc.zip" {
				step = st
			}
		}
	}
	if step.Action != gdpr.Forget || !strings.Contains(step.Reason, "redact was chosen") {
		t.Fatalf("%+v; want it to go as a whole, and why", step)
	}
	w.complete(p)
}
