package gdpr

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"memdesk/backends"
	"memdesk/gdpr/subject"
	"memdesk/internal/exactjson"
	"memdesk/internal/filelock"
	"memdesk/model"
)

// Action is the planned change of an item or a layer.
type Action string

// The actions.
const (
	Forget     Action = "forget"
	Redact     Action = "redact"
	Scrub      Action = "scrub"
	Held       Action = "hold"
	OutOfScope Action = "out_of_scope"
)

// Step is one row of a plan: the exact change of one item or layer.
type Step struct {
	Store  string `json:"store"`
	ID     string `json:"id"` // of the item, or of the layer
	Layer  string `json:"layer"`
	Reason string `json:"reason"`
	Action Action `json:"action"`
	// Revision is the planned revision; the step changes no other. For a layer that is removed as a whole it
	// is the hash of its bytes.
	Revision model.Revision `json:"revision,omitempty"`
	Bytes    int64          `json:"bytes"`
	// NewBody, NewMeta and NewID are the item after a redaction.
	NewBody string        `json:"new_body,omitempty"`
	NewMeta []model.Field `json:"new_meta,omitempty"`
	NewID   string        `json:"new_id,omitempty"`
	// Binary says that NewBytes hold NewBody in the item's own encoding.
	Binary   bool   `json:"binary,omitempty"`
	NewBytes []byte `json:"new_bytes,omitempty"`
	// Beside lists the scrub's edits of the item's record that are none of its fields.
	Beside []Beside `json:"beside,omitempty"`
	Ground string   `json:"ground,omitempty"` // of a hold
	// Others says that other persons are concerned too.
	Others bool `json:"others,omitempty"`
	// Tied says that the store itself ties the item to the subject, perhaps by its id.
	Tied bool `json:"tied,omitempty"`
	// Listed says that a quarantine entry is an item of the store too, and goes with it.
	Listed bool `json:"listed,omitempty"`
	// Fallen says that the item does not concern the subject and goes only because others do.
	Fallen bool `json:"fallen,omitempty"`
}

// changes reports whether the step removes or edits an item.
func (st *Step) changes() bool { return st.Action == Forget || st.Action == Redact }

// StorePlan is the part of a plan in one store.
type StorePlan struct {
	Store   string `json:"store"`
	Kind    string `json:"kind"`
	Where   string `json:"where"` // identity beyond the name
	Items   int64  `json:"items"` // that the search has looked at
	Targets int64  `json:"targets"`
	// Cascade says that the store's own cascade does all steps, in one transaction.
	Cascade bool   `json:"cascade,omitempty"`
	Error   string `json:"error,omitempty"` // why it could not be searched, in words
	// Problems name what could not be looked at.
	Problems []string `json:"problems,omitempty"`
	// Notes list remaining items that a person should look at; nothing waits for them.
	Notes []string `json:"notes,omitempty"`
	Steps []Step   `json:"steps"`
	// Away counts the steps of an earlier plan that were not done in a store that is not configured any more, or empty
	// now; its note says which.
	Away int64 `json:"away,omitempty"`
	// Missing are the items of an earlier plan that are gone without a step of it, and others with them: a part of the
	// store may be away.
	Missing []string `json:"missing,omitempty"`

	older []string // the store's other identities, in a plan that was just made
}

// places are the identities of the plan's store.
func (s *StorePlan) places() []string { return append([]string{s.Where}, s.older...) }

// place is the store by its identity, or by its name in a plan without one.
func (s *StorePlan) place() string { return cmp.Or(s.Where, s.Store) }

// Plan is exactly what an erasure would do. Hash covers all of it but Made, Estimate
// and Note.
type Plan struct {
	Request   string      `json:"request"`
	Pseudonym string      `json:"pseudonym"`
	Stores    []StorePlan `json:"stores"`

	Hash     string        `json:"-"`
	Made     time.Time     `json:"-"`
	Estimate time.Duration `json:"-"`
	// Note names the subject's other open requests at the time when this plan is read.
	Note string `json:"-"`
}

// ShortHash is how much of a plan's hash a screen shows. Nobody types all of it, and this much names the one
// plan that a request has; signatures are over the whole.
const ShortHash = 12

// Short is the hash as a screen shows it.
func (p *Plan) Short() string { return p.Hash[:min(ShortHash, len(p.Hash))] }

