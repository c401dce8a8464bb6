package conflict

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"memdesk/conflict/names"
	"memdesk/internal/recalled"
	"memdesk/internal/safetext"
	"memdesk/model"
)

// MarkersUpTo is the largest store, in items, whose items a list opens to find merge markers, unless it is
// asked to.
const MarkersUpTo = 10_000

// Look says whether items are opened to find merge markers.
type Look int

// The answers.
const (
	LookAuto Look = iota // in stores of at most MarkersUpTo items; else a note says so
	LookAll
	LookNone // copies only: names, and the texts that the names refer to
)

// Options of a list.
type Options struct {
	// Hosts are names of machines and people that are known to sync here.
	Hosts []string
	// Markers is the search for merge markers inside items.
	Markers Look
	// Note is told what was not looked at: the list is then incomplete. gap: something could not be read; else the
	// search leaves it out by itself.
	Note func(what string, gap bool)
	// Removed gives the items that a recorded act removed from the store, and when: a copy among them has
	// come back. May be nil.
	Removed map[string]time.Time
	// Memory, when set, saves reading unchanged items.
	Memory *Memory
	// Only, when set, is the only id to look for.
	Only string
}

func (o Options) note(gap bool, format string, args ...any) {
	if o.Note != nil {
		o.Note(fmt.Sprintf(format, args...), gap)
	}
}

// List streams a store's conflicts: copies found by their names, grouped by base, then markers inside items,
// then conflicts that the store itself knows. Only names are walked; a text is read if its name suggests a
// copy. An error ends the stream; earlier conflicts are valid.
func List(ctx context.Context, s model.Store, opt Options) iter.Seq2[Copy, error] {
	return func(yield func(Copy, error) bool) {
		l := &list{ctx: ctx, s: s, opt: opt, seen: map[string]bool{}}
		emit := func(c Copy) bool {
			l.seen[c.ID] = true
			if c.Resolvable() {
				c.Returned = opt.Removed[c.ID]
			}
			return opt.Only != "" && opt.Only != c.ID || yield(c, nil)
		}
		for _, part := range []func(func(Copy) bool) (bool, error){l.copies, l.known, l.marked} {
			on, err := part(emit)
			if err != nil {
				yield(Copy{}, err)
				return
			}
			if !on {
				return
			}
		}
	}
}

// Find reads one copy as List gives it; NotFound when the item is in no conflict.
func Find(ctx context.Context, s model.Store, id string, opt Options) (Copy, error) {
	opt.Only, opt.Markers = id, LookNone
	for c, err := range List(ctx, s, opt) {
		return c, err
	}
	if s.Browser == nil {
		return Copy{}, model.Errorf(model.NotFound, "conflicts", "%q is no conflict copy", id)
	}
	it, err := s.Browser.Read(ctx, id)
	if err != nil {
		return Copy{}, err
	}
	if n := Markers(id, it.Body); n > 0 {
		return markedCopy(s.Name, it, n), nil
	}
	return Copy{}, model.Errorf(model.NotFound, "conflicts", "%q is no conflict copy: its name, its text and its store say nothing of a conflict", id)
}

// list is one run over a store.
type list struct {
	ctx  context.Context
	s    model.Store
	opt  Options
	seen map[string]bool
	n    int64
}

// copies finds copies by their names.
func (l *list) copies(emit func(Copy) bool) (bool, error) {
	if !textual(l.s) {
		return true, nil
	}
	t := newTree(l.opt.Hosts)
	if err := t.walk(l.ctx, l.s); err != nil {
		return false, err
	}
	l.n = t.n
	for _, n := range t.notes {
		l.opt.note(!recalled.Only(l.s) && !strings.HasSuffix(n, model.LinkProblem), "%s", n)
	}
	var all []paired
	for _, c := range t.found {
		if p, ok := t.paired(c); ok {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b paired) int { return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.id, b.id)) })
	var sets [][]paired
	for i := 0; i < len(all); {
		n := i + 1
		for n < len(all) && all[n].key == all[i].key {
			n++
		}
		if l.opt.Only == "" || slices.ContainsFunc(all[i:n], func(p paired) bool { return p.id == l.opt.Only }) {
			sets = append(sets, all[i:n])
		}
		i = n
	}
	on, err := l.compareSets(sets, emit)
	if err != nil || !on {
		return on, err
	}
	return l.dumps(t, emit)
}

