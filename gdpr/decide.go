package gdpr

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"memdesk/gdpr/subject"
	"memdesk/gdpr/suppress"
	"memdesk/model"
)

// The policy, unless a choice overrides it for an item:
//
//  1. An item on hold, under whatever request, stays unchanged.
//  2. A shared item is redacted. An item is shared if it is tagged with another person too; if it only
//     mentions the subject in a larger text (a record of three lines or more of which at most half name the
//     subject, or a file with any line that does not); if it names the subject only in its metadata, in
//     another role than the one that says whom it concerns (tag.go); or if the store's own rules give its
//     tier's items an owner.
//  3. An item that is the parent of a remaining item cannot go: it is redacted.
//  4. A file of a tier that only its own writer fills is redacted like any other: such a tier accepts the
//     mark in the place of the removed text, and no other change. Where the mark would begin a YAML value,
//     in which a bracket begins a list, it has no brackets.
//  5. An item that can only be forgotten is forgotten, whatever was chosen for it: a tracker's line of an
//     item that was deleted long ago, a quarantine entry, bytes that are no text.
//     An item of a tier that only people change, in another program, is out of scope: it is named, and left. So is
//     the log of a database among files.
//  6. An item whose id is exactly the subject's identifier is about the subject, whatever its text: it is
//     forgotten. If the id has other words too and the item stays, it gets an id without the identifier.
//  7. In a store without a delete every item is redacted.
//  8. An item that the store removes together with a forgotten one is forgotten before it, by a step of its
//     own, whatever was chosen for it: an edge left with fewer than two members. If such an edge is on hold,
//     its members are redacted and keep their ids.
//  9. An item with a read-only field that names the subject goes as a whole: a comment in bd's database.
//  10. A work item that is assigned to the subject is the team's: it is redacted.
//  11. An index is redacted: files stay that it lists. Lines of a file that goes go with it.
//  12. Every other item that concerns the subject is forgotten, quarantine entries and items that are no
//     text in any encoding among them.

// Erased stands where an identifier stood.
const Erased = model.Erased

// sharedLines: a shared text has at least this many lines that are not blank, of which at most half name the
// subject.
const sharedLines = 3

// settle lets a parent of what stays stay too, and so on upwards, except those that are sealed.
func settle(going, sealed map[string]bool, children map[string][]string) {
	parents := map[string][]string{}
	var stays []string
	for id, goes := range going {
		if !goes || sealed[id] {
			continue
		}
		for _, c := range children[id] {
			if parents[c] = append(parents[c], id); !going[c] {
				stays = append(stays, c)
			}
		}
	}
	for len(stays) > 0 {
		id := stays[len(stays)-1]
		stays = stays[:len(stays)-1]
		for _, p := range parents[id] {
			if going[p] {
				going[p] = false
				stays = append(stays, p)
			}
		}
	}
}

// decision applies the policy to what a search has found in one store.
type decision struct {
	*search
	actions map[string]Action     // by id: what the policy says of an item by itself
	going   map[string]bool       // by id: the item goes
	sealed  map[string]bool       // by id: the item can go, and cannot be edited
	stays   map[string]bool       // by id: the item stays for the sake of one on hold
	falls   map[string]model.Fall // by id: the item goes because others do
	under   map[string]string     // by id: the parent that stays although its id names the subject
	renamed map[string]string     // old ids to new ones
}

func newDecision(q *search) *decision {
	return &decision{search: q, actions: map[string]Action{}, going: map[string]bool{}, sealed: map[string]bool{}, stays: map[string]bool{},
		falls: map[string]model.Fall{}, renamed: map[string]string{}}
}

// decide plans a step for each item that the search has found, in the order in which they can be carried out.
func (q *search) decide(ctx context.Context) ([]Step, error) {
	c := newDecision(q)
	for i := range q.found {
		f := &q.found[i]
		a := c.action(f)
		c.actions[f.Item.ID], c.going[f.Item.ID], c.sealed[f.Item.ID] = a, a == Forget, isSealed(q.store, f.Item)
	}
	settle(c.going, c.sealed, c.children)
	if err := c.addFalls(ctx); err != nil {
		return nil, err
	}
	if err := c.underNamed(ctx); err != nil {
		return nil, err
	}
	var steps []Step
	for i := range q.found {
		steps = append(steps, c.step(ctx, &q.found[i]))
	}
	for i := range steps {
		if steps[i].Action == Redact {
			if err := c.redact(ctx, q.found[i].Item, &steps[i], steps); err != nil {
				return nil, err
			}
		}
	}
	return steps, c.order(ctx, steps)
}

