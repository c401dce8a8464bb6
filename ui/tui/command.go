package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/backends"
	"memdesk/internal/meant"
	"memdesk/internal/safetext"
	"memdesk/operator"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane/tiers"
)

// Verbs are the commands after `:` that work everywhere, then the words of the acts that work here.
func (l *commandLine) Verbs() []act.Act {
	a, w := l.a, l.a.D.Work
	nothing := func(do func()) func() tea.Cmd { return func() tea.Cmd { do(); return nil } }
	to := func(n int) func() tea.Cmd { return func() tea.Cmd { return l.goTo(n) } }
	page := func(title string, lines func() []text.Line) func() tea.Cmd {
		return func() tea.Cmd { return a.Pages.openOverlay(title, lines()) }
	}
	create := act.Create.Taking(l.runCreate)
	create.Choices = l.placeNames
	return []act.Act{
		{Verb: "store", Args: "[NAME [TIER [SCOPE]]]", Doc: "the items of a store, a tier or a scope of it; where one store is open it needs no name",
			Examples: []string{"store graph; all tiers", "store graph longterm; one tier"}, Ask: l.runStore, Choices: l.placeNames},
		{Verb: "tier", Args: "NAME", Doc: "the items of a tier of the store at the cursor", Ask: l.runTier, Choices: func() []string { return l.tierNames(l.a.Tiers.StoreHere()) }},
		{Verb: "go", Args: "REF", Doc: "the item with this reference, store:id", Ask: l.runGo, Choices: l.references, More: l.moreReferences},
		{Verb: "recall", Args: "WORDS", Doc: "ask every store for these words", Examples: []string{"recall deploy window"}, Words: l.queryWords,
			Ask: func(words string) tea.Cmd {
				if words == "" || a.Recall.Unavailable() != "" { // without words the last hits stay
					return l.goTo(PaneRecall)
				}
				return tea.Batch(a.Enter(PaneRecall), a.Recall.Look(words))
			}},
		{Verb: "audit", Args: "[WORDS]", Doc: "the audit log, filtered by these words",
			Examples: []string{"audit actor:ann action:forget store:graph", "audit outcome:refused since:2026-05-01 until:2026-05-20", "audit !actor:ann; of everybody else"}, Ask: l.runRecords(PaneAudit), Words: l.auditWords},
		{Verb: "quarantine", Args: "[WORDS]", Doc: "what scanners blocked, filtered by these words", Examples: []string{"quarantine ignore_previous"}, Ask: l.runRecords(PaneQuarantine)},
		{Verb: "conflicts", Args: "[WORDS]", Doc: "second copies of items, filtered by these words", Examples: []string{"conflicts", "1; then: why it is a conflict, and what differs"}, Ask: l.runRecords(PaneConflicts)},
		{Verb: "erasure", Args: "[WORDS]", Doc: "requests to be forgotten, filtered by these words", Examples: []string{"erasure", "1; then: its state, its run, what there is to do"}, Ask: l.runRecords(PaneErasure)},
		{Verb: "health", Doc: "every provider", Examples: []string{"health", "1; then: latency, last success, fill against caps, what it can and cannot do"}, Do: to(PaneHealth)},
		{Verb: "tiers", Args: "[WORDS]", Doc: "stores, scopes and tiers, those with these words", Examples: []string{"tiers graph"}, Ask: func(words string) tea.Cmd {
			if words == "" { // a list of items stays
				return l.goTo(PaneTiers)
			}
			return tea.Batch(l.goTo(PaneTiers), l.a.Tiers.Narrow(words))
		}},
		create,
		{Verb: "undo", Args: "[ENTRY]", Doc: "what can be put back, or one entry of it", Ask: l.runUndo},
		{Verb: "jobs", Doc: "long work of this console and of others: progress, outcomes, C stops", Do: w.OpenJobs},
		{Verb: "export", Doc: "what is shown, into a file: the same as x", Do: l.runExport},
		{Verb: "save", Args: "NAME", Doc: "keep this list as it stands, as a view of this session; says how to keep it for good", Ask: l.saveView},
		{Verb: "view", Args: "NAME", Doc: "bring a view back: of :save, or of [ui.views] in the configuration", Ask: l.openView, Choices: l.viewNames, Says: l.viewWords},
		{Verb: "readonly", Args: "[on|off]", Doc: "make this session read-only; lifting that asks first", Ask: l.RunReadOnly, Choices: func() []string { return []string{"on", "off"} }},
		{Verb: "theme", Args: "NAME", Doc: "other colours, for this session", Ask: l.runTheme, Choices: paint.Themes},
		{Verb: "lock", Doc: "hide the screen until U is pressed", Do: nothing(a.Curtain.lock)},
		{Verb: "notices", Doc: "the notices of the start", Do: page("Notices", a.Pages.noticeLines)},
		{Verb: "rescan", Doc: "what today's rules flag otherwise than the last scan that was kept", Do: a.stories.AskRescan},
		{Verb: "messages", Doc: "what was said on the status line in this session, whole, with the time", Do: page("Messages", a.Pages.messageLines)},
		{Verb: "kept", Doc: "your texts that were put aside instead of being saved", Do: l.a.D.Edits.OpenKept},
		act.Help.Called("the keys and commands, those with these words").Taking(l.runHelp),
		{Verb: "quit", Doc: "leave memdesk", Do: a.leave.leave},
		{Verb: "q", Doc: "short for quit", Do: a.leave.leave},
	}
}

