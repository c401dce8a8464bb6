package tui

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

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
	return []act.Act{
		{Verb: "store", Args: "[NAME [TIER [SCOPE]]]", Doc: "the items of a store, a tier or a scope of it; where one store is open it needs no name",
			Examples: []string{"store graph; all tiers", "store graph longterm; one tier"}, Ask: l.runStore, Choices: l.storeNames},
		{Verb: "tier", Args: "NAME", Doc: "the items of a tier of the store at the cursor", Ask: l.runTier, Choices: func() []string { return l.tierNames(l.a.Tiers.StoreHere()) }},
		{Verb: "go", Args: "REF", Doc: "the item with this reference, store:id", Ask: l.runGo, Choices: l.references, More: l.moreReferences},
		{Verb: "recall", Args: "WORDS", Doc: "ask every store for these words", Examples: []string{"recall deploy window"}, Words: l.queryWords,
			Ask: func(words string) tea.Cmd { return tea.Batch(a.Enter(PaneRecall), a.Recall.Look(words)) }},
		{Verb: "audit", Args: "[WORDS]", Doc: "the audit log, filtered by these words",
			Examples: []string{"audit actor:ann action:forget store:graph", "audit outcome:refused since:2026-05-01 until:2026-05-20", "audit !actor:ann; of everybody else"}, Ask: l.runRecords(PaneAudit), Words: l.auditWords},
		{Verb: "quarantine", Args: "[WORDS]", Doc: "what scanners blocked, filtered by these words", Examples: []string{"quarantine ignore_previous"}, Ask: l.runRecords(PaneQuarantine)},
		{Verb: "conflicts", Args: "[WORDS]", Doc: "second copies of items, filtered by these words", Examples: []string{"conflicts", "1; then: why it is a conflict, and what differs"}, Ask: l.runRecords(PaneConflicts)},
		{Verb: "erasure", Args: "[WORDS]", Doc: "requests to be forgotten, filtered by these words", Examples: []string{"erasure", "1; then: its state, its run, what there is to do"}, Ask: l.runRecords(PaneErasure)},
		{Verb: "health", Doc: "every provider", Examples: []string{"health", "1; then: latency, last success, fill against caps, what it can and cannot do"}, Do: to(PaneHealth)},
		{Verb: "tiers", Args: "[WORDS]", Doc: "stores, scopes and tiers, those with these words", Examples: []string{"tiers graph"}, Ask: func(words string) tea.Cmd { return tea.Batch(l.goTo(PaneTiers), l.a.Tiers.Narrow(words)) }},
		act.Create.Taking(l.runCreate),
		{Verb: "undo", Args: "[ENTRY]", Doc: "what can be put back, or one entry of it", Ask: l.runUndo},
		{Verb: "jobs", Doc: "long work of this console and of others: progress, outcomes, C stops", Do: w.OpenJobs},
		{Verb: "export", Doc: "what is shown, into a file: the same as x", Do: l.runExport},
		{Verb: "save", Args: "NAME", Doc: "keep pane, filter, order and width as a view of this session", Ask: l.saveView},
		{Verb: "view", Args: "NAME", Doc: "bring a view back that :save has kept", Ask: l.openView, Choices: l.viewNames},
		{Verb: "readonly", Args: "[on|off]", Doc: "make this session read-only; lifting that asks first", Ask: l.RunReadOnly, Choices: func() []string { return []string{"on", "off"} }},
		{Verb: "theme", Args: "NAME", Doc: "other colours, for this session", Ask: l.runTheme, Choices: paint.Themes},
		{Verb: "lock", Doc: "hide the screen until U is pressed", Do: nothing(a.Curtain.lock)},
		{Verb: "notices", Doc: "the notices of the start", Do: page("Notices", a.Pages.noticeLines)},
		{Verb: "rescan", Doc: "what today's rules flag otherwise than the last scan that was kept", Do: a.stories.AskRescan},
		{Verb: "messages", Doc: "what was said on the status line in this session, whole, with the time", Do: page("Messages", a.Pages.messageLines)},
		{Verb: "kept", Doc: "your texts that were put aside instead of being saved", Do: l.a.D.Edits.OpenKept},
		act.Help.Called("the keys and commands, those with these words").Taking(l.runHelp),
		{Verb: "quit", Doc: "leave memdesk", Do: a.leave.leave},
		{Verb: "q", Doc: "leave memdesk", Do: a.leave.leave},
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
	a          *App
	views      []view // kept in this session
	in         text.Input
	typing     bool // it has the focus
	past       history
	candidates []string // for the word on it, after tab
	stem       string   // the line that the candidates were for
	offered    string   // the line as tab has left it
	turn       int      // the candidate that stands on it; -1: none
}

