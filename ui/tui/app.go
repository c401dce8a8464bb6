// Package tui is the console: one Bubble Tea program over a fleet of open stores, with a pane bar,
// windowed lists and a pager. It shows, navigates and asks before every act. It opens no store,
// changes memory only through the given Acts, and puts outside strings on the screen only as
// safetext.Text.
package tui

import (
	"cmp"
	"context"
	"maps"
	"os"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
	"memdesk/ui/tui/pane/audit"
	"memdesk/ui/tui/pane/conflicts"
	"memdesk/ui/tui/pane/health"
)

// The fixed numbers of the panes, less one.
const (
	PaneHealth = iota
	PaneTiers
	PaneRecall
	PaneQuarantine
	PaneConflicts
	PaneErasure
	PaneAudit
)

// minHeight is the smallest terminal height, in lines, that is drawn.
const minHeight = 15

// App is the console as a Bubble Tea model. State changes on the update loop; commands ask the stores.
type App struct {
	O      Options
	D      *pane.Bench
	look   look
	width  int
	height int
	Panes  []desk.Pane // in the order of registry
	screens
	Active  int
	from    *origin // of the place in the Tiers pane; nil: the operator went there
	Pages   pages
	Side    *Side // replaces the pane; nil: the pane is shown
	sides   int   // count of Sides so far
	Line    commandLine
	Curtain curtain
	early   ahead
	slow    slow
	leave   leaver
	said    messages
	members []backends.Member
	end     crashed
}

// NewApp builds the console. No store is asked before Init.
func NewApp(ctx context.Context, o Options) *App {
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	if o.Fleet == nil {
		o.Fleet = backends.NewFleet(nil, nil)
	}
	a := &App{O: o, look: look{dark: paint.DarkFirst(environment(o.Environ)), paint: looksOf(o)}, said: messages{time: o.Clock}}
	d := desk.New(loop.Loop{Ctx: ctx, Time: prose.Clock{Clock: o.Clock}, St: paint.New(a.look.paint, a.look.dark), Say: a.said.say, Later: loop.Ticking}, o.Fleet, a, o.Plain)
	d.ReadOnly, d.Open, d.Sources = o.ReadOnlyReason, a.visit, o.Sources
	d.AutoRefresh.Every = o.Poll
	d.Edit, d.Env, d.Environ = o.Edit, environment(o.Environ), o.Environ
	if _, file := o.Input.(*os.File); o.Input != nil && !file {
		d.Remote = true
	}
	d.Shell = !d.Remote && jobControl()
	d.Anchored, d.Settle = o.Anchored, cmp.Or(o.Settle, conflicts.SettleTime)
	b := pane.NewBench(d)
	b.Log = func(ref model.Ref) tea.Cmd { return audit.Of(b, ref) }
	a.D, a.slow.after = b, slowAfter
	a.Line.a, a.Curtain.a, a.early.a, a.leave.a, a.Pages.a = a, a, a, a, a
	a.Line.views = map[string]backends.ViewConfig{}
	maps.Copy(a.Line.views, o.Views)
	a.members, a.Curtain.lastKey = o.Fleet.Members(), o.Clock.Now()
	for i, p := range registry {
		a.Panes = append(a.Panes, p.open(&a.screens, b, i))
	}
	a.Active = PaneTiers
	if len(o.Notices) > 0 {
		a.Pages.Overlay = a.Pages.notices()
	}
	return a
}

