package change

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"memdesk/internal/testcpu"
	"memdesk/ui/tui/desk/desktest"
	"memdesk/undo"
)

// TestEffect: the question before an undo must say which items go, for the change may have made some of them.
func TestEffect(t *testing.T) {
	old, made := undo.Entry{Side: undo.Side{Item: "old", Existed: true}}, undo.Entry{Side: undo.Side{Item: "made"}}
	both := func(items ...undo.Entry) undo.Entry {
		return undo.Entry{Side: undo.Side{Item: items[0].Item, Existed: true}, Sides: itemsOf(items...)}
	}
	for _, c := range []struct {
		rows      []undo.Entry
		says, did string
	}{
		{[]undo.Entry{old}, "Restores the old text (9 B).", "put back"},
		{[]undo.Entry{made}, "Removes the item that the change made.", "removed again"},
		{[]undo.Entry{both(made)}, "Removes the item that the change made.", "removed again"},
		{[]undo.Entry{both(old, old)}, "Restores 2 items as they were before (9 B).", "put back"},
		{[]undo.Entry{both(made, made, made)}, "Removes 3 items that the change made.", "removed again"},
		{[]undo.Entry{both(old, made, old)}, "Restores 2 items (9 B), and removes 1 item that the change made.", "undone"},
		{[]undo.Entry{both(old, old, old), both(old, old), old}, "Restores 6 items as they were before (9 B).", "put back"},
	} {
		if got := effect(itemsOf(c.rows...), 9); got != c.says {
			t.Errorf("%+v: %q, want %q", c.rows, got, c.says)
		}
		if got := did(c.rows[0]); got != c.did {
			t.Errorf("%+v: %q, want %q", c.rows[0], got, c.did)
		}
	}
}

// TestAnUndoIsNamedAsOne: in the list of undo, an act, its undo and a creation must differ.
func TestAnUndoIsNamedAsOne(t *testing.T) {
	two := []undo.Side{{Item: "a/b.md", Existed: true}, {Item: "a/c.md"}}
	for _, c := range []struct {
		row              undo.Entry
		word, size, item string
	}{
		{undo.Entry{Sides: two, Side: undo.Side{Op: "resolve", Item: "a/b.md", Existed: true, Bytes: 9}}, "resolve", "9 B", "b.md and 1 more  a/"},
		{undo.Entry{Undoes: true, Sides: two, Side: undo.Side{Op: "resolve", Item: "a/b.md", Existed: true, Bytes: 9}}, "undo of resolve", "9 B", "b.md and 1 more  a/"},
		{undo.Entry{Sides: two, Side: undo.Side{Op: "resolve", Item: "a/", Existed: true, Bytes: 9}}, "resolve", "9 B", "a/ and 1 more  "},
		{undo.Entry{Side: undo.Side{Op: "retain", Item: "a/b.md", Existed: true, Bytes: 9}}, "edit", "9 B", "b.md  a/"},
		{undo.Entry{Side: undo.Side{Op: "retain", Item: "a/b.md"}}, "create", "-", "b.md  a/"},
		{undo.Entry{Sides: two[1:], Side: undo.Side{Op: "takeback", Item: "a/c.md", Existed: true}}, "takeback", "-", "c.md  a/"},
	} {
		cells := undoRecord(desktest.New(), c.row).Cells
		if got := []string{cells[1].String(), cells[3].String(), cells[4].String()}; !slices.Equal(got, []string{c.word, c.size, c.item}) {
			t.Errorf("%+v: %q", c.row, got)
		}
	}
}

// TestTakeManyAtOnce: the update loop waits for it, and an act on many items has one entry for each.
func TestTakeManyAtOnce(t *testing.T) {
	var ids []string
	for i := range 50_000 {
		ids = append(ids, fmt.Sprintf("undo-%d", i))
	}
	us := Undos{Acts: [][]string{{"before"}, ids, {"a", ids[7]}}}
	if took := testcpu.Spent(func() { us.Take(ids...) }); took > 5*time.Second { // one pass per entry takes a minute
		t.Errorf("it took %s", took)
	}
	if len(us.Acts) != 2 || len(us.Acts[1]) != 1 || us.Acts[1][0] != "a" || !us.some {
		t.Errorf("left: %v", us.Acts)
	}
}

// TestSizesSortAsNumbers: 999 B must stand before 1.2 KB.
func TestSizesSortAsNumbers(t *testing.T) {
	if less := undoKind(&Undos{D: desktest.New()}).Less[3]; less == nil || less(undo.Entry{Side: undo.Side{Bytes: 999}}, undo.Entry{Side: undo.Side{Bytes: 1200}}) >= 0 {
		t.Error("changes sort by the words of their sizes")
	}
}