// known are the commands that can be typed now: an act of the place takes the row at the cursor.
func (l *commandLine) known() []act.Act {
	out := l.Verbs()
	for _, k := range append(l.a.pane().Bindings(), l.a.global()...) {
		taken := slices.ContainsFunc(out, func(v act.Act) bool { return v.Verb == k.Verb })
		if k.Verb == "" || taken || l.a.Pages.Overlay != nil {
			continue
		}
		if k.Ask == nil {
			k = k.Whole()
		}
		out = append(out, k)
	}
	return out
}

// commandLine is the input behind a colon.
type commandLine struct {
	a      *App
	views  map[string]backends.ViewConfig // configured, and kept in this session
	in     text.Input
	typing bool // it has the focus
	past   history
	palette
	places []act.Section // of the acts of all panes; nil until they are needed
}

// history holds the commands of this session, the newest last, in memory only: a query may name a person.
type history struct {
	lines []string
	at    int // the line shown; len(lines): the one being typed
}

const maxHistory = 200

func (h *history) add(line string) {
	h.lines = slices.DeleteFunc(h.lines, func(l string) bool { return l == line })
	h.lines = append(h.lines, line)
	h.lines = h.lines[max(len(h.lines)-maxHistory, 0):]
}

// step moves through the lines; behind the last one the line is empty.
func (h *history) step(by int) string {
	h.at = max(min(h.at+by, len(h.lines)), 0)
	return slices.Concat(h.lines, []string{""})[h.at]
}

func (l *commandLine) openCommand() tea.Cmd {
	l.typing = true
	l.in = text.Input{Focus: true}
	return l.edited()
}

func (l *commandLine) closeCommand() tea.Cmd {
	l.typing = false
	return nil
}

func (l *commandLine) commandBindings() []act.Act {
	move := func(by int) func() tea.Cmd {
		return func() tea.Cmd {
			if back := by < 0 && l.in.Value() == "" && l.turn < 0; !back && l.past.at == len(l.past.lines) {
				return l.choose(by)
			}
			l.in.Set(l.past.step(by))
			return l.list()
		}
	}
	return []act.Act{
		{Keys: []string{"enter"}, Name: "run", Doc: "run the command", Do: l.runCommand},
		{Keys: []string{"tab"}, Name: "complete", Doc: "complete the word, or go round the list", Do: l.complete},
		{Keys: []string{"down"}, Show: "Down Up", Name: "choose", Doc: "put the next row of the list on the line; after Up on an empty line, the command after", Do: move(1)},
		{Keys: []string{"up"}, Show: "Up", Doc: "the row before; on an empty line, the command before of this session", Do: move(-1)},
		{Keys: []string{"esc"}, Name: "cancel", Doc: "back without a command", Do: l.closeCommand},
	}
}

func (l *commandLine) commandKey(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "backspace" && l.in.Value() == "" {
		return l.closeCommand()
	}
	return l.a.typed(&l.in, k, l.edited, l.commandBindings)
}

// edited takes a line that was typed in: it is none of the commands before.
func (l *commandLine) edited() tea.Cmd {
	l.past.at = len(l.past.lines)
	return l.list()
}

func (l *commandLine) runCommand() tea.Cmd {
	l.closeCommand()
	line := strings.TrimSpace(l.in.Value())
	if line == "" {
		return nil
	}
	l.past.add(line)
	return l.run(line)
}

// run obeys a line, typed or bound to a key.
func (l *commandLine) run(line string) tea.Cmd {
	v := l.meant(line)
	argument, ok := v.Takes(line)
	switch {
	case !ok:
		return l.unknown(line)
	case v.Args == "" && argument != "":
		return l.a.D.Warn(":%s takes nothing after it; nothing was done", v.Verb)
	}
	if obeyed != nil {
		obeyed(act.Act{Keys: []string{":" + v.Verb}, Doc: v.Doc})
	}
	if v.Verb != "theme" && v.Verb != "lock" { // these keep the operator on the page
		l.a.Pages.Overlay = nil
	}
	if why := v.Reason(); why != "" {
		return l.a.Refuse(v, why)
	}
	return v.Run(argument)
}