// step is the step of an item, without the edited text. What else goes and stays can change the item's own action.
func (c *decision) step(ctx context.Context, f *Found) Step {
	id := f.Item.ID
	st := Step{Store: c.store.Name, ID: id, Layer: f.Layer, Reason: f.Reason, Action: c.actions[id], Revision: f.Item.Revision, Bytes: f.Item.Bytes,
		Others: len(f.Others) > 0, Tied: len(c.reasons[id]) > 0, Listed: f.Layer == layerQuarantine && c.seen[id]}
	because := func(why string) { st.Reason += "; " + why }
	fall, falls := c.falls[id]
	switch {
	case falls:
		st.Action, st.Fallen = Forget, f.bystander()
		if why := fallReason(fall); st.Reason != why {
			because(why)
		}
	case st.Action == Held || c.going[id]:
	case st.Action == Forget && c.stays[id] && c.whole(f): // the gate refuses it, and the run says why
	case c.stays[id]:
		st.Action = Redact
		because("an item on hold would go or change with it, so it stays without the person")
	case st.Action == Forget:
		st.Action = Redact
		because("other items hang under it, so it stays without the person")
	}
	switch st.Action {
	case Forget:
		for _, why := range c.whyWhole(f) {
			because(why)
		}
	case OutOfScope:
		because(leftTo(c.store, f.Item))
	case Held:
		st.Ground = c.held(id)
	case Redact:
		switch parent := c.under[id]; {
		case !c.m.Names(id) && parent != "":
			because("it belongs to " + parent + ", whose id names the person: forget that one as a whole, or keep both back")
		case !c.m.Names(id):
		case keepsID(c.store, f.Item):
			because(ownIDsReason)
		case slices.ContainsFunc(c.children[id], func(child string) bool { return c.held(child) != "" }):
			because("an item on hold hangs under it, so it keeps its id")
		case !c.stays[id]: // a new id would break its ties
			st.NewID = c.free(ctx, c.m.Redact(id, "erased"))
			c.renamed[id] = st.NewID
		}
	}
	return st
}

// whyWhole says what keeps an item that goes from being edited instead.
func (c *decision) whyWhole(f *Found) (why []string) {
	item := f.Layer == layerItem
	if item && c.sealed[f.Item.ID] {
		why = append(why, "it cannot be edited, so it goes as a whole: another copy of the store that still holds it may bring it back")
	}
	if name := sealedField(c.m, f.Item); item && name != "" {
		why = append(why, "its field "+name+" cannot be edited by the store's program, so it goes as a whole")
	}
	if raw(f.Item) && !editable(c.m, f.Item) {
		why = append(why, "its bytes are no text that could be edited, so it goes as a whole")
	}
	if c.chosen[f.Item.ID] == Redact {
		why = append(why, "redact was chosen, and cannot be done: keep it back (`memdesk gdpr hold`) or edit it in its own program")
	}
	return why
}

// action applies the policy to one item.
func (c *decision) action(f *Found) Action {
	s, id, tier, can := c.store, f.Item.ID, tierOf(c.store, f.Item), c.store.Capabilities()
	chosen := c.chosen[id]
	switch {
	case c.held(id) != "":
		return Held
	case leftTo(s, f.Item) != "":
		return OutOfScope
	case isSealed(s, f.Item), s.Browser == nil: // an item that is known by recall alone cannot be edited
		return Forget
	case chosen != "" && !(chosen == Redact && c.whole(f)):
		return chosen
	case !can["forget"] && can["retain"] && f.Layer == layerItem:
		return Redact
	case c.whole(f):
		return Forget
	case len(f.Others) > 0, tier.Index:
		return Redact
	case f.Tagged, f.Derived, isIdentifierID(c.m, id), can["forget"] && sealedField(c.m, f.Item) != "":
		return Forget
	case s.Work != nil && (slices.Contains(f.Named, "assignee") || slices.Contains(f.Named, "owner")),
		tier.Owned, !slices.Contains(f.Named, "body") && !slices.Contains(f.Named, "id"),
		mentions(c.m, plain(f.Item), tier.Document == model.Opaque):
		return Redact
	}
	return Forget
}

