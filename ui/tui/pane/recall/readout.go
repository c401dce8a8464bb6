package recall

import (
	"context"

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
	for _, r := range p.Window.Rows {
		if h := r.Raw; h.Withheld {
			said = append(said, esc.Sprintf("Quarantined, agents do not get it: %s in %s", h.Where, h.Name))
		}
	}
	return said
}

func (p *Pane) Ahead(n int) list.Ahead {
	out := list.Ahead{Err: p.wrong}
	for i, r := range p.Window.Rows {
		switch {
		case r.Raw.Withheld:
			continue
		case i >= p.Window.Sel && len(out.Keys) < n:
			out.Keys = append(out.Keys, r.Key)
		case i >= p.Window.Sel:
			out.More = true
		}
		out.Total.N++
	}
	return out
}

func tell(esc safetext.Escaper, h hit) safetext.Text {
	return esc.Sprintf("%s, %s, rank %d there: %s", h.Name, h.Where, h.Rank, h.Snippet)
}

func (p *Pane) Item() model.Ref { return p.ItemHere() }

func (p *Pane) Whole(ctx context.Context) *text.Page {
	return pane.Read(ctx, p.d.Desk, p.Item(), text.SearchWords(p.words))
}
