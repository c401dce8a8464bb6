package tracker

import (
	"strings"

	"memdesk/backends/internal/snippet"
	"memdesk/model"
)

// Result is the published envelope: ok with data, or an error with all three of
// its fields (B3).
type Result[T any] struct {
	OK      bool     `json:"ok"`
	Data    T        `json:"data,omitempty"`
	Error   *Failure `json:"error,omitempty"`
	Ignored []string `json:"-"` // of Query: the terms that matched everything
}

// Failure is why a method did not succeed.
type Failure struct {
	Code      Code   `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

// Code is a published error code.
type Code string

// The codes (B4).
const (
	NotFound         Code = "NOT_FOUND"
	AlreadyExists    Code = "ALREADY_EXISTS"
	InvalidInput     Code = "INVALID_INPUT"
	Locked           Code = "LOCKED"
	Timeout          Code = "TIMEOUT"
	Unavailable      Code = "UNAVAILABLE"
	PermissionDenied Code = "PERMISSION_DENIED"
	Internal         Code = "INTERNAL"
	Conflict         Code = "CONFLICT"
	RateLimited      Code = "RATE_LIMITED"
	Unsupported      Code = "UNSUPPORTED"
)

// codes pairs them with memdesk's own kinds, one to one.
var codes = []struct {
	code Code
	kind model.Kind
}{
	{NotFound, model.NotFound}, {AlreadyExists, model.AlreadyExists}, {InvalidInput, model.InvalidInput}, {Locked, model.Locked},
	{Timeout, model.Timeout}, {Unavailable, model.Unavailable}, {PermissionDenied, model.PermissionDenied}, {Internal, model.Internal},
	{Conflict, model.Conflict}, {RateLimited, model.RateLimited}, {Unsupported, model.Unsupported},
}

// Codes lists them.
func Codes() []Code {
	out := make([]Code, 0, len(codes))
	for _, c := range codes {
		out = append(out, c.code)
	}
	return out
}

// CodeOf is the code of a kind.
func CodeOf(k model.Kind) Code {
	for _, c := range codes {
		if c.kind == k {
			return c.code
		}
	}
	return Internal
}

// Kind is the kind of a code.
func (c Code) Kind() model.Kind {
	for _, x := range codes {
		if x.code == c {
			return x.kind
		}
	}
	return model.Internal
}

// Retryable is the default of a code (B5).
func (c Code) Retryable() bool { return c.Kind().Retryable() }

func succeed[T any](data T) Result[T] { return Result[T]{OK: true, Data: data} }

func fail[T any](err error) Result[T] {
	code := CodeOf(model.KindOf(err))
	return Result[T]{Error: &Failure{Code: code, Message: err.Error(), Retryable: code.Retryable()}}
}

func answer[T any](data T, err error) Result[T] {
	if err != nil {
		return fail[T](err)
	}
	return succeed(data)
}

// groups are the words of B6 in their order; the first that matches wins.
var groups = []struct {
	code  Code
	words []string
}{
	{NotFound, []string{"not found", "no such", "does not exist"}},
	{AlreadyExists, []string{"already exists", "duplicate"}},
	{Locked, []string{"lock"}},
	{Timeout, []string{"timed out", "timeout"}},
	{PermissionDenied, []string{"permission denied", "unauthorized", "eacces"}},
	{Unavailable, []string{"busy", "unavailable", "unable to open"}},
}

// Classify is the published classification of a command's text (B6). It takes
// every text with "lock" in it for a lock, blocked and clock included.
func Classify(text string) Code {
	text = strings.ToLower(text)
	for _, g := range groups {
		for _, w := range g.words {
			if strings.Contains(text, w) {
				return g.code
			}
		}
	}
	return Internal
}

// ClassifyStrictly is Classify with "lock" as a word of its own: a text about a
// blocked item or the clock is no reason to try again.
func ClassifyStrictly(text string) Code {
	code := Classify(text)
	if code != Locked {
		return code
	}
	text = strings.ToLower(text)
	for _, w := range strings.FieldsFunc(text, snippet.NotWord) {
		switch w {
		case "lock", "locked", "locks", "locking", "deadlock", "lockfile", "flock":
			return Locked
		}
	}
	rest := strings.NewReplacer("lock", "").Replace(text)
	return Classify(rest)
}

// refusals are the words with which bd and kno refuse a call, in their order; the
// first that matches wins (beads-foolery-knots.md, The real bd and kno). A call
// that they refuse changed nothing.
var refusals = []struct {
	kind  model.Kind
	words []string
}{
	{model.Conflict, []string{"stale profile_etag", "cannot close", "already claimed", "invalid state transition", "terminal_cascade", "may only resume"}},
	{model.NotFound, []string{"no issue found", "no issues found"}},
	{model.InvalidInput, []string{
		"invalid ", "validation failed", "cannot be empty", "is required", "prefix mismatch", "self-dependency", "a cycle", "unknown flag", "unknown command",
		"empty description", "unrecognized subcommand", "unexpected argument",
	}},
}

// Refusal is the kind of a program's sentence.
func Refusal(sentence string) model.Kind {
	low := strings.ToLower(sentence)
	for _, r := range refusals {
		for _, w := range r.words {
			if strings.Contains(low, w) {
				return r.kind
			}
		}
	}
	return ClassifyStrictly(sentence).Kind()
}
