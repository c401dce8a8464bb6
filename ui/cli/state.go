package cli

import (
	"context"

	"github.com/spf13/cobra"

	"memdesk/operator"
)

func (a *app) stateCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "migrate", Short: "Bring the state directory to the format of this version",
		Long: "Brings state that an older version wrote to this version's format, and records it in the audit log. Older\n" +
			"state is read and not written before. State of a newer version is refused: use that version. Stop servers\n" +
			"and consoles first, and keep a copy of the directory that `memdesk info` names: there is no way back.",
		RunE: a.onBase(func(ctx context.Context, s *operator.Session, args []string) error {
			if err := s.Allow(ctx, operator.MigrateState, "", ""); err != nil {
				return err
			}
			if err := a.confirm(ctx, "Migrate the state directory? There is no way back."); err != nil {
				return err
			}
			from, to, err := s.MigrateState(ctx)
			if err != nil {
				return err
			}
			words := a.text.Sprintf("the state directory has format %d; it had %d", to, from)
			if from == to {
				words = a.text.Sprintf("the state directory has format %d: nothing to migrate", to)
			}
			a.result("state", row{"state": s.State, "from": from, "to": to}, "%s", words)
			return nil
		}),
	}
	return group("state", "The directory of audit log, requests, undo and keys", a.asks(c))
}
