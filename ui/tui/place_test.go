package tui_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// On the way back the cursor must return to its row.
func TestPlaceIsKeptOnTheWayBack(t *testing.T) {
	bothSizes(t, func(t *testing.T, d *driver) {
		// From Health into a store and back: the row of that store.
		d.keys("1", "G", "enter").wants(t, "Tiers › hostile", "esc back").keys("esc").wants(t, "── Health ─").at(t, "hostile")
		d.keys("1").at(t, "hostile").keys("2").at(t, "hostile")
		d.keys("1").line("store graph").keys("enter", "esc").wants(t, "Tiers › graph").keys("/").typed("Fact").keys("enter", "esc").wants(t, "Tiers › graph").keys("esc").wants(t, "── Health ─")
		d.line("go crewship:crews/eng/shared/pins.md").await("the deploy checklist")
		d.keys("esc").wants(t, "── Health ─").keys("2").wants(t, "› pins").keys("esc", "esc").wants(t, "nothing to go back to")
		// What the operator opened himself lies in its list.
		d.keys("1").line("go crewship:crews/eng/shared/pins.md").await("the deploy checklist")
		d.keys("left").wants(t, "› pins").keys("enter").await("the deploy checklist")
		d.keys("esc").wants(t, "› pins", "── Tiers")
		// A list that esc brings back has heard its answer.
		d.keys("1").line("undo").line("store graph").wants(t, "Tiers › graph").quiet()
		d.keys("esc").wants(t, "Nothing is kept: no change").keys("esc").wants(t, "── Health ─").keys("2")
		d.line("store graph").wants(t, "Tiers › graph").keys("esc").quiet()
		d.at(t, "graph")
		d.line("store crewship").wants(t, "Tiers › crewship").line("tier pins").wants(t, "› pins").keys("esc").at(t, "pins")
		// Back into a list: the row that was left, at its line of the screen.
		d.line("store graph").await("Fact 0 ")
		d.keys("pgdown", "pgdown", "k", "k")
		place := func() string { // the screen line and its text
			n, _, _ := strings.Cut(d.screen(), "▌")
			row, _, _ := strings.Cut(d.underCursor(), "│")
			return strconv.Itoa(strings.Count(n, "\n")) + row
		}
		was := place()
		d.keys("esc").at(t, "graph").keys("enter").quiet()
		if got := place(); got != was {
			t.Errorf("it was %q, now it is %q", was, got)
		}
		d.line("store crewship").wants(t, "Thursday").line("store graph").quiet()
		if got := place(); got != was {
			t.Errorf("after another list: it was %q, now it is %q", was, got)
		}
	})
}

// A filter, another order and hidden items may move the list under the cursor, but must not move the
// cursor to another item.
func TestCursorStaysWithItsItem(t *testing.T) {
	bothSizes(t, func(t *testing.T, d *driver) {
		d.line("store crewship").await("Thursday")
		d.keys("j", "j").at(t, "Thursday")
		d.keys("/").typed("deploy").keys("enter").at(t, "Thursday").wants(t, "/deploy")
		d.keys("j").at(t, "lessons").keys("esc").at(t, "lessons").wants(t, "4 of 6")
		d.keys("o").at(t, "lessons").keys("o").at(t, "lessons").wants(t, "4 of 6")
		d.keys("a").at(t, "lessons").wants(t, "4 of 7").keys("end").at(t, "index")
		d.keys("a").at(t, "pins") // index is hidden again: the cursor moves to its neighbour
		d.keys("/").typed("no such words").keys("enter").wants(t, "Nothing matches").keys("esc").at(t, "pins").wants(t, "6 of 6")
		d.keys("/").typed("no such words").keys("enter").wants(t, "Nothing matches")
		d.keys("/", "ctrl+u").typed("thursday").keys("enter").at(t, "Thursday").keys("esc").at(t, "Thursday")
		// A long list: the item is far from the loaded page.
		d.line("store graph").await("Fact 0 ")
		d.line("go node-30000").found().keys("esc").await("▌ Fact 30000 ")
		d.keys("o").found()
		d.wants(t, "30,001 of 48,210", "order: ").keys("j").at(t, "Fact 30001 ")
		// Lists of records.
		d.keys("7").await("1 of at least")
		d.keys("j", "j", "j", "j").wants(t, "5 of ")
		d.keys("/").typed("phase:outcome").keys("enter").wants(t, "/phase:outcome")
		d.keys("j").keys("esc").wants(t, "6 of ")
		d.keys("/").typed("phase:outcome").keys("enter", "end", "end", "end").keys("esc").found()
		d.lacks(t, " 1 of ")
		// The tree of stores.
		d.keys("2", "esc", "home", "j", "j").at(t, "agent")
		d.keys("o").at(t, "agent").keys("o", "o", "o").at(t, "agent")
		d.keys("/").typed("nothing of this").keys("enter", "esc").at(t, "agent")
		d.keys("/").typed("pins").keys("enter", "end").at(t, "pins").keys("esc").at(t, "pins")
		d.keys("home", "j", "j").at(t, "agent").keys("/").typed("graph").keys("enter").at(t, "graph").keys("esc").at(t, "agent")
	})
}

// found waits for the end of a search through a long list.
func (d *driver) found() *driver {
	for limit := time.After(patience); strings.Contains(d.screen(), "looking: "); {
		d.send(d.next("the end of looking", limit))
	}
	return d
}

// A search through a long list must show its progress, and can be stopped.
func TestLookingIsStopped(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := startRobot(t, start{scenario: "desk,acts,gate", width: 80, height: 24, env: []string{goneEnv + "=" + gate}})
	r.see("STORE, SCOPE").press(":", "store graph", "enter").see("1 of 48,210").press(":", "go node-40000", "enter").see("Fact 40000 about").press("esc").see("looking: 1,000 rows so far", "esc stop looking")
	r.press("esc").see("stopped after 1,000 rows", " 1 of 48,210").gone("looking")
	// Moving the cursor must stop it too.
	r.press(":", "go node-40000", "enter").see("Fact 40000 about").press("esc").see("looking: 1,000 rows so far").press("j").see(" 2 of 48,210").gone("looking")
	remove(t, gate)
	r.press(":", "go node-40000", "enter").see("Fact 40000 about").press("esc").see("40,001 of 48,210").press("q")
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
}