// unknown says where the act works that a line begins with, or which command is likely meant.
func (l *commandLine) unknown(line string) tea.Cmd {
	for _, c := range l.elsewhere(l.known()) {
		if _, ok := c.act.Takes(line); ok {
			return l.a.D.Warn(":%s (%s) works in %s", c.word, c.act.Label(), c.where)
		}
	}
	name, _, _ := strings.Cut(line, " ")
	if near := l.nearest(name); near != "" {
		return l.a.D.Warn("no command %q; did you mean :%s? :help lists them all", name, near)
	}
	return l.a.D.Warn("no command %q; :help lists them all", name)
}

// meant is the command that a line begins with.
func (l *commandLine) meant(line string) (v act.Act) {
	for _, k := range l.known() {
		if _, ok := k.Takes(line); ok && len(k.Verb) > len(v.Verb) { // mark all, not mark
			v = k
		}
	}
	return v
}

// nearest is the most likely command: the first that begins so, or one with a slip or two; empty when none is near.
func (l *commandLine) nearest(name string) string {
	if rows := l.choices(name); len(rows) > 0 && strings.HasPrefix(rows[0].word, name) {
		return rows[0].word
	}
	var verbs []string
	for _, v := range l.known() {
		verbs = append(verbs, v.Verb)
	}
	return meant.Nearest(name, verbs)
}

// queryWords are words of earlier queries in this session.
func (l *commandLine) queryWords() []string {
	var out []string
	for i := len(l.past.lines) - 1; i >= 0; i-- {
		if query, ok := strings.CutPrefix(l.past.lines[i], "recall "); ok {
			out = append(out, strings.Fields(query)...)
		}
	}
	return append(out, strings.Fields(l.a.Recall.Filter.Value())...)
}

// auditWords are the fields of a log filter, with their known values.
func (l *commandLine) auditWords() []string {
	var out []string
	for _, f := range operator.AuditFields {
		values := map[string][]string{"store": l.storeNames(), "action": {"retain", "forget", "recall"}, "outcome": {"ok", "refused", "failed", "open"}, "phase": {"intent", "outcome"}}[f]
		if len(values) == 0 {
			values = []string{""}
		}
		for _, v := range values {
			out = append(out, f+":"+v)
		}
	}
	return out
}

func (l *commandLine) storeNames() []string {
	var out []string
	for _, m := range l.a.members {
		out = append(out, m.Name)
	}
	return out
}

// placeNames are the stores, behind a store on the line its tiers, and behind a tier its scopes.
func (l *commandLine) placeNames() (out []string) {
	line := l.in.Value()
	switch w := strings.Fields(line[:strings.LastIndexByte(line, ' ')+1]); len(w) {
	case 0, 1:
		return l.storeNames()
	case 2:
		for _, tier := range l.tierNames(w[1]) {
			out = append(out, w[1]+" "+tier)
		}
	case 3:
		for _, c := range l.a.Tiers.Overview.Tallies[w[1]].Counts {
			if c.Tier == w[2] && len(strings.Fields(c.Scope)) == 1 {
				out = append(out, w[1]+" "+w[2]+" "+c.Scope)
			}
		}
	}
	return out
}

func (l *commandLine) tierNames(store string) []string {
	var out []string
	s, _ := l.a.D.Fleet.Store(store)
	for _, t := range s.Tiers {
		out = append(out, t.Name)
	}
	return out
}

// goTo opens a pane, or says why it cannot be opened.
func (l *commandLine) goTo(n int) tea.Cmd {
	if why := l.a.Panes[n].Unavailable(); why != "" {
		return l.a.D.Warn("%s", why)
	}
	return l.a.Enter(n)
}

// Place is the place that words name: store, tier and scope; where one store is open it needs no name. why says why there is none.
func (l *commandLine) Place(words string) (at desk.ScopeOf, why string) {
	w := append(strings.Fields(words), "", "", "")
	at = desk.ScopeOf{Store: w[0], Tier: w[1], Scope: w[2]}
	names := l.storeNames()
	if at.Store == "" && len(names) == 1 {
		at.Store = names[0]
	}
	if at.Store == "" && len(names) > 0 {
		return at, "say which store; there are " + strings.Join(names, ", ")
	}
	if _, err := l.a.D.Fleet.Store(at.Store); err != nil {
		return at, prose.Reason(l.a.D.Esc, err).String()
	}
	return at, ""
}

func (l *commandLine) runStore(words string) tea.Cmd {
	at, why := l.Place(words)
	if why != "" {
		return l.a.D.Warn("%s", why)
	}
	return l.openAt(at)
}

func (l *commandLine) openAt(at desk.ScopeOf) tea.Cmd {
	if names := l.tierNames(at.Store); at.Tier != "" && len(names) > 0 && !slices.Contains(names, at.Tier) {
		return l.a.D.Warn("%s has no tier %q; there are %s", at.Store, at.Tier, strings.Join(names, ", "))
	}
	return l.a.visit(at)
}

