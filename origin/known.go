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

// Known is the writer of an item's text: from the ledger, where memdesk wrote it, else from the store's own
// word. kept says which; false: unknown. A store's word is untrusted like any other claim.
func Known(l *Ledger, s model.Store, it model.Item) (r Row, kept string, ok bool) {
	if l != nil {
		if r, ok := l.Current(s.Name, it.ID, it.Revision); ok {
			return r, InLedger, true
		}
	}
	if s.Origin == nil {
		return Row{}, "", false
	}
	o, ok := s.Origin(it)
	if !ok {
		return Row{}, "", false
	}
	return FromStore(s.Name, it, o), InStore, true
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
