package tui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"memdesk/internal/safetext"
	"memdesk/model"
)

// linear is the console as a conversation, for screen readers and for terminals
// that cannot place text: one line in, lines out, nothing is ever drawn over. It
// asks the same stores and sources as the panes and refuses what they refuse.
type linear struct {
	a    *App // for the desk and what the panes share; it is never run
	ask  func(prompt string) (string, error)
	out  *bufio.Writer
	rows []model.Ref // what the numbers of the last list mean
	seen map[model.Ref]model.Revision
	list listing
	more func() // the rest of a long text; nil: there is none
}

// listing is the list that next goes on with.
type listing struct {
	at     scopeOf
	query  string
	cursor string
	begun  bool
}

const (
	linearPage = 20 // rows at a time
	linearText = 60 // lines of a body at a time
)

// runLinear talks until quit, the end of the input or of ctx.
func runLinear(ctx context.Context, o Options) error {
	in, out := o.Input, o.Output
	if in == nil {
		in = os.Stdin
	}
	if out == nil {
		out = os.Stdout
	}
	l := &linear{a: newApp(ctx, o), out: bufio.NewWriter(out), seen: map[model.Ref]model.Revision{}}
	l.ask = l.lines(ctx, in, out)
	l.greet()
	for {
		line, err := l.ask("memdesk> ")
		if err != nil || ctx.Err() != nil {
			return l.farewell(err)
		}
		if l.obey(ctx, line) {
			return l.farewell(nil)
		}
	}
}

