package erasure

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"memdesk/gdpr"
	"memdesk/gdpr/identifier"
	"memdesk/gdpr/subject"
	"memdesk/ui/tui/kit/dialog"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
	"memdesk/ui/tui/pane"
)

type intake struct {
	subject, aliases, received, ground, by, key string
	confirmed, left                             []string // aliases that the operator has decided on
	proposed                                    []gdpr.Proposal
	unasked                                     []string // stores that could not be asked for aliases, in words
}

// requests are the acts on erasure requests.
type requests struct {
	D      *pane.Bench
	List   *screen
	intake intake            // the form as it was left
	folds  map[string]*folds // of the plans, by request
}

func (in intake) begun() bool {
	return strings.TrimSpace(in.subject+in.aliases+in.ground+in.by+in.key) != ""
}

// laidAside keeps the fields of a closed form, in memory, for the next one. By ear the operator would miss
// an earlier subject's values: the linear mode asks for everything anew.
func (rq *requests) laidAside(in func() intake) func() tea.Cmd {
	if rq.D.Spoken {
		return nil
	}
	return func() tea.Cmd {
		rq.intake = in()
		rq.intake.confirmed, rq.intake.left, rq.intake.proposed, rq.intake.unasked = nil, nil, nil, nil
		if !rq.intake.begun() {
			return rq.D.Tell("cancelled: nothing was filed")
		}
		return rq.D.Tell("cancelled: nothing was filed; a opens the form as you left it")
	}
}

func (in intake) given() []string { return namesIn(in.aliases, in.subject) }

// namesIn splits aliases at ; and leaves out the id.
func namesIn(typed, id string) []string {
	var out []string
	for _, a := range strings.Split(typed, ";") {
		if a = strings.TrimSpace(a); a != "" && a != strings.TrimSpace(id) {
			out = append(out, a)
		}
	}
	return out
}

// intakeDialog is the form of a new request; wrong is the error of the field at, -1 for the whole form.
func (rq *requests) intakeDialog(in intake, at int, wrong string) *dialog.Dialog {
	esc := rq.D.Esc
	if in.received == "" {
		in.received = rq.D.Time.Clock.Now().UTC().Format(time.DateOnly)
	}
	lines := []text.Line{
		{Value: esc.Const("File a request to be forgotten"), Kind: text.Title},
		{Value: esc.Const("The id is how stores tag the person. Aliases are each name, address and number that may stand in a text, whole and as written. Separate aliases with \";\". You confirm each one. Nothing is searched or changed yet."), Kind: text.Note},
	}
	if wrong != "" && at < 0 {
		lines = append([]text.Line{{Value: esc.LineMax(wrong, prose.MaxReason), Kind: text.Alert}}, lines...)
	}
	d := &dialog.Dialog{Title: esc.Const("New request"), Lines: lines, NoReason: true, Form: true, Fields: []dialog.Field{
		{Label: esc.Const("person's id: ")}, {Label: esc.Const("aliases: ")}, {Label: esc.Const("received (YYYY-MM-DD): ")},
		{Label: esc.Const("ground (what was asked): ")}, {Label: esc.Const("filed by (empty: you): ")},
	}}
	if rq.D.Erasure.Unattested() != "" { // nobody could approve it without
		d.Fields = append(d.Fields, dialog.Field{Label: esc.Const("your private key FILE: ")})
		d.Lines = append(d.Lines, text.Line{Value: esc.Const("Somebody else has to approve, with another key than yours: name your SSH key's file. It signs nothing, and its fingerprint is kept."), Kind: text.Note})
	}
	for i, v := range []string{in.subject, in.aliases, in.received, in.ground, in.by, in.key}[:len(d.Fields)] {
		d.Fields[i].Input.Set(v)
	}
	if wrong != "" && at >= 0 {
		d.Fields[at].Wrong = esc.LineMax(wrong, prose.MaxReason)
	}
	read := func(at func(i int) string) intake {
		in := intake{subject: at(0), aliases: at(1), received: at(2), ground: at(3), by: at(4)}
		if len(d.Fields) > 5 {
			in.key = strings.TrimSpace(at(5))
		}
		return in
	}
	d.Canceled = rq.laidAside(func() intake { return read(func(i int) string { return d.Fields[i].Input.Value() }) })
	d.Choices = []dialog.Choice{{Verb: "Go on", Act: func(ctx context.Context, f dialog.Filled) dialog.Acted {
		return dialog.Acted{Next: rq.checkIntake(ctx, read(func(i int) string { return f.Fields[i] }))}
	}}}
	if in.begun() { // the values may be another subject's
		d.Choices = append(d.Choices, dialog.Choice{Verb: "Clear form", Run: func() tea.Cmd {
			rq.intake = intake{}
			return rq.D.Modal.Show(rq.intakeDialog(intake{}, -1, ""))
		}})
	}
	return d
}

