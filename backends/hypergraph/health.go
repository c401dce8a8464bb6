package hypergraph

import (
	"context"

	"memdesk/backends/internal/vitals"
	"memdesk/model"
)

// Health pings the backend and looks at its medium under its own deadline. Deep probes run in the background.
func (a *adapter) Health(ctx context.Context) model.HealthStatus {
	limit := vitals.Local
	if a.Remote {
		limit = vitals.Remote
	}
	return a.vitals.Check(ctx, limit, a.Clock.Now, a.look, a.deepProbe())
}

func (a *adapter) look(ctx context.Context) []model.HealthFinding {
	if down := vitals.Down(model.FindingUnreachable, vitals.Words(a.Backend.Ping(ctx), a.Location)); down != nil {
		return down
	}
	if a.Look == nil {
		return nil
	}
	return a.Look(ctx)
}

// deepProbe checks the backend in the background, and the embedder with one meaningless query. nil when
// there is neither.
func (a *adapter) deepProbe() vitals.Probe {
	if a.Deep == nil && a.Embedder == nil {
		return nil
	}
	return func(ctx context.Context) []model.HealthFinding {
		var found []model.HealthFinding
		if a.Deep != nil {
			found = a.Deep(ctx)
		}
		if a.Embedder != nil {
			if _, err := a.Embedder.Embed(ctx, "ping"); err != nil {
				found = append(found, vitals.Degraded(model.FindingEmbedder, "",
					"the embedder does not answer ("+string(model.KindOf(err))+"): recall searches by words only; look at embed_url or embed_command")...)
			}
		}
		return found
	}
}