// Init starts the first questions. It reports synchronized output as known: Bubble Tea does not ask behind SSH,
// and a terminal without it ignores it.
func (a *App) Init() (cmd tea.Cmd) {
	defer a.guard(&cmd)
	synchronized := func() tea.Msg {
		return tea.ModeReportMsg{Mode: ansi.ModeSynchronizedOutput, Value: ansi.ModeReset}
	}
	cmds := []tea.Cmd{a.Panes[PaneHealth].Enter(), a.Enter(a.Active), a.Curtain.watchIdle(a.O.IdleLock)}
	for _, p := range a.Panes {
		if p, ok := p.(desk.Watched); ok {
			cmds = append(cmds, p.Watch())
		}
	}
	if a.Pages.Overlay != nil {
		cmds = append(cmds, a.Pages.Overlay.Pager.LayOut(text.Start, 0, false))
	}
	if !a.look.paint.Bare {
		cmds = append(cmds, synchronized)
	}
	if a.look.paint.Colour {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

func (a *App) Update(msg tea.Msg) (m tea.Model, cmd tea.Cmd) {
	defer func() { m = a }()
	defer a.guard(&cmd)
	if a.end.crash != "" {
		return a, tea.Quit
	}
	cmd = a.handle(msg)
	if a.from != nil && a.Tiers.Depth() < a.from.depth { // the operator went above the place
		a.from = nil
	}
	a.uncover()
	return a, tea.Batch(cmd, a.watchBusy())
}

func (a *App) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return tea.Batch(a.resize(msg.Width, msg.Height), a.early.obey())
	case tea.BackgroundColorMsg:
		a.look.dark = msg.IsDark()
		a.D.St.Repaint(a.look.paint, a.look.dark)
	case tea.KeyPressMsg:
		return a.key(msg)
	case tea.PasteMsg:
		return a.paste(msg.Content)
	case tea.MouseMsg:
		return mouse(a, msg)
	case tea.ModeReportMsg:
		// Bubble Tea's renderer changes its measure at the same message.
		known := msg.Value == ansi.ModeReset || msg.Value == ansi.ModeSet || msg.Value == ansi.ModePermanentlySet
		a.D.St.Clusters = a.D.St.Clusters || msg.Mode == ansi.ModeUnicodeCore && known
	case loop.Reply:
		return a.Deliver(msg)
	case loop.Crash:
		a.end.crash = string(msg)
		return tea.Quit
	}
	return nil
}

func (a *App) Deliver(m loop.Reply) tea.Cmd {
	switch {
	case m.Pane == loop.Over:
		return a.deliverOver(m.Msg)
	case m.Pane < loop.Over:
		list := a.sideAt(m.Pane)
		if list == nil {
			return nil // of a list that was closed
		}
		return tea.Batch(list.Update(m.Msg), a.early.caughtUp(m.Pane))
	}
	cmd := tea.Batch(a.Panes[m.Pane].Update(m.Msg), a.early.caughtUp(m.Pane))
	if _, ok := m.Msg.(health.Checked); ok {
		cmd = tea.Batch(cmd, a.recount())
	}
	return cmd
}

func (a *App) deliverOver(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case text.LaidOut:
		for o := a.Pages.Overlay; o != nil; o = o.under {
			o.Pager.Arrive(msg)
		}
		if a.D.Modal.Dialog != nil && a.D.Modal.Dialog.Pager != nil {
			a.D.Modal.Dialog.Pager.Arrive(msg)
		}
	case dialog.Proposal:
		return a.D.Modal.Proposed(msg)
	case dialog.Armed:
		a.D.Modal.Arm(msg)
	case dialog.Acted:
		return a.D.Modal.Acted(msg)
	case loop.Then:
		return msg()
	case loop.Someday:
		return msg()
	}
	return nil
}

func (a *App) pane() desk.Pane {
	if a.Side != nil {
		return a.Side.List
	}
	return a.Panes[a.Active]
}

// recount counts a store that a health check has found to be back.
func (a *App) recount() tea.Cmd {
	was := a.members
	a.members = a.D.Fleet.Members()
	for i, m := range a.members {
		if i < len(was) && (was[i].Err == nil) != (m.Err == nil) {
			return a.Tiers.Overview.Refresh()
		}
	}
	return nil
}

