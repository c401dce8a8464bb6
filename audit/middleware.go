package audit

import (
	"context"
	"errors"
	"time"

	"memdesk/model"
)

type reasonKey struct{}

// WithReason carries the operator's reason for an act to the log, which keeps it only in the erasable side
// table.
func WithReason(ctx context.Context, reason string) context.Context {
	if reason == "" {
		return ctx
	}
	return context.WithValue(ctx, reasonKey{}, reason)
}

type planKey struct{}

// WithPlan carries the hash of an approved plan to the records of the steps that carry it out: a name and a reason may be
// erased, and the hash still says what act a step belongs to.
func WithPlan(ctx context.Context, hash string) context.Context {
	return context.WithValue(ctx, planKey{}, hash)
}

type originKey struct{}

// WithOrigin carries the client, the session and the source of a write to the log, which keeps them like the
// reason.
func WithOrigin(ctx context.Context, origin string) context.Context {
	return context.WithValue(ctx, originKey{}, origin)
}

// outcomeWait bounds the writing of an outcome after the caller has gone.
const outcomeWait = 5 * time.Second

// Middleware records the intent of every change durably before it, and the outcome after it. It is the
// outermost layer, so that refusals are recorded too. When the intent cannot be written the change is
// refused.
func Middleware(l *Log) model.Middleware {
	return func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if !c.Op.Mutates() {
			return next(ctx)
		}
		return l.act(ctx, entryOf(ctx, c), func(ctx context.Context) (Result, error) {
			err := next(ctx)
			return Result{Counts: countsOf(c), Target: madeBy(c)}, err
		})
	}
}

// Act runs act between its intent and its outcome. act returns the outcome's counts. When the intent cannot
// be written act does not run and the error is a Refusal.
func (l *Log) Act(ctx context.Context, e Entry, act func(context.Context) (map[string]int64, error)) error {
	return l.act(ctx, e, func(ctx context.Context) (Result, error) {
		counts, err := act(ctx)
		return Result{Counts: counts}, err
	})
}

func (l *Log) act(ctx context.Context, e Entry, act func(context.Context) (Result, error)) error {
	if e.Origin == "" {
		e.Origin, _ = ctx.Value(originKey{}).(string)
	}
	seq, err := l.Intent(ctx, e)
	if errors.Is(err, context.Canceled) { // by the caller: nothing is wrong with the log
		return model.Interrupted(e.Action)
	}
	if err != nil {
		return model.Refuse(e.Action, "it could not be recorded first: "+err.Error())
	}
	done, acted := act(ctx)
	// The outcome is written even when the caller has gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outcomeWait)
	defer cancel()
	if err := l.Outcome(ctx, seq, resultOf(done, acted)); err != nil {
		logged := model.Errorf(model.Internal, e.Action, "record %d stays open, its outcome could not be recorded: %w", seq, err)
		return errors.Join(acted, logged)
	}
	return acted
}

func entryOf(ctx context.Context, c *model.Call) Entry {
	e := Entry{Action: string(c.Op), Store: c.Store.Name, Counts: map[string]int64{}}
	e.Reason, _ = ctx.Value(reasonKey{}).(string)
	e.Plan, _ = ctx.Value(planKey{}).(string)
	id := c.ID
	switch {
	case c.Retain != nil:
		e.Subject = c.Retain.DataSubjectID
		if t, ok := c.Store.Tier(c.Retain.Tier); ok { // any other tier is unchecked free text
			e.Tier = t.Name
		}
		e.Counts["bytes"] = int64(len(c.Retain.Content))
		if id == "" && c.Store.Address != nil {
			id, _ = c.Store.Address(*c.Retain) // the store itself refuses a bad address
		}
	case c.Forget != nil:
		e.Subject = c.Forget.DataSubjectID
	}
	if id != "" {
		e.Target = model.Ref{Store: c.Store.Name, ID: id}.String()
	}
	return e
}

func countsOf(c *model.Call) map[string]int64 {
	counts := map[string]int64{}
	if c.Forgot != nil {
		counts["removed"] = c.Forgot.Removed
	}
	if c.Retained != nil {
		counts["bytes"] = c.Retained.Bytes
	}
	if c.Rows > 0 {
		counts["rows"] = c.Rows
	}
	return counts
}

// madeBy is the item of a write whose id the store made; empty for any other call.
func madeBy(c *model.Call) string {
	if c.Retained == nil || c.Retained.ID == "" {
		return ""
	}
	return model.Ref{Store: c.Store.Name, ID: c.Retained.ID}.String()
}

// Partly is the error of an act that did a part of its work, for its record.
func Partly(err error) error { return partly{err} }

type partly struct{ error }

func (p partly) Unwrap() error { return p.error }

// resultOf is the outcome of an act: what it did stands in the record, also when its rest failed.
func resultOf(done Result, err error) Result {
	if err == nil {
		done.Verdict = OK
		return done
	}
	done.Verdict, done.Class = Failed, string(model.KindOf(err))
	switch {
	case errors.As(err, &partly{}):
		done.Verdict = Partial
	case model.IsRefusal(err):
		done.Verdict = Refused
	case !model.Unchanged(err): // it may have succeeded
		done.Verdict = Unknown
	}
	return done
}
