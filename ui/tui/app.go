package tui

import (
	"cmp"
	"context"
	"os"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// The panes by their numbers, which are fixed, less one.
const (
	paneHealth = iota
	paneTiers
	paneRecall
	paneQuarantine
	paneConflicts
	paneErasure
	paneAudit
)

// Smallest terminal and the width from which list and detail stand side by side.
const (
	minWidth  = 60
	minHeight = 15
	wideFrom  = 100
)

// App is the console as a Bubble Tea model. All state changes on the update
// loop; stores are asked in commands.
type App struct {
	o      Options
	d      *bench
	look   look
	width  int
	height int
	panes  []pane // in the order of registry
	screens
	active  int
	opened  []bool
	pages   pages
	side    *side // stands in place of the pane; nil: nothing does
	sides   int   // how many there were
	line    commandLine
	pointer pointer
	curtain curtain
	early   ahead
	slow    slow
	leave   leaver
	said    messages
	members []backends.Member
	end     crashed
}

// newApp builds the console. It asks no store anything before Init.
func newApp(ctx context.Context, o Options) *App {
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	if o.Fleet == nil {
		o.Fleet = backends.NewFleet(nil, nil)
	}
	a := &App{o: o, look: look{dark: paint.DarkFirst(environment(o.Environ)), paint: looksOf(o)}}
	d := &desk{
		loop:  loop{ctx: ctx, time: prose.Clock{Clock: o.Clock}, st: stylesOf(o, a.look.paint, a.look.dark), say: a.say, later: ticking},
		fleet: o.Fleet, readOnly: o.ReadOnlyReason, frame: port{a}, open: a.visit,
		Sources: o.Sources,
	}
	d.glances.every = o.Poll
	d.plain, d.edit, d.env, d.environ, d.own = o.Plain, o.Edit, environment(o.Environ), o.Environ, o.Keys
	if _, file := o.Input.(*os.File); o.Input != nil && !file {
		d.remote = true
	}
	d.shell = !d.remote && jobControl()
	d.esc = d.st.Esc
	d.anchored, d.settle = o.Anchored, cmp.Or(o.Settle, settleTime)
	d.modal, d.exports = &modal{loop: &d.loop, host: d.frame, plain: d.plain}, &exports{d: d}
	b := newBench(d)
	a.d, a.slow.after = b, slowAfter
	a.line.d, a.curtain.d, a.early.d, a.pointer.d, a.pages.d = b, b, b, b, b
	a.line.a, a.curtain.a, a.early.a, a.pointer.a, a.pages.a = a, a, a, a, a
	a.leave = leaver{a: a, d: b}
	a.members, a.curtain.lastKey = o.Fleet.Members(), o.Clock.Now()
	for i, p := range registry {
		a.panes = append(a.panes, p.open(&a.screens, b, i))
	}
	a.opened = make([]bool, len(a.panes))
	a.active = paneTiers
	if len(o.Notices) > 0 {
		a.pages.overlay = a.pages.notices()
	}
	return a
}

// Init starts the first questions. Bubble Tea does not ask a terminal behind SSH
// for synchronized output, so it is told that there is a terminal to ask: one
// that does not know the mode ignores it.
func (a *App) Init() (cmd tea.Cmd) {
	defer a.guard(&cmd)
	synchronized := func() tea.Msg {
		return tea.ModeReportMsg{Mode: ansi.ModeSynchronizedOutput, Value: ansi.ModeReset}
	}
	cmds := []tea.Cmd{a.panes[paneHealth].enter(), a.enter(a.active), a.curtain.watchIdle(a.o.IdleLock), a.erasures.countDue()}
	for _, p := range a.panes {
		if p, ok := p.(watched); ok {
			cmds = append(cmds, p.watch())
		}
	}
	if a.pages.overlay != nil {
		cmds = append(cmds, a.pages.overlay.pager.LayOut(text.Start, 0, false))
	}
	if !a.look.paint.Bare {
		cmds = append(cmds, synchronized)
	}
	if a.look.paint.Colour {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

// Update takes one message.
func (a *App) Update(msg tea.Msg) (m tea.Model, cmd tea.Cmd) {
	defer func() { m = a }()
	defer a.guard(&cmd)
	if a.end.crash != "" {
		return a, tea.Quit
	}
	return a, tea.Batch(a.handle(msg), a.watchBusy())
}

// handle takes a message; what it means for the whole screen is told after it.
func (a *App) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return tea.Batch(a.resize(msg.Width, msg.Height), a.early.sized())
	case tea.BackgroundColorMsg:
		a.look.dark = msg.IsDark()
		a.repaint()
	case tea.KeyPressMsg:
		return a.key(msg)
	case tea.PasteMsg:
		return a.paste(msg.Content)
	case tea.MouseMsg:
		return a.pointer.mouse(msg)
	case tea.ModeReportMsg:
		// Bubble Tea's renderer changes its measure at the same message.
		known := msg.Value == ansi.ModeReset || msg.Value == ansi.ModeSet || msg.Value == ansi.ModePermanentlySet
		a.d.st.Clusters = a.d.st.Clusters || msg.Mode == ansi.ModeUnicodeCore && known
	case reply:
		return a.deliver(msg)
	case crashMsg:
		a.end.crash = string(msg)
		return tea.Quit
	}
	return nil
}

func (a *App) deliver(m reply) tea.Cmd {
	switch {
	case m.pane == overlayPane:
		return a.deliverOver(m.msg)
	case m.pane < overlayPane:
		list := a.sideAt(m.pane)
		if list == nil {
			return nil // of a list that was closed
		}
		return list.update(m.msg)
	}
	cmd := a.panes[m.pane].update(m.msg)
	if m.pane == a.active {
		cmd = tea.Batch(cmd, a.early.caughtUp())
	}
	if _, ok := m.msg.(checked); ok {
		cmd = tea.Batch(cmd, a.recount())
	}
	return cmd
}

// deliverOver takes the answers for what lies over the panes.
func (a *App) deliverOver(msg any) tea.Cmd {
	switch msg := msg.(type) {
	case text.LaidOut:
		// Generations are counted by each pager; the text tells whose answer it is.
		if a.pages.overlay != nil && msg.Text == a.pages.overlay.pager.Text {
			a.pages.overlay.pager.Arrive(msg)
		}
		if a.d.modal.dialog != nil && a.d.modal.dialog.pager != nil && msg.Text == a.d.modal.dialog.pager.Text {
			a.d.modal.dialog.pager.Arrive(msg)
		}
	case proposal:
		return a.d.modal.proposed(msg)
	case armed:
		a.d.modal.arm(msg)
	case acted:
		return a.d.modal.acted(msg)
	case onLoop:
		return msg()
	case someday:
		return msg()
	case found:
		return a.line.found(msg)
	case completions:
		a.line.completed(msg)
	case lockDue:
		return a.curtain.lockDue()
	case slowDue:
		a.slow.due(msg)
	}
	return nil
}

// pane is what the keys and the screen are for.
func (a *App) pane() pane {
	if a.side != nil {
		return a.side.list
	}
	return a.panes[a.active]
}

// recount takes over what a health check has changed: a store that has come back
// is counted.
func (a *App) recount() tea.Cmd {
	was := a.members
	a.members = a.d.fleet.Members()
	for i, m := range a.members {
		if i < len(was) && (was[i].Err == nil) != (m.Err == nil) {
			return a.tiers.overview.refresh()
		}
	}
	return nil
}

func (a *App) resize(width, height int) tea.Cmd {
	a.width, a.height = width, height
	w, h := a.room()
	var cmds []tea.Cmd
	for _, p := range a.panes {
		cmds = append(cmds, p.resize(w, h))
	}
	if a.side != nil {
		cmds = append(cmds, a.side.list.resize(w, h))
	}
	if a.pages.overlay != nil {
		cmds = append(cmds, a.pages.overlay.pager.Resize(a.pages.size(a.pages.overlay)))
	}
	if a.d.modal.dialog != nil && a.d.modal.dialog.pager != nil {
		cmds = append(cmds, a.d.modal.dialog.pager.Resize(a.d.modal.boxWidth(a.d.modal.dialog)-2, h))
	}
	return tea.Batch(cmds...)
}

// room is what the frame leaves to a pane.
func (a *App) room() (width, height int) {
	return max(a.width, minWidth), max(a.height, minHeight) - frameLines
}

// enter makes a pane visible.
func (a *App) enter(n int) tea.Cmd {
	a.active, a.side = n, nil
	a.opened[n] = true
	return a.panes[n].enter()
}

// visit lists a store's items in the Tiers pane.
func (a *App) visit(v visit) tea.Cmd {
	return tea.Batch(a.enter(paneTiers), a.tiers.openList(scopeOf{store: v.store}))
}

func (a *App) say(t paint.Tone, text safetext.Text) {
	a.said.tone, a.said.text = t, text
	a.said.add(a.o.Clock.Now(), t, text)
	if a.d.heard != nil {
		a.d.heard(t, text)
	}
}

// key routes a keystroke: to the overlay, the command line, the focused input,
// the pane's keys and then the keys that work everywhere.
func (a *App) key(k tea.KeyPressMsg) tea.Cmd {
	a.said.text, a.curtain.lastKey = safetext.Text{}, a.o.Clock.Now()
	k = enterOf(k)
	name := k.String()
	if k.Code == 'c' && k.Mod.Contains(tea.ModCtrl) {
		return a.press(a.global(), "ctrl+c") // with alt too: that is how escape and ctrl+c in one write arrive
	}
	a.leave.warned = false
	if a.width == 0 {
		a.early.unsized = append(a.early.unsized, k)
		return nil
	}
	if a.curtain.down {
		return a.curtain.lockKey(name)
	}
	if a.tooSmall() {
		if name == "q" {
			return a.leave.interrupt()
		}
		return nil
	}
	if a.d.edits.editing != nil {
		return nil // the screen is about to ask
	}
	if a.d.modal.dialog != nil {
		return a.d.modal.dialogKey(k)
	}
	if a.line.typing {
		return a.line.commandKey(k)
	}
	if p := a.searching(); p != nil {
		return a.searchKey(p, k)
	}
	if a.pages.overlay != nil {
		return a.pages.overlayKey(k)
	}
	p := a.pane()
	in := p.typing()
	if in == nil && k.Mod.Contains(tea.ModAlt) {
		return a.split(k)
	}
	if in == nil && a.early.waits(k, name) {
		return nil
	}
	if in != nil {
		if changed, used := in.Key(k); used {
			if changed {
				return p.typed()
			}
			return nil
		}
		if k.Mod.Contains(tea.ModAlt) {
			return a.split(k)
		}
		return a.press(p.bindings(), name)
	}
	return a.press(a.here(), name)
}

// split takes an alt key for what it most often is: escape and a key that came
// in one piece, as they do over a slow line. No key here has alt, but for those that
// edit a line.
func (a *App) split(k tea.KeyPressMsg) tea.Cmd {
	k.Mod &^= tea.ModAlt
	if k.Mod == tea.ModShift && unicode.IsLetter(k.Code) { // a capital, as the terminal tells it behind escape
		k.Mod, k.Code = 0, unicode.ToUpper(k.Code)
	}
	if k.Mod == 0 && unicode.IsPrint(k.Code) {
		k.Text = string(k.Code)
	}
	return tea.Batch(a.key(tea.KeyPressMsg{Code: tea.KeyEscape}), a.key(k))
}

// press runs a key's handler, or says why it does not work.
func (a *App) press(bindings []act.Act, name string) tea.Cmd {
	b, ok := act.Find(bindings, name)
	if !ok {
		if a.pane().typing() == nil && !a.line.typing {
			a.say(paint.ToneInfo, a.strayWords(name))
		}
		return nil
	}
	if why := b.Reason(); why != "" {
		return a.refuse(b, why)
	}
	if obeyed != nil {
		obeyed(b)
	}
	return b.Do()
}

// stacked is a pane that may show one row of its list on the whole screen.
type stacked interface {
	// beneath are the keys of the list under the page; nil where no page covers it.
	beneath() []act.Act
}

// strayWords answers a key that means nothing here. One that the list below the page
// knows is told so: whoever presses it thinks of that list.
func (a *App) strayWords(name string) safetext.Text {
	esc := a.d.st.Esc
	if p, ok := a.pane().(stacked); ok && a.pages.overlay == nil {
		if _, known := act.Find(p.beneath(), name); known {
			return esc.Sprintf("%s is a key of the list: left goes back there", name)
		}
	}
	return esc.Sprintf("%s does nothing here; ? lists the keys", name)
}

// refuse says why a key does not work: on the status line, or on a page of its
// own when that is too short for the whole reason.
func (a *App) refuse(b act.Act, why string) tea.Cmd {
	esc := a.d.st.Esc
	words := esc.Sprintf("%s: %s", b.Label(), why)
	if words.Width() <= a.width-2 {
		a.say(paint.ToneWarn, words)
		return nil
	}
	return a.pages.openOverlay("Not here", []text.Line{
		{Value: esc.Sprintf("%s: %s", b.Label(), b.Doc), Kind: text.Title},
		{Kind: text.Blank},
		{Value: esc.Const(why)},
	})
}

func (a *App) paste(s string) tea.Cmd {
	p := a.pane()
	in := p.typing()
	if a.width == 0 {
		a.early.unsized = append(a.early.unsized, tea.PasteMsg{Content: s})
		return nil
	}
	switch {
	case a.tooSmall() || a.d.edits.editing != nil || a.curtain.down:
		return nil
	case a.d.modal.dialog != nil:
		return a.d.modal.dialogPaste(s)
	case a.line.typing:
		a.note(a.line.in.Paste(a.d.st.Esc, s))
		return nil
	case a.searching() != nil:
		text := a.searching()
		a.note(text.Search.In.Paste(a.d.st.Esc, s))
		return text.Searched()
	case a.pages.overlay != nil:
		return nil
	case in == nil:
		a.say(paint.ToneInfo, a.d.st.Esc.Const("nothing to paste into here; / opens an input"))
		return nil
	}
	a.note(in.Paste(a.d.st.Esc, s))
	return p.typed()
}

func (a *App) note(t safetext.Text) {
	if !t.IsEmpty() {
		a.say(paint.ToneWarn, t)
	}
}

func (a *App) tooSmall() bool { return a.width < minWidth || a.height < minHeight }