// paired is a candidate with the ways to read it.
type paired struct {
	id       string
	readings []reading
	lone     reading
	orphan   bool
	key      string // sorts a set of copies together
}

func (t *tree) paired(c candidate) (paired, bool) {
	if c.target != "" {
		return t.pairedByFolder(c)
	}
	p := paired{id: c.id, readings: t.pair(c)}
	p.lone, p.orphan = t.orphan(c)
	switch {
	case len(p.readings) > 0:
		p.key = p.readings[0].baseID
	case p.orphan:
		dir, _ := folder(c.id)
		p.key = dir + p.lone.chain[len(p.lone.chain)-1].Name
	default:
		return p, false
	}
	return p, true
}

// side is one text, or why it could not be read.
type side struct {
	it  model.Item
	err error
}

func (l *list) read(ctx context.Context, id string, texts map[string]side) side {
	if got, ok := texts[id]; ok {
		return got
	}
	var s side
	if l.s.Browser == nil {
		s.it, s.err = recalled.Read(ctx, l.s, id)
	} else {
		s.it, s.err = l.s.Browser.Read(ctx, id)
	}
	texts[id] = s
	return s
}

// judge decides whether a candidate is a conflict, and how certain that is. Readings are tried in order until
// one holds; of bases that a name fits alike the one whose text is nearest is the base.
func (l *list) judge(ctx context.Context, p paired, texts map[string]side) (Copy, string, bool, error) {
	if err := model.FromContext(ctx, "conflicts"); err != nil {
		return Copy{}, "", false, err
	}
	copied := l.read(ctx, p.id, texts)
	if errors.Is(copied.err, model.NotFound) { // deleted since the listing
		return Copy{}, "", false, nil
	}
	var best *Copy
	for _, r := range p.readings {
		if best != nil && (r.baseID == best.BaseID || fold(r.baseID) != fold(best.BaseID)) {
			continue
		}
		base := l.read(ctx, r.baseID, texts)
		if errors.Is(base.err, model.NotFound) {
			continue
		}
		c := describe(l.s.Name, p.id, r)
		if c.compare(l.s, r, copied, base) && (best == nil || c.nearer(*best)) {
			best = &c
		}
	}
	if best != nil {
		return *best, copied.it.Body, true, nil
	}
	if !p.orphan {
		return Copy{}, "", false, nil
	}
	r := p.lone
	c := describe(l.s.Name, p.id, r)
	c.Base, c.Orphan, c.Confidence, c.BaseRev = BaseMissing, true, r.match.Orphan, model.Absent
	c.Reason = reasons(patternReason(r), "no base in its folder")
	c.takeCopy(copied)
	return c, copied.it.Body, true, nil
}

func (c *Copy) takeCopy(s side) {
	if s.err != nil {
		c.Base, c.Problem = BaseUnknown, "the copy could not be read: "+s.err.Error()
		return
	}
	c.CopyRev, c.CopySize, c.CopyTime = s.it.Revision, int64(len(s.it.Body)), s.it.Modified
	c.Binary = c.Binary || !utf8.ValidString(s.it.Body)
	c.At = s.it.Modified
}

