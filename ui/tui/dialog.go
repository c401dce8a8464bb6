package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/text"
)

// inFlight is how long a new dialog takes no keys: those were pressed for what
// stood there before.
const inFlight = 350 * time.Millisecond

// field is a line to be filled in before an act: a key, a path.
type field struct {
	label safetext.Text
	input text.Input
	wrong safetext.Text // what is to be put right in it; empty: nothing
}

// choice is a button beside Cancel.
type choice struct {
	verb  string
	typed bool // the name must be typed first, when the dialog has one
	// act runs in a command with what was filled in; nil: run is called instead, on
	// the update loop, and the dialog is closed.
	act func(ctx context.Context, f filled) acted
	run func() tea.Cmd
	// begin is called on the update loop when act begins; may be nil.
	begin func() tea.Cmd
	// stops: esc ends the act while it is under way, and nothing is left half done.
	stops bool
}

// filled is what stands in the fields of a dialog.
type filled struct {
	reason string
	fields []string
}

// dialog asks before an act. It starts on Cancel, a form in its first field, or in the one that
// has to be put right.
type dialog struct {
	title    safetext.Text
	lines    []text.Line
	body     *text.Page // shown under the lines, to be scrolled; nil: nothing
	name     string     // to be typed first, as it is shown; empty: nothing is to be typed
	noReason bool       // the audit log is not told why
	must     bool       // a reason is required
	fields   []field
	form     bool // to be filled in, and no act yet
	choices  []choice
	canceled func() tea.Cmd // instead of saying that nothing was changed; may be nil

	reason, typed text.Input
	pager         *text.Pager
	above         int // rows of the question that are scrolled away
	rows, room    int // of the question, and what there is for them
	at            int // in stops
	gen           int
	armed         bool                 // keys count
	early         bool                 // some came before that: the first Enter is not taken for an answer
	aimed         bool                 // the text was moved to its first change, where it has little room
	busy          bool                 // the act is under way
	stop          context.CancelFunc   // of the act under way, when it can be stopped
	stopping      bool                 // and that was asked for
	progress      func() safetext.Text // how far the act is; nil: not known
}

// The kinds of places in a dialog.
const (
	onCancel = iota
	onField
	onReason
	onName
	onChoice
)

// stop is a place of a dialog; n tells fields and choices apart.
type stop struct{ kind, n int }

// stops are the places in the order of tab.
func (d *dialog) stops() []stop {
	out := []stop{{onCancel, 0}}
	for i := range d.fields {
		out = append(out, stop{onField, i})
	}
	if !d.noReason {
		out = append(out, stop{onReason, 0})
	}
	if d.name != "" {
		out = append(out, stop{onName, 0})
	}
	for i := range d.choices {
		out = append(out, stop{onChoice, i})
	}
	return out
}

func (d *dialog) here() stop { return d.stops()[d.at] }

func (d *dialog) jump(kind int) {
	d.at = max(slices.IndexFunc(d.stops(), func(s stop) bool { return s.kind == kind }), 0)
}

// armed says that keys in flight have passed.
type armed struct{ gen int }

// modal is the dialog over everything else, when there is one.
type modal struct {
	*loop
	host   host
	plain  bool // nothing is drawn over anything
	dialog *dialog
	count  int // how many there were
}

// host is the rest of the screen, as a question needs it. Its methods run on the update loop.
type host interface {
	// room is what a pane has.
	room() (width, height int)
	// here is the pane that is open.
	here() int
	// taken reports whether something else has the keys: a page, an input, an editor.
	taken() bool
	// refusal says why nothing may be changed; empty when it may.
	refusal() string
	// underneath is what the question lies over, and the line of the row that is decided on.
	underneath(width, height int) (lines []string, row int)
	// hush empties the status line; note says what became of a paste, if anything.
	hush()
	note(safetext.Text)
	// press obeys a key, or says why not; split obeys escape and a key that came in one piece.
	press(bindings []act.Act, name string) tea.Cmd
	split(k tea.KeyPressMsg) tea.Cmd
	// searching is the text whose search line has the focus, nil when none has.
	searching() *text.Pager
	searchKey(p *text.Pager, k tea.KeyPressMsg) tea.Cmd
	searchLineKeys(p *text.Pager) []act.Act
	// did keeps what takes an act back, and forgets what was used up; changed shows the
	// memory as it is after an act.
	did(undo, undone []string)
	changed(ok bool) tea.Cmd
	// page opens a page over the pane.
	page(title string, p *text.Page) tea.Cmd
}