// Planned reports whether a hash, whole or cut off, is that of the request's plan.
func (r *Request) Planned(hash string) bool {
	return hash == r.PlanHash || len(hash) >= ShortHash && strings.HasPrefix(r.PlanHash, hash)
}

// kept is a plan as it is stored; without a hash, what a void plan left to do.
type kept struct {
	Hash string    `json:"hash"`
	Made time.Time `json:"made"`
	Plan Plan      `json:"plan"`
}

func (p *Plan) sum() (string, error) {
	b, err := exactjson.Marshal(p)
	if err != nil {
		return "", model.E(model.Internal, "plan", err)
	}
	h := sha256.Sum256(append([]byte("memdesk-plan-v1\x00"), b...))
	return hex.EncodeToString(h[:]), nil
}

// Count returns how many items go or change, and how many are held.
func (p *Plan) Count() (items, held int64) {
	for _, s := range p.Stores {
		items += s.count((*Step).changes)
		held += s.held()
	}
	return items, held
}

// writeTakes is about what one item takes beside the searches: the store's write, its two records in the log and the run's
// journal, each flushed to the disk.
const writeTakes = 10 * time.Millisecond

// writes counts the items that are written one by one.
func (p *Plan) writes() (n int64) {
	for _, s := range p.Stores {
		if !s.Cascade {
			n += s.count((*Step).changes)
		}
	}
	return n
}

// held counts the items that were found and are on hold.
func (s *StorePlan) held() int64 { return s.count(func(st *Step) bool { return st.Action == Held }) }

// count counts some of a store's steps.
func (s *StorePlan) count(is func(*Step) bool) (n int64) {
	for i := range s.Steps {
		if is(&s.Steps[i]) {
			n++
		}
	}
	return n
}

// MakePlan searches every store and writes the plan. It changes no store. A store that cannot be searched is
// in the plan with its error, so the request cannot become complete without it.
func (d *Desk) MakePlan(ctx context.Context, id string, fleet *backends.Fleet, step func(Searching)) (Plan, error) {
	return d.makePlan(ctx, id, fleet, func(ctx context.Context, r *Request) (Plan, error) { return d.plan(ctx, r, fleet, step) })
}

// makePlan is MakePlan with the search for it.
func (d *Desk) makePlan(ctx context.Context, id string, fleet *backends.Fleet, search func(context.Context, *Request) (Plan, error)) (Plan, error) {
	r, err := d.load(id)
	if err != nil {
		return Plan{}, err
	}
	if err := d.unended(&r, "gdpr-plan"); err != nil {
		return Plan{}, err
	}
	var p Plan
	err = d.act(ctx, &r, "gdpr-plan", nil, func(ctx context.Context) (map[string]int64, error) {
		if err := d.prepare(); err != nil {
			return nil, err
		}
		old, err := d.earlier(r.ID)
		if err != nil {
			return nil, err
		}
		run, err := d.openRun(r.ID, old.Hash)
		if err != nil {
			return nil, err
		}
		defer filelock.Close(run.f)          // the lock file holds nothing that could be lost
		if r, err = d.load(id); err == nil { // as it is under the lock: a run may just have ended
			err = d.unended(&r, "gdpr-plan")
		}
		if err != nil {
			return nil, err
		}
		was := r
		was.Holds = slices.Clone(r.Holds)
		if p, err = search(ctx, &r); err != nil {
			return nil, err
		}
		p.away(ctx, old, run, fleet)
		if p.Hash, err = p.sum(); err != nil {
			return nil, err
		}
		located := r.Holds
		if err := d.carryOver(ctx, &r, old, p, run); err != nil {
			return nil, err
		}
		if err := writeJSON(d.dir("plans", r.ID+".json"), kept{p.Hash, p.Made, p}); err != nil {
			return nil, err
		}
		err = d.edit(ctx, &r, func(r *Request) error {
			if !slices.Equal(r.Holds, was.Holds) || !slices.Equal(r.Choices, was.Choices) || !slices.Equal(r.Whole, was.Whole) || !slices.Equal(r.Terms(), was.Terms()) {
				return model.Errorf(model.Conflict, "gdpr-plan", "the request was changed while it was planned: plan again")
			}
			if was.PlanHash != p.Hash {
				r.void()
				if r.State == StateOpen {
					r.Reason = "" // why the earlier plan was void
				}
			}
			if r.PlanHash, r.Holds = p.Hash, located; r.State == StateOpen {
				r.State = StatePlanned
			}
			return nil
		})
		notes := []string{d.otherRequestsNote(&r), d.exportsNote(ctx, p)}
		p.Note = strings.Join(slices.DeleteFunc(notes, func(n string) bool { return n == "" }), "; ")
		items, held := p.Count()
		return map[string]int64{"items": items, "held": held, "stores": int64(len(p.Stores))}, err
	})
	return p, err
}

