// Package dialog asks before an act, from the first key to the result of the act.
package dialog

import (
	"context"
	"image"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/ui/act"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// InFlight is the time in which a new dialog ignores keys: they were pressed for the screen before.
const InFlight = 350 * time.Millisecond

// Field is an input line of a dialog: a key, a path.
type Field struct {
	Label safetext.Text
	Input text.Input
	Wrong safetext.Text // the error in it; empty: none
}

// Choice is a button beside Cancel.
type Choice struct {
	Verb  string
	Key   string // beside its button; empty: none
	Typed bool   // the dialog's name must be typed first, and its reason given where it Must be
	// Act runs in a command, with the fields; nil: the dialog closes, and Run runs on the update loop.
	Act func(ctx context.Context, f Filled) Acted
	Run func() tea.Cmd
	// Begin is called on the update loop when Act begins; may be nil.
	Begin func() tea.Cmd
	// Stops: esc ends a running act, and nothing is left half done.
	Stops bool
}

type Filled struct {
	Reason string
	Fields []string
}

// Dialog asks before an act. It starts on Cancel, a form in its first field or in the one with an error.
type Dialog struct {
	Title    safetext.Text
	Lines    []text.Line
	Body     *text.Page    // shown under the lines, scrollable; nil: nothing
	Name     safetext.Text // to be typed first, as shown; empty: nothing to type
	NoReason bool          // no reason is asked for the audit log
	Must     bool          // a reason is required, by the choices that are Typed
	Fields   []Field
	Form     bool // asks for fields, and is no act yet
	Choices  []Choice
	Canceled func() tea.Cmd // instead of saying that nothing was changed; may be nil

	Reason, typed text.Input
	Pager         *text.Pager
	above         int // rows of the question scrolled away
	rows, room    int // of the question, and the room for them
	at            int // in stops
	Gen           int
	Armed         bool                 // keys are accepted
	early         bool                 // keys came before that: the first Enter is not taken for an answer
	stray         bool                 // the key before meant nothing here
	aimed         bool                 // the text was moved to its first change, for lack of room
	Busy          bool                 // the act is running
	Stop          context.CancelFunc   // of the running act, when it can be stopped
	stopping      bool                 // a stop was requested
	Progress      func() safetext.Text // of the running act; nil: unknown
}

const (
	onCancel = iota
	onField
	onReason
	onName
	onChoice
)

// stop is a place of a dialog that tab reaches; n tells fields and choices apart.
type stop struct{ kind, n int }

// stops are the stops in the order of tab.
func (d *Dialog) stops() []stop {
	out := []stop{{onCancel, 0}}
	for i := range d.Fields {
		out = append(out, stop{onField, i})
	}
	if !d.NoReason {
		out = append(out, stop{onReason, 0})
	}
	if !d.Name.IsEmpty() {
		out = append(out, stop{onName, 0})
	}
	for i := range d.Choices {
		out = append(out, stop{onChoice, i})
	}
	return out
}

func (d *Dialog) here() stop { return d.stops()[d.at] }

func (d *Dialog) jump(kind int) {
	d.at = max(slices.IndexFunc(d.stops(), func(s stop) bool { return s.kind == kind }), 0)
}

// Armed says that the keys in flight have passed.
type Armed struct{ Gen int }

// Modal is the dialog over everything else, when there is one.
type Modal struct {
	*loop.Loop
	Host   Host
	Plain  bool // no overlays
	Dialog *Dialog
	count  int // count of questions so far
	Asked  int // the one that is on its way; 0: none, or given up
}

// Host is the rest of the screen, as a question sees it. Its methods run on the update loop.
type Host interface {
	// Room is the size of a pane.
	Room() (width, height int)
	// Here is the pane that is open.
	Here() int
	// Taken reports whether something else has the keys: a page, an input, an editor.
	Taken() bool
	// Refusal says why nothing may be changed; empty when it may.
	Refusal() string
	// Underneath is the screen below the question, the row in question on it, and the text that the question is about:
	// the detail of that row, or a page. Either may be empty.
	Underneath(width, height int) (lines []string, row, about image.Rectangle)
	// Hush empties the status line; note tells the result of a paste, if any.
	Hush()
	Note(safetext.Text)
	// Press obeys a key or says why not; Split obeys escape and a key that came in one piece.
	Press(bindings []act.Act, name string) tea.Cmd
	Split(k tea.KeyPressMsg) tea.Cmd
	// Searching is the text whose search line has the focus, or nil.
	Searching() *text.Pager
	SearchKey(p *text.Pager, k tea.KeyPressMsg) tea.Cmd
	SearchLineKeys(p *text.Pager) []act.Act
	// Did keeps the undo entries of an act and forgets the used ones; Changed shows the memory after an act.
	Did(undo, undone []string)
	Changed(ok bool) tea.Cmd
	// Page opens a page over the pane.
	Page(title string, p *text.Page) tea.Cmd
}

// Proposal is a dialog, ready to be shown, from a command.
type Proposal struct {
	From   int // the pane that asked
	nth    int // of the questions
	Dialog *Dialog
	No     safetext.Text  // why there is no dialog
	Open   func() tea.Cmd // opened instead of a dialog: an editor
	Drop   func()         // runs in a command when nothing is opened or shown
	Begin  func()         // called on the update loop in any case; may be nil
	// Writable: the session was writable when this was asked for, and must still be.
	Writable bool
}

type Acted struct {
	Gen     int
	Ok      bool
	Quiet   bool           // no store was changed
	Text    safetext.Text  // for the status line
	Undo    []string       // undo entries of the changes, in order
	Undone  []string       // undo entries that z offers no more
	Page    *text.Page     // shown instead of a line, for a longer result
	Title   string         // of Page
	Next    *Dialog        // the next question, instead of a result
	Instead func() tea.Cmd // runs instead of showing a result: an editor, long work
	Beside  func() tea.Cmd // runs beside all else; nil: nothing
	Then    func() tea.Cmd // runs at once; nil: nothing
}

// Again, in a command, asks the same question with what was typed, and says why above it.
func (d *Dialog) Again(f Filled, why safetext.Text) Acted {
	next := &Dialog{Title: d.Title, Body: d.Body, Name: d.Name, NoReason: d.NoReason, Must: d.Must, Form: d.Form, Choices: d.Choices, Canceled: d.Canceled}
	next.Lines = append([]text.Line{{Value: why, Kind: text.Alert}}, d.Lines...)
	for i := range d.Fields {
		next.Fields = append(next.Fields, Field{Label: d.Fields[i].Label})
		if i < len(f.Fields) {
			next.Fields[i].Input.Set(f.Fields[i])
		}
	}
	return Acted{Next: next}
}

// Does adds a choice that acts on the fields and, where it fails, asks again: failed stands before the reason.
func (d *Dialog) Does(esc safetext.Escaper, verb, failed string, do func(ctx context.Context, fields []string) (Acted, error)) *Dialog {
	d.Choices = append(d.Choices, Choice{Verb: verb, Act: func(ctx context.Context, f Filled) Acted {
		out, err := do(ctx, f.Fields)
		if err != nil {
			return d.Again(f, esc.Sprintf("%s: %s", failed, prose.Reason(esc, err)))
		}
		return out
	}})
	return d
}

// Prepare makes a proposal in a command and shows it if the operator is still at the same place.
func (md *Modal) Prepare(prepare func(ctx context.Context) Proposal) tea.Cmd {
	md.count++
	md.Asked = md.count
	from, nth, writable := md.Host.Here(), md.count, md.Host.Refusal() == ""
	return md.Ask(func(ctx context.Context) any {
		m := prepare(ctx)
		m.From, m.nth, m.Writable = from, nth, writable
		return m
	})
}

func (md *Modal) Proposed(m Proposal) tea.Cmd {
	gone, drop := m.nth != md.Asked || md.Dialog != nil || md.Host.Here() != m.From || md.Host.Taken(), tea.Cmd(nil)
	if m.nth == md.Asked {
		md.Asked = 0
	}
	if m.Begin != nil {
		m.Begin()
	}
	if m.Drop != nil {
		drop = md.Ask(func(context.Context) any { m.Drop(); return nil })
	}
	switch why := md.Host.Refusal(); {
	case m.Dialog == nil && m.Open == nil:
		md.Say(paint.ToneWarn, m.No)
		return nil
	case m.Writable && why != "":
		md.Warn("nothing was asked and nothing done: this console is read-only: %s", why)
		return drop
	case gone:
		return tea.Batch(md.Tell("you have gone on meanwhile: nothing was asked and nothing done"), drop)
	case m.Open != nil:
		return m.Open()
	}
	return md.Show(m.Dialog)
}

func (md *Modal) Show(d *Dialog) tea.Cmd {
	md.count++
	d.Gen = md.count
	md.Dialog = d
	if d.Form {
		d.at = 1 + max(slices.IndexFunc(d.Fields, func(f Field) bool { return !f.Wrong.IsEmpty() }), 0)
	}
	md.Host.Hush()
	if Questioned != nil {
		Questioned(d, false)
	}
	cmd := md.Later(loop.Over)(InFlight, Armed{md.count})
	if d.Body == nil {
		return cmd
	}
	_, h := md.Host.Room()
	d.Pager = text.New(md.St, md.Ask)
	d.Pager.Width, d.Pager.Height = max(md.BoxWidth(d)-2, 8), h
	return tea.Batch(cmd, d.Pager.Show(d.Body, 0, nil))
}

func (md *Modal) Arm(m Armed) {
	if md.Dialog != nil && md.Dialog.Gen == m.Gen {
		md.Dialog.Armed = true
	}
}

// input is the field at the cursor, or nil.
func (d *Dialog) input() *text.Input {
	switch s := d.here(); s.kind {
	case onField:
		return &d.Fields[s.n].Input
	case onReason:
		return &d.Reason
	case onName:
		return &d.typed
	}
	return nil
}

func (d *Dialog) step(by int) tea.Cmd {
	n := len(d.stops())
	d.at = (d.at + by + n) % n
	return nil
}

// button moves to the next button of the row, or to the previous.
func (d *Dialog) button(by int) tea.Cmd {
	n := len(d.Choices) + 1 // and Cancel
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

func (md *Modal) Key(k tea.KeyPressMsg) tea.Cmd {
	d := md.Dialog
	if d.Busy && d.Stop != nil && (k.Code == tea.KeyEscape || k.Mod.Contains(tea.ModAlt)) { // alt: escape and a key in one piece
		d.Stop()
		d.stopping = true
	}
	if !d.Armed || d.Busy {
		d.early = d.early || !d.Armed
		return nil
	}
	if p := md.Host.Searching(); p != nil { // the keys type words to search in the text of the question
		return md.Host.SearchKey(p, k)
	}
	if d.early && k.Code == tea.KeyEnter {
		d.early = false
		return md.Warn("keys came too early: look, then answer")
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
		return md.Host.Split(k)
	}
	bindings, name := md.Bindings(), k.String()
	after := d.stray
	d.stray = false
	if name == "y" && after && d.input() == nil { // whoever types words does not answer
		md.astray(md.St.Esc.Const("y was not taken after a stray key: look, then press y again"))
		return nil
	}
	if _, ok := act.Find(bindings, name); !ok && d.input() == nil {
		d.stray = true
		words := md.St.Esc.Sprintf("%s does nothing here: %s", name, d.keyWords())
		if _, no, lacks := d.yes(); name == "y" && no != "" && len(d.Choices) > 0 {
			words = md.St.Esc.Sprintf("y: %s", md.St.Esc.Const(no))
			if lacks != onCancel { // whoever reads this types on
				d.jump(lacks)
				md.Say(paint.ToneWarn, words)
				return nil
			}
		}
		md.astray(words)
		return nil
	}
	return md.Host.Press(bindings, name)
}

// answered clears the error of a form once the operator types on; its line stays, so that nothing moves.
func (d *Dialog) answered() {
	if s := d.here(); s.kind == onField {
		d.Fields[s.n].Wrong = safetext.Text{}
	}
	if len(d.Fields) > 0 && d.Lines[0].Kind == text.Alert {
		d.Lines[0] = text.Line{Kind: text.Note}
	}
}

// astray answers a key without a meaning, and moves to Cancel: its operator looks elsewhere.
func (md *Modal) astray(why safetext.Text) {
	if md.Dialog.at != 0 {
		md.Dialog.jump(onCancel)
		why = md.St.Esc.Sprintf("%s; now on Cancel", why)
	}
	md.Say(paint.ToneWarn, why)
}

// Paste inserts into the field at the cursor.
func (md *Modal) Paste(s string) tea.Cmd {
	switch d := md.Dialog; {
	case d.Busy:
	case !d.Armed:
		d.early = true
	case md.Host.Searching() != nil:
		p := md.Host.Searching()
		md.Host.Note(p.Search.In.Paste(md.St.Esc, s))
		return p.Searched()
	case d.input() == nil:
		md.astray(md.St.Esc.Const("nothing to paste into here"))
	default:
		md.Host.Note(d.input().Paste(md.St.Esc, s))
		d.answered()
	}
	return nil
}

// keyWords are the keys of a question while a button has the focus.
func (d *Dialog) keyWords() string {
	words := "tab, enter, esc"
	if d.scrolls() {
		words += ", PgDn"
	}
	if d.Pager != nil {
		words += ", /"
	}
	return words
}

func (md *Modal) Bindings() []act.Act {
	d := md.Dialog
	if !d.Armed || d.Busy {
		return nil
	}
	if p := md.Host.Searching(); p != nil {
		return md.Host.SearchLineKeys(p)
	}
	next := func() tea.Cmd { return d.step(1) }
	prev := func() tea.Cmd { return d.step(-1) }
	out := []act.Act{
		{Keys: []string{"enter"}, Name: d.enterHint(), Doc: "Cancel or act, or go on to the next field", Do: md.Enter},
		{Keys: []string{"tab", "down"}, Show: "tab", Name: "next", Doc: "to the next field or button", Do: next},
		{Keys: []string{"shift+tab", "up"}, Show: "shift+tab", Doc: "to the field or button before", Do: prev},
		{Keys: []string{"esc"}, Name: "cancel", Doc: "close without doing anything", Do: md.dialogCancel},
	}
	if d.scrolls() {
		out = append(out,
			act.Act{Keys: []string{"pgdown"}, Show: "PgDn", Name: "scroll", Doc: "the text one screen down", Do: func() tea.Cmd { return d.scroll(1) }},
			act.Act{Keys: []string{"pgup"}, Show: "PgUp", Doc: "the text one screen up", Do: func() tea.Cmd { return d.scroll(-1) }})
	}
	if d.Pager != nil && d.Pager.Text != nil && d.input() == nil {
		if keys := text.TextKeys(d.Pager); len(keys) == 1 { // answers first, as far as the footer has room
			out = append(out, keys...)
		} else {
			out = append(keys, out...)
		}
	}
	if d.input() == nil {
		push := func(n int, key, doc string) act.Act {
			return act.Act{Keys: []string{key}, Name: strings.ToLower(d.Choices[n].Verb), Doc: doc, Do: func() tea.Cmd {
				d.at = slices.Index(d.stops(), stop{onChoice, n})
				return md.Enter()
			}}
		}
		var answers []act.Act
		if n, no, _ := d.yes(); no == "" {
			answers = append(answers, push(n, "y", "do what is asked, where one button acts and nothing more has to be typed"))
		}
		for n, c := range d.Choices {
			if c.Key != "" {
				answers = append(answers, push(n, c.Key, "the button of this name"))
			}
		}
		out = append(slices.Insert(out, 1, answers...),
			act.Act{Keys: []string{"right"}, Doc: "to the next button", Do: func() tea.Cmd { return d.button(1) }},
			act.Act{Keys: []string{"left"}, Doc: "to the button before", Do: func() tea.Cmd { return d.button(-1) }})
	}
	return out
}

// yes is the button of the key y: the only one, or the only one that acts; or why there is none, and which stop has to be
// filled first.
func (d *Dialog) yes() (choice int, no string, lacks int) {
	var acts []int
	for i, c := range d.Choices {
		if c.Act != nil || len(d.Choices) == 1 { // the others lead on and change nothing
			acts = append(acts, i)
		}
	}
	switch {
	case len(acts) != 1:
		return -1, "there is more than one answer: choose its button", onCancel
	case len(d.Fields) > 0:
		no = "this is a form: its button goes on"
	case d.Must && strings.TrimSpace(d.Reason.Value()) == "":
		no, lacks = "a reason has to be given first", onReason
	case !d.Name.IsEmpty() && strings.TrimSpace(d.typed.Value()) == "": // Enter, which y pushes, compares it
		no, lacks = "the name has to be typed first", onName
	}
	return acts[0], no, lacks
}

func (d *Dialog) enterHint() string {
	switch s := d.here(); s.kind {
	case onCancel:
		return "cancel"
	case onChoice:
		return strings.ToLower(d.Choices[s.n].Verb)
	}
	return "next"
}

func (md *Modal) dialogCancel() tea.Cmd {
	d := md.Dialog
	md.Dialog = nil
	if Questioned != nil {
		Questioned(d, true)
	}
	if d.Canceled != nil {
		return d.Canceled()
	}
	return md.Tell("cancelled: nothing was changed")
}

func (md *Modal) Enter() tea.Cmd {
	d, esc := md.Dialog, md.St.Esc
	s := d.here()
	switch s.kind {
	case onCancel:
		return md.dialogCancel()
	case onField, onReason, onName:
		return d.step(1)
	}
	c := d.Choices[s.n]
	switch {
	case c.Typed && !d.IsName(esc, d.typed.Value()):
		md.Warn("type the name first: %s", d.Name)
		d.jump(onName)
		return nil
	case d.Must && c.Typed && strings.TrimSpace(d.Reason.Value()) == "":
		md.Warn("give a reason first")
		d.jump(onReason)
		return nil
	}
	return md.Do(d, c)
}

// IsName reports whether the name was typed that the dialog asks for, as it is shown or with the characters that
// are shown escaped.
func (d *Dialog) IsName(esc safetext.Escaper, typed string) bool {
	name := d.Name.String()
	return typed == name || esc.Line(typed).String() == name
}

// Do does what a button is for, with what the fields hold.
func (md *Modal) Do(d *Dialog, c Choice) tea.Cmd {
	if c.Act == nil {
		md.Dialog = nil
		return c.Run()
	}
	d.Busy = true
	f, gen := Filled{Reason: d.Reason.Value()}, d.Gen
	for i := range d.Fields {
		f.Fields = append(f.Fields, d.Fields[i].Input.Value())
	}
	ctx, cancel := context.WithCancel(md.Ctx)
	if c.Stops {
		d.Stop = cancel
	}
	var begin tea.Cmd
	if c.Begin != nil {
		begin = c.Begin()
	}
	return tea.Batch(begin, md.Ask(func(context.Context) any {
		defer cancel()
		out := c.Act(ctx, f)
		out.Gen = gen
		return out
	}))
}

// Acted closes the dialog of a finished act and shows the result.
func (md *Modal) Acted(m Acted) tea.Cmd {
	if md.Dialog != nil && md.Dialog.Gen == m.Gen {
		md.Dialog = nil
	}
	md.Host.Did(m.Undo, m.Undone)
	switch {
	case m.Next != nil:
		return md.Show(m.Next)
	case m.Instead != nil:
		return m.Instead()
	}
	tone := paint.ToneInfo
	if !m.Ok {
		tone = paint.ToneWarn
	}
	md.Say(tone, m.Text)
	if m.Then != nil {
		return m.Then()
	}
	if m.Quiet {
		return md.showPage(m)
	}
	var beside tea.Cmd
	if m.Beside != nil {
		beside = m.Beside()
	}
	return tea.Batch(beside, md.Host.Changed(m.Ok), md.showPage(m))
}

func (md *Modal) showPage(m Acted) tea.Cmd {
	if m.Page == nil {
		return nil
	}
	return md.Host.Page(m.Title, m.Page)
}

// Questioned hears each question that is asked or cancelled. Only tests set it.
var Questioned func(d *Dialog, cancelled bool)
