package postgres

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"memdesk/model"
)

// TestAFullServerChangesNothing: the error must prove it, for undo then keeps no entry.
func TestAFullServerChangesNothing(t *testing.T) {
	for code, want := range map[string]bool{"53100": true, "53200": true, "53300": true, "57P01": false} {
		if err := worded("retain", &pgconn.PgError{Code: code}); !errors.Is(err, model.Unavailable) || model.Unchanged(err) != want {
			t.Errorf("%s: %v, unchanged %v", code, err, !want)
		}
	}
}
