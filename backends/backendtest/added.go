package backendtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"memdesk/model"
)

var addedCases = []Case{
	{"D01", Added, "an id addresses the item it names", idAddresses},
	{"D02", Added, "an id that disagrees with tier or key is an error", idDisagrees},
	{"D03", Added, "if-match: the revision seen passes, another is Conflict and changes nothing", ifMatch},
	{"D04", Added, "if-match absent creates only", ifAbsent},
	{"D05", Added, "forget with if-match", forgetMatch},
	{"D06", Added, "if-match with a data subject is an error", subjectMatch},
	{"D07", Added, "of rivals with one revision exactly one wins", rivals},
	{"D08", Added, "no metadata keeps what is there, metadata given is the whole set", metaWhole},
	{"D09", Added, "a read-only field that differs is an error", metaReadOnly},
	{"D10", Added, "a retained revision is the one that is read, and only a change changes it", revisions},
	{"D11", Added, "a recall hit names an item that can be read and forgotten", hitIsItem},
	{"D12", Added, "recall's total is honest", recallTotal},
	{"D13", Added, "cleaning is always possible", cleaning},
	{"D14", Added, "an item's document retains as it was shown", roundTrip},
	{"D15", Added, "where the key is optional the store makes distinct ones", optionalKey},
	{"D16", Added, "a read-only store refuses every change and says so", readOnly},
	{"D17", Added, "opening and reading leaves nothing behind", openLeavesNothing},
	{"D18", Added, "a subject is taken where subjects are kept, and Unsupported elsewhere", subjectTag},
	{"D19", Added, "the address told beforehand is the id that is written", addressTells},
	{"D20", Added, "an item without a body is put back where metadata makes the item", emptyBody},
	{"D21", Added, "read-only fields that an item put back does not have again are declared", renews},
	{"D22", Added, "the id and the text that a write leaves are foretold, or are those that were sent", foretold},
}

func idAddresses(t TB, e *Env) {
	s := e.open(t)
	for _, ts := range e.tiers(s) {
		first := e.put(t, s, ts, 0, "one")
		for _, tier := range []string{"", ts.Name} {
			r := e.scoped()
			r.ID, r.Tier, r.Mode, r.Content = first.ID, tier, model.Replace, "two"
			if res := retain(t, s, r); res.ID != first.ID {
				t.Errorf("tier %q: retain by id gives id %q, not %q", ts.Name, res.ID, first.ID)
			}
			wantBody(t, s, first.ID, "two")
			r.Mode, r.Content = model.Append, "three"
			retain(t, s, r)
			wantBody(t, s, first.ID, "twothree")
		}
		r := e.request(ts, 0, model.Replace, "four")
		r.ID = first.ID
		retain(t, s, r)
		wantBody(t, s, first.ID, "four")
		if s.Browser != nil && read(t, s, first.ID).Tier != ts.Name {
			t.Errorf("item %q reads as of tier %q, want %q", first.ID, read(t, s, first.ID).Tier, ts.Name)
		}
		e.drop(t, s, first.ID)
		r = e.scoped()
		r.ID, r.Mode, r.Content, r.IfMatch = first.ID, model.Replace, "again", model.Absent
		if res := retain(t, s, r); res.ID != first.ID {
			t.Errorf("tier %q: a forgotten item is created anew as %q, not %q", ts.Name, res.ID, first.ID)
		}
	}
}

func idDisagrees(t TB, e *Env) {
	s := e.open(t)
	tiers := e.tiers(s)
	for i, ts := range tiers {
		id := e.put(t, s, ts, 0, "before").ID
		if ts.KeyRule != model.KeyIgnored {
			r := e.request(ts, 1, model.Replace, "after")
			r.ID = id
			unchanged(t, s, "another key", func() { refused(t, s, r, model.InvalidInput) })
		}
		others := []string{"no-such-tier"}
		if len(tiers) > 1 {
			others = append(others, tiers[(i+1)%len(tiers)].Name)
		}
		for _, other := range others {
			r := e.scoped()
			r.ID, r.Tier, r.Mode, r.Content = id, other, model.Replace, "after"
			unchanged(t, s, "another tier", func() { refused(t, s, r, model.InvalidInput) })
		}
	}
}

