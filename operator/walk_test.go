package operator

import (
	"context"
	"iter"
	"testing"
)

// hanging yields one row, and then reads until its context ends.
func hanging(reads chan<- struct{}) func(context.Context) iter.Seq[int] {
	return func(ctx context.Context) iter.Seq[int] {
		return func(yield func(int) bool) {
			if yield(1) {
				reads <- struct{}{}
				<-ctx.Done()
			}
		}
	}
}

// TestAWalkThatHangs: a store that stops in the middle of its names must not hold the list for good.
func TestAWalkThatHangs(t *testing.T) {
	all := func(int) bool { return true }
	var l walked[int]
	reads, ended := make(chan struct{}), make(chan error)
	page := func(ctx context.Context) {
		_, err := l.page(ctx, "list", PageQuery{Limit: 2}, all, hanging(reads))
		ended <- err
	}
	ctx, leave := context.WithCancel(t.Context())
	go page(ctx)
	<-reads
	leave()
	<-ended // with its row, or with the reason
	go page(t.Context())
	<-reads
	go page(t.Context()) // as ctrl+r does
	if err := <-ended; err != nil {
		t.Error(err)
	}
	<-reads
	(*l.cancel.Load())()
	<-ended
}