// checkIntake, in a command, asks the stores for aliases and returns the next question, or the form again.
func (rq *requests) checkIntake(ctx context.Context, in intake) *dialog.Dialog {
	_, idErr := subject.New(in.subject)
	_, allErr := subject.New(append([]string{in.subject}, in.given()...)...)
	_, noDate := gdpr.ParseDate(in.received)
	_, dateErr := gdpr.Received(in.received, rq.D.Time.Clock.Now())
	words := func(err error) string { return prose.Reason(rq.D.Esc, err).String() }
	switch {
	case strings.TrimSpace(in.subject) == "":
		return rq.intakeDialog(in, 0, "The person's id is missing.")
	case idErr != nil:
		return rq.intakeDialog(in, 0, "The id: "+words(idErr))
	case allErr != nil:
		return rq.intakeDialog(in, 1, "An alias: "+words(allErr))
	case noDate != nil: // what was typed stands in the field
		return rq.intakeDialog(in, 2, "Write a date like 2026-05-31.")
	case dateErr != nil:
		return rq.intakeDialog(in, 2, "The date: "+words(dateErr))
	case strings.TrimSpace(in.ground) == "":
		return rq.intakeDialog(in, 3, "The ground is missing.")
	}
	all, notes, err := rq.D.Erasure.Propose(ctx, gdpr.Intake{Subject: in.subject, Aliases: in.given()})
	if err != nil { // the request can be filed nevertheless: its deadline runs
		notes = append(notes, "no store was asked for names: "+words(err))
	}
	in.proposed, in.unasked = all, notes
	return rq.nextIntake(ctx, in)
}

// nextIntake, in a command, asks about the first undecided alias, at last whether to file the request.
func (rq *requests) nextIntake(ctx context.Context, in intake) *dialog.Dialog {
	esc := rq.D.Esc
	all := in.given()
	typed := len(all)
	for _, p := range in.proposed {
		all = append(all, p.Value)
	}
	if n := len(in.confirmed) + len(in.left); n < len(all) {
		alias := all[n]
		answer := func(yes bool) func(context.Context, dialog.Filled) dialog.Acted {
			return func(ctx context.Context, _ dialog.Filled) dialog.Acted {
				next := in
				if yes {
					next.confirmed = append(in.confirmed[:len(in.confirmed):len(in.confirmed)], alias)
				} else {
					next.left = append(in.left[:len(in.left):len(in.left)], alias)
				}
				return dialog.Acted{Next: rq.nextIntake(ctx, next)}
			}
		}
		lines := []text.Line{
			{Value: esc.Sprintf("Is %s this person and nobody else?", esc.LineMax(alias, prose.MaxTitle)), Kind: text.Title},
			{Value: esc.Sprintf("Alias %s of %s. Every item that names it will be in the plan: another person of the same name would be erased too.", prose.Group(n+1), prose.Group(len(all)))},
			{Value: esc.Sprintf("It is %s.", identifier.Sentence(alias))},
		}
		if n >= typed {
			p := in.proposed[n-typed]
			lines = append(lines, text.Line{Value: esc.Sprintf("You did not give it: %s ties it to the person (%s).", p.Store, esc.LineMax(p.Field, prose.MaxTitle)), Kind: text.Note})
		}
		lines = append(lines, text.Lines(esc, text.Alert, identifier.Warnings(alias))...)
		return &dialog.Dialog{Title: esc.Const("Alias"), NoReason: true, Canceled: rq.laidAside(func() intake { return in }), Lines: lines, Choices: []dialog.Choice{{Verb: "Yes, this person", Key: "y", Act: answer(true)}, {Verb: "Leave it out", Key: "l", Act: answer(false)}}}
	}
	return rq.fileDialog(ctx, in)
}

