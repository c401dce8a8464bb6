package health

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// The pane as a list to read out: every store, with its check and the audit log's.

func (p *Pane) Address() int { return p.at }

func (p *Pane) Facts() desk.ListFacts {
	return desk.ListFacts{Name: "health", Noun: "store", Empty: desk.NoStores}
}

func (p *Pane) Begin(query string) (tea.Cmd, error) {
	if query != "" {
		return nil, model.Errorf(model.Unsupported, "", "this list has no filter")
	}
	return tea.Batch(p.Round(), p.AskLog()), nil
}

func (p *Pane) ReadPage(context.Context, string, int) (desk.PageRead, error) {
	n := len(p.d.Fleet.Members())
	_, out := desk.PageOf(n, "", n) // all at once: stores are few
	if p.Log.Words != "" {
		out.Notices = []safetext.Text{p.d.Esc.Sprintf("Audit log: %s", p.d.Esc.LineMax(p.Log.Words, prose.MaxReason))}
	}
	return out, nil
}

func (p *Pane) Row(n int) safetext.Text {
	esc, m := p.d.Esc, p.d.Fleet.Members()[n]
	h := p.Reports[m.Name]
	said := h.Status.Message
	if h.Status.OK && len(h.Status.Findings) > 0 {
		said = h.Status.Findings[0].Message
	}
	words := esc.LineMax(said, prose.MaxReason)
	switch {
	case h.Status.State == model.HealthDegraded:
		return esc.Sprintf("%s: serves, and needs a look: %s", m.Name, words)
	case h.Status.OK && said == "":
		return esc.Sprintf("%s: well, answered in %s", m.Name, prose.Latency(h.Latency))
	case h.Status.OK:
		return esc.Sprintf("%s: well, answered in %s. %s", m.Name, prose.Latency(h.Latency), words)
	default:
		return esc.Sprintf("%s: NOT WELL: %s", m.Name, words)
	}
}

func (p *Pane) Place(n int) { p.choose(p.d.Fleet.Members()[n].Name) }

func (p *Pane) DetailOf(_ context.Context, n int) (*text.Page, model.Revision) {
	return text.NewPage(p.Describe(p.d.Fleet.Members()[n]), ""), ""
}
