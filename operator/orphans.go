package operator

import (
	"context"
	"time"
)

// orphansWait bounds the wait at a server's end for reading a long log.
const orphansWait = 2 * time.Second

// CloseOrphans closes the intents of killed processes while this one serves, and reports their number. end
// waits for it.
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
