package backends

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
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

// maxAbandoned bounds the reads of one store that nobody waits for any more.
const maxAbandoned = 50

// Deadline bounds every operation. A read whose backend does not come back in
// time is abandoned and answers Timeout; a change is never abandoned, because its
// outcome would be unknown: it ends when the backend honours the context. While many abandoned
// reads have not come back, as on a mount that hangs, a further one answers Timeout at once: each keeps a thread.
func Deadline(d time.Duration) model.Middleware {
	var abandoned atomic.Int32
	return func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		if c.Op.Streams() { // its caller's context bounds it
			return next(ctx)
		}
		ctx, cancel := context.WithTimeout(ctx, d)
		if c.Op.Mutates() {
			defer cancel()
			return next(ctx)
		}
		if abandoned.Load() >= maxAbandoned {
			cancel()
			return model.Errorf(model.Timeout, string(c.Op), "%d earlier reads of this store have not come back", maxAbandoned)
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
				abandoned.Add(1)
				go func() {
					<-done
					abandoned.Add(-1)
				}()
				return model.FromContext(ctx, string(c.Op))
			}
		}
	}
}
