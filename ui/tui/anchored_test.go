package tui_test

import (
	"context"
	"strings"
	"testing"

	"memdesk/model"
)

// TestHealthTellsOfTheLog: how far the audit log is anchored must be shown in words below the stores,
// and its alarm on the tab.
func TestHealthTellsOfTheLog(t *testing.T) {
	for words, c := range map[string]struct {
		state model.HealthState
		shown []string
	}{
		"anchored 3 min ago by 2 of 2":                                       {model.HealthOK, []string{" ● audit log: anchored 3 min ago by 2 of 2", "[1 Health !1]"}}, // one store is down
		"not anchored: whoever owns it can rewrite it; see [[audit.anchor]]": {model.HealthDegraded, []string{"▲ audit log: not anchored: whoever owns it can rewrite it"}},
		"ALARM: witness a\x1b[2Jb: it knows a longer log":                    {model.HealthDown, []string{"✖ audit log: ALARM: witness a^[[2Jb: it knows", "[1 Health !2]"}},
	} {
		for _, size := range [][2]int{{200, 50}, {80, 24}, {60, 15}} {
			o, _ := lightDesk()
			o.Anchored = func(context.Context) (string, model.HealthState) { return words, c.state }
			d := newDriver(o, size[0], size[1]).keys("1").await("audit log: ").wants(t, c.shown...)
			if n := strings.Count(d.screen(), "\n") + 1; n != size[1] {
				t.Errorf("%v: %d lines on the screen", size, n)
			}
		}
	}
	o, _ := lightDesk()
	if d := newDriver(o, 80, 24).keys("1"); strings.Contains(d.screen(), "audit log") {
		t.Errorf("without a log:\n%s", d.screen())
	}
}
