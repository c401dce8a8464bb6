package linear

import (
	"context"
	"strings"

	"memdesk/model"
	"memdesk/ui/act"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/edit"
	"memdesk/ui/tui/pane/tiers"
)

// open reads a row of the last list, or the item that a reference names.
func (l *linear) open(ctx context.Context, argument string) {
	if b := l.board; b != nil && b.p != nil && !strings.Contains(argument, ":") {
		n, ok := rowNumbers(argument)
		if !ok || len(n) > 1 {
			l.say("Say which: a number of the last list, or a reference such as store:id.")
			return
		}
		if l.at(ctx, b, n[0]) {
			l.read(b.p.DetailOf(ctx, n[0]-1))
		}
		return
	}
	ref, ok := l.pick(argument)
	if !ok {
		return
	}
	s, it, err := l.a.D.Readable(ctx, ref)
	if err != nil {
		l.failed(err)
		return
	}
	l.seen[ref] = it.Revision
	l.read(desk.ItemText(l.a.D.Desk, s, it))
}

// edit opens an item, or what the list in hand holds, to be written.
func (l *linear) edit(ctx context.Context, argument string) {
	if l.board != nil && !strings.Contains(argument, ":") {
		switch l.board.name {
		case boardQuarantine, boardConflicts:
			l.press(ctx, "e", argument)
			return
		}
	}
	if ref, ok := l.pick(argument); ok && !l.refused(edit.NoEdit(l.a.D.Desk, ref.Store)) {
		l.do(ctx, l.a.D.Edits.EditItem(ref))
	}
}

func (l *linear) appendTo(ctx context.Context, argument string) {
	if ref, ok := l.pick(argument); ok && !l.refused(edit.NoEdit(l.a.D.Desk, ref.Store)) {
		l.do(ctx, l.a.D.Edits.AppendItem(ref))
	}
}

// create makes an item where the list in hand is, or in the store that is named.
func (l *linear) create(ctx context.Context, argument string) {
	words := append(strings.Fields(argument), "", "", "")
	at := desk.ScopeOf{Store: words[0], Tier: words[1], Scope: words[2]}
	if b := l.board; at.Store == "" && b != nil && b.items != nil {
		at = b.items.Items.At
	}
	var ok bool
	if at.Store, ok = l.known(ctx, "create", at.Store); ok && !l.refused(tiers.NoCreateIn(l.a.D.Desk, at.Store)) {
		l.do(ctx, l.a.D.Edits.CreateIn(at))
	}
}

// forget removes an item, or the marked ones when none is named.
func (l *linear) forget(ctx context.Context, argument string) {
	if b := l.board; argument == "" && b != nil && b.items != nil && b.items.Items.Marks.N() > 0 {
		if !l.refused(l.a.D.Locked(b.items.Items.At.Store)) {
			l.do(ctx, b.items.ForgetMarked())
		}
		return
	}
	ref, ok := l.pick(argument)
	if !ok || l.refused(l.a.D.Locked(ref.Store)) {
		return
	}
	s, err := l.a.D.Fleet.Store(ref.Store)
	if err == nil && s.Browser == nil {
		err = model.Errorf(model.Unsupported, "forget", "this store cannot show what would go")
	}
	if err != nil {
		l.failed(err)
		return
	}
	l.do(ctx, l.a.D.Removals.Forget(ref, l.seen[ref]))
}

// history lists the recorded versions of an item.
func (l *linear) history(ctx context.Context, argument string) {
	if ref, ok := l.pick(argument); ok {
		l.do(ctx, l.a.D.Revisions.Open(ref))
	}
}

// export writes an item to a file, or the list in hand.
func (l *linear) export(ctx context.Context, argument string) {
	b := l.board
	switch {
	case argument != "" && (b == nil || b.p == nil || strings.Contains(argument, ":")):
		if ref, ok := l.pick(argument); ok {
			l.do(ctx, l.a.D.Exports.ExportItem(ref))
		}
	case b == nil || b.refs != nil:
		l.say("There is no list to be exported. export, with a number or a reference, writes one item to a file.")
	case b.items != nil:
		l.do(ctx, b.items.ExportTable())
	case b.p.Facts().Exports:
		b.p.Place(0)
		if k, ok := act.Find(b.keys(), "x"); ok && !l.refused(k.Reason()) {
			l.do(ctx, k.Do())
		}
	default:
		if _, ok := act.Find(b.keys(), "x"); ok { // of a person
			l.press(ctx, "x", argument)
			return
		}
		l.say("This list cannot be exported.")
	}
}
