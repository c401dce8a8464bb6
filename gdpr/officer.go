package gdpr

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"memdesk/gdpr/papers"
	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// DueWithin are the open requests that are overdue or due within so many days, the nearest first. An error is as that of
// List.
func (d *Desk) DueWithin(within int) ([]Due, error) {
	all, err := d.List()
	now := day(d.Clock.Now())
	return slices.DeleteFunc(all, func(r Due) bool {
		return r.Done() || int(r.Deadline.Sub(now).Hours()/24) > within
	}), err
}

// Letter renders a letter about a request. It names no person.
func (d *Desk) Letter(ctx context.Context, id, kind, lang string) (string, error) {
	r, err := d.load(id)
	if err != nil {
		return "", err
	}
	l := papers.Letter{Request: r.ID, Received: r.Received, Deadline: r.deadline(d.Clock.Now()).Format(dateForm), Paused: r.PausedSince != "", Extended: r.Extended}
	for _, h := range r.Holds {
		l.Held = append(l.Held, receipt.Held{Store: h.Store, Items: 1, Ground: citedArticles(h.Ground)})
	}
	switch _, rec, _, err := d.Receipt(id); {
	case err == nil:
		l.Ended, l.Finished, l.Forgotten, l.Redacted = true, rec.Finished[:min(len(rec.Finished), len(dateForm))], rec.Forgotten, rec.Redacted
		l.Held, l.Open = rec.Held, rec.Open
		for _, to := range rec.Recipients { // told since, perhaps
			if i := slices.IndexFunc(r.Recipients, func(o receipt.Recipient) bool { return o.Name == to.Name }); i >= 0 {
				to.Told = r.Recipients[i].Told
			}
			l.Recipients = append(l.Recipients, to)
		}
		for _, s := range rec.Stores {
			l.Stores = append(l.Stores, s.Store)
		}
		for _, b := range rec.Backups {
			if s := slices.IndexFunc(rec.Stores, func(s receipt.Store) bool { return s.Store == b.Store && s.Kind != "inmem" }); s >= 0 {
				l.Backups = append(l.Backups, b)
			}
		}
	case model.KindOf(err) != model.NotFound:
		return "", err
	}
	return l.Write(kind, lang, d.dir("letters"))
}

// Register is the register of all requests that were received in a year. It is whole even with an error about receipts that
// cannot be checked.
func (d *Desk) Register(ctx context.Context, year int) (papers.Register, error) {
	out := papers.Register{Year: year}
	all, err := d.List()
	if err != nil {
		return out, err
	}
	var unproven error
	slices.SortFunc(all, func(a, b Due) int { return a.Created.Compare(b.Created) })
	for _, r := range all {
		if r.Received[:min(4, len(r.Received))] != strconv.Itoa(year) {
			continue
		}
		if r.Kept != nil {
			out.Entries = append(out.Entries, *r.Kept)
			continue
		}
		e := papers.Entry{Request: r.ID, Person: r.Pseudonym, Received: r.Received, Deadline: r.Deadline.Format(dateForm), State: string(r.State), Extended: r.Extended,
			Ground: requestGround(r.Ground), Held: int64(len(r.Holds)), Layers: len(r.Attested), Exports: len(r.Exports)}
		end := d.Clock.Now()
		if !r.Finished.IsZero() {
			end, e.Finished = r.Finished, r.Finished.UTC().Format(dateForm)
		}
		received, err := ParseDate(r.Received)
		if err != nil {
			return papers.Register{}, err
		}
		e.Days, e.Late = daysBetween(received, end), day(end).After(r.Deadline)
		switch _, rec, _, err := d.Receipt(r.ID); {
		case err == nil:
			e.Ground, e.Forgotten, e.Redacted, e.Held = rec.Ground, rec.Forgotten, rec.Redacted, receipt.Items(rec.Held)
		case model.KindOf(err) != model.NotFound:
			e.Unproven, e.Ground = true, cmp.Or(e.Ground, "unknown: the receipt cannot be checked")
			unproven = errors.Join(unproven, err)
		default:
			out, _, err := d.Report(r.ID)
			if err != nil {
				x := run{r: &r.Request}
				x.addTally()
				out = x.out
			}
			if e.Forgotten, e.Redacted = out.Forgotten, out.Redacted; r.Done() { // withdrawn: its ground is gone
				e.Ground = ""
			}
		}
		out.Entries = append(out.Entries, e)
	}
	return out, unproven
}
