package receipt_test

import (
	"fmt"
	"strings"
	"testing"

	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// manyLayers are the layers of two stores: hundreds of clean ones, and a few others among them.
func manyLayers() []receipt.Layer {
	var out []receipt.Layer
	add := func(store, layer string, v model.Verdict, reason string) {
		out = append(out, receipt.Layer{Store: store, Layer: layer, Verdict: v, Method: "byte scan", BytesScanned: 10, Reason: reason})
	}
	add("agent", "items", model.VerdictClean, "")
	for i := range 30 {
		add("agent", fmt.Sprintf("daily/%d.md.lock", i), model.VerdictClean, "")
	}
	add("agent", "archive.tar", model.VerdictOutOfScope, "kept elsewhere")
	for i := range 5 {
		add("agent", fmt.Sprintf("versions/3a/%d", i), model.VerdictClean, "")
	}
	add("agent", "items' own files", model.VerdictClean, receipt.Files(296))
	add("agent", "crew.db", model.VerdictClean, "its own program erases there")
	add("graph", "items", model.VerdictClean, "")
	add("graph", "graph.db:node_embeddings", model.VerdictClean, "")
	add("graph", "graph.db-wal", model.VerdictPending, "a reader")
	add("graph", "notes.md", model.VerdictResidue, "found by exact 1")
	out = append(out, receipt.Layer{Store: "graph", Layer: "blobs/*.bin (1200 files)", Count: 1200, Verdict: model.VerdictClean, Method: "byte scan", BytesScanned: 7})
	return out
}

// TestCleanLayersAreFolded: unclean layers must come first, the worst before the rest, and no layer and
// no remark on a clean one may be lost.
func TestCleanLayersAreFolded(t *testing.T) {
	standing, clean := receipt.Split(manyLayers())
	var order []string
	for _, l := range standing {
		order = append(order, string(l.Verdict))
	}
	if got := strings.Join(order, " "); got != "residue pending out_of_scope" {
		t.Errorf("order: %s", got)
	}
	held := receipt.Layer{Store: "z", Verdict: model.VerdictOutOfScope, Hits: 1}
	if standing, _ := receipt.Split(append(manyLayers(), held)); standing[2].Store != "z" {
		t.Errorf("a layer out of scope that holds the subject comes after one that does not: %v", standing)
	}
	want := "1240 layers clean: 1200 files *.bin, 30 lock files, 5 versions, items of 2 stores, items' own files, 1 file *.db, 1 side table"
	if got := clean.String(); got != want {
		t.Errorf("fold:\n%s\nwant\n%s", got, want)
	}
	if clean.Bytes != 40*10+7 || len(clean.Rows) != 41 {
		t.Errorf("%d bytes, %d rows", clean.Bytes, len(clean.Rows))
	}
	if len(clean.Notes) != 1 || clean.Notes[0] != (receipt.Note{Store: "agent", Layer: "crew.db", Reason: "its own program erases there"}) {
		t.Errorf("notes: %v", clean.Notes)
	}
}

// TestManyKindsAreCounted: the most frequent kinds must be named and the others counted.
func TestManyKindsAreCounted(t *testing.T) {
	var all []receipt.Layer
	for i := range 12 {
		for j := range 12 - i {
			all = append(all, receipt.Layer{Store: "s", Layer: fmt.Sprintf("d/%d.k%d", j, i), Verdict: model.VerdictClean})
		}
	}
	_, clean := receipt.Split(all)
	if got := clean.String(); !strings.HasPrefix(got, "78 layers clean: 12 files *.k0, 11 files *.k1,") || !strings.HasSuffix(got, ", 10 in 4 other kinds") {
		t.Errorf("fold: %s", got)
	}
}

// TestThePageFoldsWhatIsClean: unclean layers must come first, one per row; with all, every kind must
// have its row.
func TestThePageFoldsWhatIsClean(t *testing.T) {
	r := receipt.Report{Request: "er-1", Subject: "hmac:x", State: "partial", Layers: manyLayers()}
	page := r.Markdown(false)
	for _, want := range []string{"| notes.md | residue |", "| archive.tar | out of scope |", "1240 layers clean: 1200 files", "| agent | 38 | 380 | 30 lock files (1),", "- agent: crew.db: its own program erases there\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if strings.Contains(page, "| clean |") || strings.Index(page, "notes.md") > strings.Index(page, "layers clean") {
		t.Errorf("clean layers stand before what is not:\n%s", page)
	}
	if all := r.Markdown(true); !strings.Contains(all, "| 30 lock files | clean | 300 |") || !strings.Contains(all, "| notes.md | residue |") {
		t.Errorf("not all of it:\n%s", all)
	}
}