// compare compares a copy with its base; false when a name needs the texts' support and they do not give it.
func (c *Copy) compare(s model.Store, r reading, copied, base side) bool {
	c.takeCopy(copied)
	if base.err != nil {
		c.Base, c.Problem = BaseUnknown, "the base could not be read: "+base.err.Error()
	} else {
		c.BaseRev, c.BaseSize, c.BaseTime = base.it.Revision, int64(len(base.it.Body)), base.it.Modified
		c.Binary = c.Binary || !utf8.ValidString(base.it.Body)
	}
	if c.Base == BaseUnknown {
		c.Reason = reasons(patternReason(r), "base exists", "not compared")
		if r.need == names.BaseAndContent {
			c.Confidence = names.Possible
		}
		return true
	}
	a, b := base.it.Body, copied.it.Body
	key, like := "", ""
	if same(s, base.it, copied.it) {
		c.Base, c.Redundant, c.Shared, like = BaseIdentical, true, 100, "byte for byte its base"
	} else {
		c.Shared, key = sharedLines(a, b), sameKey(a, b)
		like = fmt.Sprintf("%d %% of lines shared", c.Shared)
		if key != "" {
			like += ", same " + key
		}
	}
	c.Reason = reasons(patternReason(r), "base exists", like)
	return r.need != names.BaseAndContent || c.Redundant || c.Shared >= alike || key != ""
}

// same reports whether the copy adds nothing to its base. The body of a work item is one of its fields.
func same(s model.Store, base, copied model.Item) bool {
	return base.Body == copied.Body && (textual(s) || slices.Equal(base.Meta, copied.Meta))
}

// nearer reports whether the base of c fits better than that of o. A base that could not be read may be the right one:
// only an equal text is nearer.
func (c Copy) nearer(o Copy) bool {
	switch {
	case c.Redundant != o.Redundant:
		return c.Redundant
	case (c.Base == BaseUnknown) != (o.Base == BaseUnknown):
		return c.Base == BaseUnknown
	}
	return c.Shared > o.Shared
}

func patternReason(r reading) string {
	s := "name pattern " + r.match.Row.What
	if len(r.chain) > 1 {
		s += fmt.Sprintf(", %d markers deep", len(r.chain))
	}
	return s
}

// maxNamesakes bounds with how many items of its name a file in lost_and_found is compared: each has its own README.md.
const maxNamesakes = 50

// dumps pairs files that a tool has set aside with an item of the same name elsewhere.
func (l *list) dumps(t *tree, emit func(Copy) bool) (bool, error) {
	for _, id := range t.dumped {
		if l.seen[id] || l.opt.Only != "" && l.opt.Only != id {
			continue
		}
		if err := model.FromContext(l.ctx, "conflicts"); err != nil {
			return false, err
		}
		_, name := folder(id)
		texts := map[string]side{}
		copied := l.read(l.ctx, id, texts)
		c := Copy{Store: l.s.Name, ID: id, Class: names.Dump, Tool: "google-drive", Row: 9, Confidence: names.Possible, Shared: -1,
			Base: BaseMissing, BaseRev: model.Absent, Orphan: true, Reason: "it lies in lost_and_found; no item of its name elsewhere that is like it",
			Cautions: cautionsFor("google-drive", 9, names.Dump)}
		c.takeCopy(copied)
		namesakes := t.byName[name]
		if n := len(namesakes); n > maxNamesakes {
			namesakes = namesakes[:maxNamesakes]
			c.Reason = fmt.Sprintf("it lies in lost_and_found; none of the first %d items of its name elsewhere is like it, and %d were not compared", maxNamesakes, n-maxNamesakes)
		}
		for _, base := range namesakes {
			try := c
			try.Base, try.Orphan, try.BaseID, try.Target = BasePresent, false, base, base
			r := reading{match: names.Match{Row: &dumpRow}, need: names.BaseAndContent}
			if b := l.read(l.ctx, base, texts); b.err == nil && try.compare(l.s, r, copied, b) {
				c = try
				break
			}
		}
		if !emit(c) {
			return false, nil
		}
	}
	return true, nil
}

var dumpRow = names.Row{Number: 9, What: "set aside in lost_and_found"}

