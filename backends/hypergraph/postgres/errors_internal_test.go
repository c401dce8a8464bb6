package postgres

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"memdesk/model"
)

// TestAnErrorWithoutACode: a pooler may send one.
func TestAnErrorWithoutACode(t *testing.T) {
	for _, code := range []string{"", "5"} {
		if err := worded("open", &pgconn.PgError{Code: code, Message: "go away"}); !errors.Is(err, model.Internal) {
			t.Errorf("%q: %v", code, err)
		}
	}
}

// TestAFullServerChangesNothing: the error must prove it, for undo then keeps no entry.
func TestAFullServerChangesNothing(t *testing.T) {
	for code, want := range map[string]bool{"53100": true, "53200": true, "53300": true, "57P01": false} {
		if err := worded("retain", &pgconn.PgError{Code: code}); !errors.Is(err, model.Unavailable) || model.Unchanged(err) != want {
			t.Errorf("%s: %v, unchanged %v", code, err, !want)
		}
	}
}