// away keeps in a new plan what the request's earlier plan found and nobody has erased, and which is out of sight now:
// its store is not open any more, is empty or cannot be searched, or a part of it may be away. It still holds the subject.
func (p *Plan) away(ctx context.Context, old Plan, run *runLog, fleet *backends.Fleet) {
	for _, sp := range old.parts(run) {
		left := sp.left()
		now := slices.IndexFunc(p.Stores, func(o StorePlan) bool {
			return slices.Contains(o.places(), sp.Where) || o.Where == "" && o.Store == sp.Store
		})
		if now >= 0 && !(p.Stores[now].empty() && (sp.Away > 0 || sp.stay() > 0)) {
			if sp.Items -= sp.did("removed"); len(left) > 0 {
				p.lookForMissing(ctx, now, sp.StorePlan, left, fleet)
			}
			continue
		}
		n := max(sp.Away, int64(len(sp.Missing))) + int64(sp.remaining())
		if n == 0 {
			continue
		}
		why, do := "it is not configured any more", "configure it"
		switch {
		case now >= 0:
			why, do = "it is empty", "look whether its disk is there,"
			p.Stores = slices.Delete(p.Stores, now, now+1)
		case slices.ContainsFunc(p.Stores, func(o StorePlan) bool { return o.Store == sp.Store && o.Kind == sp.Kind }):
			why, do = "its name means another place now", "attest this where all of it was moved there; else configure the old place under a name of its own"
		}
		note := fmt.Sprintf("%s, and by the earlier plan %d of its items name the person: %s and plan again", why, n, do)
		p.Stores = append(p.Stores, StorePlan{Store: sp.Store, Kind: sp.Kind, Where: sp.Where, Items: sp.Items, Away: n, Missing: left, Notes: []string{note}})
	}
}

// lookForMissing notes which items that an earlier plan left are missing from a store of this one, where more items of the
// store are: was is the earlier plan, without what its run removed. Of a store that could not be searched all are kept.
func (p *Plan) lookForMissing(ctx context.Context, now int, was StorePlan, left []string, fleet *backends.Fleet) {
	sp := &p.Stores[now]
	s, err := fleet.Store(sp.Store)
	if err != nil || sp.Error != "" {
		sp.Missing = left
		return
	}
	here := p.found(sp.Store)
	gone := absent(ctx, s, slices.DeleteFunc(left, func(id string) bool { return here[id] }))
	known := slices.DeleteFunc(slices.Clone(was.Missing), func(id string) bool { return !slices.Contains(gone, id) })
	if sp.Missing = known; was.Items-sp.Items > int64(len(gone)-len(known)) {
		sp.Missing = gone
	}
	if n := len(sp.Missing); n > 0 {
		sp.Notes = append(sp.Notes, fmt.Sprintf("items are missing (%d): %s", n, missingReason))
	}
}

// empty reports whether a store was searched and has nothing.
func (sp *StorePlan) empty() bool {
	return sp.Error == "" && sp.Items == 0 && !slices.ContainsFunc(sp.Steps, func(st Step) bool { return st.Action != OutOfScope })
}

// stay counts the items that a store's plan leaves.
func (sp *StorePlan) stay() int64 {
	return sp.Items - sp.count(func(st *Step) bool {
		return st.Action == Forget && (st.Layer == layerItem || st.Layer == layerEdge || st.Listed)
	})
}