// proposal is a dialog that is ready to be shown, from a command.
type proposal struct {
	from   int // the pane that asked
	dialog *dialog
	no     safetext.Text  // why there is no dialog
	open   func() tea.Cmd // what is to be opened instead: an editor
	drop   func()         // what becomes of that, in a command, when it is not opened
	// writable: the session could change memory when this was asked for, and the
	// answer is for as long as it can.
	writable bool
}

// acted is how an act ended.
type acted struct {
	gen     int
	ok      bool
	quiet   bool           // nothing in any store was touched
	text    safetext.Text  // for the status line
	undo    []string       // what takes it back, in the order of the changes
	undone  []string       // the undo entries that are used up
	page    *text.Page     // shown instead of a line, when there is more to say
	title   string         // of page
	next    *dialog        // asked instead: what to do about it
	instead func() tea.Cmd // what follows in place of a word: an editor, long work
	beside  func() tea.Cmd // what follows beside all else; nil: nothing
	then    func() tea.Cmd // what follows at once; nil: nothing
}

// propose prepares a dialog in a command and shows it if the operator is still
// where the question was asked.
func (md *modal) propose(prepare func(ctx context.Context) (*dialog, safetext.Text)) tea.Cmd {
	from, writable := md.host.here(), md.host.refusal() == ""
	return md.ask(func(ctx context.Context) any {
		d, no := prepare(ctx)
		return proposal{from: from, dialog: d, no: no, writable: writable}
	})
}

func (md *modal) proposed(m proposal) tea.Cmd {
	gone, drop := md.dialog != nil || md.host.here() != m.from || md.host.taken(), tea.Cmd(nil)
	if m.open != nil {
		drop = md.ask(func(context.Context) any { m.drop(); return nil })
	}
	switch why := md.host.refusal(); {
	case m.dialog == nil && m.open == nil:
		md.say(paint.ToneWarn, m.no)
		return nil
	case m.writable && why != "":
		md.say(paint.ToneWarn, md.st.Esc.Sprintf("nothing was asked and nothing done: this console is read-only: %s", why))
		return drop
	case gone:
		return tea.Batch(md.gone(), drop)
	case m.open != nil:
		return m.open()
	}
	return md.show(m.dialog)
}

func (md *modal) gone() tea.Cmd {
	md.say(paint.ToneInfo, md.st.Esc.Const("you have gone on meanwhile: nothing was asked and nothing done"))
	return nil
}

// show opens a dialog at once.
func (md *modal) show(d *dialog) tea.Cmd {
	md.count++
	d.gen = md.count
	md.dialog = d
	if d.form {
		d.at = 1 + max(slices.IndexFunc(d.fields, func(f field) bool { return !f.wrong.IsEmpty() }), 0)
	}
	md.host.hush()
	if questioned != nil {
		questioned(d, false)
	}
	cmd := md.later(overlayPane)(inFlight, armed{md.count})
	if d.body == nil {
		return cmd
	}
	_, h := md.host.room()
	d.pager = text.New(md.st, md.ask)
	d.pager.Width, d.pager.Height = max(md.boxWidth(d)-2, 8), h
	return tea.Batch(cmd, d.pager.Show(d.body, 0, nil))
}

func (md *modal) arm(m armed) {
	if md.dialog != nil && md.dialog.gen == m.gen {
		md.dialog.armed = true
	}
}

// input is the field at the cursor, or nil.
func (d *dialog) input() *text.Input {
	switch s := d.here(); s.kind {
	case onField:
		return &d.fields[s.n].input
	case onReason:
		return &d.reason
	case onName:
		return &d.typed
	}
	return nil
}

func (d *dialog) step(by int) tea.Cmd {
	n := len(d.stops())
	d.at = (d.at + by + n) % n
	return nil
}

// button goes to the next button of the row, or to the one before.
func (d *dialog) button(by int) tea.Cmd {
	n := len(d.choices) + 1 // and Cancel
	i := 0
	if s := d.here(); s.kind == onChoice {
		i = s.n + 1
	}
	if i = (i + by + n) % n; i == 0 {
		d.jump(onCancel)
		return nil
	}
	d.at = slices.Index(d.stops(), stop{onChoice, i - 1})
	return nil
}