func ifMatch(t TB, e *Env) {
	s := e.open(t)
	for _, ts := range e.tiers(s) {
		first := e.put(t, s, ts, 0, "one")
		second := e.put(t, s, ts, 0, "two")
		if first.Revision == "" || first.Revision == second.Revision {
			t.Errorf("tier %q: two contents share the revision %q", ts.Name, first.Revision)
		}
		for _, mode := range []model.Mode{model.Replace, model.Append} {
			r := e.request(ts, 0, mode, "three")
			r.IfMatch = first.Revision
			unchanged(t, s, "a stale revision", func() { refused(t, s, r, model.Conflict) })
		}
		r := e.request(ts, 0, model.Replace, "three")
		r.IfMatch = second.Revision
		retain(t, s, r)
		gone := e.put(t, s, ts, 0, "gone")
		e.drop(t, s, gone.ID)
		r.IfMatch = gone.Revision
		unchanged(t, s, "a revision of an item that is gone", func() { refused(t, s, r, model.Conflict) })
	}
}

func ifAbsent(t TB, e *Env) {
	s := e.open(t)
	for _, ts := range e.tiers(s) {
		r := e.request(ts, 0, model.Replace, "one")
		r.IfMatch = model.Absent
		id := retain(t, s, r).ID
		r.Content = "two"
		unchanged(t, s, "absent", func() { refused(t, s, r, model.Conflict) })
		r.Mode = model.Append
		unchanged(t, s, "absent", func() { refused(t, s, r, model.Conflict) })
		wantBody(t, s, id, "one")
	}
}

func forgetMatch(t TB, e *Env) {
	s := e.open(t)
	for _, ts := range e.tiers(s) {
		old := e.put(t, s, ts, 0, "one")
		res := e.put(t, s, ts, 0, "two")
		r := e.forget(res.ID)
		for _, rev := range []model.Revision{old.Revision, "no-such-revision", model.Absent} {
			r.IfMatch = rev
			unchanged(t, s, "forget with a wrong revision", func() {
				_, err := s.Provider.Forget(t.Context(), r)
				wantKind(t, fmt.Sprintf("forget if-match %q", rev), err, model.Conflict)
			})
		}
		for _, want := range []int64{1, 0} { // changed is Conflict, absent is 0
			r.IfMatch = res.Revision
			got, err := s.Provider.Forget(t.Context(), r)
			if err != nil || got.Removed != want {
				t.Errorf("tier %q: forget with the right revision removed %d, %v; want %d", ts.Name, got.Removed, err, want)
			}
		}
		r.IfMatch = model.Absent
		if got, err := s.Provider.Forget(t.Context(), r); err != nil || got.Removed != 0 {
			t.Errorf("tier %q: forget of what is absent, expected absent, removed %d, %v", ts.Name, got.Removed, err)
		}
	}
}

func subjectMatch(t TB, e *Env) {
	s := e.open(t)
	r := e.forget("")
	r.DataSubjectID, r.IfMatch = "person-1", "some-revision"
	_, err := s.Provider.Forget(t.Context(), r)
	wantKind(t, "a cascade with if-match", err, model.InvalidInput)
}

func rivals(t TB, e *Env) {
	s := e.open(t)
	ts := e.anyTier(t, s)
	for _, start := range []model.Revision{model.Absent, e.put(t, s, ts, 0, "start").Revision} {
		n := 0
		if start == model.Absent {
			n = 1
			if ts.KeyRule == model.KeyIgnored {
				continue
			}
		}
		var won atomic.Int64
		each(t, writers, func(i int) error {
			return retry(func() error {
				r := e.request(ts, n, model.Replace, fmt.Sprintf("from rival %d", i))
				r.IfMatch = start
				_, err := s.Provider.Retain(t.Context(), r)
				if err == nil {
					won.Add(1)
				}
				if errors.Is(err, model.Conflict) {
					return nil
				}
				return err
			})
		})
		if won.Load() != 1 {
			t.Errorf("%d rivals that expected %q won, want exactly one", won.Load(), start)
		}
	}
}

func field(meta []model.Field, name string) (string, bool) {
	i := slices.IndexFunc(meta, func(f model.Field) bool { return f.Name == name })
	if i < 0 {
		return "", false
	}
	return meta[i].Value, true
}

