package tui_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/ui/tui/kit/paint"
)

// times repeats a key, for one write.
func times(n int, key string) []string { return slices.Repeat([]string{key}, n) }

// scrolls presses the four keys that scroll the detail of a list, and looks for a text below the
// detail's top.
func (r *robot) scrolls(below string) *robot {
	r.t.Helper()
	r.gone(below).press(times(40, "J")...).see(below).press(times(40, "K")...).gone(below)
	return r.press(times(20, "}")...).see(below).press(times(20, "{")...).gone(below)
}

// console starts on the desk once every store was counted.
func console(t *testing.T, scenario string, w, h int, env ...string) *robot {
	return startRobot(t, start{scenario: scenario, width: w, height: h, env: env}).see("[2 Tiers]", "48,210", " down")
}

func TestWalkTheTree(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := console(t, "desk", w, h).unfolded()
		r.press("down").see(" 2 of 13").press("up").see(" 1 of 13")
		r.press("ctrl+d").gone(" 1 of 13").press("ctrl+u").see(" 1 of 13").press("pgdown").gone(" 1 of 13").press("pgup").see(" 1 of 13")
		r.press("end").see("13 of 13").press("home").see(" 1 of 13")
		r.press("o").see("order: most items").press("o").see("order: most bytes").press("o").see("order: by name").press("o").see("order: as the stores have it").press("<").see("order: by name").press(">").see("order: as the stores have it")
		r.press("a").see("are shown", "hidden: the agent", "with hidden").press("a").see("are left out").gone("with hidden")
		r.press("tab").see("[3 Recall]").press("shift+tab").see("[2 Tiers]").press("shift+tab").see("[1 Health").press("tab").see("[2 Tiers]")
		r.press("ctrl+c")
		raw, err := r.left()
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, raw)
	})
}

// The detail below a list must scroll without leaving the list.
func TestWalkBesideTheLists(t *testing.T) {
	t.Parallel()
	r := conflictsRobot(t, "desk,acts,conflicts", 80, 24)
	r.press("j", "j").see("3 of 5", "+ status: done").scrolls("+ Everybody is late.").see("3 of 5")
	r.press("1").see("1 of 4").gone("checking").press("right").see("Health › vault").press("esc").press("j").see("~/.crewship").scrolls("R33").see("crewship ")
	r.press("2").unfolded().scrolls("enter lists the items.").see(" 1 of 13")
	r.press("4").see("1 of 3", "print the key").press("enter").see("Quarantine › ", "print the key").press("esc").see("1 of 3")
	r.press("7").see("[7 Audit]", "1 of at least", "record 244: forget").scrolls("hash").press("enter").see("Audit › ", "hash").press("esc").see("1 of at least")
	r.press(":", "tier pins", "enter").see("1 of 1", "pinned: the deploy").scrolls(" 41 ")
	// A hit is short: only a small screen scrolls it.
	r.press("3", "/", "deploy").see("1 of 40+ hits").press("enter").gone("to the hits")
	r.resize(60, 15).see("rank 1 in crewship").gone("You are Bo. You keep the deploy calendar.")
	r.scrolls("keep the deploy calendar.").press("q")
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
}

func TestWalkTheItems(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := daily(t, "desk", w, h)
		r.press("o").see("order: id").press("-").see("-: this store has this order one way only").press(">").see("order: oldest", "AGE↓")
		r.press("-").see("order: newest", "AGE↑").press("<").see("order: oldest").press("-").see("order: newest")
		r.press("a").see("are shown").press("a").see("are left out")
		r.press("m").see("markdown is rendered", "• deploy of billing").press("m").see("as it is stored", "- deploy of billing")
		r.press("enter").see("reference ", "# Wednesday").press("n").see("# Thursday").press("p").see("# Wednesday")
		r.press("m").see("markdown is rendered", "• deploy of billing").press("m").see("as it is stored", "- deploy of billing").press("q")
		raw, err := r.left()
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, raw)
	})
}

