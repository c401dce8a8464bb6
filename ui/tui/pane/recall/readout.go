package recall

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
)

// The pane as a list to read out: the hits of agents, and the number of withheld sources.

func (p *Pane) Address() int { return p.at }

func (p *Pane) Facts() desk.ListFacts { return desk.ListFacts{Name: "recall", Noun: "hit"} }

func (p *Pane) Begin(query string) (tea.Cmd, error) {
	if strings.TrimSpace(query) == "" {
		return nil, model.Errorf(model.InvalidInput, "recall", "say what to look for: recall WORDS")
	}
	return p.Look(query), p.wrong
}

// ReadPage reads the answers that have come.
func (p *Pane) ReadPage(_ context.Context, cursor string, limit int) (desk.PageRead, error) {
	var said []safetext.Text
	esc := p.d.Esc
	if cursor == "" {
		for _, a := range p.answers {
			if !a.failed {
				said = append(said, esc.Sprintf("Store %s: %s", a.answer.Store, a.Status))
			}
		}
		for _, s := range p.unanswered() {
			said = append(said, esc.Sprintf("Store %s: %s", s.name, s.text))
		}
		p.hits = nil
		for _, h := range p.rows {
			switch {
			case h.Withheld:
				said = append(said, esc.Sprintf("Quarantined, agents do not get it: %s in %s", h.Where, h.Name))
			case !h.Heading:
				p.hits = append(p.hits, h)
			}
		}
	}
	first, out := desk.PageOf(len(p.hits), cursor, limit)
	p.first, out.Notices = first, said
	return out, nil
}

func (p *Pane) Row(n int) safetext.Text {
	h := p.hits[p.first+n]
	return p.d.Esc.Sprintf("%s, %s, rank %d there: %s", h.Name, h.Where, h.Rank, h.Snippet)
}

func (p *Pane) Place(n int) { p.ItemPage.On, p.table.Sel = false, p.first+n }

func (p *Pane) Item(n int) model.Ref { return p.refOf(p.hits[p.first+n]) }

func (p *Pane) DetailOf(ctx context.Context, n int) *text.Page {
	return pane.Read(ctx, p.d.Desk, p.Item(n), text.SearchWords(p.words))
}
