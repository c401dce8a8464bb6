package receipt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// TestPageIsShort: hundreds of similar layers must take one line, each different one its own.
func TestPageIsShort(t *testing.T) {
	r := receipt.Receipt{Request: "er-1", Subject: "hmac:x"}
	add := func(layer string, v model.Verdict, hits int64, reason string) {
		r.Layers = append(r.Layers, receipt.Layer{Store: "agent", Layer: layer, Verdict: v, Method: "byte scan", BytesScanned: 10, Hits: hits, Reason: reason})
	}
	add("items", model.VerdictClean, 0, "")
	for i := range 300 {
		add(fmt.Sprintf("daily/%d.md.lock", i), model.VerdictClean, 0, "")
	}
	for i := range 20 {
		add(fmt.Sprintf("wal/%d.seg", i), model.VerdictOutOfScope, 0, "archived elsewhere")
	}
	add("daily/held.md.lock", model.VerdictOutOfScope, 3, "no more than what is on hold")
	add("notes/odd|name.md", model.VerdictClean, 0, "")
	add("<img src=x>[paid](x) ok.zip", model.VerdictUnaudited, 0, "~~`#_")
	add("https://x.example www.x.example", model.VerdictUnaudited, 0, "")
	page := r.Markdown("k1", true)
	if n := strings.Count(page, "\n"); n > 60 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{
		"| 300 lock files | clean | 3000 | 0 | 1 |  |\n", "| 20 files \\*.seg | out of scope | 200 | 0 | 1 | archived elsewhere |\n",
		"| daily/held.md.lock | out of scope | 10 | 3 |", "| items | clean |", `odd\|name.md`, `| \<img src=x>\[paid\](x) ok.zip | unaudited |`, "| \\~\\~\\`\\#\\_ |", `| https\://x.example www\.x.example |`, "- agent: 20 files \\*.seg: archived elsewhere\n", "1. byte scan\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

// TestFolded must join stores of whose backups the same is said, and no others.
func TestFolded(t *testing.T) {
	got := receipt.Folded([]receipt.Backup{{Store: "a", Reason: "unknown"}, {Store: "b", Reason: "unknown"}, {Store: "c", Reason: "unknown", Where: "tape"}, {Store: "d", Reason: "unknown"}})
	want := []receipt.Backup{{Store: "a, b, d", Reason: "unknown"}, {Store: "c", Reason: "unknown", Where: "tape"}}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
