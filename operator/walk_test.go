package operator

import (
	"context"
	"iter"
	"slices"
	"testing"
)

// hanging yields one row, and then reads until its context ends, which may be before anybody hears of the read.
func hanging(reads chan<- struct{}) func(context.Context) iter.Seq[int] {
	return func(ctx context.Context) iter.Seq[int] {
		return func(yield func(int) bool) {
			if yield(1) {
				select {
				case reads <- struct{}{}:
					<-ctx.Done()
				case <-ctx.Done():
				}
			}
		}
	}
}

// TestAWalkThatHangs: a store that stops in the middle of its names must not hold the list for good.
func TestAWalkThatHangs(t *testing.T) {
	all, none := func(int) bool { return true }, func(int) string { return "" }
	var l walked[int]
	reads, ended := make(chan struct{}), make(chan error)
	page := func(ctx context.Context) {
		_, err := l.page(ctx, "list", PageQuery{Limit: 2}, all, none, hanging(reads))
		ended <- err
	}
	ctx, leave := context.WithCancel(t.Context())
	go page(ctx)
	<-reads
	leave()
	<-ended // with its row, or with the reason
	ctx, leave = context.WithCancel(t.Context())
	go page(ctx)
	<-reads
	go page(ctx) // as ctrl+r does
	<-reads
	leave()
	<-ended
	<-ended
}

// TestAStoreThatIsNotReadIsNoRow: it is told, and not counted, under any filter.
func TestAStoreThatIsNotReadIsNoRow(t *testing.T) {
	var l walked[int]
	even := func(n int) bool { return n%2 == 0 }
	problem := func(n int) string {
		if n == 3 {
			return "three is not read"
		}
		return ""
	}
	page, err := l.page(t.Context(), "list", PageQuery{Limit: 9}, even, problem, func(context.Context) iter.Seq[int] { return slices.Values([]int{1, 2, 3, 4}) })
	if err != nil || !slices.Equal(page.Rows, []int{2, 4}) || page.Total.N != 2 || !slices.Equal(page.Problems, []string{"three is not read"}) {
		t.Errorf("%+v, %v", page, err)
	}
}

// TestAPageWhoseWalkAnotherEnded: the list and the marks of one pane share a walk. The page of the one that began
// first has the rows of the newer walk, and none that the end of its own made up.
func TestAPageWhoseWalkAnotherEnded(t *testing.T) {
	all, none := func(int) bool { return true }, func(int) string { return "" }
	var l walked[int]
	reads, walks := make(chan struct{}), 0
	begin := func(ctx context.Context) iter.Seq[int] {
		walks++
		last := walks > 1
		return func(yield func(int) bool) {
			if !yield(1) {
				return
			}
			if !last {
				reads <- struct{}{}
				<-ctx.Done()
				for yield(-1) { // what a store says of each item then
				}
				return
			}
			yield(2)
		}
	}
	type answer struct {
		Page[int]
		error
	}
	answers := make(chan answer)
	ask := func() {
		page, err := l.page(t.Context(), "list", PageQuery{Limit: 9}, all, none, begin)
		answers <- answer{page, err}
	}
	go ask()
	<-reads
	go ask()
	for range 2 {
		if got := <-answers; got.error != nil || !slices.Equal(got.Rows, []int{1, 2}) || got.Total.AtLeast || got.Total.N != 2 {
			t.Errorf("%+v, %v", got.Page, got.error)
		}
	}
	if walks != 2 {
		t.Errorf("%d walks for two questions", walks)
	}
}
