package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"memdesk/gdpr"
	"memdesk/gdpr/subject"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// intake is a request that is being filled in.
type intake struct {
	subject, aliases, received, ground, by, key string
	confirmed, left                             []string // aliases that the operator has answered for
	proposed                                    []gdpr.Proposal
	unasked                                     []string // which stores could not be asked for names, in words
}

// begun reports whether anything was filled in.
func (in intake) begun() bool {
	return strings.TrimSpace(in.subject+in.aliases+in.ground+in.by+in.key) != ""
}

// laidAside keeps what was filled in when a page of the form is closed: the next form of
// this session begins with it. Nothing of it is written anywhere. A conversation asks for
// everything anew: by ear one would keep what was said of another person.
func (a *App) laidAside(in func() intake) func() tea.Cmd {
	if a.d.spoken {
		return nil
	}
	return func() tea.Cmd {
		a.intake = in()
		a.intake.confirmed, a.intake.left, a.intake.proposed, a.intake.unasked = nil, nil, nil, nil
		if !a.intake.begun() {
			a.say(paint.ToneInfo, a.d.esc.Const("cancelled: nothing was filed"))
			return nil
		}
		a.say(paint.ToneInfo, a.d.esc.Const("cancelled: nothing was filed; a opens the form as you left it"))
		return nil
	}
}

// given are the aliases as they were typed.
func (in intake) given() []string { return namesIn(in.aliases, in.subject) }

// namesIn takes apart what was typed with ; between the names. The id is none.
func namesIn(typed, id string) []string {
	var out []string
	for _, a := range strings.Split(typed, ";") {
		if a = strings.TrimSpace(a); a != "" && a != strings.TrimSpace(id) {
			out = append(out, a)
		}
	}
	return out
}

// intakeDialog is the form of a new request; wrong says what to put right.
func (a *App) intakeDialog(in intake, wrong string) *dialog {
	esc := a.d.st.Esc
	if in.received == "" {
		in.received = a.d.time.Clock.Now().UTC().Format("2006-01-02")
	}
	lines := []text.Line{
		{Value: esc.Const("File a request to be forgotten"), Kind: text.Title},
		{Value: esc.Const("The id is how stores tag the person. Aliases are each name, address and number that may stand in a text, whole and as written. Separate aliases with \";\". You confirm each one. Nothing is searched or changed yet."), Kind: text.Note},
	}
	if wrong != "" {
		lines = append([]text.Line{{Value: esc.Sprintf("!! %s", esc.LineMax(wrong, prose.MaxReason)), Kind: text.Warn}}, lines...)
	}
	d := &dialog{title: esc.Const("New request"), lines: lines, noReason: true, fields: []field{
		{label: esc.Const("person's id: ")}, {label: esc.Const("aliases: ")}, {label: esc.Const("received (YYYY-MM-DD): ")},
		{label: esc.Const("ground, what was asked and why: ")}, {label: esc.Const("filed by (empty: you): ")},
	}}
	if a.d.erasure.Unattested() != "" { // nobody could approve it without
		d.fields = append(d.fields, field{label: esc.Const("your private key FILE: ")})
		d.lines = append(d.lines, text.Line{Value: esc.Const("Somebody else has to approve, with another key than yours: name your SSH key's file. It signs nothing, and its fingerprint is kept."), Kind: text.Note})
	}
	for i, v := range []string{in.subject, in.aliases, in.received, in.ground, in.by, in.key}[:len(d.fields)] {
		d.fields[i].input.Set(v)
	}
	read := func(at func(i int) string) intake {
		in := intake{subject: at(0), aliases: at(1), received: at(2), ground: at(3), by: at(4)}
		if len(d.fields) > 5 {
			in.key = strings.TrimSpace(at(5))
		}
		return in
	}
	d.canceled = a.laidAside(func() intake { return read(func(i int) string { return d.fields[i].input.Value() }) })
	d.choices = []choice{{verb: "Go on", act: func(ctx context.Context, f filled) acted {
		return acted{next: a.checkIntake(ctx, read(func(i int) string { return f.fields[i] }))}
	}}}
	if in.begun() { // it may have been of another person
		d.choices = append(d.choices, choice{verb: "Clear form", run: func() tea.Cmd {
			a.intake = intake{}
			return a.show(a.intakeDialog(intake{}, ""))
		}})
	}
	return d
}

// checkIntake gives the next question, or the form again. It runs in a command, since the
// stores are asked for names that were not given.
func (a *App) checkIntake(ctx context.Context, in intake) *dialog {
	_, idErr := subject.New(in.subject)
	_, allErr := subject.New(append([]string{in.subject}, in.given()...)...)
	_, dateErr := gdpr.Received(in.received, a.d.time.Clock.Now())
	words := func(err error) string { return prose.Reason(a.d.esc, err).String() }
	switch {
	case strings.TrimSpace(in.subject) == "":
		return a.intakeDialog(in, "The person's id is missing.")
	case idErr != nil:
		return a.intakeDialog(in, "The id: "+words(idErr))
	case allErr != nil:
		return a.intakeDialog(in, "An alias: "+words(allErr))
	case dateErr != nil:
		return a.intakeDialog(in, "The date: "+words(dateErr))
	case strings.TrimSpace(in.ground) == "":
		return a.intakeDialog(in, "The ground is missing: what did the person ask for, and why?")
	}
	all, notes, err := a.d.erasure.Propose(ctx, gdpr.Intake{Subject: in.subject, Aliases: in.given()})
	if err != nil { // the request can be filed all the same: its deadline runs
		notes = append(notes, "no store was asked for names: "+words(err))
	}
	in.proposed, in.unasked = all, notes
	return a.nextIntake(in)
}

