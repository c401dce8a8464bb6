package gdpr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/gdpr/suppress"
	"memdesk/internal/atomicfile"
	"memdesk/internal/drafts"
	"memdesk/model"
	"memdesk/undo"
)

// Swept is one erased person who was found again, and the result.
type Swept struct {
	Of      string // the request under which the subject was erased
	Request string // the request that this sweep filed
	Items   int64
	Plan    Plan
	Outcome Outcome
}

// Sweep searches every store, and the texts that memdesk has put aside or keeps for undo, for every suppressed
// person, by pseudonyms alone, and erases again what a restore or a sync brought back. It takes the identifiers
// for that from the texts that it finds. Items on hold, and what stays beside them, count for nobody. An unfinished sweep
// continues under the request that it filed. confirm sees each plan before anything goes; its error ends the sweep.
// Where a plan or an erasure is refused, the others are carried out all the same, and the error comes after them.
func (d *Desk) Sweep(ctx context.Context, fleet *backends.Fleet, confirm func(Plan) error) ([]Swept, []string, error) {
	return d.sweep(ctx, fleet, "", confirm)
}

// SweepRestored is Sweep after a restore of one store from a backup: only that store is searched, and the log
// has a record of it. NotFound for no such store.
func (d *Desk) SweepRestored(ctx context.Context, fleet *backends.Fleet, store string, confirm func(Plan) error) (swept []Swept, problems []string, err error) {
	const op = "gdpr-restored"
	if _, err := fleet.Store(store); err != nil {
		return nil, nil, err
	}
	if d.Log == nil {
		return nil, nil, model.Refuse(op, "there is no audit log")
	}
	err = d.Log.Act(ctx, audit.Entry{Action: op, Store: store}, func(ctx context.Context) (map[string]int64, error) {
		var err error
		swept, problems, err = d.sweep(ctx, fleet, store, confirm)
		return map[string]int64{"persons": int64(len(swept)), "problems": int64(len(problems))}, err
	})
	return swept, problems, err
}

// sweep searches one store, or all where only is empty.
func (d *Desk) sweep(ctx context.Context, fleet *backends.Fleet, only string, confirm func(Plan) error) ([]Swept, []string, error) {
	list := d.Suppressed()
	persons, err := list.Persons()
	if err != nil || len(persons) == 0 {
		return nil, nil, err
	}
	ix, err := list.Now()
	if err != nil {
		return nil, nil, err
	}
	all, err := d.List()
	if err != nil {
		return nil, nil, err
	}
	back := newReturned(ix)
	var problems []string
	for _, m := range fleet.Members() {
		if only != "" && m.Name != only {
			continue
		}
		err := m.Err
		back.closed, back.unread, back.beside = nil, map[string]string{}, false
		if err == nil {
			back.attested = attestedFor(persons, all, m.Store)
			err = sweepStore(ctx, &back, m.Store, d)
		}
		if ctx.Err() != nil {
			return nil, problems, model.FromContext(ctx, "gdpr-sweep")
		}
		if err != nil {
			problems = append(problems, m.Name+": it could not be swept: "+string(model.KindOf(err)))
		}
		for _, why := range back.closed {
			problems = append(problems, m.Name+": not looked into: "+why)
		}
	}
	if only == "" {
		back.beside = false
		if err := d.sweepOwn(&back); err != nil {
			problems = append(problems, ownStore+": its own texts could not be swept: "+err.Error())
		}
	}
	var out []Swept
	var no, failed error
	ask := func(p Plan) error {
		if confirm != nil {
			no = confirm(p)
		}
		return no
	}
	for _, p := range persons {
		terms := back.found[p.Pseudonym]
		if len(terms) == 0 {
			continue
		}
		s, err := d.again(ctx, p, terms, !back.sure[p.Pseudonym], fleet, ask)
		if s.Request != "" {
			out = append(out, s)
		}
		if failed = errors.Join(failed, err); no != nil || ctx.Err() != nil {
			break
		}
	}
	return out, problems, failed
}