// shared says of a store, by its place in the plan, how many of its items are files that an earlier one shows too: an
// item of each store is counted, and the file goes once.
func (p *Plan) shared(fleet *backends.Fleet) map[int]string {
	out, shown := map[int]string{}, map[string]string{}
	for i, sp := range p.Stores {
		s, err := fleet.Store(sp.Store)
		if err != nil || !filepath.IsAbs(s.Location) {
			continue
		}
		path, n, by := files(&s), 0, ""
		for _, st := range sp.Steps {
			file := path(st.ID)
			switch first := shown[file]; {
			case st.Layer != layerItem || !st.changes():
			case first == "":
				shown[file] = sp.Store
			case first != sp.Store:
				n, by = n+1, first
			}
		}
		if n > 0 {
			out[i] = fmt.Sprintf("%d of its items are files that %s shows too: both count them", n, by)
		}
	}
	return out
}

// unended refuses an act on a request that has ended, or was carried out and only not closed yet.
func (d *Desk) unended(r *Request, op string) error {
	if err := r.over(op); err != nil {
		return err
	}
	if _, ok := d.receipted(r); ok {
		return model.Errorf(model.Conflict, op, "request %s was carried out and not closed: `memdesk gdpr erase %s --plan-hash %s` closes it", r.ID, r.ID, r.PlanHash)
	}
	return nil
}

// errDamagedPlan is a plan's file that cannot be read.
var errDamagedPlan = errors.New("the earlier plan cannot be read, so nobody can say what is still to do by it")

// earlier is a request's last plan as far as it says what was found and is not done, valid or void; empty where there is
// none. A damaged file is an error: what was still to do by it would be forgotten.
func (d *Desk) earlier(id string) (Plan, error) {
	var k kept
	err := readJSON(d.dir("plans", id+".json"), &k)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Plan{}, model.Errorf(model.Internal, "gdpr-plan", "%w: put gdpr/plans/%s.json in the state directory back as it was, or withdraw request %s and file it again", errDamagedPlan, id, id)
	}
	k.Plan.Hash = k.Hash
	return k.Plan, nil
}

// Plan is the newest plan of a request, or NotFound.
func (d *Desk) Plan(id string) (Plan, error) {
	var k kept
	if err := readJSON(d.dir("plans", id+".json"), &k); err != nil || k.Hash == "" {
		return Plan{}, model.Errorf(model.NotFound, "gdpr", "request %s has no plan: `memdesk gdpr plan %s` makes one", id, id)
	}
	sum, err := k.Plan.sum()
	if err != nil || sum != k.Hash {
		return Plan{}, model.Errorf(model.Conflict, "gdpr", "the plan of %s is not as it was made: plan again", id)
	}
	k.Plan.Hash, k.Plan.Made = k.Hash, k.Made
	if r, err := d.load(id); err == nil {
		k.Plan.Note = d.otherRequestsNote(&r)
	}
	return k.Plan, nil
}

// PlannedIn are the items of a store, given by its identity, that the plans of open requests list.
func (d *Desk) PlannedIn(where string) []string {
	var out []string
	all, _ := d.List() // unread requests identify no store
	for _, r := range all {
		p, err := d.Plan(r.ID)
		if err != nil || r.Done() {
			continue
		}
		for _, sp := range p.Stores {
			for _, st := range sp.Steps {
				if sp.Where == where && st.Layer == layerItem {
					out = append(out, st.ID)
				}
			}
		}
	}
	return out
}