// history holds the commands of this session, the newest last, in memory only: a query may name a person.
type history struct {
	lines []string
	at    int    // the line shown; len(lines): the one being typed
	draft string // the typed line, before going back
}

const maxHistory = 200

func (h *history) add(line string) {
	h.lines = slices.DeleteFunc(h.lines, func(l string) bool { return l == line })
	h.lines = append(h.lines, line)
	h.lines = h.lines[max(len(h.lines)-maxHistory, 0):]
}

// step moves through the lines; typed is the current line.
func (h *history) step(by int, typed string) string {
	if h.at == len(h.lines) {
		h.draft = typed
	}
	h.at = max(min(h.at+by, len(h.lines)), 0)
	if h.at == len(h.lines) {
		return h.draft
	}
	return h.lines[h.at]
}

func (l *commandLine) openCommand() tea.Cmd {
	l.typing = true
	l.in = text.Input{Focus: true}
	l.past.at, l.past.draft, l.candidates = len(l.past.lines), "", nil
	return nil
}

func (l *commandLine) closeCommand() tea.Cmd {
	l.typing, l.candidates = false, nil
	return nil
}

func (l *commandLine) commandBindings() []act.Act {
	past := func(by int) func() tea.Cmd {
		return func() tea.Cmd {
			l.candidates = nil
			l.in.Set(l.past.step(by, l.in.Value()))
			return nil
		}
	}
	return []act.Act{
		{Keys: []string{"enter"}, Name: "run", Doc: "run the command", Do: l.runCommand},
		{Keys: []string{"tab"}, Name: "complete", Doc: "complete the word, or show what it could be", Do: l.complete},
		{Keys: []string{"up"}, Show: "Up", Name: "earlier", Doc: "the command before, of this session", Do: past(-1)},
		{Keys: []string{"down"}, Show: "Down", Doc: "the command after", Do: past(1)},
		{Keys: []string{"esc"}, Name: "cancel", Doc: "back without a command", Do: l.closeCommand},
	}
}