// with is the metadata with one field set, or removed when value is nil.
func with(meta []model.Field, name string, value *string) []model.Field {
	out := slices.DeleteFunc(slices.Clone(meta), func(f model.Field) bool { return f.Name == name })
	if out == nil {
		out = []model.Field{}
	}
	if value != nil {
		out = append(out, model.Field{Name: name, Value: *value})
	}
	return out
}

func metaWhole(t TB, e *Env) {
	s := e.open(t)
	any := false
	for _, ts := range e.tiers(s) {
		if e.Meta == nil || ts.Document != model.Structured {
			continue
		}
		name, one, other := e.Meta(ts.Name)
		if name == "" {
			continue
		}
		any = true
		id := e.put(t, s, ts, 0, "text").ID
		edit := func(meta []model.Field, want string) {
			t.Helper()
			r := e.scoped()
			r.ID, r.Mode, r.Content, r.Meta = id, model.Replace, "text", meta
			res := retain(t, s, r)
			it := read(t, s, id)
			if got, _ := field(it.Meta, name); got != want {
				t.Errorf("tier %q: field %q holds %q, want %q", ts.Name, name, got, want)
			}
			if it.Revision != res.Revision {
				t.Errorf("tier %q: retained revision %q, read %q", ts.Name, res.Revision, it.Revision)
			}
		}
		before := read(t, s, id).Revision
		edit(with(read(t, s, id).Meta, name, &one), one)
		if read(t, s, id).Revision == before {
			t.Errorf("tier %q: a change of field %q leaves the revision", ts.Name, name)
		}
		edit(nil, one)
		edit(with(read(t, s, id).Meta, name, &other), other)
		edit(with(read(t, s, id).Meta, name, nil), "")
	}
	if !any {
		t.Skip("no tier has an optional field that the test names")
	}
}

func metaReadOnly(t TB, e *Env) {
	s := e.open(t)
	any := false
	for _, ts := range e.tiers(s) {
		id := e.put(t, s, ts, 0, "text").ID
		it := read(t, s, id)
		for _, f := range it.Meta {
			if !f.ReadOnly {
				continue
			}
			any = true
			value := f.Value + "9"
			r := e.scoped()
			r.ID, r.Mode, r.Content, r.Meta = id, model.Replace, "text", with(it.Meta, f.Name, &value)
			unchanged(t, s, "read-only field "+f.Name, func() { refused(t, s, r, model.InvalidInput) })
		}
		r := e.scoped()
		r.ID, r.Mode, r.Content, r.Meta = id, model.Replace, "text", it.Meta
		if it.Meta != nil {
			retain(t, s, r)
		}
	}
	if !any {
		t.Skip("no item has a read-only field")
	}
}

func revisions(t TB, e *Env) {
	s := e.open(t)
	for _, ts := range e.tiers(s) {
		for _, text := range []string{"one", "two", "one\n"} {
			res := e.put(t, s, ts, 0, text)
			if got := read(t, s, res.ID).Revision; got != res.Revision || got == "" {
				t.Errorf("tier %q: retained revision %q, read %q", ts.Name, res.Revision, got)
			}
			if again := e.put(t, s, ts, 0, text); again.Revision != res.Revision {
				t.Errorf("tier %q: writing the same text moved the revision from %q to %q", ts.Name, res.Revision, again.Revision)
			}
			e.recall(t, s, e.query("one"))
			if got := read(t, s, res.ID).Revision; got != res.Revision {
				t.Errorf("tier %q: looking moved the revision from %q to %q", ts.Name, res.Revision, got)
			}
		}
	}
}

func hitIsItem(t TB, e *Env) {
	s := e.open(t)
	for _, ts := range e.tiers(s) {
		id := e.put(t, s, ts, 0, "the "+word+" of this tier").ID
		q := e.query(word)
		q.Tier = ts.Name
		hits := e.recall(t, s, q).Hits
		if len(hits) == 0 || hits[0].ID != id {
			t.Errorf("tier %q: the hits are %+v, want the item %q", ts.Name, hits, id)
			continue
		}
		if s.Browser != nil {
			read(t, s, hits[0].ID)
		}
		if n := e.drop(t, s, hits[0].ID); n != 1 {
			t.Errorf("tier %q: forget of a hit's id removed %d", ts.Name, n)
		}
	}
}

