package transfer

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"memdesk/model"
)

// Result is the outcome for one item.
type Result string

// The results.
const (
	Copied  Result = "copied"
	Skipped Result = "skipped" // nothing was done or needed
	Failed  Result = "failed"
	Left    Result = "left" // its tier has no place in the destination
)

// Outcome is one item's result. Reason is in words: why it was not copied, or what was left out.
type Outcome struct {
	ID     string // in the source
	To     string // in the destination, where it is known
	Result Result
	Reason string
	Err    error // of a failure, where there is one; Reason has its words
}

// Summary counts outcomes.
type Summary struct {
	Copied, Skipped, Failed, Left int64
	// Err is the failure of one item that stands for all: the first that passes by itself, else the first.
	Err error
}

// failed is the outcome of an item that an error kept from being copied; to is empty where it is not known.
func failed(id, to string, err error) Outcome {
	return Outcome{ID: id, To: to, Result: Failed, Reason: err.Error(), Err: err}
}

// Journal remembers steps between runs; *jobs.Handle is one.
type Journal interface {
	// Step runs fn unless the step with this key was completed before.
	Step(ctx context.Context, key string, fn func(context.Context) error) error
	Progress(done, total int64, unit, note string)
}

// Writer writes one item; undo.Keeper's Retain is one that keeps the displaced text.
type Writer func(ctx context.Context, s model.Store, req model.RetainRequest) (model.RetainResult, error)

// Run copies. It continues after an item that fails, and returns an error only when it cannot continue: the
// source cannot be listed, the context or the journal ends. report receives every item once, in the order in
// which they are settled.
func (p Plan) Run(ctx context.Context, j Journal, write Writer, report func(Outcome)) (Summary, error) {
	r := &run{Plan: p, journal: j, write: write, report: report, from: p.From.Identity(), to: p.To.Identity(), first: map[string]string{}}
	if err := r.pages(ctx); err != nil {
		return r.sum, err
	}
	// Relations come after their members, and waiting items after those they wait for: each pass that settles
	// an item may release others. The passes alternate in direction: in one, each item of a long chain would wait
	// for the next.
	for waiting, pass := r.later, 0; len(waiting) > 0; pass++ {
		before := len(waiting)
		r.later = nil
		if pass > 0 {
			slices.Reverse(waiting)
		}
		last := r.stuck
		for _, id := range waiting {
			if err := r.item(ctx, id, last); err != nil {
				return r.sum, err
			}
		}
		waiting = r.later
		r.stuck = len(waiting) == before
		if last {
			break
		}
	}
	return r.sum, r.log(ctx)
}

type run struct {
	Plan
	journal  Journal
	from, to string // identities of the stores
	write    Writer
	report   func(Outcome)
	sum      Summary
	total    int64
	later    []string // ids that wait for others
	// first are the first ids by the place in the destination that their key leads to: another item of the same
	// place finds the first one's copy there, and must not replace it. A tier of one document is one place.
	first map[string]string
	stuck bool // the last pass settled nothing: waiting items fail in the next
}