// sweepOwn collects the texts of memdesk itself that name a suppressed person: a text can be put aside, and one be
// displaced, after the person was erased.
func (d *Desk) sweepOwn(r *returned) error {
	_, err := drafts.New(filepath.Join(d.State, "edit"), d.Clock, nil).Erase(func(name string, text []byte) bool {
		r.look(name, string(text))
		return false // the erasure that follows removes it
	})
	if d.Undo == nil {
		return err
	}
	return errors.Join(err, d.Undo.Each(func(e undo.Entry, body string) { r.look(entryTexts(e, body)...) }))
}

// returned collects the identifiers of suppressed persons, as the stores spell them.
type returned struct {
	ix *suppress.Index

	mu     sync.Mutex
	found  map[string][]string // pseudonym → identifiers, each in one spelling
	seen   map[[2]string]bool  // pseudonym and spelling, or what is equal for spellings that one search finds
	closed []string            // parts of a store that could not be opened, each once
	unread map[string]string   // why items of a store could not be read, by id
	beside bool                // the store at hand has items on hold, beside which a text that names a person may stay
	sure   map[string]bool     // pseudonyms that were found where nothing is on hold
	// attested are the hashes of bytes in the store that a person has looked at.
	attested map[string]bool
}

func newReturned(ix *suppress.Index) returned {
	return returned{ix: ix, found: map[string][]string{}, seen: map[[2]string]bool{}, unread: map[string]string{}, sure: map[string]bool{}}
}

// attestedFor are the hashes of bytes in a store that were attested for every person.
func attestedFor(persons []suppress.Person, all []Due, s model.Store) map[string]bool {
	var out map[string]bool
	places := s.Identities()
	for i, p := range persons {
		looked := map[string]bool{}
		for _, r := range all {
			for _, a := range r.Attested {
				if r.Pseudonym == p.Pseudonym && slices.Contains(places, a.Where) && (i == 0 || out[a.Sum]) {
					looked[a.Sum] = true
				}
			}
		}
		out = looked
	}
	return out
}

// open opens compressed data and archives, as a verification does. own says that the medium is the store's own database;
// sum is the hash of its bytes.
func (r *returned) open(ctx context.Context, medium io.Reader, own bool, sum func() (string, error)) error {
	closed, err := subject.Each(ctx, medium, func(member string, leaf io.Reader) error {
		rows := own && member == ""
		database, err := suppress.Pieces(leaf, rows, r.look)
		if database && !rows {
			r.notSeen("a database in a file: only its whole words were compared; look inside by hand")
		}
		return err
	}, func(name string) { r.look(name) })
	if len(closed) > 0 && len(r.attested) > 0 && err == nil {
		var s string
		if s, err = sum(); r.attested[s] {
			return err
		}
	}
	for _, why := range closed {
		if _, what, in := strings.Cut(why, ": "); in && strings.HasPrefix(why, "in ") {
			why = what // a member's name may be a person's
		}
		r.notSeen(why)
	}
	return err
}

// notSeen adds a part of the store that was not looked into. It is safe for concurrent use.
func (r *returned) notSeen(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = including(r.closed, why)
}

// cannotRead adds an item that was not looked into. It is safe for concurrent use.
func (r *returned) cannotRead(id string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unread[id] = string(model.KindOf(err))
}

// look records the persons that the texts name. It is safe for concurrent use.
func (r *returned) look(texts ...string) {
	all := r.ix.Find(true, texts...)
	if len(all) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	first := func(of, text string) bool {
		was := r.seen[[2]string{of, text}]
		r.seen[[2]string{of, text}] = true
		return !was
	}
	for _, m := range all {
		of := m.Person.Pseudonym
		r.sure[of] = r.sure[of] || !r.beside
		if first(of, m.Text) && first(of, fmt.Sprintf("%s\x00%+v", subject.Normal(m.Text), subject.PatternsOf(m.Text)[0])) {
			r.found[of] = append(r.found[of], m.Text)
		}
	}
}