// plan searches every store. The plan has no hash yet.
func (d *Desk) plan(ctx context.Context, r *Request, fleet *backends.Fleet, step func(Searching)) (Plan, error) {
	m, err := subject.New(r.Terms()...)
	if err != nil {
		return Plan{}, err
	}
	begun := d.Clock.Now()
	p := Plan{Request: r.ID, Pseudonym: r.Pseudonym, Made: begun.UTC()}
	for _, member := range fleet.Members() {
		if err := refuseStoreName(m, member.Name); err != nil {
			return Plan{}, err
		}
	}
	for _, to := range d.Policy.Recipients { // the receipt names each one, so that notices can be told apart
		if m.Names(to.Name) {
			return Plan{}, model.Errorf(model.InvalidInput, "gdpr-plan", "a recipient is called like the person, and the receipt would name them: give it another name in [[recipient]], then plan again")
		}
	}
	for i, member := range fleet.Members() {
		t := &teller{step: step, now: d.Clock.Now, at: Searching{Store: member.Name, At: i + 1, Stores: len(fleet.Members())}}
		sp := StorePlan{Store: member.Name, Kind: member.Kind}
		if member.Err == nil {
			err = d.planStore(ctx, r, m, member.Store, &sp, t)
		} else {
			err = member.Err
		}
		if ctx.Err() != nil {
			return Plan{}, model.FromContext(ctx, "gdpr-plan")
		}
		if err != nil {
			sp.Error, sp.Steps = "it cannot be searched: "+string(model.KindOf(err)), nil
			if model.KindOf(err) == model.Unsupported { // it does not pass: the words say what to do instead
				sp.Error += ": " + m.Redact(err.Error(), Erased)
			}
		}
		p.Stores = append(p.Stores, sp)
	}
	key, err := d.pseudonymKey()
	if err != nil {
		return Plan{}, err
	}
	if err := r.found(key, &p); err != nil {
		return Plan{}, err
	}
	if err := d.checkWhole(r, &p); err != nil {
		return Plan{}, err
	}
	for i, words := range p.shared(fleet) {
		p.Stores[i].Notes = append(p.Stores[i].Notes, words)
	}
	d.keepLinks(&p)
	p.Estimate = 2*d.Clock.Now().Sub(begun) + time.Duration(p.writes())*writeTakes + time.Second
	return p, nil
}

func (d *Desk) planStore(ctx context.Context, r *Request, m *subject.Matcher, s model.Store, sp *StorePlan, t *teller) error {
	t.part("items", 0)
	t.part("items", total(sizes(ctx, s)))
	q, err := d.search(s, m)
	if err != nil {
		return err
	}
	q.isAttested = r.attestedItems(m, s)
	q.chosen = map[string]Action{}
	for _, c := range r.Choices {
		if c.Where == "" && c.Store == s.Name || slices.Contains(s.Identities(), c.Where) {
			q.chosen[c.ID] = c.Action
		}
	}
	if q.held, err = d.grounds(r, s, q.holds); err != nil {
		return err
	}
	if _, err := q.run(ctx, func(n int64) { t.tell(n, q.bytes) }); err != nil {
		return err
	}
	places := s.Identities()
	sp.Where, sp.older = places[0], places[1:]
	sp.Items, sp.Problems = q.items, append(q.problems, q.closed...)
	slices.Sort(sp.Problems)
	sp.Notes = append(joinedNote(q.bystanders.Joined()), q.proposed.note()...)
	if q.looked > 0 {
		sp.Notes = append(sp.Notes, fmt.Sprintf("%d items that cannot be opened are attested as they are", q.looked))
	}
	if sp.Steps, err = q.decide(ctx); err != nil {
		return err
	}
	if err := d.keepHeld(ctx, r, s, q, sp); err != nil {
		return err
	}
	sp.Targets = sp.count((*Step).changes)
	sp.Cascade = q.holds.any == "" && cascades(s, q, sp)
	sp.planCascade(s, q.holds.any != "")
	row, old, err := oldTexts(ctx, m, s, slices.Sorted(maps.Keys(q.seen)))
	if err != nil {
		return err
	}
	if row.Verdict == model.VerdictUnaudited {
		sp.Problems = append(sp.Problems, row.Reason)
	}
	for _, id := range old {
		sp.Steps = append(sp.Steps, Step{Store: s.Name, ID: id, Layer: layerVersion, Action: OutOfScope, Reason: versionReason})
	}
	return d.planLayers(ctx, r, m, s, q, sp, t)
}

// cascades reports whether the store's own cascade removes exactly the plan: every step forgets, and the
// store ties exactly those items to the id.
func cascades(s model.Store, q *search, sp *StorePlan) bool {
	if s.Subjects == nil || !s.Capabilities()["cascade"] || len(sp.Steps) == 0 {
		return false
	}
	for _, st := range sp.Steps {
		if st.Action != Forget || st.Layer != layerItem || len(q.reasons[st.ID]) == 0 {
			return false
		}
	}
	return len(sp.Steps) == len(q.reasons)
}

