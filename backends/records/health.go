package records

import (
	"context"
	"fmt"

	"memdesk/backends/internal/vitals"
	"memdesk/model"
)

// Health reads one row of each table; the kind's own checks run in the background.
func (a *store) Health(ctx context.Context) model.HealthStatus {
	limit := vitals.Local
	if a.Remote {
		limit = vitals.Remote
	}
	return a.vitals.Check(ctx, limit, a.Clock.Now, a.look, a.deepProbe())
}

func (a *store) look(ctx context.Context) []model.HealthFinding {
	err := a.DB.View(ctx, "health", func(tx Tx) error {
		for i := range a.Tables {
			t := &a.Tables[i]
			var n int64
			if _, err := One(tx, `SELECT count(*) FROM (SELECT 1 FROM `+t.From+t.where(true)+` LIMIT 1) x`, nil, &n); err != nil {
				return err
			}
		}
		return nil
	})
	if down := vitals.Down(model.FindingUnreachable, vitals.Words(err, a.Location)); down != nil {
		return down
	}
	return append(a.DB.Look(a.Clock.Now()), a.lossFindings(ctx)...)
}

func (a *store) deepProbe() vitals.Probe {
	return func(ctx context.Context) []model.HealthFinding {
		found := a.DB.Deep(ctx)
		if a.Observe == nil {
			return found
		}
		var more []model.HealthFinding
		err := a.DB.View(ctx, "health", func(tx Tx) (err error) {
			more, err = a.Observe(tx)
			return err
		})
		if err != nil {
			more = vitals.Degraded(model.FindingUnread, "", vitals.Words(err, a.Location))
		}
		return append(found, more...)
	}
}

func (a *store) close() error {
	a.vitals.Close()
	return a.DB.Close()
}

// Finding is a finding that leaves the store serving.
func Finding(kind, ref, message string) model.HealthFinding {
	return model.HealthFinding{Kind: kind, Ref: ref, Message: message, State: model.HealthDegraded}
}

// Check is a count that must be 0; Message has a place for it.
type Check struct{ Kind, Message, Count string }

// Checks returns findings for the counts that are not 0.
func Checks(tx Tx, checks ...Check) (out []model.HealthFinding, err error) {
	for _, c := range checks {
		var n int64
		if _, err := One(tx, c.Count, nil, &n); err != nil {
			return nil, err
		}
		out = append(out, Counted(c.Kind, c.Message, n)...)
	}
	return out, nil
}

// Counted returns a finding with its number; none for 0.
func Counted(kind, message string, n int64) []model.HealthFinding {
	if n == 0 {
		return nil
	}
	return []model.HealthFinding{Finding(kind, "", fmt.Sprintf(message, n))}
}