// lines reads one line at a time. A file is a terminal in its own line mode; what
// is no file, such as an SSH channel, has none and gets the one of x/term, which
// echoes and knows backspace.
func (l *linear) lines(ctx context.Context, in io.Reader, out io.Writer) func(string) (string, error) {
	var read func(prompt string) (string, error)
	if _, file := in.(*os.File); file {
		s := bufio.NewScanner(in)
		read = func(prompt string) (string, error) {
			l.print(safetext.Const(prompt), "")
			if !s.Scan() {
				return "", errors.Join(s.Err(), io.EOF)
			}
			return s.Text(), nil
		}
	} else {
		t := term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{in, out}, "")
		l.out = bufio.NewWriter(t)
		read = func(prompt string) (string, error) {
			t.SetPrompt(prompt)
			return t.ReadLine()
		}
	}
	type answer struct {
		line string
		err  error
	}
	return func(prompt string) (string, error) {
		_ = l.out.Flush()
		got := make(chan answer, 1) // a read cannot be cancelled: it ends with the input
		go func() {
			line, err := read(prompt)
			got <- answer{line, err}
		}()
		select {
		case a := <-got:
			return a.line, a.err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func (l *linear) farewell(err error) error {
	l.say("left memdesk")
	if ferr := l.out.Flush(); err == nil || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return ferr
	}
	return err
}

func (l *linear) print(t safetext.Text, end string) {
	_, _ = l.out.WriteString(t.String() + end)
	if end == "" {
		_ = l.out.Flush()
	}
}

// say writes one line; arguments are escaped.
func (l *linear) say(format string, args ...any) {
	l.print(l.a.d.esc.Sprintf(format, args...), "\n")
}

func (l *linear) greet() {
	esc := l.a.d.esc
	env, production := l.a.environment()
	l.say("memdesk, linear mode: one command a line; help lists them, quit leaves.")
	who := "unauthenticated"
	if l.a.o.Authenticated {
		who = "authenticated"
	}
	l.say("Operator: %s, %s.", orElse(esc.Line(l.a.o.Operator), esc.Const("no name")), who)
	if production {
		l.say("Environment: %s. What you do here is done to PRODUCTION.", env)
	} else {
		l.say("Environment: %s.", env)
	}
	if why := l.a.readOnly(); !why.IsEmpty() {
		l.say("%s.", why)
	}
	for _, n := range l.a.o.Notices {
		l.say("Notice: %s", esc.LineMax(n, maxReason))
	}
	l.stores(context.Background(), "")
}

// linearVerb is one command of the conversation.
type linearVerb struct {
	name, argument, about string
	run                   func(l *linear, ctx context.Context, argument string)
}

// linearVerbs is a function, because help is made from it.
func linearVerbs() []linearVerb {
	return []linearVerb{
		{"stores", "", "the stores, and which did not open", (*linear).stores},
		{"health", "", "ask every store how it is", (*linear).health},
		{"tiers", "STORE", "the scopes and tiers of a store, with counts", (*linear).tiers},
		{"list", "STORE [TIER]", "the items of a store or a tier, twenty at a time", (*linear).listItems},
		{"filter", "WORDS", "only items with these words; without words, all", (*linear).filter},
		{"next", "", "the next twenty", (*linear).next},
		{"open", "NUMBER or REF", "read an item of the last list", (*linear).open},
		{"more", "", "go on with a long text", (*linear).goOn},
		{"recall", "WORDS", "search every store as an agent would", (*linear).recall},
		{"quarantine", "", "what scanners have set aside", (*linear).quarantine},
		{"audit", "", "the newest events of the operator log", (*linear).audit},
		{"forget", "NUMBER or REF", "forget an item, after a question", (*linear).forget},
		{"undos", "", "what can be put back", (*linear).undos},
		{"undo", "ENTRY", "put back what a change displaced; without an entry, the last change of this session", (*linear).undo},
		{"help", "", "this list", (*linear).help},
		{"quit", "", "leave memdesk", nil},
	}
}

// obey runs one line and says whether to leave. A unique beginning of a name is
// the name.
func (l *linear) obey(ctx context.Context, line string) (leave bool) {
	name, argument, _ := strings.Cut(strings.TrimSpace(line), " ")
	name = strings.ToLower(strings.TrimPrefix(name, ":"))
	if name == "" {
		return false
	}
	if name == "?" {
		name = "help"
	}
	var found []linearVerb
	for _, v := range linearVerbs() {
		if v.name == name {
			found = []linearVerb{v}
			break
		}
		if strings.HasPrefix(v.name, name) {
			found = append(found, v)
		}
	}
	if _, err := strconv.Atoi(name); err == nil && argument == "" {
		l.open(ctx, name) // a number alone opens
		return false
	}
	switch len(found) {
	case 0:
		l.say("No command %q. help lists what there is.", name)
	case 1:
		if found[0].run == nil {
			return true
		}
		defer func() { // a backend with a bug ends the command, and tells nothing of what it held
			if recover() != nil {
				l.say("Failed: an internal error in %s; an act that was under way is an open intent in the audit log.", crashSite())
			}
		}()
		found[0].run(l, ctx, strings.TrimSpace(argument))
	default:
		var names []string
		for _, v := range found {
			names = append(names, v.name)
		}
		l.say("%q could be %s.", name, strings.Join(names, ", "))
	}
	return false
}

func (l *linear) help(context.Context, string) {
	for _, v := range linearVerbs() {
		l.say("%s: %s.", strings.TrimSpace(v.name+" "+v.argument), v.about)
	}
	l.say("A unique beginning of a command is enough; a number alone opens that item.")
}

func (l *linear) failed(err error) { l.say("Failed: %s.", reason(l.a.d.esc, err)) }

func (l *linear) stores(context.Context, string) {
	members := l.a.d.fleet.Members()
	if len(members) == 0 {
		l.say("%s", noStores)
	}
	for _, m := range members {
		switch {
		case m.Err != nil:
			l.say("Store %s, %s: NOT OPEN: %s.", m.Name, m.Kind, reason(l.a.d.esc, m.Err))
		case m.Store.ReadOnly:
			l.say("Store %s, %s: open, read-only: %s.", m.Name, m.Kind, m.Store.ReadOnlyReason)
		default:
			l.say("Store %s, %s: open.", m.Name, m.Kind)
		}
	}
}

func (l *linear) health(ctx context.Context, _ string) {
	for _, m := range l.a.d.fleet.Members() {
		if m.Err != nil {
			l.a.d.fleet.Reopen(ctx, m.Name)
		}
	}
	for h := range l.a.d.fleet.Health(ctx) {
		if h.Status.OK {
			l.say("%s: well, answered in %d ms. %s", h.Store, h.Latency.Milliseconds(), h.Status.Message)
		} else {
			l.say("%s: NOT WELL: %s.", h.Store, l.a.d.esc.LineMax(h.Status.Message, maxReason))
		}
	}
}

// pick is the item that a number of the last list or a reference names.
func (l *linear) pick(argument string) (model.Ref, bool) {
	if n, err := strconv.Atoi(argument); err == nil {
		if n < 1 || n > len(l.rows) || l.rows[n-1].ID == "" {
			l.say("There is no item %d in the last list.", n)
			return model.Ref{}, false
		}
		return l.rows[n-1], true
	}
	ref, err := model.ParseRef(argument)
	if err != nil {
		l.say("Say which: a number of the last list, or a reference such as store:id.")
		return model.Ref{}, false
	}
	return ref, true
}

// number begins a list anew.
func (l *linear) number(refs []model.Ref) { l.rows = refs }

func (l *linear) open(ctx context.Context, argument string) {
	ref, ok := l.pick(argument)
	if !ok {
		return
	}
	s, err := l.a.d.fleet.Store(ref.Store)
	if err == nil && s.Browser == nil {
		err = model.Errorf(model.Unsupported, "read", "this store cannot show single items")
	}
	var it model.Item
	if err == nil {
		it, err = s.Browser.Read(ctx, ref.ID)
	}
	if err != nil {
		l.failed(err)
		return
	}
	l.seen[ref] = it.Revision
	t := itemText(l.a.d, s, it)
	for _, h := range t.head {
		switch {
		case h.kind == headBlank:
		case h.name.IsEmpty():
			l.say("%s", h.value)
		default:
			l.say("%s: %s", h.name, h.value)
		}
	}
	l.body(t, 0)
}

// body reads a text from an offset on, in pieces that a listener can take in.
func (l *linear) body(t *text, off int) {
	if off == 0 && t.body != "" {
		l.say("Body, %s:", plural(int64(t.total), "line"))
	}
	for n := 0; off < len(t.body) && n < linearText; n++ {
		end, next := t.pieceEnd(off)
		l.print(l.a.d.esc.EscapeLine([]byte(strings.TrimSuffix(t.body[off:end], "\r")), 8), "\n")
		off = next
	}
	l.more = nil
	if off < len(t.body) {
		l.say("Line %s of %s; more goes on.", group(int64(t.lineAt(off))), group(int64(t.total)))
		l.more = func() { l.body(t, off) }
	} else {
		l.say("End.")
	}
}

func (l *linear) goOn(context.Context, string) {
	if l.more == nil {
		l.say("There is no more.")
		return
	}
	l.more()
}

// confirm asks for a word; anything else does nothing.
func (l *linear) confirm(word string) bool {
	answer, err := l.ask(fmt.Sprintf("Type %s to do it, anything else does nothing: ", l.a.d.esc.Line(word)))
	if err == nil && strings.TrimSpace(answer) == word {
		return true
	}
	l.say("Nothing was changed.")
	return false
}