// planLayers lists the layers that are no items: those that hold the subject and those out of reach.
func (d *Desk) planLayers(ctx context.Context, r *Request, m *subject.Matcher, s model.Store, q *search, sp *StorePlan, t *teller) error {
	if found, why := history(ctx, m, s); found.Hits > 0 || why {
		sp.Steps = append(sp.Steps, Step{Store: s.Name, ID: found.Layer, Layer: "git", Action: OutOfScope, Reason: found.Reason})
	}
	if why := noDelete(s); why != "" {
		sp.Steps = append(sp.Steps, Step{Store: s.Name, ID: "(store)", Layer: "external", Action: OutOfScope, Reason: why})
	}
	if s.Maintainer == nil {
		return nil
	}
	t.part("listing", 0)
	layers, err := s.Maintainer.Layers(ctx)
	if err != nil {
		return err
	}
	going := map[string]bool{}
	for _, st := range sp.Steps {
		if st.changes() {
			going[st.ID] = true
		}
	}
	layers = slices.DeleteFunc(layers, func(l model.Layer) bool {
		if l.Kind != model.LayerItem || l.ItemID == "" {
			return false
		}
		if going[l.ItemID] && l.Links > 0 {
			sp.Steps = append(sp.Steps, secondName(s, l))
		}
		return true // the item's own step covers it
	})
	held := sp.heldIDs()
	maps.Copy(held, q.holding)
	dry, err := wouldScrub(ctx, r, m, s, sp, layers, slices.Sorted(maps.Keys(held)), concerns(m, q.bystanders))
	if err != nil {
		return err
	}
	ours := func(l model.Layer) bool { return l.Kind != model.LayerExternal }
	t.part("bytes", bytesIn(layers, ours))
	scans := scanLayers(ctx, m, s, layers, q.bystanders, ours, t.layer())
	if ctx.Err() != nil {
		return model.FromContext(ctx, "gdpr-plan")
	}
	for i, l := range layers {
		if ours(l) {
			vouched, err := r.looked(ctx, m, s, l, scans[i])
			if err != nil {
				return err
			}
			if vouched != nil {
				sp.Notes = append(sp.Notes, m.Redact(l.ID+": "+vouched.words(), Erased))
				continue
			}
		}
		for _, why := range scans[i].rep.Closed { // the rest of it goes if it has hits
			sp.Problems = append(sp.Problems, m.Redact(l.ID+": "+why, Erased))
		}
		sum, cleaned := dry[l.ID]
		switch st := (Step{Store: s.Name, ID: l.ID, Layer: layerName(l), Action: OutOfScope}); {
		case cleaned && attached(l) && q.isHeld(l.ItemID):
			st.Reason = "it is kept with its item, which is on hold"
			sp.Steps = append(sp.Steps, st)
		case cleaned && !ours(l) && strings.HasSuffix(l.Reason, model.LinkReason):
			st.Layer, st.Action, st.Revision = "symbolic link", Scrub, sum
			st.Reason = "its own name names the person: the link itself is removed, and not what it leads to"
			sp.Steps = append(sp.Steps, st)
		case !ours(l):
			st.Layer, st.Reason = "external", whyLeft(m, l)
			if nested(l) {
				if found, unknown := nestedHistory(ctx, m, s, l); found.Hits > 0 || unknown {
					st.Layer, st.Reason = "git", found.Reason
				}
			}
			sp.Steps = append(sp.Steps, st)
		default:
			sp.planLayer(m, s, l, scans[i], sum, cleaned)
		}
	}
	if sp.touches() { // its program's own erasure is called
		for i, st := range sp.Steps {
			if _, goes := dry[st.ID]; goes && st.Layer == "external" {
				sp.Steps[i].Action = Scrub
			}
		}
	}
	return nil
}

// planLayer adds the step of a layer within reach that holds the subject, or that the scrub changes: cleaned. sum is the
// hash of a layer that goes as a whole.
func (sp *StorePlan) planLayer(m *subject.Matcher, s model.Store, l model.Layer, scan layerScan, sum model.Revision, cleaned bool) {
	st := Step{Store: s.Name, ID: l.ID, Layer: layerName(l), Action: Scrub, Revision: sum}
	if sum != "" { // a layer that only loses records changes its size with every write
		st.Bytes = l.Bytes
	}
	switch {
	case !l.Readable:
		st.Reason = "it cannot be looked at: " + l.Reason
		if !cleaned { // no scrub reaches it: its row of the receipt says what became of it
			st.Action = OutOfScope
		}
	case scan.err != nil:
		st.Reason = "it cannot be looked at: " + string(model.KindOf(scan.err))
		if model.KindOf(scan.err) != model.NotFound { // a program may remove a journal meanwhile
			sp.Problems = append(sp.Problems, m.Redact(l.ID, Erased)+": "+st.Reason)
		}
	case scan.rep.Hits > 0:
		st.Reason = "its bytes name the person" + m.Redact(inMembers(scan.rep.Members), Erased)
	case m.Names(l.ID):
		st.Reason = "its name names the person"
	case cleaned:
		st.Reason = "it keeps something of what goes"
	default:
		return
	}
	sp.Steps = append(sp.Steps, st)
	if l.Links > 0 {
		sp.Steps = append(sp.Steps, secondName(s, l))
	}
}

