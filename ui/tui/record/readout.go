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
	return desk.ListFacts{Name: cmp.Or(p.Kind.Name, p.Kind.Noun+"s"), Noun: p.Kind.Noun, Empty: p.Kind.Empty, Query: p.Query}
}

func (p *List[T]) Shape() any {
	var kinds any
	if p.Kind.Shape != nil {
		kinds = p.Kind.Shape()
	}
	return [...]any{p.Query, p.sorted, kinds}
}

func (p *List[T]) Notices() []safetext.Text {
	if p.notice.Text.IsEmpty() {
		return nil
	}
	return []safetext.Text{p.notice.Words(p.D.Esc)}
}

func (p *List[T]) Place(key string) bool {
	p.Full = false
	return p.Browser.Place(key)
}

func (p *List[T]) Row() safetext.Text {
	esc := p.D.Esc
	rec, ok := p.Window.Current()
	if ok && p.Kind.Tell != nil {
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

func (p *List[T]) Renew() tea.Cmd { return nil }

func (p *List[T]) Item() model.Ref { return model.Ref{} }

func (p *List[T]) Whole(ctx context.Context) *text.Page {
	page := p.Kind.Detail(ctx, p.Here())
	if p.Kind.Facts != nil { // a listener cannot look behind a key
		head := p.Kind.Facts(ctx, p.Here()).Head
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

func (p *List[T]) OwnKeys() []act.Act {
	if p.Kind.Keys == nil {
		return nil
	}
	return p.Kind.Keys(p)
}
