package notes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
	if err := s.reach(); err != nil {
		return vitals.Down(model.FindingUnreachable, err.Error())
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

// reach is the error of a directory that cannot be read.
func (s *store) reach() error {
	err := rootdir.Reach("store's directory", s.cfg.Path, ".")
	if errors.Is(err, model.NotFound) && s.virgin() {
		return nil
	}
	if err == nil && s.cfg.Memory != "" {
		if fi, err := os.Lstat(filepath.Join(s.cfg.Path, s.cfg.Memory)); err != nil || !fi.IsDir() {
			return errors.New("the memory root is gone from the vault; restore it or correct memory_root")
		}
	}
	return err
}
