package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind is the class of a failure. A Kind is itself an error, so callers test
// with errors.Is(err, model.NotFound).
type Kind string

// The kinds, shared by every family (provider-contract.md B4 with Conflict and
// Unsupported).
const (
	NotFound         Kind = "not found"
	AlreadyExists    Kind = "already exists"
	InvalidInput     Kind = "invalid input"
	Locked           Kind = "locked"
	Timeout          Kind = "timeout"
	Unavailable      Kind = "unavailable"
	PermissionDenied Kind = "permission denied"
	Internal         Kind = "internal"
	Conflict         Kind = "conflict"
	RateLimited      Kind = "rate limited"
	Unsupported      Kind = "unsupported"
)

// Kinds lists all kinds.
var Kinds = []Kind{NotFound, AlreadyExists, InvalidInput, Locked, Timeout, Unavailable, PermissionDenied, Internal, Conflict, RateLimited, Unsupported}

// KindOfCode is the kind of a code in either letter case, Internal for an unknown one.
func KindOfCode(code string) Kind {
	for _, k := range Kinds {
		if strings.EqualFold(k.Code(), code) {
			return k
		}
	}
	return Internal
}

// Error names the kind.
func (k Kind) Error() string { return string(k) }

// Code is the kind in the form for programs: NOT_FOUND (B4).
func (k Kind) Code() string {
	return strings.ToUpper(strings.ReplaceAll(string(k), " ", "_"))
}

// Retryable is the default for a kind (B5): true for the four that pass by themselves.
func (k Kind) Retryable() bool {
	switch k {
	case Locked, Timeout, Unavailable, RateLimited:
		return true
	}
	return false
}

// Error is the one error type that crosses the Provider contract.
type Error struct {
	Op        string // the verb that failed, lower case: "retain", "open"
	Kind      Kind
	Retryable bool
	// After is how long the store asks callers to wait, with RateLimited; negative: not stated.
	After time.Duration
	Err   error // the cause in words; never a secret, a raw body or an absolute path
}

// Error reads "op: cause", or "op: kind" without a cause.
func (e *Error) Error() string {
	msg := string(e.Kind)
	if e.Err != nil {
		msg = e.Err.Error()
	}
	if e.Op == "" {
		return msg
	}
	return e.Op + ": " + msg
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is matches a Kind.
func (e *Error) Is(target error) bool {
	k, ok := target.(Kind)
	return ok && e.Kind == k
}

// E wraps err once with the operation and its kind. With a nil err the kind is the message.
func E(kind Kind, op string, err error) error {
	return &Error{Op: op, Kind: kind, Retryable: kind.Retryable(), Err: err}
}

// Errorf is E with a formatted cause; %w works.
func Errorf(kind Kind, op, format string, args ...any) error {
	return E(kind, op, fmt.Errorf(format, args...))
}

// KindOf is the kind of err: Timeout for an expired context, Internal for an error without a kind, empty for
// nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	var k Kind
	if errors.As(err, &k) {
		return k
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return Timeout
	}
	return Internal
}

// Reason is the text of err without its operation, where the reader knows that.
func Reason(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}

// IsRetryable reports whether err passes by itself: as its store says, else as its kind does. nil does not.
func IsRetryable(err error) bool {
	var e *Error
	if errors.As(err, &e) {
		return e.Retryable
	}
	return KindOf(err).Retryable()
}

// Unchanged reports whether err proves that nothing was changed. After any other error of a change it is
// unknown whether the change was made.
func Unchanged(err error) bool {
	var un *Untouched
	switch {
	case IsPartial(err):
		return false
	case errors.As(err, &un):
		return true
	}
	switch KindOf(err) {
	case NotFound, AlreadyExists, InvalidInput, Locked, PermissionDenied, Conflict, RateLimited, Unsupported:
		return true
	}
	return false
}

// FromContext turns a context's end into a Timeout error; nil while the context is alive.
func FromContext(ctx context.Context, op string) error {
	if ctx.Err() == nil {
		return nil
	}
	return Ended(op, ctx.Err())
}

// Ended words the end of a context, whose error is given.
func Ended(op string, err error) error {
	if errors.Is(err, context.Canceled) {
		return E(Timeout, op, errors.New("cancelled"))
	}
	return E(Timeout, op, errors.New("no answer within the store's timeout"))
}

// Interrupted is an act that its caller ended before it began: nothing has been changed, and no rule refused it.
func Interrupted(op string) error {
	return E(Timeout, op, &Untouched{errors.New("interrupted; nothing was done")})
}

// Refusal means that a policy refused an act, as opposed to a store that could not do it: read-only, a role,
// a hold, a suppression, an audit log that cannot be written. Nothing has been changed.
type Refusal struct {
	Reason string
}

// Error returns the reason.
func (r *Refusal) Error() string { return "refused: " + r.Reason }

// Refuse is a PermissionDenied error that carries a Refusal.
func Refuse(op, reason string) error {
	return E(PermissionDenied, op, &Refusal{Reason: reason})
}

// NoCascade is the error of a store that cannot forget a subject in one call, in the contract's words
// (provider-contract.md R32); more names what can.
func NoCascade(more string) error {
	return Errorf(Unsupported, "forget", "cascade not implemented here, use the GDPR endpoint%s", more)
}

// IsRefusal reports whether a policy caused err.
func IsRefusal(err error) bool {
	var r *Refusal
	return errors.As(err, &r)
}

// Untouched is a failure before anything was sent or done: a refused connection, a missing program. Nothing
// has been changed, whatever its kind says.
type Untouched struct {
	Err error
}

// Error returns the cause.
func (u *Untouched) Error() string { return u.Err.Error() }

// Unwrap returns the cause.
func (u *Untouched) Unwrap() error { return u.Err }

// Partial is a change of which a part was made and must not be made again: a message that was added and not
// flushed.
type Partial struct {
	Retained RetainResult // the part that was made
	Err      error        // the part that was not, in words
}

// Error returns the cause.
func (p *Partial) Error() string { return p.Err.Error() }

// Unwrap returns the cause.
func (p *Partial) Unwrap() error { return p.Err }

// IsPartial reports whether a part of the change was made.
func IsPartial(err error) bool {
	var p *Partial
	return errors.As(err, &p)
}

// ErrDirectory is wrapped by the error that refuses a directory in place of a file.
var ErrDirectory = errors.New("it is a directory")

// ErrLink is wrapped by the error that refuses a symbolic link.
var ErrLink = errors.New("it " + LinkProblem)

// LinkProblem ends a list's problem (Page.Problems) about a symbolic link.
const LinkProblem = "is a symbolic link, which is not followed"

// LinkReason is the reason of a layer that is a symbolic link.
const LinkReason = "a symbolic link, which is not followed: what it leads to in this store is looked at under its own name; where it leads elsewhere, look there"

// Wrap gives err the caller's operation, in place of an inner one, and keeps its kind; nil stays nil.
func Wrap(op string, err error) error {
	var e *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e) && e.Op == op:
		return err
	case error(e) == err && e.Err != nil: //nolint:errorlint // what wraps it has words of its own
		return &Error{Op: op, Kind: e.Kind, Retryable: e.Retryable, Err: e.Err}
	case e != nil:
		return &Error{Op: op, Kind: e.Kind, Retryable: e.Retryable, Err: err}
	}
	return E(KindOf(err), op, err)
}
