package operator

import (
	"context"
	"time"
)

// orphansWait is how long the end of a server waits for the reading of a long log.
const orphansWait = 2 * time.Second

// CloseOrphans closes, beside the serving, the intents of servers that were killed, and tells how
// many there were. end waits for it.
func (s *Session) CloseOrphans(ctx context.Context, told func(closed int, err error)) (end func()) {
	if s.Log == nil || s.Log.Writable() != nil {
		return func() {}
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n, err := s.Log.CloseOrphans(ctx)
		if ctx.Err() != nil {
			err = nil // the server ended first
		}
		told(n, err)
	}()
	return func() {
		late := time.AfterFunc(orphansWait, stop)
		<-ended
		late.Stop()
		stop()
	}
}
