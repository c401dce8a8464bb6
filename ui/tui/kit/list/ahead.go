package list

import (
	"slices"

	"memdesk/model"
)

// Ahead are the rows from the cursor on, for the ear: their keys, and what is known of the list that they are of.
type Ahead struct {
	Keys  []string
	More  bool // there are rows behind them
	Total model.Count
	// Problems are what could not be read: the list is incomplete.
	Problems []string
	Err      error
}

// Ahead are the next rows from the cursor on, at most n.
func (w *Window[T]) Ahead(n int) Ahead {
	out := Ahead{Err: w.Err, Total: model.Count{Unknown: true}}
	rest := w.Rows[min(w.Sel, len(w.Rows)):]
	for _, r := range rest[:min(n, len(rest))] {
		out.Keys = append(out.Keys, w.ID(r))
	}
	for _, p := range w.Pages {
		out.Problems, out.Total = append(out.Problems, p.Problems...), p.Total
		out.More = p.Next != ""
	}
	if !out.More && w.first >= 0 {
		out.Total = model.Count{N: w.first + int64(len(w.Rows))}
	}
	out.More = out.More || len(rest) > n
	return out
}

// Place puts the cursor on a row; false: it has left the list.
func (w *Window[T]) Place(key string) bool {
	at := slices.IndexFunc(w.Rows, func(r T) bool { return w.ID(r) == key })
	if at >= 0 {
		w.Sel = at
		w.clamp()
	}
	return at >= 0
}
