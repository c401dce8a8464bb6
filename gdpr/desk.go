package gdpr

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"memdesk/audit"
	"memdesk/gdpr/suppress"
	"memdesk/internal/atomicfile"
	"memdesk/internal/clock"
	"memdesk/internal/exactjson"
	"memdesk/internal/filelock"
	"memdesk/internal/statedir"
	"memdesk/model"
	"memdesk/undo"
)

// Policy configures erasures.
type Policy struct {
	// MaxShare is the share of a store (0..1) from which the operator must type the number of items; nil
	// means DefaultMaxShare, 0 at every erasure.
	MaxShare *float64
	// RequireApproval demands a second operator's approval of the plan.
	RequireApproval bool
	// Approval is BySignature or BySession; empty means BySignature.
	Approval string
	// Approvers are the fingerprints that may sign; empty: any key but the
	// requester's.
	Approvers []string
	// Names are the operators' names by the fingerprints of their keys.
	Names map[string]string
	// ApprovalValid is how long an approval is valid; 0 means seven days.
	ApprovalValid time.Duration
	// KeepClosed is how long a closed request and its receipt are kept; 0 means for ever.
	KeepClosed time.Duration
	// Backups are copies of stores that memdesk does not reach.
	Backups []Backup
	// Recipients are those to whom a store's data are disclosed (Art. 19).
	Recipients []Recipient
}

// Operator is the operator at the desk.
type Operator struct {
	ID  string
	Key string // SSH key fingerprint, empty when unauthenticated
}

// Trace is a file, or a directory of files, in which memdesk itself may name people.
type Trace interface {
	// Erase removes the entries that match and reports how many.
	Erase(match func(entry []byte) bool) (int, error)
}

// Desk keeps requests and works on them. It is safe for concurrent use, also by several processes; only one
// of them at a time works on a request.
type Desk struct {
	State string // the state directory; the desk lives in its gdpr directory
	Clock clock.Clock
	Log   *audit.Log   // never nil in calls that change anything
	Undo  *undo.Keeper // its entries of the subject are erased too
	// Traces are memdesk's further own notes, erased too.
	Traces   []Trace
	Operator Operator
	Policy   Policy
	// Ensure makes the state directory.
	Ensure func() error

	holds holdCache
}

func (d *Desk) dir(parts ...string) string {
	return filepath.Join(append([]string{d.State, "gdpr"}, parts...)...)
}

// prepare makes the desk's directories.
func (d *Desk) prepare() error {
	if d.Ensure != nil {
		if err := d.Ensure(); err != nil {
			return err
		}
	}
	for _, sub := range []string{"requests", "plans", "runs", "receipts", "keys"} {
		if err := atomicfile.MakeDirs(atomicfile.OS{}, d.dir(sub)); err != nil {
			return model.E(model.Unavailable, "gdpr", atomicfile.Pathless(err))
		}
	}
	return nil
}

func (d *Desk) pseudonymKey() (suppress.Key, error) {
	if err := d.prepare(); err != nil {
		return suppress.Key{}, err
	}
	path := d.dir("keys", "pseudonym")
	if _, err := suppress.ReadKey(path); errors.Is(err, fs.ErrNotExist) { // another key would know none of the erased persons
		if _, err := d.Suppressed().Persons(); err != nil {
			return suppress.Key{}, err
		}
	}
	return suppress.LoadKey(path)
}

// FreeBytes is what an unprivileged program may still write below the state directory, or below its nearest existing parent;
// 0 where that is not known.
func (d *Desk) FreeBytes() int64 {
	var st syscall.Statfs_t
	for dir := d.State; syscall.Statfs(dir, &st) != nil; dir = filepath.Dir(dir) {
		if filepath.Dir(dir) == dir {
			return 0
		}
	}
	return int64(st.Bavail) * int64(st.Bsize)
}