func recallTotal(t TB, e *Env) {
	s := e.open(t)
	check := func(when string, items int64) {
		res := e.recall(t, s, e.query(word))
		seen := map[string]bool{}
		for _, h := range res.Hits {
			seen[h.ID] = true
		}
		switch {
		case res.Total == model.TotalUnknown:
		case res.Total < int64(len(seen)):
			t.Errorf("%s: the total is %d with %d items among the hits", when, res.Total, len(seen))
		case !res.Bounded && res.Total != items:
			t.Errorf("%s: the total is %d and not bounded, want %d", when, res.Total, items)
		}
		if res.Bounded != (res.BoundNote != "") {
			t.Errorf("%s: bounded is %v, the note %q", when, res.Bounded, res.BoundNote)
		}
	}
	check("empty store", 0)
	ts := e.crowd(t, s)
	items := int64(30)
	if ts.KeyRule == model.KeyIgnored {
		items = 1
	}
	check("crowded store", items)
}

func cleaning(t TB, e *Env) {
	if e.Plant == nil {
		t.Skip("the test cannot write past the provider")
	}
	spec := e.open(t)
	any := false
	for _, ts := range e.tiers(spec) {
		if e.Poison != "" && fits(ts, 2*len(e.Poison)+200) {
			any = true
			cleanPoison(t, e, ts)
		}
		if ts.HardCap() > 0 && ts.CapUnit == model.CapBytes {
			any = true
			cleanOverCap(t, e, ts)
		}
	}
	if !any {
		t.Skip("the store neither scans nor caps")
	}
}

// planted is the one item of a planted store.
func planted(t TB, s model.Store) model.Item {
	t.Helper()
	all := everything(t, s)
	if len(all) != 1 {
		t.Fatalf("the planted store lists %d items, want 1", len(all))
	}
	return read(t, s, all[0].ID)
}

func cleanPoison(t TB, e *Env, ts model.TierSpec) {
	t.Helper()
	before := "heading\n" + e.Poison + "\nsome tail\n"
	s := e.Plant(e.real, ts.Name, e.key(ts, 0), before)
	e.closes(s)
	it := planted(t, s)
	r := e.scoped()
	r.ID, r.Mode, r.IfMatch = it.ID, model.Replace, it.Revision
	r.Content = before + e.Poison + "\n"
	unchanged(t, s, "more poison", func() { refused(t, s, r, model.InvalidInput) })
	r.Content, r.Unseen = strings.Replace(before, "some tail\n", "", 1), true
	unchanged(t, s, "a revision that the caller has not seen", func() { refused(t, s, r, model.InvalidInput) })
	r.Unseen = false
	res := retain(t, s, r) // still poisoned, but nothing was added
	r.Content = "heading\n"
	unchanged(t, s, "a stale revision", func() { refused(t, s, r, model.Conflict) })
	r.IfMatch = res.Revision
	retain(t, s, r)
	wantBody(t, s, it.ID, "heading\n")
}

func cleanOverCap(t TB, e *Env, ts model.TierSpec) {
	t.Helper()
	s := e.Plant(e.real, ts.Name, e.key(ts, 0), strings.Repeat("x", int(ts.Cap)+100))
	e.closes(s)
	it := planted(t, s)
	r := e.scoped()
	r.ID, r.Mode, r.IfMatch = it.ID, model.Replace, it.Revision
	r.Content = strings.Repeat("x", int(ts.Cap)+101)
	unchanged(t, s, "more bytes over the cap", func() { refused(t, s, r, model.InvalidInput) })
	r.Content, r.Unseen = strings.Repeat("x", int(ts.Cap)+50), true
	unchanged(t, s, "a revision that the caller has not seen", func() { refused(t, s, r, model.InvalidInput) })
	r.Unseen = false
	res := retain(t, s, r)
	r.Content, r.IfMatch = "short", res.Revision
	retain(t, s, r)
	wantBody(t, s, it.ID, "short")
}

func roundTrip(t TB, e *Env) {
	s := e.open(t)
	for _, ts := range e.tiers(s) {
		for _, text := range samples {
			id := e.put(t, s, ts, 0, text).ID
			it := read(t, s, id)
			doc, err := model.DecodeDocument(ts.Document, it.Document().Encode(ts.Document))
			if err != nil {
				t.Fatalf("tier %q: the document does not read back: %v", ts.Name, err)
			}
			r := e.scoped()
			r.ID, r.Mode, r.Content, r.Meta, r.IfMatch = id, model.Replace, doc.Body, doc.Meta, it.Revision
			if res := retain(t, s, r); res.Revision != it.Revision {
				t.Errorf("tier %q: retaining %q as it was shown moved the revision from %q to %q", ts.Name, text, it.Revision, res.Revision)
			}
			wantBody(t, s, id, it.Body)
		}
	}
}