func (l *commandLine) commandKey(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "backspace" && l.in.Value() == "" {
		return l.closeCommand()
	}
	if _, used := l.in.Key(k); used {
		l.candidates = nil
		return nil
	}
	if k.Mod.Contains(tea.ModAlt) {
		return l.a.Split(k)
	}
	return l.a.Press(l.commandBindings(), k.String())
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
	name, _, _ := strings.Cut(line, " ")
	v := l.meant(line)
	argument, ok := v.Takes(line)
	switch near := l.nearest(name); {
	case !ok && near != "":
		return l.a.D.Warn("no command %q; did you mean :%s? :help lists them all", name, near)
	case !ok:
		return l.a.D.Warn("no command %q; :help lists them all", name)
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

// meant is the command that a line begins with.
func (l *commandLine) meant(line string) (v act.Act) {
	for _, k := range l.known() {
		if _, ok := k.Takes(line); ok && len(k.Verb) > len(v.Verb) { // mark all, not mark
			v = k
		}
	}
	return v
}

// meaning is what follows the typed command, and what that does; before it is one, the commands that it may become.
func (l *commandLine) meaning() safetext.Text {
	esc, line := l.a.D.Esc, l.in.Value()
	if v := l.meant(line); v.Verb != "" {
		return esc.Const(strings.TrimSpace(v.Args + "  " + v.Doc))
	}
	switch all := l.possible(line); {
	case len(l.candidates) > 0: // tab shows them
		return safetext.Text{}
	case len(all) == 0:
		return esc.Const("no command begins so")
	default:
		return esc.Const(strings.Join(all, "  "))
	}
}

// nearest is the most likely command; empty when none is near.
func (l *commandLine) nearest(name string) string {
	best, least := "", 3 // beyond two slips it is another word
	for _, v := range l.known() {
		switch n := slips(name, v.Verb); {
		case strings.HasPrefix(v.Verb, name) && best == "", n < least && n < max(len(v.Verb), len(name)):
			best, least = v.Verb, min(n, least)
		}
	}
	return best
}

// slips is the edit distance of two words: letters inserted, left out, changed or swapped.
func slips(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > maxVerb || len(y) > maxVerb {
		return maxVerb
	}
	var d [maxVerb + 1][maxVerb + 1]int
	for i := range len(x) + 1 {
		for j := range len(y) + 1 {
			if i == 0 || j == 0 {
				d[i][j] = i + j
				continue
			}
			change := 1
			if x[i-1] == y[j-1] {
				change = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+change)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}

// maxVerb is longer than every command.
const maxVerb = 20

// possible lists the completions of the text. Blanks before the argument do not count.
func (l *commandLine) possible(text string) []string {
	name, argument, inArgument := strings.Cut(text, " ")
	argument = strings.TrimLeft(argument, " ")
	var out []string
	add := func(line string) {
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	for _, v := range l.known() {
		switch {
		case !inArgument && strings.HasPrefix(v.Verb, name):
			add(v.Verb)
		case inArgument && v.Verb == name && v.Choices != nil:
			for _, c := range v.Choices() {
				if strings.HasPrefix(c, argument) {
					add(v.Verb + " " + c)
				}
			}
		case inArgument && v.Verb == name && v.Words != nil:
			at := strings.LastIndexByte(argument, ' ') + 1
			for _, w := range v.Words() {
				if strings.HasPrefix(w, argument[at:]) && w != argument[at:] {
					add(v.Verb + " " + argument[:at] + w)
				}
			}
		}
	}
	return out
}

// queryWords are words of earlier queries in this session.
func (l *commandLine) queryWords() []string {
	var out []string
	for i := len(l.past.lines) - 1; i >= 0; i-- {
		if query, ok := strings.CutPrefix(l.past.lines[i], "recall "); ok {
			out = append(out, strings.Fields(query)...)
		}
	}
	return append(out, strings.Fields(l.a.Recall.Input.Value())...)
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

// complete extends the word at the cursor as far as all choices agree; pressed again it cycles through them.
func (l *commandLine) complete() tea.Cmd {
	line := l.in.Value()
	if len(l.candidates) > 1 && line == l.offered {
		l.turn = (l.turn + 1) % len(l.candidates)
		l.offered = l.candidates[l.turn]
		l.in.Set(l.offered)
		return nil
	}
	l.turn = -1
	l.offer(l.possible(line))
	name, word, inArgument := strings.Cut(line, " ")
	for _, v := range l.known() {
		if inArgument && v.Verb == name && v.More != nil {
			return v.More(line, word)
		}
	}
	return nil
}

// offer extends the line as far as all choices agree.
func (l *commandLine) offer(choices []string) {
	l.candidates = nil
	if len(choices) == 0 {
		return
	}
	common := choices[0]
	for _, c := range choices[1:] {
		for !strings.HasPrefix(c, common) {
			_, n := utf8.DecodeLastRuneInString(common)
			common = common[:len(common)-n]
		}
	}
	if len(choices) > 1 {
		l.candidates = choices
	} else if !strings.Contains(common, " ") {
		common += " "
	}
	if typed := l.in.Value(); len(common) > len(typed) || len(choices) == 1 && strings.Contains(typed, "  ") {
		l.in.Set(common)
	}
	l.offered = l.in.Value()
	l.stem = l.offered
}

// completed takes a store's completions of the line asked, while it is still the same.
func (l *commandLine) completed(asked string, choices []string) {
	if line := l.in.Value(); l.typing && l.turn < 0 && strings.HasPrefix(line, asked) {
		l.offer(slices.DeleteFunc(choices, func(c string) bool { return c == line || !strings.HasPrefix(c, line) }))
	}
}

// candidateWords are the choices without what the line has, up to the next part of a path; at is the current one.
func (l *commandLine) candidateWords() (out []string, at int) {
	said := strings.LastIndexAny(l.stem, " /:") + 1
	at = -1
	for i, c := range l.candidates {
		word := c
		if strings.HasPrefix(c, l.stem[:said]) {
			word = c[said:]
		}
		if i := strings.IndexByte(word, '/'); i >= 0 && l.turn < 0 {
			word = word[:i+1]
		}
		if !slices.Contains(out, word) {
			out = append(out, word)
		}
		if i == l.turn {
			at = len(out) - 1
		}
	}
	return out, at
}

// candidateLine replaces the keys while there is a choice.
func (l *commandLine) candidateLine() string {
	st := l.a.D.St
	r := st.Row(l.a.width).Blank(1)
	words, at := l.candidateWords()
	from := max(at, 0) // the current choice stays in sight, however many there are
	shown, all := make([]safetext.Text, len(words)), 0
	for i := from; i < len(words); i++ {
		shown[i] = st.Esc.Line(words[i])
		if i == at {
			shown[i] = st.Esc.Sprintf("[%s]", words[i])
		}
		all += shown[i].Width() + 2
	}
	whole := all-2 <= r.Left
	for i := from; i < len(words); i++ {
		t := shown[i]
		if rest := len(words) - i; !whole && t.Width()+12 > r.Left && i > from {
			r.Put(st.Dim, st.Esc.Sprintf("and %d more", rest))
			break
		}
		r.Put(st.Key, t).Blank(2)
	}
	return r.End()
}

func (l *commandLine) storeNames() []string {
	var out []string
	for _, m := range l.a.members {
		out = append(out, m.Name)
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
	cmd := l.a.Pages.openHelp()
	if words == "" {
		return cmd
	}
	return l.a.Pages.Overlay.find(words)
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
	l.a.repaint()
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
		return l.a.D.Ask(l.proposeWritable(l.a.Active))
	}
	return nil
}
