package operator

import (
	"context"

	"memdesk/audit"
	"memdesk/internal/statedir"
	"memdesk/model"
)

// MigrateState brings the state directory to the format of this version. The audit log in it,
// which has a format of its own, gets the record.
func (s *Session) MigrateState(ctx context.Context) (from, to int, err error) {
	if err := s.Allow(ctx, MigrateState, "", ""); err != nil {
		return 0, 0, err
	}
	if s.State == "" {
		return 0, 0, statedir.ErrNoHome
	}
	older, err := statedir.Older(s.State)
	if err != nil { // nothing is written into newer state, no record either
		return 0, 0, model.Refuse(string(MigrateState), err.Error())
	}
	if !older {
		return statedir.Migrate(s.State)
	}
	err = s.Log.Act(ctx, audit.Entry{Action: string(MigrateState)}, func(context.Context) (map[string]int64, error) {
		from, to, err = statedir.Migrate(s.State)
		return map[string]int64{"from": int64(from), "to": int64(to)}, err
	})
	return from, to, err
}