func (a *App) resize(width, height int) tea.Cmd {
	a.width, a.height = width, height
	w, h := a.Room()
	var cmds []tea.Cmd
	for _, p := range a.Panes {
		cmds = append(cmds, p.Resize(w, h))
	}
	if c := a.D.Edits.Page; c != nil {
		c.Resize(w, h)
	}
	if a.Side != nil {
		cmds = append(cmds, a.Side.List.Resize(w, h))
	}
	for o := a.Pages.Overlay; o != nil; o = o.under {
		cmds = append(cmds, o.Pager.Resize(a.Pages.size(o)))
	}
	if a.D.Modal.Dialog != nil && a.D.Modal.Dialog.Pager != nil {
		cmds = append(cmds, a.D.Modal.Dialog.Pager.Resize(a.D.Modal.BoxWidth(a.D.Modal.Dialog)-2, h))
	}
	return tea.Batch(cmds...)
}

// Room is the size that the frame leaves to a pane.
func (a *App) Room() (width, height int) {
	return max(a.width, paint.MinWidth), max(a.height, minHeight) - frameLines
}

func (a *App) Enter(n int) tea.Cmd {
	a.Active, a.Side, a.from = n, nil, nil
	return a.Panes[n].Enter()
}

// visit lists items in the Tiers pane.
func (a *App) visit(at desk.ScopeOf) tea.Cmd {
	return a.jump(func() tea.Cmd {
		cmd, _ := a.Tiers.OpenList(at)
		return cmd
	})
}

// key routes a keystroke: overlay, command line, input, the pane's keys, then those that work everywhere.
func (a *App) key(k tea.KeyPressMsg) tea.Cmd {
	a.said.text, a.Curtain.lastKey = safetext.Text{}, a.O.Clock.Now()
	if k.Code == 'j' && k.Mod == tea.ModCtrl { // a terminal makes a line feed of Enter before raw mode; no key here is ctrl+j
		k = tea.KeyPressMsg{Code: tea.KeyEnter}
	}
	name := k.String()
	if k.Code == 'c' && k.Mod.Contains(tea.ModCtrl) && (a.D.Edits.Page == nil || a.Curtain.down || tooSmall(a)) {
		return a.Press(a.global(), "ctrl+c") // with alt too: that is how escape and ctrl+c in one write arrive
	}
	a.leave.warned = false
	if a.width == 0 {
		a.early.waiting = append(a.early.waiting, k)
		return nil
	}
	if a.Curtain.down {
		return a.Curtain.lockKey(name)
	}
	if tooSmall(a) {
		if name == "q" {
			return a.leave.interrupt()
		}
		return nil
	}
	if c := a.D.Edits.Page; c != nil {
		return c.Key(k)
	}
	if a.D.Edits.Editing != nil {
		return nil // Resize is about to fetch
	}
	if a.D.Modal.Dialog != nil {
		return a.D.Modal.Key(k)
	}
	if a.Line.typing {
		return a.Line.commandKey(k)
	}
	if p := a.Searching(); p != nil {
		return a.SearchKey(p, k)
	}
	if a.Pages.Overlay != nil {
		return a.Pages.overlayKey(k)
	}
	p := a.pane()
	in := p.Typing()
	if in == nil && k.Mod.Contains(tea.ModAlt) {
		return a.Split(k)
	}
	if in == nil && a.early.waits(k, name) {
		return nil
	}
	if in != nil {
		return a.typed(in, k, p.Typed, p.Bindings)
	}
	return a.Press(a.Keys(), name)
}

// typed gives a keystroke to an input, and what the input does not use to the keys beside it.
func (a *App) typed(in *text.Input, k tea.KeyPressMsg, changed func() tea.Cmd, keys func() []act.Act) tea.Cmd {
	switch anew, used := in.Key(k); {
	case anew:
		return changed()
	case used:
		return nil
	case k.Mod.Contains(tea.ModAlt):
		return a.Split(k)
	}
	return a.Press(keys(), k.String())
}

