package record

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/prose"
)

// maxSorted bounds the rows that are read for sorting; later ones follow as the source has them.
const maxSorted = 5000

type sorting struct {
	column int // from 1; 0: as the source has it
	down   bool
}

// sortedBy reads an order: the heading of a column, after - the other way round; empty: as the source has it.
func (k *Kind[T]) sortedBy(order string) (s sorting, ok bool) {
	title, down := strings.CutPrefix(order, "-")
	at := slices.IndexFunc(k.Columns, func(c Column) bool { return c.Title == title })
	return sorting{at + 1, down}, at >= 0 || order == ""
}

// Sign has the heading say that a source which sorts by itself is in the order of a column.
func (p *List[T]) Sign(column int, down, known bool) {
	if p.sorted = (sorting{}); known {
		p.sorted = sorting{column + 1, down}
	}
}

func (p *List[T]) Keep() backends.ViewConfig {
	v := backends.ViewConfig{Filter: p.Query}
	if p.sorted.column > 0 {
		v.Order = p.Kind.Columns[p.sorted.column-1].Title
	}
	if p.sorted.down {
		v.Order = "-" + v.Order
	}
	return v
}

func (p *List[T]) Bring(v backends.ViewConfig) (tea.Cmd, bool) {
	p.Full = false
	p.sorted, _ = p.Kind.sortedBy(v.Order)
	return p.Apply(v.Filter), true
}

func (p *List[T]) CheckView(v backends.ViewConfig) (key string, err error) {
	if err := p.Check(v.Filter); err != nil {
		return "filter", err
	}
	if _, ok := p.Kind.sortedBy(v.Order); !ok {
		var titles []string
		for _, c := range p.Kind.Columns {
			titles = append(titles, c.Title)
		}
		return "order", fmt.Errorf("there is no column %q; there are %s", strings.TrimPrefix(v.Order, "-"), strings.Join(titles, "; "))
	}
	return "", nil
}

// sortedFetch returns all rows of a source in the chosen order. Without one it returns the source's pages, the
// worst first where the kind wants it and one page holds all that was found so far: a list that is sorted
// only once it is whole would move the rows under the cursor.
func (p *List[T]) sortedFetch(fetch func(context.Context, operator.PageQuery) (Page[T], error)) func(context.Context, operator.PageQuery) (Page[T], error) {
	by, worst := p.sorted, p.Kind.Badge-1
	urgency := func(a, b Row[T]) int { return cmp.Compare(a.tone(worst).Urgency(), b.tone(worst).Urgency()) }
	switch {
	case by.column == 0 && !p.Kind.Worst:
		return fetch
	case by.column == 0:
		return func(ctx context.Context, q operator.PageQuery) (Page[T], error) {
			page, err := fetch(ctx, q)
			if q.Cursor == "" && (page.Next == "" || len(page.Rows) < q.Limit) { // a short page is all that was found in time
				slices.SortStableFunc(page.Rows, urgency)
			}
			return page, err
		}
	}
	at := by.column - 1
	less, age := p.Kind.Less[at], p.Kind.Columns[at].Age
	return func(ctx context.Context, q operator.PageQuery) (Page[T], error) {
		if q.Cursor != "" {
			return fetch(ctx, q)
		}
		q.Limit = model.MaxPage
		var all Page[T]
		for {
			page, err := fetch(ctx, q)
			if err != nil {
				return Page[T]{}, err
			}
			if q.Cursor == "" {
				all.Said = page.Said
			}
			all.Rows, all.Total, all.Problems = append(all.Rows, page.Rows...), page.Total, append(all.Problems, page.Problems...)
			if q.Cursor = page.Next; page.Next == "" {
				all.Total = model.Count{N: int64(len(all.Rows))}
				break
			}
			if len(all.Rows) >= maxSorted {
				all.Next = page.Next
				all.Problems = append(all.Problems, "only the first "+prose.Group(len(all.Rows))+" rows are sorted")
				break
			}
		}
		slices.SortStableFunc(all.Rows, func(a, b Row[T]) int {
			n := 0
			if at == worst {
				n = urgency(a, b)
			}
			switch {
			case n != 0:
			case less != nil:
				n = less(a.Raw, b.Raw)
			case age:
				n = b.At.Compare(a.At)
			default:
				n = list.Natural(a.Cells[at].String(), b.Cells[at].String())
			}
			if by.down {
				return -n
			}
			return n
		})
		return all, nil
	}
}

func (p *List[T]) sortKeys() []act.Act {
	if p.Kind.Tree {
		return nil
	}
	to := func(s sorting) tea.Cmd {
		p.sorted = s
		return p.Restart(false)
	}
	n := len(p.Kind.Columns) + 1
	none := func() string {
		return act.When(p.sorted.column == 0, "the list is as its source has it; > sorts by the first column")
	}
	return []act.Act{
		{Keys: []string{">"}, Doc: "sort by the next column; after the last, as the source has it", Do: func() tea.Cmd { return to(sorting{column: (p.sorted.column + 1) % n}) }},
		{Keys: []string{"<"}, Doc: "sort by the column before", Do: func() tea.Cmd { return to(sorting{column: (p.sorted.column + n - 1) % n}) }},
		{Keys: []string{"-"}, Doc: "sort the other way round", Why: none, Do: func() tea.Cmd { return to(sorting{p.sorted.column, !p.sorted.down}) }},
	}
}
