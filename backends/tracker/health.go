package tracker

import (
	"context"
	"path/filepath"

	"memdesk/backends/internal/vitals"
	"memdesk/model"
)

// Health pings the backend under a deadline of its own.
func (a *adapter) Health(ctx context.Context) model.HealthStatus {
	return a.vitals.Check(ctx, vitals.Local, a.Clock.Now, func(ctx context.Context) []model.HealthFinding {
		if down := vitals.Down(model.FindingUnreachable, vitals.Words(a.Backend.Ping(ctx), a.Location)); down != nil || a.ReadOnly || !filepath.IsAbs(a.Location) {
			return down
		}
		return vitals.Disk(a.Location)
	}, nil)
}
