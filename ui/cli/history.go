package cli

import (
	"context"

	"github.com/spf13/cobra"

	"memdesk/model"
	"memdesk/operator"
)

func noHistory(s model.Store) error {
	return model.Errorf(model.Unsupported, "history", "store %s keeps no earlier versions; `memdesk undo list` shows what memdesk itself displaced", s.Name)
}

func (a *app) historyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "history REF", Short: "Earlier versions that the store itself keeps",
		Long: "Lists the versions of an item that its store recorded, newest first, or says why there are none:\n" +
			"not recorded is not the same as never changed. `memdesk show REF --version V` shows one.",
		RunE: a.onItem(func(ctx context.Context, _ *operator.Session, s model.Store, ref model.Ref) error {
			if s.History == nil {
				return noHistory(s)
			}
			h, err := s.History.Revisions(ctx, ref.ID)
			if err != nil {
				return err
			}
			tab := a.table("VERSION", "AT", "BY", "BYTES", "READABLE", "HASH")
			for _, v := range h.Versions {
				tab.put(versionRow{Store: s.Name, ID: encodedID(ref.ID), Version: v.ID, At: instant(v.At), By: v.By,
					Bytes: v.Bytes, SHA256: v.Hash, Readable: v.Readable})
			}
			tab.flush()
			if a.flags.json {
				a.emit("history", row{"store": s.Name, "id": model.EncodeID(ref.ID), "state": h.State, "reason": h.Reason, "versions": len(h.Versions)})
			} else if h.Reason != "" || len(h.Versions) == 0 {
				a.sayf("%s: %s", string(h.State), orDash(h.Reason))
			}
			return nil
		}),
	}
}
