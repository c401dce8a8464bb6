package records_test

import (
	"context"
	"errors"
	"testing"

	"memdesk/backends/records"
	"memdesk/model"
)

// TestMirrorWaitsNoLongerThanItsCaller: who waits behind a slow listing gives up at the own deadline.
func TestMirrorWaitsNoLongerThanItsCaller(t *testing.T) {
	m, err := records.NewMirror([]string{"id"}, func(context.Context, string, func(...any) error) error { return nil }, func() {})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	err = m.View(t.Context(), "list", func(records.Tx) error {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		return m.View(ended, "list", func(records.Tx) error { return nil })
	})
	if err == nil || errors.Is(err, model.Internal) {
		t.Error(err)
	}
}
