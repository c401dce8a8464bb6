package erasure

import (
	"slices"
	"strings"
	"testing"

	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/desk/desktest"
)

// TestALayerThatHoldsThePersonIsCounted: out of reach is no pass where the person is known to be there.
func TestALayerThatHoldsThePersonIsCounted(t *testing.T) {
	outside := receipt.Layer{Verdict: model.VerdictOutOfScope}
	holds := outside
	holds.Hits = 2
	if got := layersNotice(safetext.Escaper{}, []receipt.Layer{outside, holds}).String(); got != "1 of 2 layers not clean yet" {
		t.Errorf("%q", got)
	}
}

// TestALongReceiptSaysHowItIsTaken: where the clipboard is too small, the page must say so, and name the other way.
func TestALongReceiptSaysHowItIsTaken(t *testing.T) {
	last := func(saves bool, long string) string {
		lines := receiptLines(desktest.New().St, receipt.Receipt{Request: "er-1"}, "k", saves, long)
		return lines[len(lines)-1].Value.String()
	}
	long := desk.TooLong(strings.Repeat("x", 80_000))
	for _, c := range []struct {
		saves      bool
		long, want string
	}{
		{true, "", "and y copies it"}, {false, "", "y copies the signed receipt"},
		{true, long, "It has 80,000 bytes, and terminals take 74,994: y does not copy it."},
		{false, long, "memdesk gdpr receipt er-1 --out FILE writes it on the server."},
	} {
		if got := last(c.saves, c.long); !strings.Contains(got, c.want) {
			t.Errorf("%v %q: %q", c.saves, c.long, got)
		}
	}
}

// TestAReceiptBeginsWithItsStatus: what an officer asks first, without what another line says.
func TestAReceiptBeginsWithItsStatus(t *testing.T) {
	rec := receipt.Receipt{Request: "er-1", Begun: "2026-11-30T09:45:55Z", Operator: receipt.Party{Name: "unauthenticated ann@pts/3"}, Layers: []receipt.Layer{
		{Store: "desk", Layer: "sessions", Verdict: model.VerdictOutOfScope, Reason: "they end"},
		{Store: "db", Layer: "wal", Verdict: model.VerdictFailed, BytesScanned: 7},
	}}
	lines := receiptLines(desktest.New().St, rec, "k", true, "")
	if lines[1].Name.String() != "status" {
		t.Errorf("after its title: %q", lines[1].Name)
	}
	var all []string
	for _, l := range lines {
		all = append(all, l.Name.String()+": "+l.Value.String())
	}
	for _, want := range []string{"begun: 2026-11-30 09:45:55Z", "operator: unauthenticated ann@pts/3", "out of reach: sessions. they end", "wal, 7 B looked at"} {
		if !slices.ContainsFunc(all, func(l string) bool { return strings.HasSuffix(l, want) }) {
			t.Errorf("no line ends in %q:\n%s", want, strings.Join(all, "\n"))
		}
	}
}

// TestTheRequestersKeysApproveNothing: they are not named, and where no others are, nobody is told to wait for one.
func TestTheRequestersKeysApproveNothing(t *testing.T) {
	for _, c := range []struct {
		approvers []string
		ok        bool
		last      string
	}{
		{nil, true, "Any other operator may approve"},
		{[]string{"mine", "hers"}, true, "  bea hers"},
		{[]string{"mine", "mine too"}, false, "names only the requester's own keys"},
	} {
		rules := gdpr.Policy{Approvers: c.approvers, Names: map[string]string{"mine": "ann", "mine too": "ann", "hers": "bea"}}
		lines, ok := approverLines(safetext.Escaper{}, rules, "mine")
		if last := lines[len(lines)-1].Value.String(); ok != c.ok || !strings.Contains(last, c.last) {
			t.Errorf("%v: %v, %q", c.approvers, ok, last)
		}
	}
}
