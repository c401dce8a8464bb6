package crewship

import (
	"context"
	"errors"
	"fmt"

	"memdesk/backends/internal/vitals"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// Health checks whether the directories exist and can be read. It writes no probe (R39).
func (s *store) Health(ctx context.Context) model.HealthStatus {
	return s.health.Check(ctx, vitals.Local, s.clock.Now, func(context.Context) []model.HealthFinding { return s.observe() }, nil)
}

// observe is empty for a healthy store, else the problem and the remedy.
func (s *store) observe() []model.HealthFinding {
	roots := []struct{ what, path, sub string }{{"memory directory", s.at.base, "."}}
	if !s.at.single {
		roots[0].what = "base path"
		if s.at.memory != "" {
			roots = append(roots, struct{ what, path, sub string }{"memory root", s.at.memory, "."})
		}
		roots = append(roots, struct{ what, path, sub string }{"crews directory", s.at.base, "crews"})
	}
	for _, r := range roots {
		if err := rootdir.Reach(r.what, r.path, r.sub); err != nil && (r.sub == "." || !errors.Is(err, model.NotFound)) {
			return vitals.Down(model.FindingUnreachable, err.Error())
		}
	}
	var found []model.HealthFinding
	if s.reason == "" {
		found = vitals.Disk(s.at.base)
	}
	s.mu.Lock()
	snap := s.snap
	s.mu.Unlock()
	if snap != nil && len(snap.problems) > 0 {
		found = append(found, vitals.Degraded(model.FindingUnread, "", fmt.Sprintf("%d places are not looked at, first: %s", len(snap.problems), snap.problems[0]))...)
	}
	if snap != nil && snap.names.problem != "" && s.at.db != "" && !s.at.single {
		found = append(found, vitals.Degraded(model.FindingUnread, "", "names and history come from crewship.db, and "+snap.names.problem)...)
	}
	return append(found, s.resident.Walked()...)
}
