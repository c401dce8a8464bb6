package tui_test

import (
	"strings"
	"testing"

	"memdesk/backends"
)

// Views of the configuration open like those of the session, and the lines of :save give the same view again.
func TestViewsThatLast(t *testing.T) {
	o, fakes := lightDesk()
	o.Acts, o.Audit = &actsFake{fakes: fakes}, nil
	o.Views = map[string]backends.ViewConfig{
		"stores": {Pane: "health", Filter: "!graph", Order: "-STORE", Wide: true},
		"tree":   {Pane: "tiers", Filter: "crew", Order: "by name"},
		"daily":  {Pane: "tiers", Store: "crewship", Tier: "daily", Filter: "thursday", Order: "oldest", Hidden: true},
		"shut":   {Pane: "tiers", Store: "elsewhere", Wide: true},
		"odd":    {Pane: "tiers", Store: "crewship", Order: "largest"},
		"log":    {Pane: "audit"},
		"deploy": {Pane: "recall", Filter: `deploy "until then"`},
	}
	d := newDriver(o, 120, 40)
	d.settle("2.8 KB")
	d.line("view stores").await("Health › /!graph").wants(t, "STORE↓")
	for name, want := range o.Views {
		if name == "shut" || name == "odd" || name == "log" {
			continue
		}
		d.line("view " + name).line("save " + name).await("Kept as " + name)
		lines, err := want.Lines(name)
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := backends.ParseConfig(backends.Builtin(), "c.toml", lines)
		if err != nil || cfg.UI.Views[name] != want {
			t.Errorf("%s: %v, %+v", lines, err, cfg.UI.Views)
		}
		d.wants(t, strings.Split(strings.TrimSpace(lines), "\n")...)
		d.keys("esc")
	}
	d.line("view daily").await("with hidden › /thursday")                               // what is short of room leaves the filter
	d.keys("1").line("view shut").await(`elsewhere`).wants(t, "Health › ", "┬ store ─") // neither place nor width changes
	d.line("view odd").await(`crewship has no order "largest"`)
	d.line("view log").await("no audit log is attached")
	d.keys(":").typed("view d").await("│ daily   tiers crewship daily, /thursday, by oldest, with hidden").wants(t, `│ deploy  recall, /deploy "until then"`)
}
