package cli

import (
	"cmp"

	"memdesk/operator"
)

// eventRow is an event that a store's own system has noted.
type eventRow struct{ operator.StoreEvent }

func (eventRow) kind() string { return "store_event" }

func (e eventRow) cells() []any {
	return []any{"-", when(e.At), "(the store)", e.Name, "-", "-", e.Store, cmp.Or(e.Words(), "-"), ""}
}

func (e eventRow) fields() row {
	return row{"source": "store", "store": e.Store, "ts": stamp(e.At), "action": e.Name, "payload": fieldMap(e.Payload)}
}