// Suppressed is the list of erased subjects who must not come back; empty before the first erasure. It
// creates nothing.
func (d *Desk) Suppressed() *suppress.List {
	return suppress.Open(d.dir("suppressed.json"), d.dir("keys", "pseudonym"))
}

// File takes a request in. It is audited; no store is searched yet. A ground or a requester that names an
// erased person is refused.
func (d *Desk) File(ctx context.Context, in Intake) (Due, error) {
	if d.Log == nil {
		return Due{}, model.Refuse("gdpr", "there is no audit log")
	}
	var r Request
	if err := d.Log.Writable(); err != nil {
		return Due{}, model.Refuse("gdpr", "it could not be recorded: "+err.Error())
	}
	r, err := d.newRequest(in)
	if err != nil {
		return Due{}, err
	}
	for _, t := range []struct{ what, text string }{{"the ground", r.Ground}, {"who files it", r.By}} {
		if err := d.refuseErased(ctx, &r, "gdpr-request", t.what, t.text); err != nil {
			return Due{}, err
		}
	}
	d.sweepTemps("")
	if err := d.firstPolicy(ctx); err != nil {
		return Due{}, err
	}
	err = d.actOn(ctx, &r, "gdpr-request", r.ByKey, nil, func(context.Context) (map[string]int64, error) {
		return map[string]int64{"aliases": int64(len(r.Aliases))}, d.save(&r)
	})
	if err != nil {
		return Due{}, err
	}
	out := r.At(d.Clock.Now())
	out.Note = d.otherRequestsNote(&r)
	return out, nil
}

// act runs an act on a request between intent and outcome.
func (d *Desk) act(ctx context.Context, r *Request, action string, counts map[string]int64, fn func(context.Context) (map[string]int64, error)) error {
	return d.actOn(ctx, r, action, "", counts, fn)
}

// actOn is act with a target: the fingerprint of the key that files or approves, which the chained record
// then proves.
func (d *Desk) actOn(ctx context.Context, r *Request, action, target string, counts map[string]int64, fn func(context.Context) (map[string]int64, error)) error {
	if d.Log == nil {
		return model.Refuse(action, "there is no audit log")
	}
	e := audit.Entry{Action: action, Target: target, Subject: r.Subject, Plan: r.PlanHash, Counts: counts, Scope: r.ID}
	return d.Log.Act(ctx, e, fn)
}

// refused audits a refusal of the desk itself and returns it.
func (d *Desk) refused(ctx context.Context, r *Request, action, why string) error {
	err := model.Refuse(action, why)
	if d.Log == nil {
		return err
	}
	e := audit.Entry{Action: action, Subject: r.Subject, Plan: r.PlanHash, Scope: r.ID}
	if nerr := d.Log.Note(ctx, e, audit.Result{Verdict: audit.Refused, Class: string(model.PermissionDenied)}); nerr != nil {
		return errors.Join(err, nerr)
	}
	return err
}

var requestForm = regexp.MustCompile(`^er-[0-9]{8}-[0-9a-f]{8}$`)

// Get finds a request by its id, or by the subject's id as it was filed: the newest of that subject, complete
// or not; a withdrawn one only where there is no other.
func (d *Desk) Get(id string) (Due, error) {
	if requestForm.MatchString(id) {
		r, err := d.load(id)
		if err != nil {
			return Due{}, err
		}
		return r.At(d.Clock.Now()), nil
	}
	all, err := d.List()
	if err != nil {
		return Due{}, err
	}
	key, err := suppress.ReadKey(d.dir("keys", "pseudonym"))
	if err == nil {
		p := key.Pseudonym(id)
		all = slices.DeleteFunc(all, func(r Due) bool { return r.Pseudonym != p })
		slices.SortStableFunc(all, func(a, b Due) int {
			return cmp.Or(late(a.State == StateWithdrawn)-late(b.State == StateWithdrawn), b.Created.Compare(a.Created))
		})
		if len(all) > 0 {
			return all[0], nil
		}
	}
	return Due{}, model.Errorf(model.NotFound, "gdpr", "there is no such request; `memdesk gdpr status` shows them")
}

