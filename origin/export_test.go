package origin

import "memdesk/model"

// Within sets the size in bytes at which a trace starts a new file.
func (t *Trace) Within(most int64) { t.file.Most = most }

// Wrote is wrote.
func (l *Ledger) Wrote(store, id string, revision model.Revision) (Row, bool, error) {
	return l.wrote(store, id, revision)
}
