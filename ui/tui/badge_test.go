package tui_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/model"
)

// TestAStoreThatGoesDownIsOnEveryTab: the outage must show within three seconds, on any pane, and so
// must the recovery.
func TestAStoreThatGoesDownIsOnEveryTab(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	o.file("--subject", "usr_teo", "--received", erasureNow.AddDate(0, -1, 1).Format(time.DateOnly))
	o.file("--subject", "usr_maren", "--received", erasureNow.AddDate(0, -1, -3).Format(time.DateOnly))
	r := o.console(120, 30).see("[6 Erasure 1 overdue]").press("2").see("6 Erasure 1 overdue", "[2 Tiers]").gone("Health !")
	r.resize(75, 24).see("4 Quar ", "5 Conf ").resize(120, 30) // with room for a store that goes: names do not change then
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

// TestWritableIsNotCut: who the operator is gives way to what the session may change.
func TestWritableIsNotCut(t *testing.T) {
	t.Parallel()
	r := startRobot(t, start{scenario: "desk,acts,writable", width: 100, height: 20}).see("48,210", "· writable ")
	for width := 60; width < 100; width += 4 {
		r.resize(width, 20).see("· writable ")
	}
}

// TestStoresThatAreDown: their names end before what the session may change, whatever their number.
func TestStoresThatAreDown(t *testing.T) {
	o, _ := lightDesk()
	var down []backends.Member
	for _, name := range []string{"northern", "southern", "eastern", "western"} {
		down = append(down, backends.Member{Name: name, Err: model.E(model.Unavailable, "open", nil)})
	}
	o.Fleet = backends.NewFleet(down, nil)
	newDriver(o, 80, 24).wants(t, "writable  0/4 stores up, 4 down: northern sout…")
	newDriver(o, 60, 15).wants(t, "0/4 up, 4 down")
}