func TestWalkTheHits(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r, p := noted(t, "desk,acts", w, h)
		r.press("3", "/", "deploy").see("1 of 40+ hits").press("down").see("2 of 40+ hits").press("up").see("1 of 40+ hits").press("esc").gone("to the hits")
		r.press("y").see("copied crewship:crews/eng/agents/bo/AGENT.md").press("Y").see("copied the row as JSON")
		file := filepath.Join(p.dir, "hits.jsonl")
		r.asked("x", "Export the table?").press("esc").see("cancelled")
		r.asked("x", "Export the table?").press("tab", "ctrl+u", file, "tab", "enter").see("wrote 41 rows to")
		// The quarantined hit is a row, but agents do not get it.
		if b, err := os.ReadFile(file); err != nil || strings.Count(string(b), "\n") != 41 {
			t.Errorf("%d lines, %v", strings.Count(string(b), "\n"), err)
		}
		r.press("e").see("the text is as it was: nothing was changed").see("1 of 40+ hits")
		p.will(`echo more >> "$1"`)
		r.press("e").see("Save crews/eng/agents/bo/AGENT.md?", "+ more", "enter cancel").press("esc").see("not saved; your text is kept for 30 days", "1 of 40+ hits")
	})
}

// The arrows must move between a question's buttons, the page keys through its text.
func TestWalkAQuestion(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r, p := noted(t, "desk,acts,staging", w, h)
		p.will(`for i in $(seq 1 90); do echo "line $i."; done >> "$1"`)
		r.press("e").see("Save crews", "[Cancel]", "enter cancel").gone("+line 90.")
		r.press("left").see("[Throw away]").press("right").see("[Cancel]").press(times(12, "pgdown")...).see("+ line 90.").press(times(12, "pgup")...).gone("+ line 90.")
		// Its text is searched like any other, and the answer must keep its place.
		r.press("/", "line 77").see("/line 77", "1/1", "+ line 77.").press("enter").see("end search", "[Cancel]").press("n").see("1/1").press("N").see("1/1").press("esc").gone("1/1").see("enter cancel")
		r.press("left", "left").see("[Edit again]").press("right").see("[Throw away]").press("enter").see("your text was thrown away")
	})
}

func TestWalkTheCommands(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r, _ := noted(t, "desk,acts,journal", w, h)
		line := func(s string) *robot { return r.press(":", s, "enter") }
		line("go graph:node-7").see("node-7", "Service 7 was deployed")
		line("recall deploy").see("[3 Recall]", "of 40+ hits")
		line("audit phase:intent").see("[7 Audit]", "/phase:intent", "243 ")
		line("quarantine curl").see("[4 Quarantine]", "/curl", "1 of 1")
		line("erasure").see("no erasure desk is attached")
		line("health").see("[1 Health", "1 of 4").gone("checking")
		line("tiers").see("[2 Tiers]", "node-7")
		line("export").see("Export", "[Cancel]", "enter cancel").press("esc").see("cancelled")
		line("notices").see("Notices").press("esc").gone("Notices")
		line("help markdown").see("/markdown", "or the text as it is stored").press("/").press("stored").see("1/1").press("enter").see("end search").press("esc").gone("1/1").press("esc").gone("Help:")
		r.press(":", "up").see(":help markdown").press("up").see(":notices").press("down").see(":help markdown").press("esc").gone(":help markdown")
		line("theme pink").see(`there is no theme "pink"; there are auto, dark, light, high-contr`)
		for _, theme := range paint.Themes() {
			line("theme " + theme).see("theme: " + theme + ", for this session")
		}
		line("readonly").see("this session is read-only now", "READ-ONLY")
		r.press("d").see("you made this session read-only").press("2") // which closes the page with the long reason
		line("readonly off").see("Make this session writable again?", "[Cancel]", "enter cancel").press("enter").see("cancelled", "READ-ONLY")
		line("readonly off").see("Make this session writable again?", "enter cancel").press("left").see("[Make writable]").press("enter").see("this session is writable").gone("READ-ONLY: by")
		line("lock").see("memdesk is locked").press("q", "U").see("[2 Tiers]", "node-7")
		line("q")
		raw, err := r.left()
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, raw)
	})
}

