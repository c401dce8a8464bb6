package cli

import (
	"context"
	"strings"

	"memdesk/conflict"
	"memdesk/conflict/merge"
	"memdesk/model"
	"memdesk/operator"
)

func (a *app) showConflict(ctx context.Context, s *operator.Session, store model.Store, ref model.Ref) error {
	c, err := conflict.Find(ctx, store, ref.ID, s.ConflictOptions())
	if err != nil {
		return err
	}
	cmp, err := conflict.Compare(ctx, store, c)
	if err != nil {
		return err
	}
	if a.flags.json {
		a.emit("conflict", comparisonRow(cmp))
		return nil
	}
	a.linef("%s", model.Ref{Store: c.Store, ID: c.ID}.String())
	if c.BaseID != "" {
		a.linef("copy of     %s (%s)", c.BaseID, string(c.Base))
	} else {
		a.linef("copy of     nothing that is there; by its name of %s", c.Target)
	}
	a.linef("tool        %s%s", c.Tool, alternatives(c.Also))
	a.linef("confidence  %s: %s", string(c.Confidence), c.Reason)
	if c.Who != "" {
		a.linef("made by     %s", c.Who)
	}
	a.linef("base        %d bytes, %s, revision %s", cmp.BaseSize, when(cmp.BaseTime), string(cmp.BaseRev))
	a.linef("copy        %d bytes, %s, revision %s", cmp.CopySize, when(cmp.CopyTime), string(cmp.CopyRev))
	for _, t := range c.Twins {
		a.linef("the same bytes stand in %s", t)
	}
	for _, w := range c.Cautions {
		a.linef("caution     %s", w)
	}
	if cmp.Threefold() {
		a.linef("ancestor    %s", cmp.Origin)
	} else {
		a.linef("ancestor    not known: %s", cmp.Unknown)
	}
	for _, f := range cmp.Front {
		if !f.Same() {
			a.linef("field       %s: %s | %s", f.Name, sideOf(f.Base, f.InBase), sideOf(f.Copy, f.InCopy))
		}
	}
	a.linef("")
	switch {
	case cmp.Binary:
		a.linef("not text: resolve it with --take base, copy or both")
	case cmp.Redundant:
		a.linef("both are the same, byte for byte")
	case cmp.BaseID == "" || !cmp.Resolvable():
		a.body(cmp.CopyText)
	default:
		a.unified(cmp)
	}
	return nil
}

func alternatives(also []string) string {
	if len(also) == 0 {
		return ""
	}
	return ", or " + strings.Join(also, ", ")
}

func sideOf(v string, there bool) string {
	if !there {
		return "(not there)"
	}
	return v
}

// context is how many equal lines stand around a difference.
const contextLines = 3

// unified prints the two sides against each other; with an ancestor each hunk says
// who changed it.
func (a *app) unified(cmp conflict.Comparison) {
	a.linef("--- %s", cmp.BaseID)
	a.linef("+++ %s", cmp.ID)
	line := func(sign, l string) { a.linef("%s%s", sign, strings.TrimRight(l, "\n")) }
	for i, h := range cmp.Hunks {
		if h.Kind == merge.Same {
			a.contextOf(h.Left, i == 0, i == len(cmp.Hunks)-1, line)
			continue
		}
		if who := changedBy(h.Kind); cmp.Threefold() {
			a.linef("@@ %s @@", who)
		} else {
			a.linef("@@")
		}
		for _, l := range h.Left {
			line("-", l)
		}
		for _, l := range h.Right {
			line("+", l)
		}
	}
}

func (a *app) contextOf(lines []string, first, last bool, line func(sign, l string)) {
	head, tail := lines, []string(nil)
	if len(lines) > 2*contextLines {
		head, tail = lines[:contextLines], lines[len(lines)-contextLines:]
	}
	if first && tail != nil {
		head = nil
	}
	for _, l := range head {
		line(" ", l)
	}
	if tail != nil {
		line(" ", "...")
	}
	if last {
		return
	}
	for _, l := range tail {
		line(" ", l)
	}
}

func changedBy(k merge.Kind) string {
	switch k {
	case merge.Left:
		return "changed in the base only"
	case merge.Right:
		return "changed in the copy only"
	case merge.Agreed:
		return "changed alike in both"
	}
	return "changed in both"
}

func comparisonRow(cmp conflict.Comparison) row {
	r := conflictRow{cmp.Copy}.fields()
	hunks := []any{}
	for _, h := range cmp.Hunks {
		if h.Kind != merge.Same {
			hunks = append(hunks, row{"changed": changedBy(h.Kind), "open": h.Open(), "ancestor": list(h.Ancestor), "base": list(h.Left), "copy": list(h.Right)})
		}
	}
	fields := []any{}
	for _, f := range cmp.Front {
		v := row{"name": f.Name, "base": nil, "copy": nil, "same": f.Same()}
		if f.InBase {
			v["base"] = f.Base
		}
		if f.InCopy {
			v["copy"] = f.Copy
		}
		fields = append(fields, v)
	}
	r["hunks"], r["fields"], r["ancestor"], r["ancestor_unknown"] = hunks, fields, nil, nil
	if cmp.Threefold() {
		r["ancestor"] = cmp.Origin
	} else {
		r["ancestor_unknown"] = cmp.Unknown
	}
	r["base_time"], r["copy_time"] = stamp(cmp.BaseTime), stamp(cmp.CopyTime)
	return r
}
