package health

import (
	"strings"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/internal/safetext"
	"memdesk/model"
)

func TestChecksInWords(t *testing.T) {
	var c checks
	at := time.Date(2026, 5, 21, 9, 0, 0, 0, time.UTC)
	for _, ms := range []int{1, 2, 9} {
		c.add(backends.HealthReport{Latency: time.Duration(ms) * time.Millisecond, Status: model.HealthStatus{OK: true, CheckedAt: at}})
	}
	c.add(backends.HealthReport{Latency: time.Second, Status: model.HealthStatus{Message: "gone"}})
	if got := c.words(safetext.Escaper{ASCII: true}).String(); got != "_.@x 4 checks: median 2 ms, slowest 9 ms, 1 without an answer" {
		t.Errorf("%q", got)
	}
	if !c.lastOK.Equal(at) {
		t.Errorf("last success %v", c.lastOK)
	}
	gone, later := at.Add(time.Minute), at.Add(2*time.Minute)
	c = checks{}
	c.add(backends.HealthReport{Latency: 3 * time.Millisecond, Status: model.HealthStatus{OK: true, CheckedAt: at}})
	if got := c.counted(safetext.Escaper{}).String(); got != "1 check: 3 ms" {
		t.Errorf("%q", got)
	}
	c = checks{}
	c.add(backends.HealthReport{Status: model.HealthStatus{Message: "gone", CheckedAt: gone}})
	c.add(backends.HealthReport{Status: model.HealthStatus{Message: "still gone", CheckedAt: later}})
	if !c.down.Equal(gone) || !c.failed.Equal(later) || c.wrong != "still gone" {
		t.Errorf("down since %v, last error at %v: %s", c.down, c.failed, c.wrong)
	}
	c.add(backends.HealthReport{Status: model.HealthStatus{OK: true, CheckedAt: later}})
	if !c.down.IsZero() || c.wrong != "still gone" {
		t.Errorf("answering again it is down since %v, and the last error is %q", c.down, c.wrong)
	}
	for range 2 * keptChecks {
		c.add(backends.HealthReport{Latency: time.Second})
	}
	if got := c.words(safetext.Escaper{ASCII: true}).String(); len(c.took) != keptChecks || !strings.Contains(got, "none answered") {
		t.Errorf("%d: %q", len(c.took), got)
	}
}

func TestFillAgainstCaps(t *testing.T) {
	s := model.Store{Tiers: []model.TierSpec{{Name: "pins", Cap: 1000, CapUnit: model.CapBytes}, {Name: "daily", Cap: 500, CapUnit: model.CapChars}, {Name: "free"}}}
	var all []string
	for _, l := range fillLines(safetext.Escaper{}, s, []model.TierCount{{Tier: "pins", Scope: "crews/eng/ada", Items: 1, Bytes: 900}, {Tier: "pins", Items: 1, Bytes: 10}, {Tier: "daily", Items: 3, Bytes: 90}, {Tier: "free", Items: 2}}) {
		all = append(all, l.Value.String())
	}
	got := strings.Join(all, "\n")
	for _, want := range []string{"90 %, 900 B of 1.0 KB (near-cap): ada  crews/eng/", "1 tier within the cap.", "1 tier with a cap for each item"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "free") {
		t.Error("a tier without a cap is listed")
	}
}
