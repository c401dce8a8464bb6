package records_test

import (
	"context"
	"runtime"
	"testing"

	"memdesk/backends/records"
	"memdesk/model"
)

// TestMemoryAfterACancelledEdit: the database lives in one connection, which an ended context must not take
// along.
func TestMemoryAfterACancelledEdit(t *testing.T) {
	m, err := records.NewMemory("items", []string{"id TEXT"})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	put := func(ctx context.Context, between func()) error {
		return m.Fill(ctx, func(put func(...any) error) error {
			if err := put("a"); err != nil {
				return err
			}
			between()
			return put("b")
		})
	}
	if err := put(t.Context(), func() {}); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		err := put(ctx, func() {
			cancel()
			for range 1000 {
				runtime.Gosched()
			}
		})
		if model.KindOf(err) != model.Timeout {
			t.Fatalf("a cancelled edit: %v", err)
		}
		n := int64(0)
		if _, err := records.One(m.Tx(t.Context()), `SELECT count(*) FROM items`, nil, &n); err != nil || n != 2 {
			t.Fatalf("%d rows after a cancelled edit, %v", n, err)
		}
	}
}
