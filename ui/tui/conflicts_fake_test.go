package tui_test

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"memdesk/conflict"
	"memdesk/conflict/merge"
	"memdesk/conflict/names"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/undo"
)

// conflictsFake has one copy of each sort, of the store crewship.
type conflictsFake struct {
	mu   sync.Mutex
	text map[string]string
	all  []conflict.Copy
	acts *actsFake
	// listed are the copies that a list has shown.
	listed []conflict.Copy
	moved  bool // a side changes before every resolve
	// more returns copies that a tool has made meanwhile; may be nil.
	more func() []conflict.Copy
}

func newConflictsFake(acts *actsFake, moved bool) *conflictsFake {
	f := &conflictsFake{acts: acts, moved: moved, text: map[string]string{
		"notes/plan.md": "---\nslug: plan\nstatus: open\n---\n# Plan\n\nShip on Friday.\nAsk Mara first.\n\nThe rest stays.\nNobody is late.\n",
		"notes/plan.sync-conflict-20260520-083015-K3ZQ7AB.md": "---\nslug: plan\nstatus: done\n---\n# Plan\n\nShip on Monday.\nAsk Mara first.\n\nThe rest stays.\nEverybody is late.\n",
		"notes/plan (Mira's conflicted copy 2026-05-19).md":   "---\nslug: plan\nstatus: open\n---\n# Plan\n\nShip on Friday.\nAsk Mara first.\n\nThe rest stays.\nNobody is late.\n",
		"notes/garden.md": "roses\n", "notes/garden.Conflict.md": "tulips\n", "notes/half.md": "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n",
		"notes/gone (Mira\x1b[31m's conflicted copy 2026-05-18).md": "left alone\n",
	}}
	add := func(base, id, tool string, row int, why string, hours int, edit func(*conflict.Copy)) {
		c := conflict.Copy{Store: "crewship", ID: id, BaseID: base, Target: base, Class: names.Conflict, Tool: tool, Row: row, Confidence: names.Certain, Reason: why,
			Base: conflict.BasePresent, Shared: 80, CopyRev: "c", BaseRev: "b", At: now.Add(-time.Duration(hours) * time.Hour)}
		c.CopySize, c.BaseSize, c.CopyTime, c.BaseTime = int64(len(f.text[id])), int64(len(f.text[base])), c.At, now.Add(-time.Hour)
		if edit != nil {
			edit(&c)
		}
		f.all = append(f.all, c)
	}
	const back = "Sync may bring a deleted copy back: look again after 2 min."
	add("notes/garden.md", "notes/garden.Conflict.md", "resilio", 12, "name pattern 12: .Conflict; base exists; 0 % of lines shared", 30, func(c *conflict.Copy) {
		c.Cautions = []string{"the vendor warns that deleting a .Conflict file deletes the real file on other peers: it is merged or renamed, never deleted"}
	})
	add("", "notes/gone (Mira\x1b[31m's conflicted copy 2026-05-18).md", "dropbox", 1, "name pattern 1: (who's conflicted copy date); no base in its folder", 80, func(c *conflict.Copy) {
		c.Target, c.Orphan, c.Base, c.Who = "notes/gone.md", true, conflict.BaseMissing, "Mira\x1b[31m"
	})
	add("notes/plan.md", "notes/plan (Mira's conflicted copy 2026-05-19).md", "dropbox", 1, "name pattern 1: (who's conflicted copy date); base exists; byte for byte its base", 40, func(c *conflict.Copy) {
		c.Redundant, c.Base, c.Who, c.Cautions = true, conflict.BaseIdentical, "Mira", []string{back}
	})
	add("notes/plan.md", "notes/plan.sync-conflict-20260520-083015-K3ZQ7AB.md", "syncthing", 8, "name pattern 8: .sync-conflict-date-time-device; base exists; 75 % of lines shared", 25, func(c *conflict.Copy) {
		c.Who, c.Cautions = "K3ZQ7AB", []string{back}
	})
	add("notes/half.md", "notes/half.md", "git", 19, "1 unresolved merge marker inside", 3, func(c *conflict.Copy) { c.Class, c.Blocks = names.InFile, 1 })
	return f
}

// Part knows every copy as soon as they were listed.
func (f *conflictsFake) Part(ref model.Ref) operator.Part {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.listed {
		switch {
		case c.Store != ref.Store:
		case c.BaseID == ref.ID:
			return operator.PartBase
		case c.ID == ref.ID:
			return operator.PartCopy
		}
	}
	return ""
}

func (f *conflictsFake) Conflicts(_ context.Context, q operator.PageQuery) (operator.Page[conflict.Copy], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var page operator.Page[conflict.Copy]
	all := f.all
	if f.more != nil {
		all = append(f.more(), all...)
	}
	for _, c := range all {
		if f.listed = all; q.Matches(c.ID) {
			page.Rows = append(page.Rows, c)
		}
	}
	page.Total.N = int64(len(page.Rows))
	return page, nil
}

// oneWalk takes its time and, as the real source, keeps one walk only: another question ends the one under way.
type oneWalk struct {
	*conflictsFake
	walks atomic.Int64
}

func (f *oneWalk) Conflicts(ctx context.Context, q operator.PageQuery) (operator.Page[conflict.Copy], error) {
	mine := f.walks.Add(1)
	time.Sleep(200 * time.Millisecond)
	if f.walks.Load() != mine {
		return operator.Page[conflict.Copy]{Problems: []string{"the look stopped"}}, nil
	}
	return f.conflictsFake.Conflicts(ctx, q)
}

func (f *conflictsFake) Compare(_ context.Context, c conflict.Copy) (conflict.Comparison, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := conflict.Comparison{Copy: c, BaseText: f.text[c.BaseID], CopyText: f.text[c.ID], Unknown: "the folder is in no git repository"}
	out.Front = conflict.CompareFront(out.BaseText, out.CopyText)
	out.Hunks = merge.Two(out.BaseText, out.CopyText)
	return out, nil
}

func (f *conflictsFake) Resolve(_ context.Context, c conflict.Copy, ch conflict.Choice, _ string) (operator.Done, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.moved {
		f.text[c.ID] = "written by somebody else\n"
		return operator.Done{}, model.Errorf(model.Conflict, "", "the copy is not as it was shown, nothing was changed")
	}
	for i := range f.all {
		if f.all[i].ID == c.ID {
			f.all = append(f.all[:i:i], f.all[i+1:]...)
			break
		}
	}
	if ch.Take == conflict.TakeMerged {
		f.text[c.Target] = ch.Merged
	}
	row := f.acts.keep(undo.Entry{Store: c.Store, Side: undo.Side{Item: c.Target, Op: "resolve", Existed: true, After: "gone"}})
	return operator.Done{Store: c.Store, Item: c.Target, Removed: 1, Undo: row.ID}, nil
}

// Returned reports that every copy came back, except one that equals its base byte for byte.
func (f *conflictsFake) Returned(_ context.Context, c conflict.Copy) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.Redundant {
		return false, nil
	}
	c.Returned = now
	f.all = append(f.all, c)
	return true, nil
}

func (f *conflictsFake) Redundant(context.Context) ([]conflict.Copy, int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []conflict.Copy
	for _, c := range f.all {
		if c.Redundant {
			out = append(out, c)
		}
	}
	return out, 1, nil
}
