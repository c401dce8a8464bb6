package tracker

import (
	"context"

	"memdesk/backends/internal/vitals"
	"memdesk/model"
)

// Health pings the backend under a deadline of its own.
func (a *adapter) Health(ctx context.Context) model.HealthStatus {
	return a.vitals.Check(ctx, vitals.Local, a.Clock.Now, func(ctx context.Context) []model.HealthFinding {
		return vitals.Down(model.FindingUnreachable, vitals.Words(a.Backend.Ping(ctx), a.Location))
	}, nil)
}
