package tui

import (
	tea "charm.land/bubbletea/v2"

	"memdesk/ui/act"
	"memdesk/ui/tui/kit/prose"
)

// ahead holds keys and pasted texts that came before they could take effect: before the screen size
// was known, or while the list was being loaded. They are obeyed in order as soon as they can be:
// keys of a slow line or a fast typist are not lost, and do not act on whatever is there meanwhile.
type ahead struct {
	a       *App
	waiting []tea.Msg
	at      int // address of the list that they wait for
}

// loader is a pane with a list whose rows may be on their way.
type loader interface {
	// Awaiting reports whether the rows at the cursor are about to be replaced.
	Awaiting() bool
}

func (ea *ahead) obey() tea.Cmd {
	early := ea.waiting
	ea.waiting = nil
	var cmds []tea.Cmd
	for _, m := range early {
		switch m := m.(type) {
		case tea.KeyPressMsg:
			cmds = append(cmds, ea.a.key(m))
		case tea.PasteMsg:
			cmds = append(cmds, ea.a.paste(m.Content))
		}
	}
	return tea.Batch(cmds...)
}

// waits keeps a key that needs a row which is being loaded, and every key after it. Escape drops them.
func (ea *ahead) waits(k tea.KeyPressMsg, name string) bool {
	p, ok := ea.a.pane().(loader)
	b, _ := act.Find(customKeys(ea.a.O.Keys).of(ea.a.pane().Bindings()), name)
	switch asked := ea.a.D.Modal.Asked != 0; {
	case asked && name == "esc":
		ea.a.D.Modal.Asked = 0
		ea.a.D.Tell("given up: nothing is asked")
		return true
	case asked && b.Why != nil:
		ea.a.D.Tell("%s was not taken: a question is on its way, esc gives it up", name)
		return true
	case !ok || !p.Awaiting():
		ea.waiting = nil
		return false
	case ea.elsewhere():
		return false
	case len(ea.waiting) > 0 && name == "esc":
		ea.waiting = nil
		ea.a.D.Tell("the keys that were waiting for the list are dropped")
		return true
	case len(ea.waiting) == 0 && b.Why == nil:
		return false
	case len(ea.waiting) == 0:
		ea.at = shown(ea.a)
	}
	ea.waiting = append(ea.waiting, k)
	if n := len(ea.waiting); n > 1 {
		ea.a.D.Tell("the list is loading: %s and %s wait for it, esc drops them", ea.waiting[0], prose.Plural(n-1, "more key"))
	} else {
		ea.a.D.Tell("the list is loading: %s waits for it, esc drops it", ea.waiting[0])
	}
	return true
}

// elsewhere drops the waiting keys when another list is on the screen than the one that they were typed at.
func (ea *ahead) elsewhere() bool {
	if len(ea.waiting) == 0 || ea.at == shown(ea.a) {
		return false
	}
	ea.waiting = nil
	ea.a.D.Tell("the keys that were waiting for the other list are dropped")
	return true
}

// caughtUp obeys the waiting keys once their list is loaded; address is that of the list whose answer came.
func (ea *ahead) caughtUp(address int) tea.Cmd {
	if !ea.a.Shows(address) || ea.a.width > 0 && ea.elsewhere() {
		return nil
	}
	if p, ok := ea.a.pane().(loader); ea.a.width == 0 || ok && p.Awaiting() {
		return nil
	}
	return ea.obey()
}
