package tui_test

import (
	"os"
	"path/filepath"
	"testing"
)

// An agent's write must appear without a key: in the counts of the tree, in the list, where the cursor
// stays on its row, and in the open text.
func TestTiersAppearByThemselves(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	r := o.console(120, 40).press("2").see("[2 Tiers]", "1 over")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(o.dir, "vault", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.see("▸ notes", "19 ")
	write("early.md", "---\nkind: fix\nstatus: active\ncreated: 2026-05-20\nupdated: 2026-05-20\n---\nThe gull is late.\n")
	r.see("▸ notes", "20 ")
	r.press(":").press("store notes").press("enter").see("Tiers › notes", "1 of 20", "Boats leave")
	r.press("j").see("2 of 20")
	write("fresh.md", "---\nkind: decision\nstatus: active\ncreated: 2026-05-20\nupdated: 2026-05-20\n---\nThe heron comes at six.\n")
	r.see("3 of 21")
	r.press("/", "heron", "enter").see("1 of 1", "The heron comes at six.")
	write("fresh.md", "---\nkind: decision\nstatus: active\ncreated: 2026-05-20\nupdated: 2026-05-20\n---\nThe heron comes at seven, not six.\n")
	r.see("seven")
	r.press("esc").see("2 of 21").press("enter").see("seven, not six")
	if err := os.Remove(filepath.Join(o.dir, "vault", "fresh.md")); err != nil {
		t.Fatal(err)
	}
	r.see("it was forgotten or moved") // the page does not turn to another item
	r.press("esc").see("of 20").press("esc").see("▸ harbor", "20 ")
}

// The filter keeps a store for its kind; the cursor must be on the store of that name, which enter opens.
func TestTheFilterGoesToTheName(t *testing.T) {
	bothSizes(t, func(t *testing.T, d *driver) {
		d.keys("2", "home").at(t, "crewship").keys("/").typed("vault").keys("enter").at(t, "vault").keys("esc").at(t, "crewship")
	})
}