// wouldScrub asks the store what its scrub would remove or rewrite: the same code makes the plan and carries
// it out. A layer that goes as a whole has the hash of its bytes, to which the step binds the scrub; so do
// the values that it edits in the records of edited items.
func wouldScrub(ctx context.Context, r *Request, m *subject.Matcher, s model.Store, sp *StorePlan, layers []model.Layer, held []string, concerns func([]byte) bool) (map[string]model.Revision, error) {
	out := map[string]model.Revision{}
	removed, edited := touched(slices.Values(sp.Steps))
	beside := map[string][]Beside{}
	_, err := s.Maintainer.Scrub(ctx, model.ScrubRequest{Dry: true, Listed: layers, Removed: removed, Renamed: sp.renamed(), Edited: edited, Held: held, Subjects: []string{r.Subject}, Redact: redactor(m), Concerns: concerns, May: func(layer string, whole []byte) bool {
		out[layer] = bytesSum(whole)
		return true
	}, MayEdit: func(e model.RecordEdit) bool {
		beside[e.ID] = append(beside[e.ID], Beside{Path: e.Path, Before: e.Before, After: e.After})
		return true
	}})
	for i, st := range sp.Steps {
		if st.Action == Redact && st.NewID == "" && (st.Layer == layerItem || st.Layer == layerEdge) {
			sp.Steps[i].Beside = beside[st.ID]
		}
	}
	return out, err
}

// bytesSum is the hash of a layer that goes as a whole; empty where only records go.
func bytesSum(whole []byte) model.Revision {
	if whole == nil {
		return ""
	}
	h := sha256.Sum256(whole)
	return model.Revision(hex.EncodeToString(h[:]))
}

// noDelete says why nothing in a store can be erased from here; empty where something can. A store that is
// merely opened read-only could erase, and is not out of scope; in a store that can be listed and written,
// redaction removes the subject from items.
func noDelete(s model.Store) string {
	can := s.Capabilities()
	switch {
	case s.ReadOnly, can["forget"], s.Browser != nil && can["retain"]:
		return ""
	case s.Browser == nil:
		return "the store can neither be read through nor deleted from here: ask whoever runs it to erase the person, and for a word that it is done"
	}
	return "the store has no delete: ask whoever runs it to erase the person, and for a word that it is done"
}

// layerName is a layer's kind in a plan: an item layer is a file, because it can hold several items.
func layerName(l model.Layer) string {
	if l.Kind == model.LayerItem {
		return "file"
	}
	return string(l.Kind)
}

// scanLayer reads a layer's bytes.
func scanLayer(ctx context.Context, m *subject.Matcher, s model.Store, l model.Layer, bystanders *subject.Bystanders, through func(io.Reader) io.Reader) (subject.Report, error) {
	if !l.Readable {
		return subject.Report{}, nil
	}
	f, err := s.Maintainer.OpenLayer(ctx, l.ID)
	if err != nil {
		return subject.Report{}, err
	}
	rep, err := m.Scan(ctx, through(f), bystanders)
	if cerr := f.Close(); err == nil && cerr != nil {
		err = model.E(model.Internal, "scan", cerr)
	}
	return rep, err
}

// Refs are the items of the steps with an action, for people.
func (p *Plan) Refs(a Action) []model.Ref {
	var out []model.Ref
	for _, s := range p.Stores {
		for _, st := range s.Steps {
			if st.Action == a {
				out = append(out, model.Ref{Store: st.Store, ID: st.ID})
			}
		}
	}
	return out
}