// known are the conflicts that the store itself reports.
func (l *list) known(emit func(Copy) bool) (bool, error) {
	if l.s.Conflicts == nil {
		return true, nil
	}
	all, err := l.s.Conflicts.StoreConflicts(l.ctx)
	if err != nil {
		return false, err
	}
	for _, k := range all {
		if l.seen[k.CopyID] || l.opt.Only != "" && l.opt.Only != k.CopyID {
			continue
		}
		texts := map[string]side{}
		c := Copy{Store: l.s.Name, ID: k.CopyID, BaseID: k.BaseID, Target: k.BaseID, Class: names.Displaced, Tool: k.Tool, Confidence: names.Certain,
			Reason: k.Reason, Base: BasePresent, Shared: -1, At: k.At, Cautions: cautionsFor(k.Tool, 0, names.Displaced)}
		switch copied := l.read(l.ctx, k.CopyID, texts); {
		case k.CopyID == k.BaseID:
			c.Class, c.Row = names.InFile, 19
			c.takeCopy(copied)
			c.Blocks, c.BaseRev, c.BaseSize = Markers(k.CopyID, copied.it.Body), c.CopyRev, c.CopySize
		case k.BaseID == "":
			c.Base, c.Orphan, c.BaseRev = BaseMissing, true, model.Absent
			c.takeCopy(copied)
		default:
			base := l.read(l.ctx, k.BaseID, texts)
			if errors.Is(base.err, model.NotFound) {
				c.Base, c.Orphan, c.BaseID, c.BaseRev = BaseMissing, true, "", model.Absent
				c.takeCopy(copied)
				break
			}
			c.compare(l.s, reading{match: names.Match{Row: &names.Row{}}}, copied, base)
			c.Reason = k.Reason
		}
		if !k.At.IsZero() {
			c.At = k.At
		}
		if !emit(c) {
			return false, nil
		}
	}
	return true, nil
}

// marked opens the items of a store to find merge markers.
func (l *list) marked(emit func(Copy) bool) (bool, error) {
	switch {
	case l.opt.Markers == LookNone, l.s.Browser == nil, !textual(l.s):
		return true, nil
	case l.opt.Markers == LookAuto && l.n > MarkersUpTo:
		l.opt.note(false, "merge markers inside items were not looked for: the store has more than %d,000 items, and each must be opened", MarkersUpTo/1000)
		return true, nil
	}
	for page, err := range model.Pages(l.ctx, l.s.Browser, model.PageRequest{Hidden: true, Limit: model.MaxPage}) {
		if err != nil {
			return false, err
		}
		for _, h := range page.Items {
			if l.seen[h.ID] || h.Has(model.FlagBinary) || inVersions(h.ID) {
				continue
			}
			at := l.opt.Memory.now()
			if known, ok := l.opt.Memory.recall(ofMarkers, h.ID); ok {
				if len(known) > 0 && !emit(known[0]) {
					return false, nil
				}
				continue
			}
			it, err := l.s.Browser.Read(l.ctx, h.ID)
			if errors.Is(err, model.NotFound) {
				continue
			}
			if err != nil {
				l.opt.note(!errors.Is(err, model.ErrLink), "%s was not looked into: %v", h.ID, err)
				continue
			}
			r := remembered{read: []string{h.ID}, at: at}
			if n := Markers(h.ID, it.Body); n > 0 {
				r.copies = []Copy{markedCopy(l.s.Name, it, n)}
			}
			l.opt.Memory.keep(ofMarkers, h.ID, r)
			if len(r.copies) > 0 && !emit(r.copies[0]) {
				return false, nil
			}
		}
	}
	return true, nil
}

func markedCopy(store string, it model.Item, blocks int) Copy {
	return Copy{Store: store, ID: it.ID, BaseID: it.ID, Target: it.ID, Class: names.InFile, Tool: "git", Row: 19, Confidence: names.Certain,
		Reason: fmt.Sprintf("%d unresolved merge %s inside", blocks, safetext.Noun(int64(blocks), "marker")), Base: BasePresent, Shared: -1, Blocks: blocks,
		CopyRev: it.Revision, BaseRev: it.Revision, CopySize: int64(len(it.Body)), BaseSize: int64(len(it.Body)), CopyTime: it.Modified, BaseTime: it.Modified, At: it.Modified}
}
