package tui_test

import (
	"strings"
	"testing"

	"memdesk/backends"
	"memdesk/ui/tui"
)

func TestCheckKeys(t *testing.T) {
	for _, c := range []struct{ key, word, want string }{
		{"X", "forget", ""},
		{"ctrl+o", ":store notes", ""},
		{"9", "refresh", ""},
		{"f2", ":theme light", ""},
		{"z", "forget", `"forget" and "undo the last act of this session`},
		{"j", "edit", `"edit" and "one line down"`},
		{"5", ":undo", `":undo" and "the Conflicts pane; from an item`},
		{"c", ":jobs", `":jobs" and "create an item here`},
		{"e", "forget", `"forget" and "edit this item`},
		{"X", "frget", `no act is called "frget"`},
		{"X", "", `no act is called ""`},
		{"X", ":frget now", "no command :frget"},
		{"f2", ":view refused", ""},
		{"f2", ":view refusde", `[ui.views] has no view "refusde"`},
		{"ctrl+i", "forget", "is no key"},
		{"alt+x", "forget", "is no key"},
		{"xy", "forget", "is no key"},
		{"\x1b", "forget", "is no key"},
		{"X", "yes", `no act is called "yes"`}, // questions take no custom keys
	} {
		wrong, err := tui.CheckKeys(map[string]string{c.key: c.word}, map[string]backends.ViewConfig{"refused": {Pane: "audit"}})
		if (err == nil) != (c.want == "") || err != nil && (wrong != c.key || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s = %s: %q, %v, want %q", c.key, c.word, wrong, err, c.want)
		}
	}
}

// Two custom keys must not conflict with each other either.
func TestCheckKeysOfOneAct(t *testing.T) {
	if _, err := tui.CheckKeys(map[string]string{"X": "forget", "ctrl+x": "forget", "D": ":jobs"}, nil); err == nil || !strings.Contains(err.Error(), "every redundant copy") {
		t.Errorf("D is a key of conflicts: %v", err)
	}
	if _, err := tui.CheckKeys(map[string]string{"X": "forget", "ctrl+x": "forget"}, nil); err != nil {
		t.Errorf("two keys for one act: %v", err)
	}
}

// The operator's own keys must run their acts and appear in footer and help.
func TestOwnKeys(t *testing.T) {
	o, fakes := lightDesk()
	o.Acts, o.Keys = &actsFake{fakes: fakes}, map[string]string{"X": "forget", "9": ":store graph"}
	d := newDriver(o, 120, 40)
	d.settle("2.8 KB")
	d.keys("9").await("graph › all tiers")
	d.keys("/").typed("9X").wants(t, "9X") // an input takes them as letters
	d.keys("esc", "esc")
	d.line("store crewship").await("crewship › all tiers").await("X forget").line("help store graph").await("run :store graph")
	d.keys("esc", "X").await("Forget ")
	d.keys("9").wants(t, "Forget ") // a question does not take them
}
