package tui

import (
	"context"
	"strings"

	"memdesk/model"
	"memdesk/ui/act"
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
			l.read(b.p.detailOf(ctx, n[0]-1))
		}
		return
	}
	ref, ok := l.pick(argument)
	if !ok {
		return
	}
	s, it, err := l.a.d.readable(ctx, ref)
	if err != nil {
		l.failed(err)
		return
	}
	l.seen[ref] = it.Revision
	l.read(itemText(l.a.d.desk, s, it))
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
	if ref, ok := l.pick(argument); ok && !l.refused(l.a.d.noEdit(ref.Store)) {
		l.do(ctx, l.a.d.edits.editItem(ref))
	}
}

func (l *linear) appendTo(ctx context.Context, argument string) {
	if ref, ok := l.pick(argument); ok && !l.refused(l.a.d.noEdit(ref.Store)) {
		l.do(ctx, l.a.d.edits.appendItem(ref))
	}
}

// create makes an item where the list in hand is, or in the store that is named.
func (l *linear) create(ctx context.Context, argument string) {
	words := append(strings.Fields(argument), "", "", "")
	at := scopeOf{store: words[0], tier: words[1], scope: words[2]}
	if b := l.board; at.store == "" && b != nil && b.items != nil {
		at = b.items.items.at
	}
	var ok bool
	if at.store, ok = l.known(ctx, "create", at.store); ok && !l.refused(l.a.d.noCreateIn(at.store)) {
		l.do(ctx, l.a.d.edits.createIn(at))
	}
}

// forget removes an item, or the marked ones when none is named.
func (l *linear) forget(ctx context.Context, argument string) {
	if b := l.board; argument == "" && b != nil && b.items != nil && b.items.items.marks.n() > 0 {
		if !l.refused(l.a.d.locked(b.items.items.at.store)) {
			l.do(ctx, b.items.forgetMarked())
		}
		return
	}
	ref, ok := l.pick(argument)
	if !ok || l.refused(l.a.d.locked(ref.Store)) {
		return
	}
	s, err := l.a.d.fleet.Store(ref.Store)
	if err == nil && s.Browser == nil {
		err = model.Errorf(model.Unsupported, "forget", "this store cannot show what would go")
	}
	if err != nil {
		l.failed(err)
		return
	}
	l.do(ctx, l.a.d.removals.forget(ref, l.seen[ref]))
}

// history lists the recorded versions of an item.
func (l *linear) history(ctx context.Context, argument string) {
	if ref, ok := l.pick(argument); ok {
		l.do(ctx, l.a.d.revisions.openHistory(ref))
	}
}

// export writes an item to a file, or the list in hand.
func (l *linear) export(ctx context.Context, argument string) {
	b := l.board
	switch {
	case argument != "" && (b == nil || b.p == nil || strings.Contains(argument, ":")):
		if ref, ok := l.pick(argument); ok {
			l.do(ctx, l.a.d.exports.exportItem(ref))
		}
	case b == nil || b.refs != nil:
		l.say("There is no list to be exported. export, with a number or a reference, writes one item to a file.")
	case b.items != nil:
		l.do(ctx, b.items.exportTable())
	case b.p.facts().exports:
		b.p.place(0)
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