func (r *run) pages(ctx context.Context) error {
	req := model.PageRequest{Tier: r.only, Hidden: true, Limit: model.MaxPage}
	if slices.Contains(r.From.Orders, model.OrderID) {
		req.Order = model.OrderID
	}
	said := map[string]bool{} // a store may name the same problem on each page
	for page, err := range model.Pages(ctx, r.From.Browser, req) {
		if err != nil {
			return err
		}
		if !page.Total.Unknown {
			r.total = page.Total.N
		}
		for _, why := range page.Problems {
			if said[why] {
				continue
			}
			said[why] = true
			r.settle(Outcome{ID: "", Result: Failed, Reason: "not looked at: " + why})
		}
		for _, h := range page.Items {
			if to := r.mapping(h.Tier).To; to != "" {
				at := cmp.Or(r.addressed(model.RetainRequest{Tier: to, Key: keyOf(h.ID)}), r.addressed(model.RetainRequest{Tier: to}))
				r.first[at] = cmp.Or(r.first[at], h.ID)
			}
			if h.Has(model.FlagEdge) {
				r.later = append(r.later, h.ID)
				continue
			}
			if err := r.item(ctx, h.ID, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) settle(o Outcome) {
	switch o.Result {
	case Copied:
		r.sum.Copied++
	case Skipped:
		r.sum.Skipped++
	case Left:
		r.sum.Left++
	case Failed:
		r.sum.Failed++
		if r.sum.Err == nil || model.IsRetryable(o.Err) && !model.IsRetryable(r.sum.Err) {
			r.sum.Err = o.Err
		}
	}
	r.report(o)
	r.journal.Progress(r.sum.Copied+r.sum.Skipped+r.sum.Failed+r.sum.Left, r.total, "item", "")
}

const theSame = "it stands there already, the same"

// errWaits is returned for an item that must follow another.
var errWaits = errors.New("waits for another item")

// item copies one item as a step of the journal. last makes a waiting item fail now.
func (r *run) item(ctx context.Context, id string, last bool) error {
	return r.step(ctx, id, id, func(ctx context.Context) bool { return r.unsettled(ctx, id) }, func(ctx context.Context) Outcome { return r.copy(ctx, id, last) })
}

// step does one item unless an earlier run has, and it is not unsettled since. An outcome without a result
// means that the item waits for another.
func (r *run) step(ctx context.Context, id, key string, unsettled func(context.Context) bool, do func(context.Context) Outcome) error {
	o := Outcome{ID: id, Result: Skipped, Reason: "settled by an earlier run"}
	done := true
	work := func(ctx context.Context) error {
		done = false
		// Stopping, or losing the connection, lets the current item finish within its store's deadline: cut
		// off, its state would be unknown.
		o = do(context.WithoutCancel(ctx))
		switch o.Result {
		case "":
			return errWaits
		case Failed, Left:
			return errFailed // not complete: a later run tries again
		}
		return nil
	}
	err := r.journal.Step(ctx, r.key(key), work)
	if err == nil && done && unsettled(ctx) {
		err = work(ctx)
	}
	switch {
	case errors.Is(err, errWaits):
		r.later = append(r.later, id)
		return nil
	case errors.Is(err, errFailed):
		r.settle(o)
		return model.FromContext(ctx, "copy")
	case err != nil:
		return err
	}
	r.settle(o)
	return nil
}

var errFailed = errors.New("not copied")

// key is a key of the journal. It contains the identities of both stores, so that a name that now means another
// store begins another copy.
func (r *run) key(what string) string { return r.from + "\x00" + r.to + "\x00" + what }

// made is the key that the journal has of an item under an id that the destination made: it cannot be looked for.
func (r *run) made(id string) string { return r.key("made\x00" + id) }

// unsettled reports that an item which an earlier run settled stands nowhere in the destination, which was emptied
// meanwhile, or differs there and is to be replaced: one of the two was changed since. Where that cannot be said,
// the item counts as settled.
func (r *run) unsettled(ctx context.Context, id string) bool {
	it, err := r.From.Browser.Read(ctx, id)
	m := r.mapping(it.Tier)
	if err != nil || m.To == "" {
		return false
	}
	if err := r.journal.Step(ctx, r.made(id), func(context.Context) error { return errWaits }); !errors.Is(err, errWaits) {
		return false // it was made, or nobody can say
	}
	looked := false
	for _, c := range []carried{r.carry(it, m.To, nil), r.before(it, m)} {
		for _, there := range r.places(c) {
			looked = true
			have, err := r.To.Browser.Read(ctx, there)
			switch {
			case errors.Is(err, model.NotFound), errors.Is(err, model.InvalidInput):
			case err != nil, !r.Replace, same(c.req, have):
				return false
			}
		}
	}
	return looked
}

// before is the write of an item as an earlier copy may have made it: a tier that came to the destination with that
// copy was not there, so that the item went to the tier for all others.
func (r *run) before(it model.Item, m TierMapping) carried {
	if r.rest == "" || m.To == r.rest || m.To != m.From {
		return carried{}
	}
	return r.carry(it, r.rest, nil)
}

// places are the ids that a write may go to.
func (r *run) places(c carried) (ids []string) {
	for _, at := range c.at {
		req := c.req
		req.ID, req.Key = at.id, at.key
		if id := r.addressed(req); id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// standing is where a write has been made already, empty for nowhere.
func (r *run) standing(ctx context.Context, c carried) string {
	for _, there := range r.places(c) {
		if have, err := r.To.Browser.Read(ctx, there); err == nil && same(c.req, have) {
			return there
		}
	}
	return ""
}

// addressed is the id that a write goes to; empty where the destination makes one, or refuses the address.
func (r *run) addressed(req model.RetainRequest) string {
	if req.ID != "" || r.To.Address == nil {
		return req.ID
	}
	id, _ := r.To.Address(req) // refused: nothing is there
	return id
}

// copy reads and writes one item. An outcome without a result means that the item waits for another.
func (r *run) copy(ctx context.Context, id string, last bool) Outcome {
	it, err := r.From.Browser.Read(ctx, id)
	switch {
	case errors.Is(err, model.NotFound):
		return Outcome{ID: id, Result: Skipped, Reason: "it is gone from the source meanwhile"}
	case err != nil:
		return failed(id, "", err)
	}
	m := r.mapping(it.Tier)
	if m.To == "" {
		return Outcome{ID: id, Result: Left, Reason: "tier " + it.Tier + " is not copied: " + m.Why}
	}
	var beside *model.Beside
	if r.From.Beside != nil {
		b, err := r.From.Beside(ctx, id)
		if err != nil && !errors.Is(err, model.NotFound) {
			return failed(id, "", err)
		}
		b.Seats, b.Lines = nil, nil // relations are items of their own and name their members
		beside = &b
	}
	c := r.carry(it, m.To, beside)
	if at := r.standing(ctx, r.before(it, m)); at != "" {
		return Outcome{ID: id, To: at, Result: Skipped, Reason: theSame}
	}
	if r.Author != nil {
		ctx = r.Author(ctx, it)
	}
	res, req, lost, err := r.put(ctx, c)
	if err == nil && r.addressed(req) == "" {
		if err := r.journal.Step(ctx, r.made(id), func(context.Context) error { return nil }); err != nil {
			return failed(id, res.ID, err)
		}
	}
	if err == nil {
		return Outcome{ID: id, To: res.ID, Result: Copied, Reason: r.notCarried(lost, res)}
	}
	if r.family && errors.Is(err, model.InvalidInput) && !last {
		return Outcome{} // a field may name an item that is copied later
	}
	if !errors.Is(err, model.Conflict) && !errors.Is(err, model.AlreadyExists) && !errors.Is(err, model.NotFound) {
		return failed(id, "", err)
	}
	return r.existing(ctx, id, req, lost, err, last)
}

// put writes an item under the first of its addresses that the destination accepts. Where a destination of
// another family refuses an unknown field, the item is written without fields, and the outcome says so.
func (r *run) put(ctx context.Context, c carried) (res model.RetainResult, req model.RetainRequest, lost []string, err error) {
	for _, at := range c.at {
		req = c.req
		req.ID, req.Key = at.id, at.key
		if res, err = r.write(ctx, r.To, req); err == nil || !errors.Is(err, model.InvalidInput) {
			return res, req, c.lost, err
		}
		if !r.family && len(req.Meta) > 0 {
			var names []string
			for _, f := range req.Meta {
				if f.Value != "" {
					names = append(names, f.Name)
				}
			}
			req.Meta = nil
			if res, err = r.write(ctx, r.To, req); err == nil || !errors.Is(err, model.InvalidInput) {
				return res, req, append(slices.Clone(c.lost), names...), err
			}
		}
	}
	return res, req, c.lost, err
}

// existing handles an item that could not be written as new.
func (r *run) existing(ctx context.Context, id string, req model.RetainRequest, lost []string, refused error, last bool) Outcome {
	at := r.addressed(req)
	if at == "" {
		return failed(id, "", refused)
	}
	have, err := r.To.Browser.Read(ctx, at)
	switch {
	case errors.Is(err, model.NotFound) && last:
		return failed(id, "", refused)
	case errors.Is(err, model.NotFound):
		return Outcome{} // something else is missing, and may come later
	case err != nil:
		return failed(id, at, err)
	case same(req, have):
		return Outcome{ID: id, To: at, Result: Skipped, Reason: theSame}
	case req.ID == "" && cmp.Or(r.first[at], id) != id:
		return failed(id, at, model.E(model.Conflict, "", errors.New(r.first[at]+" has the same place there, and this would replace its copy")))
	case !r.Replace:
		return Outcome{ID: id, To: at, Result: Skipped, Reason: "something else stands there already; --replace puts this in its place"}
	}
	req.IfMatch = have.Revision
	req.Meta = slices.DeleteFunc(req.Meta, func(f model.Field) bool { return f.ReadOnly })
	res, _, more, err := r.put(ctx, carried{at: []address{{req.ID, req.Key}}, req: req, lost: lost})
	if err != nil {
		return failed(id, at, err)
	}
	return Outcome{ID: id, To: res.ID, Result: Copied, Reason: cmp.Or(r.notCarried(more, res), "replaced what stood there")}
}

// notCarried says what of an item the destination did not accept.
func (r *run) notCarried(lost []string, res model.RetainResult) string {
	var words []string
	if len(lost) > 0 {
		words = append(words, "not carried: "+strings.Join(lost, ", "))
	}
	if r.beside() {
		words = append(words, res.Warnings...)
	}
	return strings.Join(words, "; ")
}

// same compares text and the fields to be written.
func same(req model.RetainRequest, have model.Item) bool {
	if req.Content != have.Body {
		return false
	}
	stored := model.Values(have.Meta)
	return !slices.ContainsFunc(req.Meta, func(f model.Field) bool { return !f.ReadOnly && stored[f.Name] != f.Value })
}

// keyOf makes one path segment of an id, a name that a new item may have.
func keyOf(id string) string {
	plain := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !model.PlainID(string(r)) {
			return '-'
		}
		return r
	}, strings.ReplaceAll(strings.TrimSuffix(id, ".md"), model.Inner, ""))
	key := strings.Trim(strings.NewReplacer("/", "-", `\`, "-", "..", "-").Replace(plain), "-.")
	if key == "" {
		return "item"
	}
	return key
}
