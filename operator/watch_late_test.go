package operator

import (
	"context"
	"slices"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/model"
)

// unwell answers Health as its test says.
type unwell struct {
	model.Provider
	status *model.HealthStatus
}

func (u unwell) Health(context.Context) model.HealthStatus { return *u.status }

// TestAWatchAsksALateStoreAgain: a store on this machine that is late once is no news, one that stays late is down.
func TestAWatchAsksALateStoreAgain(t *testing.T) {
	well := model.NewHealth(time.Now())
	late := model.NewHealth(time.Now(), model.HealthFinding{Kind: model.FindingTimeout, State: model.HealthUnknown})
	down := model.NewHealth(time.Now(), model.HealthFinding{Kind: model.FindingUnreachable})
	for location, want := range map[string][]string{
		"/srv/notes":            {"store_down", "store_up", "store_down", "store_up"},
		"https://notes.example": {"store_down", "store_up", "store_down", "store_up", "store_down", "store_up"},
	} {
		s := newSession(t, func(*Options) {})
		status := well
		s.Fleet = backends.NewFleet([]backends.Member{{Name: "a", Location: location, Store: model.Store{Name: "a", Provider: unwell{status: &status}}}}, nil)
		var told []string
		tell := func(e Event) error { told = append(told, e.Name); return nil }
		w := &watch{Watching: Watching{Tell: tell}, s: s, survey: s.Survey(t.Context()), down: map[string]bool{}, late: backends.Late{}}
		for _, status = range []model.HealthStatus{well, late, well, late, late, late, well, down, well} {
			if err := w.health(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(told, want) {
			t.Errorf("%s: %q, want %q", location, told, want)
		}
	}
}