// Damaged is an error for each request whose file cannot be read. The others are returned with it.
type Damaged []error

func (d Damaged) Error() string { return errors.Join(d...).Error() }

// Unwrap returns the errors.
func (d Damaged) Unwrap() []error { return d }

// List returns every request: those with work left first, then by deadline. The error is Damaged where files cannot be
// read.
func (d *Desk) List() ([]Due, error) {
	entries, err := os.ReadDir(d.dir("requests"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, model.Errorf(model.Unavailable, "gdpr", "read the requests in the state directory: %w", atomicfile.Pathless(err))
	}
	now := d.Clock.Now()
	var out []Due
	var unread Damaged
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !requestForm.MatchString(id) {
			continue
		}
		r, err := d.load(id)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		out = append(out, r.At(now))
	}
	slices.SortStableFunc(out, func(a, b Due) int {
		return cmp.Or(late(a.Done())-late(b.Done()), a.Deadline.Compare(b.Deadline), strings.Compare(a.ID, b.ID))
	})
	if len(unread) > 0 {
		return out, unread
	}
	return out, nil
}

func (d *Desk) load(id string) (Request, error) {
	var r Request
	err := readJSON(d.dir("requests", id+".json"), &r)
	if errors.Is(err, fs.ErrNotExist) {
		return r, model.Errorf(model.NotFound, "gdpr", "there is no request %s", id)
	}
	if err != nil || r.ID != id {
		return r, model.Errorf(model.Internal, "gdpr", "request %s cannot be read: its file is damaged: put gdpr/requests/%s.json in the state directory back from a backup, because nobody can say what it keeps on hold", id, id)
	}
	return r, nil
}

// live loads a request, and refuses one that has ended.
func (d *Desk) live(id, op string) (Request, error) {
	r, err := d.load(id)
	if err == nil {
		err = r.over(op)
	}
	return r, err
}

// unended is live that also refuses a request that was carried out and is not closed yet.
func (d *Desk) unended(id, op string) (Request, error) {
	r, err := d.live(id, op)
	if err != nil {
		return r, err
	}
	if _, ok := d.receipted(&r); ok {
		return r, model.Errorf(model.Conflict, op, "request %s was carried out and not closed: `memdesk gdpr erase %s --plan-hash %s` closes it", r.ID, r.ID, r.PlanHash)
	}
	return r, nil
}

func (d *Desk) save(r *Request) error {
	if err := d.prepare(); err != nil {
		return err
	}
	r.Updated = d.Clock.Now().UTC()
	return writeJSON(d.dir("requests", r.ID+".json"), r)
}

// requestsWait bounds the wait for another program that changes a request.
var requestsWait = 10 * time.Second

// edit changes a request in its file. Others may have changed it since r was read, during a search or while a
// key signed: fn gets the request as it is now, and no other edit comes between. r is then what was saved.
// The context ends a wait for them, not the edit.
func (d *Desk) edit(ctx context.Context, r *Request, fn func(*Request) error) error {
	if err := d.prepare(); err != nil {
		return err
	}
	lock, err := atomicfile.Open(d.dir("requests.lock"), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return model.E(model.Unavailable, "gdpr", atomicfile.Pathless(err))
	}
	defer filelock.Close(lock) // it holds nothing that could be lost
	for end := time.Now().Add(requestsWait); ; time.Sleep(5 * time.Millisecond) {
		got, err := filelock.Try(lock, true)
		if err != nil {
			return model.E(model.Unavailable, "gdpr", atomicfile.Pathless(err))
		}
		if got {
			break
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return model.Errorf(model.Locked, "gdpr", "another program changes a request and holds requests.lock; try again when it is done")
		}
	}
	now, err := d.load(r.ID)
	if err == nil {
		err = fn(&now)
	}
	if err == nil {
		err = d.save(&now)
	}
	if err == nil {
		*r = now
	}
	return err
}

