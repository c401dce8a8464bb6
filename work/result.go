// Package work is the published port of work items over an opened store: twelve
// methods, one result envelope, eleven error codes (provider-contract.md B). Every
// change goes through the store's own Provider, and so through audit and gate.
package work

import "memdesk/model"

// Result is the published envelope: ok with data, or an error with all three of its
// fields (B3).
type Result[T any] struct {
	OK      bool     `json:"ok"`
	Data    T        `json:"data,omitempty"`
	Error   *Failure `json:"error,omitempty"`
	Ignored []string `json:"-"` // of Query: the terms that matched everything
	Total   int64    `json:"-"` // of a list: all matches, those beyond the limit too
	// Problems of a list name parts of the store that could not be looked at.
	Problems []string `json:"-"`
	Warnings []string `json:"-"` // of Delete: what stays of the item in others
}

// Failure is why a method did not succeed. Code is a published one (B4).
type Failure struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`

	err error
}

// Err is the error behind a failure, nil for a nil one.
func (f *Failure) Err() error {
	if f == nil {
		return nil
	}
	return f.err
}

func succeed[T any](data T) Result[T] { return Result[T]{OK: true, Data: data} }

func fail[T any](err error) Result[T] {
	kind := model.KindOf(err)
	return Result[T]{Error: &Failure{Code: kind.Code(), Message: err.Error(), Retryable: kind.Retryable(), err: err}}
}

func answer[T any](data T, err error) Result[T] {
	if err != nil {
		return fail[T](err)
	}
	return succeed(data)
}