// nextIntake asks about the first alias that is not answered for, those that the stores
// propose last, then whether the request is to be filed.
func (a *App) nextIntake(in intake) *dialog {
	esc := a.d.esc
	all := in.given()
	typed := len(all)
	for _, p := range in.proposed {
		all = append(all, p.Value)
	}
	if n := len(in.confirmed) + len(in.left); n < len(all) {
		alias := all[n]
		answer := func(yes bool) func() tea.Cmd {
			return func() tea.Cmd {
				next := in
				if yes {
					next.confirmed = append(in.confirmed[:len(in.confirmed):len(in.confirmed)], alias)
				} else {
					next.left = append(in.left[:len(in.left):len(in.left)], alias)
				}
				return a.show(a.nextIntake(next))
			}
		}
		lines := []text.Line{
			{Value: esc.Sprintf("Is %s this person and nobody else?", esc.LineMax(alias, prose.MaxTitle)), Kind: text.Title},
			{Value: esc.Sprintf("Alias %s of %s. Every item that names it will be in the plan: another person of the same name would be erased too.", prose.Group(int64(n+1)), prose.Group(int64(len(all))))},
			{Value: esc.Sprintf("It is %s.", subject.KindOf(alias).Sentence())},
		}
		if n >= typed {
			p := in.proposed[n-typed]
			lines = append(lines, text.Line{Value: esc.Sprintf("You did not give it: %s ties it to the person (%s).", p.Store, esc.LineMax(p.Field, prose.MaxTitle)), Kind: text.Note})
		}
		for _, w := range subject.Warnings(alias) {
			lines = append(lines, text.Line{Value: esc.Sprintf("!! %s", w), Kind: text.Warn})
		}
		return &dialog{title: esc.Const("Alias"), noReason: true, canceled: a.laidAside(func() intake { return in }), lines: lines, choices: []choice{{verb: "Yes, this person", run: answer(true)}, {verb: "Leave it out", run: answer(false)}}}
	}
	return a.fileDialog(in)
}

func (a *App) fileDialog(in intake) *dialog {
	esc := a.d.esc
	field := func(name, v string) text.Line {
		return text.Line{Value: esc.Sprintf("%s: %s", name, esc.LineMax(v, prose.MaxTitle))}
	}
	lines := []text.Line{{Value: esc.Const("File this request?"), Kind: text.Title}, field("person", in.subject)}
	for _, w := range subject.Warnings(in.subject) {
		lines = append(lines, text.Line{Value: esc.Sprintf("!! %s", w), Kind: text.Warn})
	}
	for _, alias := range in.confirmed {
		lines = append(lines, field("alias", alias))
	}
	for _, why := range in.unasked {
		lines = append(lines, text.Line{Value: esc.Sprintf("!! %s", esc.LineMax(why, prose.MaxReason)), Kind: text.Warn})
	}
	lines = append(lines, field("ground", in.ground))
	if day, err := gdpr.ParseDate(in.received); err == nil {
		lines = append(lines, text.Line{Value: esc.Sprintf("received %s: an answer is due by %s, one calendar month later", in.received, gdpr.AddMonths(day, 1).Format("2006-01-02"))})
	}
	if in.key != "" {
		lines = append(lines, field("your key", in.key))
	} else if why := a.d.erasure.Unattested(); why != "" {
		lines = append(lines, text.Line{Value: esc.Sprintf("!! %s", esc.LineMax(why, prose.MaxReason)), Kind: text.Warn})
	}
	lines = append(lines, text.Line{Value: esc.Const("The names stay with the request until the last store is done; the audit log keeps keyed hashes."), Kind: text.Note})
	return &dialog{title: esc.Const("New request"), lines: lines, noReason: true, canceled: a.laidAside(func() intake { return in }), choices: []choice{
		{verb: "File it", act: func(ctx context.Context, _ filled) acted { return a.fileRequest(ctx, in) }},
		{verb: "Change", run: func() tea.Cmd { return a.show(a.intakeDialog(in, "")) }},
	}}
}

// fileRequest runs in a command.
func (a *App) fileRequest(ctx context.Context, in intake) acted {
	r, err := a.d.erasure.File(ctx, gdpr.Intake{Subject: in.subject, Aliases: in.confirmed, Received: in.received, Ground: in.ground, By: strings.TrimSpace(in.by)}, in.key)
	if err != nil {
		in.confirmed, in.left = nil, nil
		return acted{next: a.intakeDialog(in, "Not filed: "+prose.Reason(a.d.esc, err).String())}
	}
	filed := a.d.esc.Sprintf("filed %s; p searches every store and makes the plan", r.ID)
	if r.Note != "" {
		filed = a.d.esc.Sprintf("filed %s; !! %s", r.ID, r.Note)
	}
	return acted{ok: true, text: filed, then: func() tea.Cmd {
		a.intake = intake{}
		p := a.panes[paneErasure].(*erasures)
		p.pick = r.ID // what is done next is meant for the person of this one
		return p.refresh()
	}}
}