// change edits a request that is not complete, on record.
func (d *Desk) change(ctx context.Context, id, action string, edit func(*Request) error) (Due, error) {
	r, err := d.live(id, action)
	if err != nil {
		return Due{}, err
	}
	return d.amend(ctx, &r, action, nil, func(r *Request) error {
		if err := r.over(action); err != nil {
			return err
		}
		return edit(r)
	})
}

// amend edits a request on record, whatever its state.
func (d *Desk) amend(ctx context.Context, r *Request, action string, counts map[string]int64, edit func(*Request) error) (Due, error) {
	err := d.act(ctx, r, action, counts, func(context.Context) (map[string]int64, error) { return nil, d.edit(ctx, r, edit) })
	if err != nil {
		return Due{}, err
	}
	return r.At(d.Clock.Now()), nil
}

// Choose overrides the policy for items. A store is the one that the last plan showed under its name, before the first
// plan any of that name. An earlier plan becomes void.
func (d *Desk) Choose(ctx context.Context, id string, choices ...Choice) (Due, error) {
	item := func(c Choice) model.Ref { return model.Ref{Store: cmp.Or(c.Where, c.Store), ID: c.ID} }
	shown, _ := d.earlier(id) // without a plan a choice counts by the store's name
	choices = slices.Clone(choices)
	anew := map[model.Ref]bool{}
	for i, c := range choices {
		for _, sp := range shown.Stores {
			if sp.Store == c.Store {
				c.Where, choices[i].Where = sp.Where, sp.Where
			}
		}
		if c.Action != Forget && c.Action != Redact {
			return Due{}, model.Errorf(model.InvalidInput, "gdpr", "an item can be forgotten or redacted; to keep it, put it on hold")
		}
		anew[item(c)] = true
	}
	return d.change(ctx, id, "gdpr-choose", func(r *Request) error {
		r.Choices = slices.DeleteFunc(r.Choices, func(o Choice) bool { return anew[item(o)] })
		r.Choices = append(r.Choices, choices...)
		r.void()
		return nil
	})
}

// void discards the plan: the content that was approved has changed.
func (r *Request) void() {
	r.PlanHash, r.Approvals = "", nil
	if r.State == StatePlanned || r.State == StateApproved {
		r.State = StateOpen
	}
}

func readJSON(path string, into any) error {
	b, err := atomicfile.ReadFile(path)
	if err != nil {
		return err
	}
	return exactjson.Unmarshal(b, into)
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(exactjson.Form(v), "", " ")
	if err != nil {
		return model.E(model.Internal, "gdpr", err)
	}
	if err := atomicfile.Write(path, append(b, '\n'), 0o600); err != nil {
		return model.E(model.Unavailable, "gdpr", statedir.Cause(err))
	}
	return nil
}

// staleTemp is the age from which a temporary file has no writer any more.
const staleTemp = time.Hour

// sweepTemps removes files of interrupted writes from the desk's directories: a half-written request or plan
// names the subject. Those of this request go at once, because its run's lock is held; those of others once
// they are stale. Verification finds what cannot be removed.
func (d *Desk) sweepTemps(id string) {
	for _, sub := range []string{"requests", "plans", "runs", "receipts", "keys"} {
		entries, err := os.ReadDir(d.dir(sub))
		if err != nil {
			continue
		}
		for _, e := range entries {
			name := e.Name()
			if !strings.Contains(name, ".tmp.") {
				continue
			}
			mine := id != "" && strings.HasPrefix(name, "."+id+".")
			if key, _, _ := strings.Cut(strings.TrimPrefix(name, "."), ".tmp."); sub == "keys" {
				_, err := os.Lstat(d.dir(sub, key))
				mine = err == nil // the key exists: nobody waits for another one
			}
			if info, err := e.Info(); err != nil || !mine && d.Clock.Now().Sub(info.ModTime()) < staleTemp {
				continue
			}
			_ = os.Remove(d.dir(sub, name))
		}
	}
}
