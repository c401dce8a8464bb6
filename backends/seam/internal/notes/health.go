package notes

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
	var deep vitals.Probe
	if s.cfg.Layout != nil {
		deep = s.cfg.Layout.Deep
	}
	return s.health.Check(ctx, vitals.Local, s.clock.Now, s.observe, deep)
}

// observe is empty for a healthy store, else the problem and the remedy.
func (s *store) observe(ctx context.Context) []model.HealthFinding {
	if message := s.reach(); message != "" {
		return vitals.Down(model.FindingUnreachable, message)
	}
	var found []model.HealthFinding
	s.mu.Lock()
	snap := s.snap
	s.mu.Unlock()
	if problems := snap.problems(); len(problems) > 0 {
		found = vitals.Degraded(model.FindingUnread, "", fmt.Sprintf("%d places are not looked at, first: %s", len(problems), problems[0]))
	}
	found = append(found, s.resident.Walked()...)
	if s.reason == "" {
		found = append(found, vitals.Disk(s.cfg.Path)...)
	}
	if s.cfg.Status == nil {
		return found
	}
	ctx, cancel := context.WithTimeout(ctx, vitals.Local*3/4)
	defer cancel()
	return append(found, s.cfg.Status(ctx)...)
}

// reach is empty when the directories exist and can be read.
func (s *store) reach() string {
	root, err := rootdir.Open(s.cfg.Path, nil)
	if err == nil {
		defer root.Close()
		err = root.Readable(".")
	}
	switch {
	case errors.Is(err, model.NotFound) && s.virgin():
		return ""
	case errors.Is(err, rootdir.ErrNotDirectory):
		return "the store's directory is no directory any more; restore it"
	case errors.Is(err, model.NotFound):
		return "the store's directory is gone; mount it or correct its path"
	case errors.Is(err, model.PermissionDenied):
		return "the store's directory may not be read by this user; run as the store's own user"
	case err != nil:
		return "the store's directory cannot be read: " + err.Error()
	}
	if s.cfg.Memory != "" {
		if m, err := root.Stat(s.cfg.Memory); err != nil || m.Kind != rootdir.Directory {
			return "the memory root is gone from the vault; restore it or correct memory_root"
		}
	}
	return ""
}
