package gdpr

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"memdesk/backends"
	"memdesk/internal/exactjson"
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

// planFile is a plan as it is stored; without a hash, what a void plan left to do.
type planFile struct {
	Hash string    `json:"hash"`
	Made time.Time `json:"made"`
	Plan Plan      `json:"plan"`
}

func (p *Plan) sum() (string, error) {
	b, err := exactjson.Marshal(p)
	if err != nil {
		return "", model.E(model.Internal, "plan", err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(append([]byte("memdesk-plan-v1\x00"), b...))), nil
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

// errDamagedPlan is a plan's file that cannot be read.
var errDamagedPlan = errors.New("the earlier plan cannot be read, so nobody can say what is still to do by it")

// earlier is a request's last plan as far as it says what was found and is not done, valid or void; empty where there is
// none. A damaged file is an error: what was still to do by it would be forgotten.
func (d *Desk) earlier(id string) (Plan, error) {
	var k planFile
	err := readJSON(d.dir("plans", id+".json"), &k)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Plan{}, model.Errorf(model.Internal, "gdpr-plan", "%w: put gdpr/plans/%s.json in the state directory back as it was, or withdraw request %s and file it again", errDamagedPlan, id, id)
	}
	k.Plan.Hash = k.Hash
	return k.Plan, nil
}

// Plan is the newest plan of a request, or NotFound.
func (d *Desk) Plan(id string) (Plan, error) {
	var k planFile
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