// fileDialog runs in a command.
func (rq *requests) fileDialog(ctx context.Context, in intake) *dialog.Dialog {
	esc := rq.D.Esc
	field := func(name, v string) text.Line {
		return text.Line{Value: esc.Sprintf("%s: %s", name, esc.LineMax(v, prose.MaxTitle))}
	}
	lines := []text.Line{{Value: esc.Const("File this request?"), Kind: text.Title}, field("person", in.subject)}
	if others, err := rq.D.Erasure.Others(ctx, gdpr.Intake{Subject: in.subject, Aliases: in.confirmed}); err != nil {
		lines = append(lines, text.Line{Value: esc.Sprintf("whether another request is about the person is not known: %s", prose.Reason(esc, err)), Kind: text.Alert})
	} else if others != "" {
		lines = append(lines, text.Line{Value: esc.LineMax(others, prose.MaxReason), Kind: text.Alert})
	}
	lines = append(lines, text.Lines(esc, text.Alert, identifier.Warnings(in.subject))...)
	for _, alias := range in.confirmed {
		lines = append(lines, field("alias", alias))
	}
	lines = append(lines, text.Lines(esc, text.Alert, in.unasked)...)
	lines = append(lines, field("ground", in.ground))
	if by := strings.TrimSpace(in.by); by != "" {
		lines = append(lines, field("filed by", by))
	}
	if day, err := gdpr.ParseDate(in.received); err == nil {
		lines = append(lines, text.Line{Value: esc.Sprintf("received %s: an answer is due by %s, one calendar month later", in.received, gdpr.AddMonths(day, 1).Format(time.DateOnly))})
	}
	if in.key != "" {
		lines = append(lines, field("your key", in.key))
	} else if why := rq.D.Erasure.Unattested(); why != "" {
		lines = append(lines, text.Line{Value: esc.LineMax(why, prose.MaxReason), Kind: text.Alert})
	}
	lines = append(lines, text.Line{Value: esc.Const("The names stay with the request until the last store is done; the audit log keeps keyed hashes."), Kind: text.Note})
	return &dialog.Dialog{Title: esc.Const("New request"), Lines: lines, NoReason: true, Canceled: rq.laidAside(func() intake { return in }), Choices: []dialog.Choice{
		{Verb: "File it", Act: func(ctx context.Context, _ dialog.Filled) dialog.Acted { return rq.fileRequest(ctx, in) }},
		{Verb: "Change", Run: func() tea.Cmd { return rq.D.Modal.Show(rq.intakeDialog(in, -1, "")) }},
	}}
}

// fileRequest runs in a command.
func (rq *requests) fileRequest(ctx context.Context, in intake) dialog.Acted {
	r, err := rq.D.Erasure.File(ctx, gdpr.Intake{Subject: in.subject, Aliases: in.confirmed, Received: in.received, Ground: in.ground, By: strings.TrimSpace(in.by)}, in.key)
	if err != nil {
		in.confirmed, in.left = nil, nil
		return dialog.Acted{Next: rq.intakeDialog(in, -1, "Not filed: "+prose.Reason(rq.D.Esc, err).String())}
	}
	filed := rq.D.Esc.Sprintf("filed %s; p searches every store and makes the plan", r.ID)
	if r.Note != "" {
		filed = rq.D.Esc.Sprintf("filed %s; !! %s", r.ID, r.Note)
	}
	return dialog.Acted{Ok: true, Text: filed, Then: func() tea.Cmd {
		rq.intake = intake{}
		p := rq.List
		p.Pick = r.ID // the next acts are meant for this request
		return p.Refresh()
	}}
}