// A copy is kept under another name, and a text of both sides is written in the editor; each Cancel
// must leave the conflict.
func TestWalkTheConflicts(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		p := newPen(t)
		r := startRobot(t, start{scenario: "desk,acts,conflicts", width: w, height: h, env: []string{p.env(), "HOME=" + p.dir}})
		r.see("[2 Tiers]", "48,210").press("5").see("[5 Conflicts]", "1 of 5", "garden.md")
		for key, question := range map[string]string{"b": "Keep garden.md and remove its copy?", "c": "Keep the copy of garden.md?", "B": "Keep both, and rename garden.Conflict.md?", "m": "Difference 1 of 1 in garden.md", "D": "Remove 1 redundant copy?"} {
			r.asked(key, question).press("esc").see("cancelled: nothing was changed", "1 of 5")
		}
		r.press("e").see("Resolve garden.md with this text?", "marks of the merge", "enter cancel").press("esc").see("not saved; your text is kept for 30 days", "1 of 5")
		p.will(`cp "$1" ` + p.dir + `/seen; printf 'roses\ntulips\n' > "$1"`)
		r.press("e").see("Resolve garden.md with this text?", "The copy goes; both texts are kept.", "+ tulips", "enter cancel").press("left", "left", "left").see("[Resolve]").press("enter").see("garden.Conflict.md has come back", "returned")
		if seen, _ := os.ReadFile(filepath.Join(p.dir, "seen")); !strings.Contains(string(seen), "<<<<<<< base\nroses\n=======\ntulips\n>>>>>>> copy") {
			t.Errorf("the editor got %q", seen)
		}
	})
}

func TestWalkKeepsBoth(t *testing.T) {
	t.Parallel()
	r := conflictsRobot(t, "desk,acts,conflicts", 100, 30)
	r.asked("B", "Keep both, and rename garden.Conflict.md?").press("left").see("[Keep both]").press("enter").see("garden.Conflict.md has come back", "returned")
}

// The markers inside an item are gone through one by one, with the names that they have.
func TestWalkMergesMarkers(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r := conflictsRobot(t, "desk,acts,conflicts", w, h)
		r.press("end", "k").see("4 of 5", "markers", "m chooses a side at each of its markers")
		r.press("m").see("Difference 1 of 1 in half.md", "HEAD", "- a", "+ b", "First", "Second", "enter cancel").golden(fmt.Sprintf("conflict-markers-%dx%d", w, h))
		r.press("c").see("Write the result to half.md?", "- <<<<<<< HEAD", "z puts it back", "enter cancel").press("esc").see("cancelled", "4 of 5")
		r.press("m").see("Difference 1 of 1 in half.md", "enter cancel").press("esc").see("cancelled", "4 of 5")
		r.press("m").see("enter cancel").press("B").see("Write the result", "enter cancel").press("left").see("[Write]").press("enter").see("merged", "of 4")
	})
}

// The markers inside an item are resolved in the editor.
func TestWalkTheMarkers(t *testing.T) {
	t.Parallel()
	p := newPen(t)
	p.will(`cp "$1" ` + p.dir + `/seen; printf 'a and b\n' > "$1"`)
	r := startRobot(t, start{scenario: "desk,acts,conflicts", width: 100, height: 30, env: []string{p.env(), "HOME=" + p.dir}})
	r.see("[2 Tiers]", "48,210").press("5").see("1 of 5").press("end", "k").see("4 of 5", "markers")
	r.press("e").see("Resolve half.md with this text?", "- <<<<<<< HEAD", "+ a and b", "enter cancel").press("esc").see("kept for 30 days", "4 of 5")
	r.press("e").see("Resolve half.md", "enter cancel").press("left", "left", "left").see("[Resolve]").press("enter").see("resolved", "of 4")
	if seen, _ := os.ReadFile(filepath.Join(p.dir, "seen")); string(seen) != "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n" {
		t.Errorf("the editor got %q", seen)
	}
	line := func(s string) *robot { return r.press(":", s, "enter") }
	line("readonly").see("this session is read-only now")
	for _, k := range []string{"b", "c", "B", "m", "e", "D"} {
		r.press(k).see(k + ": this console is read-only").press("s").gone(k + ": this console")
	}
}

