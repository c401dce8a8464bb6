// Package linear is the console as a conversation of lines. It drives the frame's own panes and acts.
package linear

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/internal/safetext"
	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
)

// linear is the console as a conversation, for screen readers and for terminals that cannot place
// text: one line in, lines out, nothing is drawn over. It drives an App that is never drawn: the
// same panes list, the same bindings act and refuse, the same dialogs ask.
type linear struct {
	*voice
	a     *tui.App
	in    *os.File // terminal for an editor; nil: none
	board board    // the page that was read last
	seen  map[model.Ref]model.Revision
	stale bool // an act has changed what the current list shows

	due   []later        // delayed messages
	asked *dialog.Dialog // the question whose act is running
	told  string         // last progress of long work
}

type later struct {
	at  *time.Timer
	msg loop.Reply
}

// linearText are the lines of a body at a time.
const linearText = 60

// Run talks until quit, the end of the input or of ctx.
func Run(ctx context.Context, o tui.Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o.Plain, o.Poll = true, 0 // a list must not change while it is read out
	in, out := o.Input, o.Output
	if in == nil {
		in = os.Stdin
	}
	if out == nil {
		out = os.Stdout
	}
	l := newLinear(ctx, o, in, out)
	l.greet()
	for {
		line, err := l.ask("memdesk> ")
		if err != nil && !errors.Is(err, errAway) || ctx.Err() != nil {
			return l.farewell(err)
		}
		l.elapsed()
		if err == nil {
			l.obey(line)
		}
		if l.leaving {
			return l.farewell(nil)
		}
	}
}

func newLinear(ctx context.Context, o tui.Options, in io.Reader, out io.Writer) *linear {
	l := &linear{a: tui.NewApp(ctx, o), seen: map[model.Ref]model.Revision{}}
	l.voice = &voice{ctx: ctx, esc: l.a.D.Esc, out: bufio.NewWriter(out)}
	l.away = func() bool {
		if !l.a.Curtain.Idle() {
			return false
		}
		l.say("Nobody has typed for a while, so that line was not obeyed.")
		l.lock("")
		return true
	}
	l.in, l.out, l.ear = newEar(in, out, l.out)
	l.width = columns(ctx, out, o.Sizes, l.ear.resize)
	d := l.a.D
	said := d.Say
	d.Say = func(tone paint.Tone, t safetext.Text) {
		said(tone, t)
		l.hear(t)
	}
	d.Spoken, d.Later = true, l.later
	l.board = board{list: l.a.Front(), shape: l.a.Front().Shape()}
	return l
}

func (l *linear) farewell(err error) error {
	l.say("left memdesk")
	if ferr := l.out.Flush(); err == nil || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return ferr
	}
	return err
}

func (l *linear) greet() {
	esc := l.esc
	env, production := l.a.Environment()
	l.say("memdesk, linear mode: one command a line; help lists them, quit leaves.")
	who := "unauthenticated"
	if l.a.O.Authenticated {
		who = "authenticated"
	}
	l.say("Operator: %s, %s.", desk.OrElse(esc.Line(l.a.O.Operator), esc.Const("no name")), who)
	if production {
		l.say("Environment: %s. What you do here is done to PRODUCTION.", env)
	} else {
		l.say("Environment: %s.", env)
	}
	if why, _ := l.a.ReadOnly(); !why.IsEmpty() {
		l.say("%s.", why)
	}
	if l.a.Pages.Overlay != nil || len(l.a.O.Due) > 0 { // the page was made before the linear mode was set
		l.a.Pages.Overlay = nil
		l.obey("notices")
	}
	l.drain(l.a.Tiers.Overview.Enter())
	l.again()
}

func (l *linear) obey(line string) {
	line = strings.TrimPrefix(strings.TrimSpace(line), ":")
	if line == "" {
		return
	}
	defer func() { // a backend's bug ends the command, without a word of its data
		if recover() != nil {
			l.a.D.Modal.Dialog, l.a.Pages.Overlay, l.a.D.Edits.Editing, l.prefix = nil, nil, nil, ""
			l.say("Failed: an internal error in %s; an act that was under way is an open intent in the audit log.", loop.Site())
		}
	}()
	word, rest, _ := strings.Cut(line, " ")
	if _, err := strconv.Atoi(word); err == nil && rest == "" {
		line = act.Open.Verb + " " + word // a number alone opens its row
	} else if err == nil {
		line = strings.TrimSpace(rest) // 1 Health, as messages of the console call it
		word, _, _ = strings.Cut(line, " ")
	}
	switch found, argument := l.meant(line); {
	case len(found) == 0:
		l.unknown(line)
	case len(found) == 1 && found[0].Args == "" && argument != "":
		l.say("%s takes nothing after it, so nothing was done. help %s explains it.", found[0].Verb, found[0].Verb)
	case len(found) == 1:
		before := l.spoken
		l.do(found[0].Run(argument))
		if l.spoken != before || l.leaving {
			break
		}
		if _, err := strconv.Atoi(argument); err == nil && strings.Contains(found[0].Args, "NUMBER") { // on a screen it shows the row, or the list
			l.do(l.open(argument))
		} else {
			l.again()
		}
	default:
		var names []string
		for _, v := range found {
			names = append(names, v.Verb)
		}
		l.say("%q could be %s.", word, strings.Join(names, ", "))
	}
}

// lock refuses commands until unlock is typed. No program can take back the lines on a terminal.
func (l *linear) lock(string) tea.Cmd {
	l.say("memdesk is locked: nothing is obeyed until you type unlock. What was said before stays on your terminal.")
	for {
		line, err := l.listen("locked> ")
		if err != nil {
			return nil
		}
		if word := strings.TrimSpace(line); word == "unlock" || word == tui.UnlockKey {
			l.a.Curtain.Idle() // the next line is of somebody who is there
			return l.say("Unlocked.")
		}
	}
}