func (l *commandLine) runTier(tier string) tea.Cmd {
	store := l.a.Tiers.StoreHere()
	if tier == "" {
		return l.a.D.Warn("say which tier of %s; there are %s", store, strings.Join(l.tierNames(store), ", "))
	}
	return l.openAt(desk.ScopeOf{Store: store, Tier: tier})
}

// runCreate makes an item in a place, or in the one on the screen.
func (l *commandLine) runCreate(words string) tea.Cmd {
	here, ok := act.Find(l.a.pane().Bindings(), act.Create.Keys[0])
	if words == "" && ok && here.Verb == act.Create.Verb {
		return l.a.Press([]act.Act{here}, here.Keys[0])
	}
	at, why := l.Place(words)
	if why != "" {
		return l.a.D.Warn("%s", why)
	}
	if why := tiers.NoCreateIn(l.a.D.Desk, at.Store); why != "" {
		return l.a.Refuse(act.Create, why)
	}
	return l.a.D.Edits.CreateIn(at)
}

// runUndo lists what can be put back, or asks whether to put one entry back.
func (l *commandLine) runUndo(entry string) tea.Cmd {
	switch why := l.a.D.Locked(""); {
	case entry == "":
		return l.a.D.Undos.Open()
	case why != "":
		return l.a.D.Warn("%s", why)
	}
	return l.a.D.Undos.Entry(entry)
}

func (l *commandLine) runRecords(n int) func(string) tea.Cmd {
	return func(words string) tea.Cmd {
		p := l.a.Records[n]
		if words == "" || p.Unavailable() != "" {
			return l.goTo(n)
		}
		// The filter comes first: entering a pane reads the list, and a source may keep one walk only.
		return tea.Batch(p.Back(), p.Apply(words), l.goTo(n))
	}
}

func (l *commandLine) runExport() tea.Cmd {
	if b, ok := act.Find(l.a.Keys(), "x"); ok {
		return l.a.Press([]act.Act{b}, "x")
	}
	return l.a.D.Warn("there is nothing to export here")
}

func (l *commandLine) runHelp(words string) tea.Cmd {
	elsewhere := l.elsewhere(l.known()) // than in the pane below the page
	cmd := l.a.Pages.openHelp()
	if words == "" {
		return cmd
	}
	o := l.a.Pages.Overlay
	far := []text.Line{{Value: safetext.Const("elsewhere"), Kind: text.Title}}
	for _, c := range elsewhere {
		far = append(far, text.Line{Name: l.a.D.Esc.Sprintf(":%s %s", c.word, c.act.Label()), Value: l.a.D.Esc.Sprintf("in %s: %s", c.where, c.act.Doc), Kind: text.Key})
	}
	o.Pager.Text = text.NewPage(append(slices.Clone(o.Pager.Text.Head), far...), "")
	return o.find(words)
}

func (l *commandLine) runTheme(name string) tea.Cmd {
	theme, ok := paint.ThemeNamed(name)
	switch {
	case !ok:
		return l.a.D.Warn("there is no theme %q; there are %s", name, strings.Join(paint.Themes(), ", "))
	case name == "":
		return l.a.D.Warn("the theme is %s; there are %s", l.a.look.paint.Theme, strings.Join(paint.Themes(), ", "))
	case !l.a.look.paint.Colour:
		return l.a.D.Warn("there are no colours: plain, no_color, NO_COLOR or the terminal says so")
	}
	l.a.look.paint.Theme = theme
	l.a.D.St.Repaint(l.a.look.paint, l.a.look.dark)
	return l.a.D.Tell("theme: %s, for this session; [ui] theme keeps it", theme)
}

// ownReadOnly is the reason that the operator gave for this session.
const ownReadOnly = "you made this session read-only; :readonly off lifts that"

// RunReadOnly guards against slips. It never lifts read-only set by configuration, role or log.
func (l *commandLine) RunReadOnly(word string) tea.Cmd {
	esc := l.a.D.Esc
	on := l.a.D.ReadOnly != ""
	want := word == "on" || word == "" && !on
	switch {
	case word != "" && word != "on" && word != "off":
		l.a.D.Warn(":readonly takes on, off or nothing")
	case l.a.O.ReadOnlyReason != "":
		l.a.D.Warn("this cannot be lifted here: %s", esc.Line(l.a.O.ReadOnlyReason))
	case want == on && on:
		l.a.D.Tell("this session is read-only already")
	case want == on:
		l.a.D.Tell("this session is not read-only")
	case want:
		l.a.D.ReadOnly = ownReadOnly
		l.a.D.Tell("this session is read-only now")
	default:
		return l.askWritable()
	}
	return nil
}
