package record

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/text"
)

func (p *List[T]) Address() int    { return p.Kind.Pane }
func (p *List[T]) Reload() tea.Cmd { return p.Window.Refresh() }

func (p *List[T]) Facts() desk.ListFacts {
	return desk.ListFacts{Name: cmp.Or(p.Kind.Name, p.Kind.Noun+"s"), Noun: p.Kind.Noun, Empty: p.Kind.Empty}
}

func (p *List[T]) Begin(query string) (tea.Cmd, error) {
	if p.Kind.Missing != "" {
		return nil, model.Errorf(model.Unsupported, "", "%s", p.Kind.Missing)
	}
	if err := p.Check(query); err != nil {
		return nil, err
	}
	p.Query = query
	p.Marks.Clear()
	_ = p.Window.Reset(p.Fetcher()) // ReadPage asks its question
	return nil, nil
}

// queued is the cursor of rows that a source gave beyond the limit: one in memory gives all it has at once.
const queued = "queued"

func (p *List[T]) ReadPage(ctx context.Context, cursor string, limit int) (desk.PageRead, error) {
	p.told = p.shape()
	if cursor != queued {
		page, err := p.Fetcher()(ctx, list.From{Cursor: cursor}, limit)
		if err != nil {
			return desk.PageRead{}, err
		}
		p.queue = page
	}
	n := min(len(p.queue.Rows), limit)
	p.read, p.queue.Rows = p.queue.Rows[:n], p.queue.Rows[n:]
	out := desk.PageRead{Rows: n, Next: p.queue.Next, Total: p.queue.Total, Problems: p.queue.Problems}
	if len(p.queue.Rows) > 0 {
		out.Next = queued
	}
	if said := p.queue.Said; !said.Text.IsEmpty() {
		out.Notices = []safetext.Text{said.Words(p.D.Esc)}
	}
	p.queue.Said, p.queue.Problems = list.Said{}, nil // they are told once
	return out, nil
}

func (p *List[T]) Row(n int) safetext.Text {
	esc, rec := p.D.Esc, p.read[n]
	if p.Kind.Tell != nil {
		return p.Kind.Tell(esc, rec.Raw)
	}
	var parts []safetext.Text
	for i := range rec.Cells {
		c, title := p.text(rec, i), strings.ToLower(p.Kind.Columns[i].Title)
		switch {
		case c.IsEmpty():
		case strings.HasPrefix(c.String(), title+" "):
			parts = append(parts, c)
		default:
			parts = append(parts, esc.Sprintf("%s %s", title, c))
		}
	}
	return esc.Join(parts, ", ")
}

func (p *List[T]) Place(n int) {
	p.Window.Rows, p.Window.Sel, p.Window.Loaded, p.Full = p.read, n, true, false
}

func (p *List[T]) Renew(ctx context.Context, n int) error {
	if p.Kind.Fresh == nil {
		return nil
	}
	now, err := p.Kind.Fresh(ctx, p.read[n].Raw)
	if err == nil {
		p.read[n] = now
	}
	return err
}

func (p *List[T]) Item(int) model.Ref { return model.Ref{} }

func (p *List[T]) Changed() bool { return p.told != p.shape() }

func (p *List[T]) shape() any {
	if p.Kind.Shape == nil {
		return nil
	}
	return p.Kind.Shape()
}

func (p *List[T]) DetailOf(ctx context.Context, n int) *text.Page {
	page := p.Kind.Detail(ctx, p.read[n].Raw)
	if p.Kind.Facts != nil { // a listener cannot look behind a key
		head := p.Kind.Facts(ctx, p.read[n].Raw).Head
		for _, l := range page.Head {
			if !slices.ContainsFunc(head, func(h text.Line) bool {
				return h.Name.String() == l.Name.String() && h.Value.String() == l.Value.String()
			}) {
				head = append(head, l)
			}
		}
		page.Head = head
	}
	return page
}

func (p *List[T]) Marked() list.Marked {
	if !p.Kind.Marking {
		return nil
	}
	return p.Marks
}

func (p *List[T]) Mark(n int) { p.Marks.Add(p.read[n]) }

func (p *List[T]) OwnKeys() []act.Act {
	if p.Kind.Keys == nil {
		return nil
	}
	return p.Kind.Keys(p)
}
