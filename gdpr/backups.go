package gdpr

import (
	"fmt"
	"time"
)

// backups says until when backups of a store may still hold the person. memdesk makes
// none and reaches none: how long they are kept is known only where it is configured
// (erasure-physical.md: out of scope, with an expiry date if known).
func (d *Desk) backups(sp StorePlan) string {
	const restored = "after a restore from one of them, `memdesk gdpr sweep` erases again"
	if sp.Kind == "inmem" {
		return "none: it is kept in memory only"
	}
	kept, known := d.Policy.BackupsOf[sp.Store]
	if !known {
		kept = d.Policy.BackupsKept
	}
	what := "backups and copies made before this erasure"
	switch sp.Kind {
	case "postgres":
		what = "dumps, base backups, archived WAL and replicas from before this erasure"
	case "gateway", "remote":
		what = "backups that whoever runs the service made before this erasure"
	}
	if kept <= 0 {
		return what + " may hold the person; how long they are kept is not known to memdesk: ask whoever makes them ([gdpr] backups_kept); " + restored
	}
	now := d.Clock.Now().UTC()
	return fmt.Sprintf("%s may hold the person until %s (they are kept for %s); %s", what, now.Add(kept).Format(dateForm), days(int((kept+24*time.Hour-1)/(24*time.Hour))), restored)
}
