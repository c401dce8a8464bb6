package cli

import (
	"errors"
	"slices"

	"memdesk/internal/safetext"
	"memdesk/model"
)

// complain prints the error that ended the program, once, on standard error.
func (a *app) complain(err error) {
	if err.Error() == "" {
		return // every store's own error has been printed
	}
	// Arguments that cannot be parsed leave the flags behind them unset.
	if a.flags.json || slices.Contains(a.Args, "--json") {
		where := model.Ref{}
		if len(a.only) == 1 {
			where.Store = a.only[0]
		}
		a.failure(where, err)
		return
	}
	a.errorf("memdesk: %v", err)
}

// failed prints the error of one store, or of one item, on standard error.
func (a *app) failed(where model.Ref, err error) {
	switch {
	case err.Error() == "":
	case a.flags.json:
		a.failure(where, err)
	case where.ID == "":
		a.errorf("%s: %v", where.Store, err)
	default:
		a.errorf("%s: %v", where.String(), err)
	}
}

// failure prints an error as one JSON object on standard error.
func (a *app) failure(where model.Ref, err error) {
	kind, retryable := model.KindOf(err), false
	var e *model.Error
	var ex *exitError
	switch {
	case errors.As(err, &e):
		retryable = e.Retryable
	case errors.As(err, &ex) && ex.code == exitUsage:
		kind = model.InvalidInput
	default:
		retryable = kind.Retryable()
	}
	r := row{"kind": kind.Code(), "retryable": retryable, "message": err.Error(), "store": nilIfEmpty(where.Store)}
	if where.ID != "" {
		r["id"] = model.EncodeID(where.ID)
	}
	r["type"], r["v"] = "error", 1
	_ = safetext.NewJSONWriter(a.errRaw).Write(r) // nobody is left to tell
}
