package curated

import (
	"context"
	"errors"

	"memdesk/backends/internal/vitals"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// Health checks whether the files can be read. It writes no probe (R39).
func (s *store) Health(ctx context.Context) model.HealthStatus {
	return s.health.Check(ctx, vitals.Local, s.clock.Now, func(ctx context.Context) []model.HealthFinding {
		if down := vitals.Down(model.FindingUnreachable, s.observe()); down != nil || s.reason != "" {
			return down
		}
		found := vitals.Disk(s.path)
		files, _ := s.both(ctx, "health") // observe has just read them
		for _, f := range files {
			if f.drift != "" {
				found = append(found, model.HealthFinding{Kind: "drift", Ref: f.name, Message: f.remedy(s.cfg.Name), State: model.HealthDegraded})
			}
		}
		return found
	}, nil)
}

// observe is empty for a healthy store, else the problem and the remedy.
func (s *store) observe() string {
	d, err := rootdir.Open(s.path, nil)
	switch {
	case errors.Is(err, model.NotFound):
		return "the memories directory is gone; mount it or correct its path"
	case err != nil:
		return "the memories directory cannot be read: " + err.Error()
	}
	defer d.Close()
	if err := d.Readable("."); err != nil {
		return "the memories directory cannot be read: " + err.Error()
	}
	for _, name := range fileNames {
		if f := s.load(d, name); f.bad != nil {
			return name + " cannot be read: " + f.bad.Error()
		}
	}
	return ""
}