func optionalKey(t TB, e *Env) {
	s := e.open(t)
	any := false
	for _, ts := range e.tiers(s) {
		if ts.KeyRule != model.KeyOptional {
			continue
		}
		any = true
		r := e.request(ts, 0, model.Replace, "text")
		r.Key = ""
		a, b := retain(t, s, r), retain(t, s, r)
		if a.ID == b.ID || a.ID == "" {
			t.Errorf("tier %q: two items without a key share the id %q", ts.Name, a.ID)
		}
		wantBody(t, s, a.ID, "text")
	}
	if !any {
		t.Skip("no tier makes its own keys")
	}
}

func readOnly(t TB, e *Env) {
	if e.OpenReadOnly == nil {
		t.Skip("the test opens no read-only store")
	}
	s := e.OpenReadOnly(e.real)
	e.closes(s)
	if !s.ReadOnly || s.ReadOnlyReason == "" {
		t.Errorf("the store declares ReadOnly=%v with the reason %q", s.ReadOnly, s.ReadOnlyReason)
	}
	all := everything(t, s)
	if len(all) == 0 {
		t.Fatalf("the read-only store is empty: the case proves nothing")
	}
	unchanged(t, s, "a read-only store", func() {
		for _, h := range all[:1] {
			for _, mode := range []model.Mode{model.Replace, model.Append} {
				r := e.scoped()
				r.ID, r.Mode, r.Content = h.ID, mode, "changed"
				refused(t, s, r, model.PermissionDenied)
			}
			_, err := s.Provider.Forget(t.Context(), e.forget(h.ID))
			wantKind(t, "forget", err, model.PermissionDenied)
		}
		for _, ts := range s.Tiers {
			_, err := s.Provider.Retain(t.Context(), e.request(ts, 99, model.Replace, "new"))
			wantKind(t, "retain in "+ts.Name, err, model.PermissionDenied)
		}
	})
	for _, c := range []string{"retain", "forget", "cascade"} {
		if s.Capabilities()[c] {
			t.Errorf("a read-only store claims to %s", c)
		}
	}
	e.recall(t, s, e.query(word))
	if st := Health(t, s); !st.OK {
		t.Errorf("a read-only store is not healthy: %s", st.Message)
	}
}