// sweepStore collects the texts that name a suppressed person, except items on hold.
func sweepStore(ctx context.Context, r *returned, s model.Store, d *Desk) error {
	if s.Browser == nil {
		return model.Errorf(model.Unsupported, "gdpr-sweep", "the store cannot be browsed")
	}
	holds, err := d.holdsIn(&s)
	if err != nil {
		return err
	}
	r.beside = holds.any != ""
	held := func(id string) bool { return holds.by(id) != "" }
	look := func(t model.Text, err error) bool {
		switch {
		case held(t.ID), model.KindOf(err) == model.NotFound, err != nil && linked(s, err.Error()):
		case err != nil:
			r.cannotRead(t.ID, err)
		default:
			r.look(textsOf(t.ID, t.Body, t.Meta)...)
			if subject.Opens(t.Body) || suppress.IsDatabase(t.Body) {
				_ = r.open(ctx, strings.NewReader(t.Body), false, func() (string, error) { return itemSum(t.Body), nil }) // reading from memory cannot fail, and the caller checks the context
			}
		}
		return true
	}
	problems, failed := eachText(ctx, s, look) // what lies beside the items is searched all the same
	if slices.ContainsFunc(problems, func(p string) bool { return !linked(s, p) }) {
		r.notSeen("a part of it cannot be listed")
	}
	if err := sweepLayers(ctx, s, r, held); err != nil {
		return err
	}
	for _, why := range r.unread {
		r.notSeen("an item cannot be read: " + why)
	}
	if s.Quarantine == nil {
		return failed
	}
	entries, err := s.Quarantine.Quarantined(ctx)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch full, err := s.Quarantine.ReadQuarantined(ctx, e.ID); {
		case held(e.ID), model.KindOf(err) == model.NotFound: // gone since the listing
		case err != nil:
			r.look(e.Source, e.ID)
			r.notSeen("a quarantined entry cannot be read")
		default:
			r.look(full.Body, full.Source, e.ID)
		}
	}
	return failed
}

func textsOf(id, body string, meta []model.Field) []string {
	texts := []string{body, id}
	for _, f := range meta {
		texts = append(texts, f.Name, f.Value)
	}
	return texts
}

// sweepLayers searches copies beside the items: backups, old versions, temporary files, logs; and the bytes of items that
// could not be read. The rows of the store's own database are items; its file is left to a byte scan with known
// identifiers.
func sweepLayers(ctx context.Context, s model.Store, r *returned, held func(id string) bool) error {
	if s.Maintainer == nil {
		return nil
	}
	layers, err := s.Maintainer.Layers(ctx)
	if err != nil {
		return err
	}
	for _, l := range layers {
		if l.Kind == model.LayerExternal || l.Kind == model.LayerItem && !l.Readable || l.ItemID != "" && held(l.ItemID) {
			continue // an attribute of an item on hold stays with it
		}
		r.look(l.ID)
		switch {
		case l.Kind == model.LayerItem && r.unread[l.ItemID] == "":
			continue
		case !l.Readable:
			r.notSeen("a layer beside the items: " + l.Reason)
			continue
		}
		f, err := s.Maintainer.OpenLayer(ctx, l.ID)
		if model.KindOf(err) == model.NotFound || err != nil && l.Kind == model.LayerItem {
			continue // gone, or told with the item
		}
		if err != nil {
			return err
		}
		sum := func() (string, error) { return layerSum(ctx, s, l, receipt.Layer{}) }
		if err := errors.Join(r.open(ctx, f, l.Rows, sum), f.Close()); err != nil {
			return err
		}
		if l.Kind == model.LayerItem {
			delete(r.unread, l.ItemID)
		}
	}
	return nil
}

