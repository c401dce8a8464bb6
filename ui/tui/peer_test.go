package tui_test

import (
	"encoding/json"
	"io"
	"os"
	"strings"

	"charm.land/bubbles/v2/list"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// The peer of the drawing benchmarks: the obvious first program with Bubble Tea and bubbles' list and
// viewport, in their default styles. It shows the texts that the console showed, in the same positions.

// peerEnv names the file with the peer's texts; peerScenario runs the peer.
const (
	peerEnv      = "MEMDESK_TUI_PEER"
	peerScenario = "peer"
)

// seen is the content of a screen with a list and a detail beside it.
type seen struct {
	Above, Below []string // lines of the frame
	Crumbs       []string // the border with the position, one per row
	Heading      string   // above the list
	Left         int      // columns of the list
	Rows         []string // of the list, without the cursor's column
	Details      []string // beside the list, one per row
}

type peerItem string

func (i peerItem) Title() string       { return string(i) }
func (i peerItem) Description() string { return "" }
func (i peerItem) FilterValue() string { return string(i) }

type peer struct {
	texts  seen
	list   list.Model
	detail viewport.Model
	at     int
}

func newPeer(texts seen) *peer {
	items := make([]list.Item, len(texts.Rows))
	for i, r := range texts.Rows {
		items[i] = peerItem(r)
	}
	look := list.NewDefaultDelegate()
	look.ShowDescription = false
	look.SetSpacing(0)
	look.Styles.NormalTitle = look.Styles.NormalTitle.Padding(0, 0, 0, 1) // the cursor's column, as wide as the console's
	look.Styles.SelectedTitle = look.Styles.SelectedTitle.Padding(0)
	p := &peer{texts: texts, at: -1}
	rows := strings.Count(texts.Details[0], "\n") // the heading takes one row
	p.list = list.New(items, look, texts.Left, rows)
	p.list.SetShowTitle(false)
	p.list.SetShowStatusBar(false)
	p.list.SetShowFilter(false)
	p.list.SetShowPagination(false)
	p.list.SetShowHelp(false)
	p.detail = viewport.New(viewport.WithWidth(200-texts.Left-3), viewport.WithHeight(rows+1))
	p.follow()
	return p
}

func (p *peer) follow() {
	if i := p.list.Index(); i != p.at {
		p.at = i
		p.detail.SetContent(p.texts.Details[i])
	}
}

func (p *peer) Init() tea.Cmd { return nil }

func (p *peer) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	p.list, cmd = p.list.Update(msg)
	p.follow()
	return p, cmd
}

func (p *peer) View() tea.View {
	left := lipgloss.NewStyle().Width(p.texts.Left).Render(p.texts.Heading + "\n" + p.list.View())
	bar := strings.TrimSuffix(strings.Repeat("│ \n", p.detail.Height()), "\n")
	lines := append([]string{}, p.texts.Above...)
	lines = append(lines, p.texts.Crumbs[p.at], lipgloss.JoinHorizontal(lipgloss.Top, left, bar, p.detail.View()))
	v := tea.NewView(strings.Join(append(lines, p.texts.Below...), "\n"))
	v.AltScreen = true
	return v
}

func readPeer() (*peer, error) {
	b, err := os.ReadFile(os.Getenv(peerEnv))
	if err != nil {
		return nil, err
	}
	var texts seen
	if err := json.Unmarshal(b, &texts); err != nil {
		return nil, err
	}
	return newPeer(texts), nil
}

// runPeer plays the peer in this process's terminal.
func runPeer(in io.Reader, out io.Writer, more ...tea.ProgramOption) error {
	p, err := readPeer()
	if err != nil {
		return err
	}
	_, err = tea.NewProgram(p, append(more, tea.WithInput(in), tea.WithOutput(out))...).Run()
	return err
}
