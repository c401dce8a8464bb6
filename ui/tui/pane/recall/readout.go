package recall

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/list"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
)

// The pane as a list to read out: the hits of agents; of withheld sources a notice tells.

func (p *Pane) Facts() desk.ListFacts {
	is := desk.ListFacts{Name: "recall", Noun: "hit"}
	if p.query == "" {
		is.Empty = "Say what to look for: `recall WORDS`."
	}
	return is
}

func (p *Pane) Shape() any { return p.looks }

func (p *Pane) Start() tea.Cmd { return p.window.Home() }

func (p *Pane) Notices() (said []safetext.Text) {
	esc := p.d.Esc
	for _, a := range p.answers {
		if !a.failed {
			said = append(said, esc.Sprintf("Store %s: %s", a.answer.Store, a.Status))
		}
	}
	for _, s := range p.unanswered() {
		said = append(said, esc.Sprintf("Store %s: %s", s.name, s.text))
	}
	for _, h := range p.window.Rows {
		if h.Withheld {
			said = append(said, esc.Sprintf("Quarantined, agents do not get it: %s in %s", h.Where, h.Name))
		}
	}
	return said
}

func (p *Pane) Ahead(n int) list.Ahead {
	out := list.Ahead{Err: p.wrong}
	for i, h := range p.window.Rows {
		switch {
		case h.Withheld:
			continue
		case i >= p.window.Sel && len(out.Keys) < n:
			out.Keys = append(out.Keys, h.key)
		case i >= p.window.Sel:
			out.More = true
		}
		out.Total.N++
	}
	return out
}

func (p *Pane) Place(key string) bool {
	at := slices.IndexFunc(p.window.Rows, func(h hitRow) bool { return h.key == key })
	if at >= 0 {
		p.ItemPage.On, p.window.Sel = false, at
	}
	return at >= 0
}

func (p *Pane) Row() safetext.Text {
	h, _ := p.window.Current()
	return p.d.Esc.Sprintf("%s, %s, rank %d there: %s", h.Name, h.Where, h.Rank, h.Snippet)
}

func (p *Pane) Item() model.Ref { return p.refHere() }

func (p *Pane) Whole(ctx context.Context) *text.Page {
	return pane.Read(ctx, p.d.Desk, p.Item(), text.SearchWords(p.words))
}

// unmarked is a list whose rows take no marks, and change by a new question alone.
type unmarked struct{}

func (unmarked) Renew() tea.Cmd      { return nil }
func (unmarked) Marked() list.Marked { return nil }
func (unmarked) Mark()               {}
