package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// listing adds --sort and --watch to a list command. whole: the list is never one page of several, so a
// missing row is a removed one.
func (a *app) listing(c *cobra.Command, whole bool) *cobra.Command {
	watch, run := false, c.RunE
	c.Flags().StringVar(&a.flags.sort, "sort", "", "sort by this `COLUMN` of the table; -COLUMN: descending; holds all rows in memory")
	c.Flags().BoolVar(&watch, "watch", false, "repeat until interrupted: print new and changed rows, and where the whole list is read also those that are gone")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if !watch {
			return run(cmd, args)
		}
		return a.watchList(cmd.Context(), whole, func() error { return run(cmd, args) })
	}
	return c
}

// listed is the table of a listing. A --sort that names no column of it is an error, before anything is read.
func (a *app) listed(head ...string) (*table, error) {
	t := a.table(head...)
	if a.flags.sort != "" && t.sortedBy() < 0 {
		return nil, usage("--sort %q: the columns are %s", strings.TrimPrefix(a.flags.sort, "-"), strings.Join(head, ", "))
	}
	return t, nil
}

// sortedBy is the column that --sort names; below 0: none.
func (t *table) sortedBy() int {
	name := strings.TrimPrefix(t.a.flags.sort, "-")
	return slices.IndexFunc(t.head, func(h string) bool { return strings.EqualFold(h, name) })
}

// watchEvery is the pause between two rounds of --watch.
const watchEvery = 2 * time.Second

// watchRound is one run of a command under --watch: its output and that of the run before. For a nil round
// every line is new.
type watchRound struct {
	first     bool
	whole     bool              // each row has a name of its own
	now, last map[string]string // output of a row, by the row's name; of a line, by the line
	ended     func() error      // returns why the watch is over, nil while it goes on: a look that was cut short is not printed
}

// isNew reports whether the watch goes on and the last round did not print the same line under this name.
func (r *watchRound) isNew(name, line string) bool {
	if r == nil {
		return true
	}
	if r.ended != nil && r.ended() != nil {
		return false
	}
	if name == "" || !r.whole {
		name = "\x00" + line
	}
	before, was := r.last[name]
	r.now[name] = line
	return !was || before != line
}

// compared is what --watch compares of a row: its line, of health without the numbers and times of its own round.
func compared(row any, line string) string {
	if h, ok := row.(healthRow); ok {
		return h.compared()
	}
	return line
}

// gone lists the rows of the last round that this one lacks.
func (r *watchRound) gone() (out []string) {
	for name := range r.last {
		if _, still := r.now[name]; !still && name[0] != 0 {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// watchList repeats a command until it is interrupted. An error of usage in the first round ends it. An
// error of a store is printed once, until it changes.
func (a *app) watchList(ctx context.Context, whole bool, run func() error) error {
	a.round = &watchRound{first: true, whole: whole, now: map[string]string{}, ended: ctx.Err}
	a.tables = map[string]*table{}
	for {
		err := run()
		var ex *exitError
		switch {
		case err == nil, ctx.Err() != nil:
		case a.round.first && !(errors.As(err, &ex) && (ex.code == exitFailed || ex.code == exitPartial)):
			return err
		default:
			a.complain(err)
		}
		if whole && err == nil && ctx.Err() == nil { // nothing is known about a failed store
			for _, name := range a.round.gone() {
				a.emit("gone", map[string]string{"name": name})
				a.hintf("gone: %s", name)
			}
		}
		if err := a.out.Flush(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchEvery):
		}
		if a.session != nil && a.session.Fleet != nil {
			a.session.Fleet.ReopenClosed(ctx)
		}
		a.round = &watchRound{whole: whole, now: map[string]string{}, last: a.round.now, ended: ctx.Err}
	}
}

// sorted prints the rows held for --sort.
func (t *table) sorted() {
	if t.a.flags.sort == "" {
		return
	}
	column, down := t.sortedBy(), strings.HasPrefix(t.a.flags.sort, "-")
	slices.SortStableFunc(t.held, func(a, b record) int {
		n := compareCells(a.cells[column], b.cells[column])
		if down {
			n = -n
		}
		return n
	})
	for _, r := range t.held {
		t.print(r)
	}
	t.held = nil
}

// compareCells orders numbers, also those before a unit, by size and everything else as text.
func compareCells(a, b any) int {
	x, xOK := numberOf(a)
	y, yOK := numberOf(b)
	if xOK && yOK {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func numberOf(v any) (float64, bool) {
	first, _, _ := strings.Cut(fmt.Sprint(v), " ")
	n, err := strconv.ParseFloat(first, 64)
	return n, err == nil
}