// again files a new request for the subject who came back, or continues the unfinished request of an earlier
// sweep, and carries it out. The approval of the first erasure covers it. beside: the subject may be named only in rows and
// lines that stay with items on hold, and has then not come back.
func (d *Desk) again(ctx context.Context, p suppress.Person, terms []string, beside bool, fleet *backends.Fleet, confirm func(Plan) error) (Swept, error) {
	slices.SortFunc(terms, func(a, b string) int { return len(b) - len(a) })
	for i, t := range terms {
		terms[i] = strings.Join(strings.Fields(t), " ")
	}
	r, filed, err := d.refile(p, terms)
	if err != nil {
		return Swept{}, err
	}
	search := func(ctx context.Context, r *Request) (Plan, error) { return d.plan(ctx, r, fleet, nil) }
	if beside && !filed {
		plan, err := search(ctx, &r)
		if err == nil && plan.leavesAll() {
			return Swept{}, nil
		}
		search = func(context.Context, *Request) (Plan, error) { return plan, err }
	}
	s := Swept{Of: p.Request, Request: r.ID}
	err = d.actOn(ctx, &r, "gdpr-sweep", r.ByKey, nil, func(context.Context) (map[string]int64, error) {
		if !filed {
			return nil, d.save(&r)
		}
		return nil, d.edit(ctx, &r, func(r *Request) error {
			for _, t := range terms {
				if !slices.Contains(r.Terms(), t) {
					r.Aliases = append(r.Aliases, t)
					r.void() // a run of it has not searched for this one
				}
			}
			return r.over("gdpr-sweep") // another sweep may just have ended it
		})
	})
	if err != nil {
		return Swept{}, err
	}
	// A request that has begun keeps its identifiers: continuing needs them.
	drop := func(err error) error {
		if r.State != StateOpen && r.State != StatePlanned {
			return err
		}
		return errors.Join(err, d.unfile(ctx, r.ID))
	}
	if s.Plan, err = d.makePlan(ctx, r.ID, fleet, search); errors.Is(err, model.InvalidInput) {
		return s, err // what it says to do needs the request
	} else if err != nil {
		return s, drop(err)
	}
	s.Items, _ = s.Plan.Count()
	if err := confirm(s.Plan); err != nil {
		return s, drop(err)
	}
	s.Outcome, err = d.Erase(ctx, Order{Request: r.ID, PlanHash: s.Plan.Hash, ConfirmCount: s.Items}, fleet, nil)
	return s, err
}

// leavesAll reports whether everything that a plan found stays: what is on hold, and layers that nobody reads or reaches.
func (p *Plan) leavesAll() bool {
	return !slices.ContainsFunc(p.Stores, func(s StorePlan) bool {
		return s.Error != "" || slices.ContainsFunc(s.Steps, func(st Step) bool {
			item := st.Layer == layerItem || st.Layer == layerEdge || st.Layer == layerQuarantine
			return st.Action != Held && (item || st.Action != OutOfScope)
		})
	})
}

// refile is the request that erases a returned person again, and whether an earlier sweep filed it.
func (d *Desk) refile(p suppress.Person, terms []string) (r Request, filed bool, err error) {
	all, err := d.List()
	if err != nil {
		return r, false, err
	}
	for _, o := range all {
		if o.Of == p.Request && o.Pseudonym == p.Pseudonym && !o.Done() {
			return o.Request, true, nil
		}
	}
	var whole []string
	var attested []Attestation
	for _, o := range all {
		if o.ID == p.Request {
			whole, attested = o.Whole, o.Attested // the operator's word on the stores, and on what nobody can open, from then
		}
	}
	now := d.Clock.Now().UTC()
	return Request{
		Whole: whole, Attested: attested,
		ID: "er-" + now.Format("20060102") + "-" + atomicfile.Suffix()[:8], Pseudonym: p.Pseudonym, Subject: terms[0], Aliases: terms[1:],
		Ground: "what came back after " + p.Request, Received: now.Format(dateForm), By: d.Operator.ID, ByKey: d.Operator.Key,
		State: StateOpen, Created: now, Updated: now, Of: p.Request,
	}, false, nil
}

// unfile closes the request of a sweep that was not carried out: it would keep the subject's identifiers in
// clear, and the next sweep finds them again.
func (d *Desk) unfile(ctx context.Context, id string) error {
	_, err := d.Withdraw(context.WithoutCancel(ctx), id, "the sweep was not carried out")
	return err
}
