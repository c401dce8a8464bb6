package origin

import (
	"cmp"
	"time"

	"memdesk/model"
)

// The places where an origin is kept.
const (
	InLedger = "ledger"
	InStore  = "store"
	InGit    = "git"
)

// Written is a write, and where it is recorded.
type Written struct {
	Row
	Kept string
}

// Known is who wrote an item's text: from the ledger, where memdesk wrote it, else from the store's own word; nil when
// unknown. A store's word is untrusted like any other claim.
func Known(l *Ledger, s model.Store, it model.Item) *Written {
	if l != nil {
		if r, ok := l.Current(s.Name, it.ID, it.Revision); ok {
			return &Written{r, InLedger}
		}
	}
	if s.Origin == nil {
		return nil
	}
	o, ok := s.Origin(it)
	if !ok {
		return nil
	}
	return &Written{FromStore(s.Name, it, o), InStore}
}

// FromStore is a store's own word on an item, as a row.
func FromStore(store string, it model.Item, o model.Origin) Row {
	w := Writer{Actor: cmp.Or(Clip(o.Actor), Unknown), Session: Clip(o.Session), Channel: Unknown, Detail: Clip(o.Detail), Trust: Untrusted}
	switch o.Channel {
	case User, Tool, Web, Agent:
		w.Channel = o.Channel
	}
	at := o.At
	if at.IsZero() {
		at = it.Modified
	}
	return Row{Store: store, ID: it.ID, Revision: it.Revision, Writer: w, At: at.UTC().Truncate(time.Second)}
}
