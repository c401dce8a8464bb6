package tracker

import (
	"context"
	"fmt"
	"path/filepath"

	"memdesk/backends/internal/vitals"
	"memdesk/model"
)

// Health pings the backend under a deadline of its own.
func (a *adapter) Health(ctx context.Context) model.HealthStatus {
	return a.vitals.Check(ctx, vitals.Local, a.Clock.Now, func(ctx context.Context) []model.HealthFinding {
		if down := vitals.Down(model.FindingUnreachable, vitals.Words(a.Backend.Ping(ctx), a.Location)); down != nil {
			return down
		}
		found := a.unread()
		if a.ReadOnly || !filepath.IsAbs(a.Location) {
			return found
		}
		return append(found, vitals.Disk(a.Location)...)
	}, nil)
}

func (a *adapter) unread() []model.HealthFinding {
	s, ok := a.Backend.(Skipper)
	if !ok {
		return nil
	}
	parts := s.Unread()
	if len(parts) == 0 {
		return nil
	}
	return vitals.Degraded(model.FindingUnread, "", fmt.Sprintf("parts of the store that are not read: %d; the first: %s", len(parts), parts[0]))
}
