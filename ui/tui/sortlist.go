package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/prose"
)

// maxSorted bounds how many rows are read to be sorted: a source gives its own order page
// by page, any other order needs all rows.
const maxSorted = 5000

// sorting is by which column a list is sorted.
type sorting struct {
	column int // from 1; 0: as the source has it
	down   bool
}

// sortedFetch reads all rows of a source and gives them in the order that is in force.
func (p *records[T]) sortedFetch(fetch func(context.Context, PageQuery) (span[record[T]], said, error)) func(context.Context, PageQuery) (span[record[T]], said, error) {
	by := p.sorted
	if by.column == 0 {
		return fetch
	}
	less := p.kind.less[by.column-1]
	return func(ctx context.Context, q PageQuery) (span[record[T]], said, error) {
		q.Limit = model.MaxPage
		var all span[record[T]]
		var notice said
		for {
			page, told, err := fetch(ctx, q)
			if err != nil {
				return span[record[T]]{}, said{}, err
			}
			if q.Cursor == "" {
				notice = told
			}
			all.rows, all.total, all.problems = append(all.rows, page.rows...), page.total, append(all.problems, page.problems...)
			if q.Cursor = page.next; page.next == "" {
				all.total = model.Count{N: int64(len(all.rows))}
				break
			}
			if len(all.rows) >= maxSorted {
				all.problems = append(all.problems, "only the first "+prose.Group(maxSorted)+" rows are sorted and listed")
				break
			}
		}
		slices.SortStableFunc(all.rows, func(a, b record[T]) int {
			var n int
			if less != nil {
				n = less(a.raw, b.raw)
			} else {
				n = natural(a.cells[by.column-1].String(), b.cells[by.column-1].String())
			}
			if by.down {
				return -n
			}
			return n
		})
		return all, notice, nil
	}
}

// sortKeys are the keys that sort a list.
func (p *records[T]) sortKeys() []act.Act {
	to := func(s sorting) tea.Cmd {
		p.sorted = s
		return p.restart(p.list.kin(), false)
	}
	n := len(p.kind.columns) + 1
	none := func() string {
		if p.sorted.column == 0 {
			return "the list is as its source has it; > sorts by the first column"
		}
		return ""
	}
	return []act.Act{
		{Keys: []string{">"}, Doc: "sort by the next column; after the last, as the source has it", Do: func() tea.Cmd { return to(sorting{column: (p.sorted.column + 1) % n}) }},
		{Keys: []string{"<"}, Doc: "sort by the column before", Do: func() tea.Cmd { return to(sorting{column: (p.sorted.column + n - 1) % n}) }},
		{Keys: []string{"-"}, Doc: "sort the other way round", Why: none, Do: func() tea.Cmd { return to(sorting{p.sorted.column, !p.sorted.down}) }},
	}
}
