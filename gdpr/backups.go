package gdpr

import (
	"fmt"
	"time"

	"memdesk/gdpr/receipt"
)

// backups says until when backups of a store may still hold the person. memdesk makes
// none and reaches none: how long they are kept is known only where it is configured
// (erasure-physical.md: out of scope, with an expiry date if known).
func (d *Desk) backups(store, kind string) receipt.Backup {
	const restored = "after a restore from one of them, `memdesk gdpr sweep` erases again"
	out := receipt.Backup{Store: store}
	if kind == "inmem" {
		out.Reason = "none: it is kept in memory only"
		return out
	}
	kept, known := d.Policy.BackupsOf[store]
	if !known {
		kept = d.Policy.BackupsKept
	}
	what := "backups and copies made before this erasure"
	switch kind {
	case "postgres":
		what = "dumps, base backups, archived WAL and replicas from before this erasure"
	case "gateway", "remote":
		what = "backups that whoever runs the service made before this erasure"
	}
	if kept <= 0 {
		out.Reason = what + " may hold the person; how long they are kept is not known to memdesk: ask whoever makes them ([gdpr] backups_kept); " + restored
		return out
	}
	out.Until = d.Clock.Now().UTC().Add(kept).Format(dateForm)
	out.Reason = fmt.Sprintf("%s may hold the person until %s (they are kept for %s); %s", what, out.Until, days(int((kept+24*time.Hour-1)/(24*time.Hour))), restored)
	return out
}

// backupsOf are those of all stores.
func (d *Desk) backupsOf(stores []receipt.Store) []receipt.Backup {
	var out []receipt.Backup
	for _, s := range stores {
		out = append(out, d.backups(s.Store, s.Kind))
	}
	return out
}