// Split takes an alt key as escape and a key in one piece, as a slow line delivers them; no key here has alt.
func (a *App) Split(k tea.KeyPressMsg) tea.Cmd {
	k.Mod &^= tea.ModAlt
	if k.Mod == tea.ModShift && unicode.IsLetter(k.Code) { // behind escape the terminal reports a capital as shift
		k.Mod, k.Code = 0, unicode.ToUpper(k.Code)
	}
	if k.Mod == 0 && unicode.IsPrint(k.Code) {
		k.Text = string(k.Code)
	}
	return tea.Batch(a.key(tea.KeyPressMsg{Code: tea.KeyEscape}), a.key(k))
}

// Press runs a key's handler, or says why it does not work.
func (a *App) Press(bindings []act.Act, name string) tea.Cmd {
	b, ok := act.Find(bindings, name)
	if !ok {
		if a.pane().Typing() == nil && !a.Line.typing {
			a.D.Tell("%s", a.strayWords(name))
		}
		return nil
	}
	if why := b.Reason(); why != "" {
		return a.Refuse(b, why)
	}
	if obeyed != nil {
		obeyed(b)
	}
	return b.Do()
}

// stacked is a pane that may show one row of its list on the whole screen.
type stacked interface {
	// Beneath are the keys of the list under the page; nil where no page covers it.
	Beneath() []act.Act
}

// strayWords answers a key without a meaning; a key of the list below the page gets an answer of its own.
func (a *App) strayWords(name string) safetext.Text {
	esc := a.D.Esc
	if p, ok := a.pane().(stacked); ok && a.Pages.Overlay == nil {
		if _, known := act.Find(p.Beneath(), name); known {
			return esc.Sprintf("%s is a key of the list: left goes back there", name)
		}
	}
	return esc.Sprintf("%s does nothing here; ? lists the keys", name)
}

// Refuse says why a key does not work: on the status line, or on a page where that is too short.
func (a *App) Refuse(b act.Act, why string) tea.Cmd {
	esc := a.D.Esc
	if a.D.Spoken {
		return a.D.Warn("Not here: %s", why)
	}
	words := esc.Sprintf("%s: %s", b.Label(), why)
	if words.Width() <= a.width-2 {
		return a.D.Warn("%s", words)
	}
	return a.Pages.openOverlay("Not here", []text.Line{
		{Value: esc.Sprintf("%s: %s", b.Label(), b.Doc), Kind: text.Title},
		{Kind: text.Blank},
		{Value: esc.Const(why)},
	})
}

func (a *App) paste(s string) tea.Cmd {
	p := a.pane()
	in := p.Typing()
	if a.width == 0 {
		a.early.waiting = append(a.early.waiting, tea.PasteMsg{Content: s})
		return nil
	}
	switch {
	case a.D.Edits.Page != nil && !tooSmall(a) && !a.Curtain.down:
		return a.D.Edits.Page.Paste(s)
	case tooSmall(a) || a.D.Edits.Editing != nil || a.Curtain.down:
		return nil
	case a.D.Modal.Dialog != nil:
		return a.D.Modal.Paste(s)
	case a.Line.typing:
		a.Note(a.Line.in.Paste(a.D.Esc, s))
		return a.Line.edited()
	case a.Searching() != nil:
		text := a.Searching()
		a.Note(text.Search.In.Paste(a.D.Esc, s))
		return text.Searched()
	case a.Pages.Overlay != nil:
		return nil
	case in == nil:
		return a.D.Tell("nothing to paste into here; / opens an input")
	}
	a.Note(in.Paste(a.D.Esc, s))
	return p.Typed()
}

func (a *App) Note(t safetext.Text) {
	if !t.IsEmpty() {
		a.D.Warn("%s", t)
	}
}

func tooSmall(a *App) bool { return a.width < paint.MinWidth || a.height < minHeight }
