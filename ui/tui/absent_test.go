package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/text"
)

// absent is a pane with nothing in it but a reason.
type absent struct {
	d   *desk
	why string
}

func newAbsent(d *desk, why string) *absent { return &absent{d, why} }

func (p *absent) enter() tea.Cmd                  { return nil }
func (p *absent) update(any) tea.Cmd              { return nil }
func (p *absent) resize(int, int) tea.Cmd         { return nil }
func (p *absent) bindings() []act.Act             { return nil }
func (p *absent) crumbs() []safetext.Text         { return nil }
func (p *absent) typing() *text.Input             { return nil }
func (p *absent) typed() tea.Cmd                  { return nil }
func (p *absent) outermost() bool                 { return true }
func (p *absent) back() tea.Cmd                   { return nil }
func (p *absent) refresh() tea.Cmd                { return nil }
func (p *absent) trouble() safetext.Text          { return safetext.Text{} }
func (p *absent) unavailable() string             { return p.why }
func (p *absent) position() (safetext.Text, bool) { return safetext.Text{}, false }

func (p *absent) render(width, height int) ([]string, *tea.Position) {
	var out []string
	for _, part := range p.d.st.Esc.Wrap(p.d.st.Esc.Const(p.why), width) {
		out = append(out, p.d.st.Text(p.d.st.Dim, part, width))
	}
	return p.d.st.FillTo(out, width, height), nil
}