func openLeavesNothing(t TB, e *Env) {
	if e.Files == nil || e.OpenReadOnly == nil {
		t.Skip("the store keeps no files")
	}
	first := e.OpenReadOnly(e.real)
	dir := e.Files(e.real)
	if err := first.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	look := func(s model.Store) {
		health(t, s, t.Context())
		e.recall(t, s, e.query(word))
		state(t, s)
		if s.Browser != nil {
			if _, err := s.Browser.Tiers(t.Context()); err != nil {
				t.Errorf("tiers: %v", err)
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if dir == "" {
		t.Skip("the store keeps no files")
	}
	before := tree(t, dir, false)
	look(e.OpenReadOnly(e.real))
	if again := e.Files(e.real); again != dir {
		t.Skip("every read-only store of this test has files of its own")
	}
	if after := tree(t, dir, false); after != before {
		t.Errorf("opening and reading changed files.\nbefore:\n%s\nafter:\n%s", before, after)
	}
}

func subjectTag(t TB, e *Env) {
	s := e.open(t)
	ts := e.anyTier(t, s)
	r := e.request(ts, 0, model.Replace, "text")
	r.DataSubjectID = "person-1"
	if s.Capabilities()["cascade"] {
		retain(t, s, r)
		return
	}
	unchanged(t, s, "a subject that cannot be kept", func() { refused(t, s, r, model.Unsupported) })
}

// emptyBody: an item that consists of its metadata may have no body; once forgotten it can be restored
// with Restore, and without Restore an empty content stays refused or is an ordinary edit.
func emptyBody(t TB, e *Env) {
	s := e.open(t)
	if s.Browser == nil || !s.Capabilities()["forget"] {
		t.Skip("items cannot be read and forgotten here")
	}
	for _, ts := range e.tiers(s) {
		if ts.Document != model.Structured {
			continue
		}
		id := e.put(t, s, ts, 0, "text").ID
		was := read(t, s, id)
		if res, err := s.Provider.Forget(t.Context(), e.forget(id)); err != nil || res.Removed != 1 {
			t.Fatalf("forget: %v, %v", res, err)
		}
		r := e.request(ts, 0, model.Replace, "")
		r.ID, r.Tier, r.Key, r.Meta, r.Restore, r.IfMatch = id, "", "", was.Meta, true, model.Absent
		if res, err := s.Provider.Retain(t.Context(), r); err != nil || res.ID != id {
			t.Errorf("tier %s: an item without a body is not put back: %v", ts.Name, err)
			continue
		}
		wantBody(t, s, id, "")
	}
}

// renews: an item that is forgotten and restored must have its old read-only fields, except for those
// that its tier declares as made anew.
func renews(t TB, e *Env) {
	s := e.open(t)
	if s.Browser == nil || !s.Capabilities()["forget"] {
		t.Skip("items cannot be read and forgotten here")
	}
	for _, ts := range e.tiers(s) {
		if ts.OwnerMakes {
			continue
		}
		id := e.put(t, s, ts, 0, "text").ID
		was := read(t, s, id)
		r := e.request(ts, 0, model.Replace, was.Body)
		r.ID, r.Tier, r.Key, r.Meta, r.Restore, r.IfMatch = id, "", "", was.Meta, true, model.Absent
		if s.Beside != nil {
			b, err := s.Beside(t.Context(), id)
			if err != nil {
				t.Fatalf("beside: %v", err)
			}
			r.Beside = &b
		}
		if res, err := s.Provider.Forget(t.Context(), e.forget(id)); err != nil || res.Removed != 1 {
			t.Fatalf("forget: %v, %v", res, err)
		}
		if _, err := s.Provider.Retain(t.Context(), r); err != nil {
			t.Errorf("tier %s: it is not put back: %v", ts.Name, err)
			continue
		}
		now := read(t, s, id)
		for _, f := range was.Meta {
			if f.ReadOnly && !slices.Contains(now.Meta, f) && !slices.Contains(ts.Renewed(was.Meta), f.Name) {
				t.Errorf("tier %s: %s was %q and is made anew, which the tier does not declare", ts.Name, f.Name, f.Value)
			}
		}
	}
}

// foretold: undo must be able to tell, of a write whose answer is lost, whether it was made. An error of Ahead prevents the write.
func foretold(t TB, e *Env) {
	s := e.open(t)
	if s.Browser == nil || e.AppendOnly {
		t.Skip("items cannot be read and replaced here")
	}
	for _, ts := range e.tiers(s) {
		const text = "{\"one\":  1}\n\n"
		r := e.scoped()
		r.ID, r.Mode, r.Content = e.put(t, s, ts, 0, "before").ID, model.Replace, text
		var told []model.RetainResult
		var body string
		r.Ahead = func(b string, res model.RetainResult) error {
			body, told = b, append(told, res)
			return nil
		}
		res := retain(t, s, r)
		now := read(t, s, res.ID)
		if len(told) == 0 {
			if res.ID != r.ID || now.Body != text {
				t.Errorf("tier %s: a write that was not foretold shows %q as %s, sent as %q to %s", ts.Name, cut(now.Body), res.ID, text, r.ID)
			}
			continue
		}
		if last := told[len(told)-1]; last.ID != res.ID || last.Revision != res.Revision || body != now.Body {
			t.Errorf("tier %s: foretold were %s at %s and %q, there are %s at %s and %q", ts.Name, last.ID, last.Revision, cut(body), res.ID, res.Revision, cut(now.Body))
		}
		r.ID, r.Content = res.ID, "after"
		stop := errors.New("stop")
		r.Ahead = func(string, model.RetainResult) error { return stop }
		unchanged(t, s, "a write that Ahead refuses", func() {
			if _, err := s.Provider.Retain(t.Context(), r); !errors.Is(err, stop) {
				t.Errorf("tier %s: a write that Ahead refuses ends with %v", ts.Name, err)
			}
		})
	}
}
