package curated

import (
	"context"

	"memdesk/backends/internal/vitals"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// Health checks whether the files can be read. It writes no probe (R39).
func (s *store) Health(ctx context.Context) model.HealthStatus {
	return s.health.Check(ctx, vitals.Local, s.clock.Now, func(ctx context.Context) []model.HealthFinding {
		files, why := s.observe()
		if down := vitals.Down(model.FindingUnreachable, why); down != nil || s.reason != "" {
			return down
		}
		found := vitals.Disk(s.path)
		for _, f := range files {
			if f.drift != "" {
				found = append(found, model.HealthFinding{Kind: "drift", Ref: f.name, Message: f.remedy(s.cfg.Name), State: model.HealthDegraded})
			}
		}
		return found
	}, nil)
}

// observe reads the files, and gives the problem and the remedy where the store is not healthy.
func (s *store) observe() (files []file, why string) {
	if err := rootdir.Reach("memories directory", s.path, "."); err != nil {
		return nil, err.Error()
	}
	d, err := s.root()
	if err != nil {
		return nil, err.Error()
	}
	defer d.Close()
	for _, name := range fileNames {
		f := s.load(d, name)
		if f.bad != nil {
			return nil, name + " cannot be read: " + f.bad.Error()
		}
		files = append(files, f)
	}
	return files, ""
}
