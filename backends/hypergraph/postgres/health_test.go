package postgres_test

import (
	"testing"

	"memdesk/internal/testpg"
	"memdesk/model"
)

// TestHealthIsOfWhatTheStoreIsFor: a server that answers and cannot serve is not in order.
func TestHealthIsOfWhatTheStoreIsFor(t *testing.T) {
	for name, tt := range map[string]struct {
		harm  string
		kind  string
		state model.HealthState
	}{
		"in order":     {`SELECT 1`, "", model.HealthOK},
		"no index":     {`DROP INDEX memdesk.nodes_by_words`, model.FindingIndex, model.HealthDegraded},
		"other schema": {`DELETE FROM memdesk.schema_migrations WHERE version > 1`, model.FindingSchema, model.HealthDown},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := testpg.DSN(t)
			s := adapt(create(t, dsn))
			testpg.Exec(t, dsn, tt.harm)
			got := s.Provider.Health(t.Context())
			if got.State != tt.state || tt.kind == "" != (len(got.Findings) == 0) || tt.kind != "" && got.Findings[0].Kind != tt.kind {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestAnIndexThatIsGoneIsMadeAnew by the two migrations that the finding names.
func TestAnIndexThatIsGoneIsMadeAnew(t *testing.T) {
	dsn := testpg.DSN(t)
	db := create(t, dsn)
	testpg.Exec(t, dsn, `DROP INDEX memdesk.nodes_by_words`)
	for _, to := range []int{1, 3} {
		if _, err := db.Migrate(t.Context(), to); err != nil {
			t.Fatal(err)
		}
	}
	if got := adapt(db).Provider.Health(t.Context()); got.State != model.HealthOK {
		t.Errorf("%+v", got)
	}
}

// TestALockThatIsHeld by a transaction that does not end is a finding, once it has lasted.
func TestALockThatIsHeld(t *testing.T) {
	dsn := testpg.DSN(t)
	s := create(t, dsn)
	began, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		testpg.Exec(t, dsn, `BEGIN; LOCK TABLE memdesk.nodes IN SHARE ROW EXCLUSIVE MODE; SELECT pg_notify('held', ''); SELECT pg_sleep(3); COMMIT`)
	}()
	go func() {
		defer close(began)
		for len(s.LookFor(t.Context(), 0)) == 0 && t.Context().Err() == nil {
			select {
			case <-ended:
				return
			default:
			}
		}
	}()
	<-began
	select {
	case <-ended:
		t.Error("a lock that was held all the time was not seen")
	default:
	}
	if f := s.Look(t.Context()); len(f) != 0 {
		t.Errorf("a lock of a moment: %+v", f)
	}
	<-ended
}
