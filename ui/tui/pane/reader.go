package pane

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"memdesk/internal/recalled"
	"memdesk/model"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/prose"
	"memdesk/ui/tui/kit/text"
)

// Wanted is the page of an item, at a line of its text; 0: at its head.
func Wanted(d *desk.Desk, ref model.Ref, line int, terms []string) text.Wanted {
	if ref.Store == "" {
		return text.Wanted{}
	}
	return text.Wanted{Key: ref.String() + " " + strconv.Itoa(line), Source: ref.Store, Terms: terms, Read: func(ctx context.Context) *text.Page {
		page := Read(ctx, d, ref, terms)
		page.Line = line
		return page
	}}
}

// Read reads an item, or says why it cannot be read.
func Read(ctx context.Context, d *desk.Desk, ref model.Ref, terms []string) *text.Page {
	s, err := d.Fleet.Store(ref.Store)
	var it model.Item
	gone := false // the store is open, and the item is not in it
	switch {
	case err != nil:
	case s.Browser == nil:
		it, err = recalled.Read(ctx, s, ref.ID, strings.Join(terms, " "))
	default:
		it, err = s.Browser.Read(ctx, ref.ID)
		gone = errors.Is(err, model.NotFound)
	}
	if err == nil {
		page := desk.ItemText(d, s, it)
		page.Item, page.Revision = ref, it.Revision
		return page
	}
	why, advice := d.Esc.Sprintf("it cannot be shown: %s", prose.Reason(d.Esc, err)), "`ctrl+r` asks the store again."
	if gone {
		why, advice = d.Esc.Sprintf("it was forgotten or moved: %s", prose.Reason(d.Esc, err)), "`z` undoes your last act, `esc` leads to the list."
	}
	head := []text.Line{{Value: d.Esc.Line(ref.ID), Kind: text.Title}, {Kind: text.Blank}, {Value: why, Kind: text.Alert}}
	if !d.Plain { // it has words, not keys
		head = append(head, text.Advice(d.Esc, advice))
	}
	page := text.NewPage(head, "")
	page.Item = ref
	return page
}

// Seen is the revision of an item on the screen; empty when unknown.
func Seen(p *text.Pager, ref model.Ref) model.Revision {
	if p.Text == nil || p.Text.Item != ref {
		return ""
	}
	return p.Text.Revision
}