// Long work can also be stopped from its own page.
func TestWalkTheWork(t *testing.T) {
	eachSize(t, func(t *testing.T, w, h int) {
		r, _, gate := gated(t, w, h)
		r.press("C").see("stopping")
		remove(t, gate)
		r.see("stopped at 1 of 2 items: 1 forgotten").press("esc").see("[2 Tiers]", "of 5")
	})
}

// A run is paused while a store keeps it waiting, and must then continue to its end.
func TestWalkTheErasure(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	id := o.planned("--subject", "usr_maren", "--alias", "Maren Holt")
	r := o.console(80, 24).see("▌in 31 days", "planned")
	r.scrolls("filed by").press("right").see("Erasure › ", "deadline").press("esc").see("1 of 1")
	r.press("enter").see("The plan of").press("A").see("the plan needs no approval: E carries it out").gone("A approve")
	r.press("p").see("Plan ready: 7 of 7 stores", "The plan of").press("j").see("▸ harbor", "12 % of items").press("enter").see("▾ harbor", "▸ out of reach").press("enter").gone("▾ harbor").press("/", "graph forget", "enter").see("/graph forget", "forget: the item goes")
	r.asked("c", "Shall it be redacted instead?").press("enter").see("cancelled").asked("H", "Keep ").press("enter").see("cancelled")
	r.press("esc").see("1 of 8").press("esc").gone("The plan of").see("· planned")
	for key, question := range map[string]string{"E": "for good?", "x": "Export everything", "T": "The deadline of"} {
		r.asked(key, question).press("enter").see("cancelled")
	}
	r.press("v").see("Layers of", "looked at now", "77 layers: 49 something left, ").press("esc").see("· planned")
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(o.dir, "graph.db")+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.press("E").begin(id, "Erase").see("The run is under way").press("P").see("it pauses at its next step")
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	r.see("The run is paused. P lets it go on.").press("P").see("No layer that can be reached holds the person")
}

// A merge that is left, at a difference or before its result is written, must change nothing and start anew.
func TestWalkOutOfAMerge(t *testing.T) {
	t.Parallel()
	r := conflictsRobot(t, "desk,acts,conflicts", 100, 30)
	r.press("j", "j").see("3 of 5", "▲ syncthing, +")
	next := func(of string) *robot { return r.see(of, "enter cancel").press("tab").see("[Base]").press("enter") }
	r.press("m")
	next("Difference 1 of 3").see("Difference 2 of 3", "enter cancel").press("enter").see("cancelled: nothing was changed", "3 of 5")
	r.press("m")
	next("Difference 1 of 3")
	next("Difference 2 of 3")
	next("Difference 3 of 3").see("Write the result to plan.md?", "[Cancel]", "enter cancel").press("enter").see("cancelled: nothing was changed", "3 of 5", "differs")
}

func TestWalkOutOfAnAppend(t *testing.T) {
	t.Parallel()
	r, p := noted(t, "desk,acts", 100, 30)
	p.will(`echo more >> "$1"`)
	r.press("A").see("Append to crews", "[Cancel]", "enter cancel").press("enter").see("not saved; your text is kept for 30 days", "1 of 2")
	if text := p.kept(); !strings.Contains(text, "more") {
		t.Errorf("kept %q", text)
	}
}
