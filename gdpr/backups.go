package gdpr

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"memdesk/audit"
	"memdesk/gdpr/receipt"
)

// ActExport is the audit log's word for a whole store that memdesk wrote into a directory.
const ActExport = "export"

// Backup describes copies of a store that memdesk does not reach.
type Backup struct {
	Store        string // empty: every store without an entry of its own
	Where        string
	ExpiresAfter time.Duration // 0: not known
	RestoreGuard string
}

// backups says until when backups of a store may still hold the subject. memdesk makes none and reaches none,
// so only the configuration says how long they are kept (erasure-physical.md: out of scope, with an expiry
// date if known).
func (d *Desk) backups(store, kind string) []receipt.Backup {
	const restored = "after a restore from one of them, `memdesk gdpr sweep` erases again"
	if kind == "inmem" {
		return []receipt.Backup{{Store: store, Reason: "none: it is kept in memory only"}}
	}
	what := "backups and copies made before this erasure"
	switch kind {
	case "postgres":
		what = "dumps, base backups, archived WAL and replicas from before this erasure"
	case "gateway", "remote":
		what = "backups that whoever runs the service made before this erasure"
	}
	var out []receipt.Backup
	for _, b := range d.configured(store) {
		row := receipt.Backup{Store: store, Where: b.Where, Guard: b.RestoreGuard}
		if row.Reason = what + " may hold the person; how long they are kept is not known to memdesk: ask whoever makes them ([[backup]] expires_after); " + restored; b.ExpiresAfter > 0 {
			row.Until = d.Clock.Now().UTC().Add(b.ExpiresAfter).Format(dateForm)
			row.Reason = fmt.Sprintf("%s may hold the person until %s (they are kept for %s); %s", what, row.Until, days(int((b.ExpiresAfter+24*time.Hour-1)/(24*time.Hour))), restored)
		}
		out = append(out, row)
	}
	return out
}

// Backups says, for each store of a plan, until when backups may hold the subject after the erasure.
func (d *Desk) Backups(p Plan) []receipt.Backup {
	var out []receipt.Backup
	for _, s := range p.Stores {
		out = append(out, d.backups(s.Store, s.Kind)...)
	}
	return out
}

// configured returns the configured backups of a store: its own, else those of every store, else one of unknown
// expiry.
func (d *Desk) configured(store string) []Backup {
	for _, name := range []string{store, ""} {
		if own := slices.DeleteFunc(slices.Clone(d.Policy.Backups), func(b Backup) bool { return b.Store != name }); len(own) > 0 {
			return own
		}
	}
	return []Backup{{Store: store}}
}

// storeExports says of which of the stores memdesk itself made whole copies, newest first, by the audit log: no
// erasure reaches them. Of the others it says since when the log could name one, where older records are retired.
func (d *Desk) storeExports(ctx context.Context, stores []string) (out []receipt.Backup, err error) {
	open := map[string]bool{}
	for _, name := range stores {
		open[name] = true
	}
	_, _, err = d.onRecord(ctx, audit.Filter{Action: ActExport, Phase: audit.PhaseOutcome}, func(r audit.Row) bool {
		if open[r.Store] && r.Result != audit.Refused {
			delete(open, r.Store)
			out = append(out, receipt.Backup{Store: r.Store, Reason: fmt.Sprintf("memdesk exported the whole store, last on %s (record %d): delete the exports from before this erasure; `memdesk audit list --action %s` lists them", r.TS.Format(dateForm), r.Seq, ActExport)})
		}
		return len(open) == 0
	})
	if err != nil || len(open) == 0 {
		return out, err
	}
	oldest, err := d.Log.List(ctx, audit.Filter{OldestFirst: true}, 1, "")
	if err != nil || len(oldest.Rows) == 0 || oldest.Rows[0].Seq == 1 {
		return out, err
	}
	for _, name := range stores {
		if open[name] {
			out = append(out, receipt.Backup{Store: name, Reason: fmt.Sprintf("whether memdesk exported the whole store before %s is not known: the log keeps no older record", oldest.Rows[0].TS.Format(dateForm))})
		}
	}
	return out, nil
}

// exportsNote is storeExports for a plan.
func (d *Desk) exportsNote(ctx context.Context, p Plan) string {
	var names, notes []string
	for _, s := range p.Stores {
		names = append(names, s.Store)
	}
	rows, err := d.storeExports(ctx, names)
	if err != nil {
		return "whether memdesk exported one of the stores is not known: " + err.Error()
	}
	for _, b := range rows {
		notes = append(notes, b.String())
	}
	return strings.Join(notes, "; ")
}

// copies are the backups of all stores, and memdesk's own exports of them.
func (d *Desk) copies(ctx context.Context, stores []receipt.Store) (out []receipt.Backup, err error) {
	var names []string
	for _, s := range stores {
		names = append(names, s.Store)
		out = append(out, d.backups(s.Store, s.Kind)...)
	}
	own, err := d.storeExports(ctx, names)
	return append(out, own...), err
}
