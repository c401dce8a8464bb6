package conflict

import (
	"context"
	"runtime"
	"sync"

	"memdesk/model"
)

// compared is the result for one set.
type compared struct {
	copies []Copy
	err    error
}

// compareSets reads and compares the sets of copies, a few at a time, and returns the results in their order.
func (l *list) compareSets(sets [][]paired, emit func(Copy) bool) (bool, error) {
	ctx, stop := context.WithCancel(l.ctx)
	order := make(chan chan compared, runtime.GOMAXPROCS(0)) // bounds the comparisons at work; one more is awaited
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() {
		defer close(order)
		for _, set := range sets {
			out := make(chan compared, 1)
			select {
			case order <- out:
			case <-ctx.Done():
				return
			}
			wg.Go(func() {
				copies, err := l.set(ctx, set)
				out <- compared{copies, err}
			})
		}
	})
	for out := range order {
		got := <-out
		if got.err != nil {
			return false, got.err
		}
		for _, c := range got.copies {
			if !emit(c) {
				return false, nil
			}
		}
	}
	return true, model.FromContext(l.ctx, "conflicts")
}

// maxTwins bounds the twins that a copy names: a loop of two devices makes thousands.
const maxTwins = 20

// set compares the copies of one base. The base is read once.
func (l *list) set(ctx context.Context, all []paired) ([]Copy, error) {
	key, at := signature(all), l.opt.Memory.now()
	if out, ok := l.opt.Memory.recall(ofSets, key); ok {
		return out, nil
	}
	texts := map[string]side{}
	twins := map[[2]string][]int{} // places in out of the first copies of one base with equal text
	var out []Copy
	for _, p := range all {
		c, body, ok, err := l.judge(ctx, p, texts)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if body != "" && c.Base != BaseUnknown {
			group := [2]string{c.BaseID, body}
			if len(twins[group]) <= maxTwins {
				twins[group] = append(twins[group], len(out))
			}
			for _, i := range twins[group] {
				if i == len(out) {
					continue
				}
				if c.Twins = append(c.Twins, out[i].ID); len(out[i].Twins) < maxTwins {
					out[i].Twins = append(out[i].Twins, c.ID)
				}
			}
			c.Twins = c.Twins[:min(len(c.Twins), maxTwins)]
		}
		out = append(out, c)
	}
	r := remembered{copies: out, at: at}
	for id, s := range texts {
		if s.err != nil { // it may succeed later without any change
			return out, nil
		}
		r.read = append(r.read, id)
	}
	l.opt.Memory.keep(ofSets, key, r)
	return out, nil
}
