package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/text"
)

// absent is an empty pane that shows only a reason.
type absent struct {
	d   *desk.Desk
	why string
}

func newAbsent(d *desk.Desk, why string) *absent { return &absent{d, why} }

func (p *absent) Enter() tea.Cmd                  { return nil }
func (p *absent) Update(any) tea.Cmd              { return nil }
func (p *absent) Resize(int, int) tea.Cmd         { return nil }
func (p *absent) Bindings() []act.Act             { return nil }
func (p *absent) Crumbs() []safetext.Text         { return nil }
func (p *absent) Typing() *text.Input             { return nil }
func (p *absent) Typed() tea.Cmd                  { return nil }
func (p *absent) Outermost() bool                 { return true }
func (p *absent) Back() tea.Cmd                   { return nil }
func (p *absent) Refresh() tea.Cmd                { return nil }
func (p *absent) Trouble() safetext.Text          { return safetext.Text{} }
func (p *absent) Unavailable() string             { return p.why }
func (p *absent) Position() (safetext.Text, bool) { return safetext.Text{}, false }

func (p *absent) Render(width, height int) ([]string, *tea.Position) {
	var out []string
	for _, part := range p.d.Esc.Wrap(p.d.Esc.Const(p.why), width) {
		out = append(out, p.d.St.Text(p.d.St.Dim, part, width))
	}
	return p.d.St.FillTo(out, width, height), nil
}
