package cli

import (
	"errors"
	"slices"
	"unicode/utf8"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/gdpr/receipt"
	"memdesk/model"
	"memdesk/operator"
)

// complain prints the error that ended the program, once, on standard error.
func (a *app) complain(err error) {
	if err.Error() == "" {
		return // every store's own error has been printed
	}
	if a.asksJSON() {
		where := model.Ref{}
		if len(a.only) == 1 {
			where.Store = a.only[0]
		}
		a.failure(where, err)
		return
	}
	var faults backends.Faults
	if errors.As(err, &faults) {
		for _, f := range faults {
			a.errorf("memdesk: config: %s", brief(errors.New(f)))
		}
		return
	}
	a.errorf("memdesk: %s", brief(err))
}

// mostError is how long a printed error may be. A longer one echoes an argument that nobody reads.
const mostError = 4 << 10

// brief is an error's message, without the middle of a long one: its end says what is wrong.
func brief(err error) string {
	s := err.Error()
	if len(s) <= mostError {
		return s
	}
	begin, end := mostError/2, len(s)-mostError/4
	for begin > 0 && !utf8.RuneStart(s[begin]) {
		begin--
	}
	for end < len(s) && !utf8.RuneStart(s[end]) {
		end++
	}
	return s[:begin] + "… (" + plural(int64(len(s)), "byte") + ") …" + s[end:]
}

// asksJSON reports whether objects are asked for. Arguments that cannot be parsed leave the flags behind them
// unset.
func (a *app) asksJSON() bool {
	if a.flags.json || a.flags.output == "json" {
		return true
	}
	for i, s := range a.Args {
		switch s {
		case "--json", "--json=true", "-ojson", "-o=json", "--output=json":
			return true
		case "-o", "--output":
			if i+1 < len(a.Args) && a.Args[i+1] == "json" {
				return true
			}
		}
	}
	return false
}

// failed prints the error of one store, of one item, or of the desk itself, on standard error.
func (a *app) failed(where model.Ref, err error) {
	switch {
	case err.Error() == "":
	case a.flags.json:
		a.failure(where, err)
	case where.Store == "":
		a.errorf("memdesk: %s", brief(err))
	case where.ID == "":
		a.errorf("%s: %s", where.Store, brief(err))
	default:
		a.errorf("%s", brief(errors.New(where.String()+": "+err.Error())))
	}
}

type errorRow struct {
	Kind      string  `json:"kind"`
	Retryable bool    `json:"retryable"`
	Message   string  `json:"message"`
	Store     *string `json:"store"`
	ID        string  `json:"id,omitempty"`
}

// failure prints an error as one JSON object on standard error.
func (a *app) failure(where model.Ref, err error) {
	kind, retryable := kindOf(err)
	line, err := object("error", errorRow{kind.Code(), retryable, brief(err), nilIfEmpty(where.Store), model.EncodeID(where.ID)})
	if err == nil && a.round.isNew("", string(line)) {
		_, _ = a.errw.Write(append(line, '\n')) // nobody is left to tell
	}
}

// kindOf is the kind of an error, and whether to retry.
func kindOf(err error) (kind model.Kind, retryable bool) {
	var e *model.Error
	var ex *exitError
	if !errors.As(err, &e) && errors.As(err, &ex) {
		switch ex.code {
		case exitUsage:
			return model.InvalidInput, false
		case exitRefused:
			return model.PermissionDenied, false
		case exitNotFound:
			return model.NotFound, false
		}
	}
	return model.KindOf(err), model.IsRetryable(err)
}

// Exit codes, fixed for scripts.
const (
	exitDone     = 0
	exitFailed   = 1
	exitUsage    = 2
	exitPartial  = 3
	exitNotFound = 4
	exitConflict = 5
	exitRefused  = 6
	exitTampered = 7
)

// exitCodes says what the codes mean, in the manual and in docs/scripting.md.
var exitCodes = []string{
	exitDone: "done", exitFailed: "failed; all stores failed", exitUsage: "usage or configuration", exitPartial: "partial, pending or unaudited; what succeeded was printed",
	exitNotFound: "not found", exitConflict: "conflict: the revision changed", exitRefused: "refused: read-only, role, hold, suppression, audit log not writable",
	exitTampered: "verification found residue or tampering",
}

// exitError ends the program with a code; a nil err has been explained already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage is an error in how a command was called.
func usage(format string, args ...any) error {
	return &exitError{exitUsage, model.Errorf(model.InvalidInput, "", format, args...)}
}

// partialIf ends the program with the code for a partial result.
func partialIf(partial bool) error {
	if partial {
		return &exitError{code: exitPartial}
	}
	return nil
}

// exitCode maps an error to a code.
func exitCode(err error) int {
	var ex *exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &ex):
		return ex.code
	case model.IsPartial(err):
		return exitPartial
	case model.IsRefusal(err):
		return exitRefused
	case errors.Is(err, audit.ErrTampered), errors.Is(err, receipt.ErrTampered):
		return exitTampered
	case errors.Is(err, model.NotFound):
		return exitNotFound
	case errors.Is(err, model.Conflict), errors.Is(err, model.AlreadyExists):
		return exitConflict
	case errors.Is(err, model.InvalidInput):
		return exitUsage
	}
	return exitFailed
}

// tally counts the results of one command in several stores and derives an exit code: done, partial or
// failed. A store without the requested tier or order has not failed, as long as another store has it.
type tally struct {
	app                         *app
	good, bad, refused, lacking int
	asked                       bool // not every store can answer the request
	// plain: the request names nothing that a store may lack.
	plain bool
}

func (t *tally) add(err error) {
	if t.asked && errors.Is(err, model.InvalidInput) {
		t.lacking++
		return
	}
	if err != nil {
		t.bad++
	}
	if model.IsRefusal(err) {
		t.refused++
	}
	var ex *exitError // of a partial result, which was printed
	if err == nil || errors.As(err, &ex) && ex.code == exitPartial {
		t.good++
	}
}

// note counts a result and prints a failure.
func (t *tally) note(where model.Ref, err error) {
	t.add(err)
	if err != nil {
		t.app.failed(where, err)
	}
}

// each runs do for every store, counts and prints the failures. One that did not open lacks nothing: it failed.
func (t *tally) each(members []backends.Member, do func(model.Store) error) {
	asked := t.asked
	for _, m := range members {
		err := m.Err
		if t.asked = asked && err == nil; err == nil {
			err = do(m.Store)
		}
		t.note(model.Ref{Store: m.Name}, err)
	}
	t.asked = asked
}

// having lists the stores that can do something, those that did not open, and all where --store names some.
func (a *app) having(s *operator.Session, can func(model.Store) bool) []backends.Member {
	return slices.DeleteFunc(slices.Clone(s.Fleet.Members()), func(m backends.Member) bool {
		return m.Err == nil && !can(m.Store) && len(a.flags.stores) == 0
	})
}

// result is nil when nothing failed. The failures themselves have been printed.
func (t tally) result() error {
	if t.plain && t.good > 0 {
		t.bad += t.lacking
	}
	switch {
	case t.bad == 0 && t.good == 0 && t.lacking > 0:
		return &exitError{code: exitUsage}
	case t.bad == 0:
		return nil
	case t.refused == t.bad && t.good == 0: // the same rule refused them all
		return &exitError{code: exitRefused}
	case t.good == 0:
		return &exitError{code: exitFailed}
	}
	return &exitError{code: exitPartial}
}
