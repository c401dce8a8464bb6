package desk_test

import (
	"testing"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/ui/tui/desk/desktest"
)

// TestEnvironmentsNameTheirStores: several stores of one environment are one line, and production has a name to type.
func TestEnvironmentsNameTheirStores(t *testing.T) {
	var all []backends.Member
	for name, environment := range map[string]string{"harbor": "demo", "notes": "demo", "work": "Production", "bare": ""} {
		all = append(all, backends.Member{Name: name, Store: model.Store{Name: name, Environment: environment}})
	}
	d := desktest.New(all...)
	for want, stores := range map[string][]string{
		"": {"bare"},
		"The environment: demo. The store: harbor.":         {"harbor"},
		"The environment: demo. The stores: harbor, notes.": {"notes", "bare", "harbor"},
		"The environment: PRODUCTION. The store: work.work": {"bare", "work"},
	} {
		got := ""
		for _, line := range d.Environments(stores...) {
			got += line.Value.String()
		}
		if got += d.TypedStore(stores...).String(); got != want {
			t.Errorf("%v: %q, want %q", stores, got, want)
		}
	}
}