func (md *modal) dialogKey(k tea.KeyPressMsg) tea.Cmd {
	d := md.dialog
	if d.busy && d.stop != nil && (k.Code == tea.KeyEscape || k.Mod.Contains(tea.ModAlt)) { // alt: escape and a key in one piece
		d.stop()
		d.stopping = true
	}
	if !d.armed || d.busy {
		d.early = d.early || !d.armed
		return nil
	}
	if p := md.host.searching(); p != nil { // words are typed that are looked for in the text of the question
		return md.host.searchKey(p, k)
	}
	if d.early && k.Code == tea.KeyEnter {
		d.early = false
		md.say(paint.ToneWarn, md.st.Esc.Const("keys came too early: look, then answer"))
		return nil
	}
	if in := d.input(); in != nil {
		if changed, used := in.Key(k); used {
			if changed {
				d.answered()
			}
			return nil
		}
	}
	if k.Mod.Contains(tea.ModAlt) {
		return md.host.split(k)
	}
	bindings, name := md.dialogBindings(), k.String()
	if _, ok := act.Find(bindings, name); !ok && d.input() == nil {
		words := md.st.Esc.Sprintf("%s does nothing here: %s", name, d.keyWords())
		if _, no := d.yes(); name == "y" && no != "" && len(d.choices) > 0 {
			words = md.st.Esc.Sprintf("y: %s", md.st.Esc.Const(no))
		}
		md.astray(words)
		return nil
	}
	return md.host.press(bindings, name)
}

// answered: the operator writes on, so what the form was sent back for is not said any
// longer; its line stays, so that nothing moves under the cursor.
func (d *dialog) answered() {
	if s := d.here(); s.kind == onField {
		d.fields[s.n].wrong = safetext.Text{}
	}
	if len(d.fields) > 0 && d.lines[0].Kind == text.Warn {
		d.lines[0] = text.Line{Kind: text.Note}
	}
}

// astray answers a key that means nothing to a question: whoever pressed it looks
// elsewhere, so an Enter that follows must not be an act.
func (md *modal) astray(why safetext.Text) {
	if md.dialog.at != 0 {
		md.dialog.jump(onCancel)
		why = md.st.Esc.Sprintf("%s; now on Cancel", why)
	}
	md.say(paint.ToneWarn, why)
}

// dialogPaste is for the field at the cursor.
func (md *modal) dialogPaste(s string) tea.Cmd {
	switch d := md.dialog; {
	case d.busy:
	case !d.armed:
		d.early = true
	case md.host.searching() != nil:
		p := md.host.searching()
		md.host.note(p.Search.In.Paste(md.st.Esc, s))
		return p.Searched()
	case d.input() == nil:
		md.astray(md.st.Esc.Const("nothing to paste into here"))
	default:
		md.host.note(d.input().Paste(md.st.Esc, s))
		d.answered()
	}
	return nil
}

// keyWords are the keys of a question at a button.
func (d *dialog) keyWords() string {
	switch {
	case d.pager != nil:
		return "tab, enter, esc, PgDn, /"
	case d.scrolls():
		return "tab, enter, esc, PgDn"
	}
	return "tab, enter, esc"
}

func (md *modal) dialogBindings() []act.Act {
	d := md.dialog
	if !d.armed || d.busy {
		return nil
	}
	if p := md.host.searching(); p != nil {
		return md.host.searchLineKeys(p)
	}
	next := func() tea.Cmd { return d.step(1) }
	prev := func() tea.Cmd { return d.step(-1) }
	out := []act.Act{
		{Keys: []string{"enter"}, Name: d.enterHint(), Doc: "Cancel or act, or go on to the next field", Do: md.dialogEnter},
		{Keys: []string{"tab", "down"}, Show: "tab", Name: "next", Doc: "to the next field or button", Do: next},
		{Keys: []string{"shift+tab", "up"}, Show: "shift+tab", Doc: "to the field or button before", Do: prev},
		{Keys: []string{"esc"}, Name: "cancel", Doc: "close without doing anything", Do: md.dialogCancel},
	}
	if d.scrolls() {
		out = append(out,
			act.Act{Keys: []string{"pgdown"}, Show: "PgDn", Name: "scroll", Doc: "the text one screen down", Do: func() tea.Cmd { return d.scroll(1) }},
			act.Act{Keys: []string{"pgup"}, Show: "PgUp", Doc: "the text one screen up", Do: func() tea.Cmd { return d.scroll(-1) }})
	}
	if d.pager != nil && d.pager.Text != nil && d.input() == nil {
		if keys := text.TextKeys(d.pager); len(keys) == 1 { // answers come first, as far as the footer has room
			out = append(out, keys...)
		} else {
			out = append(keys, out...)
		}
	}
	if n, no := d.yes(); no == "" && d.input() == nil {
		out = slices.Insert(out, 1, act.Act{Keys: []string{"y"}, Name: "yes", Doc: "do what is asked, where one button acts and nothing has to be typed", Do: func() tea.Cmd {
			d.at = slices.Index(d.stops(), stop{onChoice, n})
			return md.dialogEnter()
		}})
	}
	if d.input() == nil {
		out = append(out,
			act.Act{Keys: []string{"right"}, Doc: "to the next button", Do: func() tea.Cmd { return d.button(1) }},
			act.Act{Keys: []string{"left"}, Doc: "to the button before", Do: func() tea.Cmd { return d.button(-1) }})
	}
	return out
}

