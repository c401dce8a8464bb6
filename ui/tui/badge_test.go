package tui_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestAStoreThatGoesDownIsOnEveryTab: the outage must show within three seconds, on any pane, and so
// must the recovery.
func TestAStoreThatGoesDownIsOnEveryTab(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	o.file("--subject", "usr_teo", "--received", erasureNow.AddDate(0, -1, 1).Format(time.DateOnly))
	o.file("--subject", "usr_maren", "--received", erasureNow.AddDate(0, -1, -3).Format(time.DateOnly))
	r := o.console(120, 30).see("[6 Erasure !1]").press("2").see("6 Erasure !1", "[2 Tiers]").gone("Health !")
	here, away := filepath.Join(o.dir, "vault"), filepath.Join(o.dir, "away")
	if err := os.Rename(here, away); err != nil {
		t.Fatal(err)
	}
	r.see("1 Health !1", "[2 Tiers]")
	r.resize(60, 16).see("1:!1 [2 Tiers] 3  4  5  6:!1  7").resize(120, 30) // a count is told from the digit of the next pane
	if err := os.Rename(away, here); err != nil {
		t.Fatal(err)
	}
	r.gone("Health !")
}
