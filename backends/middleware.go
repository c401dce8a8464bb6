package backends

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"memdesk/model"
)

// ReadOnly refuses every change to a store that is read-only, with the reason.
func ReadOnly(ctx context.Context, c *model.Call, next func(context.Context) error) error {
	if c.Op.Mutates() && c.Store.ReadOnly {
		return model.Refuse(string(c.Op), "store "+c.Store.Name+" is read-only: "+cmp.Or(c.Store.ReadOnlyReason, "it was opened so"))
	}
	return next(ctx)
}

// guarded turns a panic in a goroutine of ours into an Internal error: it would
// end the program with the terminal raw. The value of the panic may hold content
// and is dropped; where it happened is kept.
func guarded(op string, fn func() error) (err error) {
	defer func() {
		if recover() == nil {
			return
		}
		where := "somewhere"
		for skip := 2; ; skip++ { // beyond this function and the runtime's own
			pc, _, line, ok := runtime.Caller(skip)
			if !ok {
				break
			}
			if f := runtime.FuncForPC(pc); f != nil && !strings.HasPrefix(f.Name(), "runtime.") {
				where = fmt.Sprintf("%s line %d", f.Name(), line)
				break
			}
		}
		err = model.Errorf(model.Internal, op, "a fault of memdesk in %s; please report it", where)
	}()
	return fn()
}

// Deadline bounds every operation. A read whose backend does not come back in
// time is abandoned and answers Timeout; a change is never abandoned, because its
// outcome would be unknown: it ends when the backend honours the context.
func Deadline(d time.Duration) model.Middleware {
	return func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op.Streams() { // its caller's context bounds it
			return next(ctx)
		}
		ctx, cancel := context.WithTimeout(ctx, d)
		if c.Op.Mutates() {
			defer cancel()
			return next(ctx)
		}
		done := make(chan error, 1)
		go func() {
			defer cancel()
			done <- guarded(string(c.Op), func() error { return next(ctx) })
		}()
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			select {
			case err := <-done: // it ended at the same moment
				return err
			default:
				return model.FromContext(ctx, string(c.Op))
			}
		}
	}
}
