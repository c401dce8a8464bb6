package recall

import (
	"context"
	"strconv"
	"strings"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
)

// The pane as a list to read out: the hits of agents, and the number of withheld sources.

func (p *Pane) Address() int { return p.at }

func (p *Pane) Facts() desk.ListFacts { return desk.ListFacts{Name: "recall", Noun: "hit"} }

func (p *Pane) Begin(query string) error {
	p.Input.Set(query)
	if p.query = strings.TrimSpace(query); p.query == "" {
		return model.Errorf(model.InvalidInput, "recall", "say what to look for: recall WORDS")
	}
	return nil
}

// ReadPage asks every store for the first page; later pages are of the same answers.
func (p *Pane) ReadPage(ctx context.Context, cursor string, limit int) (desk.PageRead, error) {
	var out desk.PageRead
	esc := p.d.Esc
	if cursor == "" {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		p.answers = nil
		for a := range p.d.Fleet.Recall(ctx, model.RecallRequest{Query: p.query, Limit: model.RecallLimit}) {
			p.answers = append(p.answers, newAnswered(esc, p.gen, a, text.SearchWords(p.query)))
			out.Notices = append(out.Notices, esc.Sprintf("Store %s: %s", a.Store, p.answers[len(p.answers)-1].Status))
		}
		p.rows = arrange(esc, p.answers)
		p.table.Set(len(p.rows))
		p.hits = nil
		for _, h := range p.rows {
			switch {
			case h.Withheld:
				out.Notices = append(out.Notices, esc.Sprintf("Quarantined, agents do not get it: %s in %s", h.Where, h.Name))
			case !h.Heading:
				p.hits = append(p.hits, h)
			}
		}
	}
	from, _ := strconv.Atoi(cursor)
	p.first = min(from, len(p.hits))
	out.Rows, out.Total = min(limit, len(p.hits)-p.first), model.Count{N: int64(len(p.hits))}
	if next := p.first + out.Rows; next < len(p.hits) {
		out.Next = strconv.Itoa(next)
	}
	return out, nil
}

func (p *Pane) Row(n int) safetext.Text {
	h := p.hits[p.first+n]
	return p.d.Esc.Sprintf("%s, %s, rank %d there: %s", h.Name, h.Where, h.Rank, h.Snippet)
}

func (p *Pane) Place(int) { p.Reading = false }

func (p *Pane) Renew(context.Context, int) error { return nil }

func (p *Pane) Item(n int) model.Ref { return p.refOf(p.hits[p.first+n]) }

func (p *Pane) DetailOf(ctx context.Context, n int) (*text.Page, model.Revision) {
	return pane.Read(ctx, p.d.Desk, pane.Reading{Ref: p.Item(n), Terms: text.SearchWords(p.query)})
}

func (p *Pane) Marked() list.Marked { return nil }
func (p *Pane) Mark(int)            {}

func (p *Pane) Acts() []act.Act { return []act.Act{p.export()} }