// whole reports whether an item can only go as a whole.
func (c *decision) whole(f *Found) bool {
	return f.Layer == layerQuarantine || f.Item.Has(model.FlagUnreadable) || !editable(c.m, f.Item) && !tierOf(c.store, f.Item).Index
}

const ownIDsReason = "its id names the person, and only the program that owns the store gives ids: forget it as a whole (`memdesk gdpr choose REQUEST --item REF --action forget`), or keep it back (`memdesk gdpr hold`)"

// leftTo says why an item is left to another program; empty: it is not.
func leftTo(s model.Store, it model.Item) string {
	switch {
	case tierOf(s, it).Foreign:
		return "people write it, and it is left to them: edit it in its own program"
	case slices.ContainsFunc(suppress.LogMagic, func(magic string) bool { return strings.HasPrefix(it.Body, magic) }):
		return "it is the log of the database beside it, which would lose everybody's newest rows with it: end the program whose database it is, so that the log goes into the database, then plan again"
	}
	return ""
}

// keepsID reports whether an item that stays keeps its id, whatever that names.
func keepsID(s model.Store, it model.Item) bool { return tierOf(s, it).OwnerMakes }

// tierOf is what a store declares of an item's tier; nothing where the store does not know the tier.
func tierOf(s model.Store, it model.Item) model.TierSpec {
	t, _ := s.Tier(it.Tier)
	return t
}

// isSealed reports whether an item can be removed but not edited.
func isSealed(s model.Store, it model.Item) bool {
	return tierOf(s, it).Sealed && s.Capabilities()["forget"]
}

// sealedField names the first read-only field that names the subject; empty where there is none.
func sealedField(m *subject.Matcher, it model.Item) string {
	for _, f := range it.Meta {
		if f.Sealed && m.Names(f.Value) {
			return f.Name
		}
	}
	return ""
}

// plain returns an item's text, decoded.
func plain(it model.Item) string {
	if text, _, ok := subject.Plain([]byte(it.Body)); ok {
		return text
	}
	return it.Body
}

// editable reports whether the subject can be taken out of an item's body: bytes that are no text cannot be
// edited.
func editable(m *subject.Matcher, it model.Item) bool {
	if !raw(it) && !subject.IsContainer(it.Body) {
		return true
	}
	_, ok := m.RedactBytes([]byte(it.Body), Erased)
	return ok
}

// isIdentifierID reports whether an item's id is an identifier of the subject and nothing
// else. An id that only decodes to one says nothing about the text: the id is redacted.
func isIdentifierID(m *subject.Matcher, id string) bool {
	stem := path.Base(id)
	stem = strings.TrimSuffix(stem, path.Ext(stem))
	if !m.Names(stem) {
		stem = path.Base(id)
	}
	hits := m.Text(stem)
	readable := func(h subject.Hit) bool {
		return slices.Contains([]subject.Method{subject.Exact, subject.Folded, subject.Reversed, subject.Dialled}, h.Method)
	}
	return slices.ContainsFunc(hits, readable) && !letters(m.Redact(stem, ""))
}

func letters(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// mentions reports whether a text is larger than what it says of the subject: several lines, of which at most
// half name the subject; in a file, any line that does not.
func mentions(m *subject.Matcher, body string, file bool) bool {
	lines, naming := 0, 0
	for line := range strings.Lines(body) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		lines++
		if m.Names(line) {
			naming++
		}
	}
	return lines >= sharedLines && naming*2 <= lines || file && naming < lines
}

// free returns an id that no item has, now or in this plan; empty stays empty.
func (q *search) free(ctx context.Context, id string) string {
	if id == "" {
		return ""
	}
	ext := path.Ext(id)
	for n, next := 2, id; ; n++ {
		if !q.taken(ctx, next) {
			q.seen[next] = true
			return next
		}
		next = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(id, ext), n, ext)
	}
}

// taken reports whether an item has this id already. A store that was searched in one pass is asked.
func (q *search) taken(ctx context.Context, id string) bool {
	if q.seen[id] || q.store.Texts == nil {
		return q.seen[id]
	}
	_, err := q.store.Browser.Read(ctx, id)
	return !errors.Is(err, model.NotFound) && !errors.Is(err, model.InvalidInput) // an invalid id belongs to no item
}