// yes is the button that y stands for: the only one, or the only one that acts; or why there is
// none.
func (d *dialog) yes() (choice int, no string) {
	var acts []int
	for i, c := range d.choices {
		if c.act != nil || len(d.choices) == 1 { // the others lead on, and change nothing
			acts = append(acts, i)
		}
	}
	switch {
	case len(acts) != 1:
		return -1, "there is more than one answer: choose its button"
	case len(d.fields) > 0:
		no = "this is a form: its button goes on"
	case d.name != "":
		no = "the name has to be typed first"
	case d.must:
		no = "a reason has to be given first"
	}
	return acts[0], no
}

func (d *dialog) enterHint() string {
	switch s := d.here(); s.kind {
	case onCancel:
		return "cancel"
	case onChoice:
		return d.choices[s.n].verb
	}
	return "next"
}

func (md *modal) dialogCancel() tea.Cmd {
	d := md.dialog
	md.dialog = nil
	if questioned != nil {
		questioned(d, true)
	}
	if d.canceled != nil {
		return d.canceled()
	}
	md.say(paint.ToneInfo, md.st.Esc.Const("cancelled: nothing was changed"))
	return nil
}

func (md *modal) dialogEnter() tea.Cmd {
	d, esc := md.dialog, md.st.Esc
	s := d.here()
	switch s.kind {
	case onCancel:
		return md.dialogCancel()
	case onField, onReason, onName:
		return d.step(1)
	}
	c := d.choices[s.n]
	switch {
	case d.name != "" && c.typed && d.typed.Value() != d.name:
		md.say(paint.ToneWarn, esc.Sprintf("type the name first: %s", esc.Line(d.name)))
		d.jump(onName)
		return nil
	case d.must && c.act != nil && d.reason.Value() == "":
		md.say(paint.ToneWarn, esc.Const("give a reason first"))
		d.jump(onReason)
		return nil
	case c.act == nil:
		md.dialog = nil
		return c.run()
	}
	d.busy = true
	f, gen := filled{reason: d.reason.Value()}, d.gen
	for i := range d.fields {
		f.fields = append(f.fields, d.fields[i].input.Value())
	}
	ctx, cancel := context.WithCancel(md.ctx)
	if c.stops {
		d.stop = cancel
	}
	var begin tea.Cmd
	if c.begin != nil {
		begin = c.begin()
	}
	return tea.Batch(begin, md.ask(func(context.Context) any {
		defer cancel()
		out := c.act(ctx, f)
		out.gen = gen
		return out
	}))
}

// acted ends a dialog whose act is over, and shows what became of it.
func (md *modal) acted(m acted) tea.Cmd {
	if md.dialog != nil && md.dialog.gen == m.gen {
		md.dialog = nil
	}
	md.host.did(m.undo, m.undone)
	switch {
	case m.next != nil:
		return md.show(m.next)
	case m.instead != nil:
		return m.instead()
	}
	tone := paint.ToneInfo
	if !m.ok {
		tone = paint.ToneWarn
	}
	md.say(tone, m.text)
	if m.then != nil {
		return m.then()
	}
	if m.quiet {
		return md.showPage(m)
	}
	var beside tea.Cmd
	if m.beside != nil {
		beside = m.beside()
	}
	return tea.Batch(beside, md.host.changed(m.ok), md.showPage(m))
}

func (md *modal) showPage(m acted) tea.Cmd {
	if m.page == nil {
		return nil
	}
	return md.host.page(m.title, m.page)
}
