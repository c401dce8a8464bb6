package change

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"memdesk/internal/testcpu"
	"memdesk/operator"
	"memdesk/ui/tui/desk/desktest"
)

// TestEffect: the question before an undo must say which items go, for the change may have made some of them.
func TestEffect(t *testing.T) {
	old, made := operator.UndoRow{Item: "old", Existed: true}, operator.UndoRow{Item: "made"}
	both := func(items ...operator.UndoRow) operator.UndoRow {
		return operator.UndoRow{Item: items[0].Item, Existed: true, Items: items}
	}
	for _, c := range []struct {
		rows      []operator.UndoRow
		says, did string
	}{
		{[]operator.UndoRow{old}, "Restores the old text (9 B).", "put back"},
		{[]operator.UndoRow{made}, "Removes the item that the change made.", "removed again"},
		{[]operator.UndoRow{both(made)}, "Removes the item that the change made.", "removed again"},
		{[]operator.UndoRow{both(old, old)}, "Restores 2 items as they were before (9 B).", "put back"},
		{[]operator.UndoRow{both(made, made, made)}, "Removes 3 items that the change made.", "removed again"},
		{[]operator.UndoRow{both(old, made, old)}, "Restores 2 items (9 B), and removes 1 item that the change made.", "undone"},
		{[]operator.UndoRow{both(old, old, old), both(old, old), old}, "Restores 6 items as they were before (9 B).", "put back"},
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
	two := []operator.UndoRow{{Item: "a/b.md", Existed: true}, {Item: "a/c.md"}}
	for _, c := range []struct {
		row              operator.UndoRow
		word, size, item string
	}{
		{operator.UndoRow{Op: "resolve", Item: "a/b.md", Items: two, Existed: true, Bytes: 9}, "resolve", "9 B", "b.md and 1 more  a/"},
		{operator.UndoRow{Op: "resolve", Undoes: true, Item: "a/b.md", Items: two, Existed: true, Bytes: 9}, "undo of resolve", "9 B", "b.md and 1 more  a/"},
		{operator.UndoRow{Op: "resolve", Item: "a/", Items: two, Existed: true, Bytes: 9}, "resolve", "9 B", "a/ and 1 more  "},
		{operator.UndoRow{Op: "retain", Item: "a/b.md", Existed: true, Bytes: 9}, "edit", "9 B", "b.md  a/"},
		{operator.UndoRow{Op: "retain", Item: "a/b.md"}, "create", "-", "b.md  a/"},
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
	if less := undoKind(&Undos{D: desktest.New()}).Less[3]; less == nil || less(operator.UndoRow{Bytes: 999}, operator.UndoRow{Bytes: 1200}) >= 0 {
		t.Error("changes sort by the words of their sizes")
	}
}
