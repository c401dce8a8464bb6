package gdpr

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"memdesk/gdpr/receipt"
	"memdesk/model"
)

// Recipient is somebody who receives data of stores and must be told of an erasure (GDPR Art. 19).
type Recipient struct {
	Name    string
	Contact string
	Stores  []string // empty: all
}

// recipients are those of the stores in which the subject was found, with their notices on record.
func (x *run) recipients() []receipt.Recipient {
	var out []receipt.Recipient
	for _, r := range x.d.Policy.Recipients {
		row := receipt.Recipient{Name: r.Name}
		for _, s := range x.out.Stores {
			if (len(r.Stores) == 0 || slices.Contains(r.Stores, s.Store)) && s.Forgotten+s.Redacted+s.Held+s.Rows > 0 {
				row.Stores = append(row.Stores, s.Store)
			}
		}
		if len(row.Stores) == 0 {
			continue
		}
		if i := slices.IndexFunc(x.r.Recipients, func(o receipt.Recipient) bool { return o.Name == r.Name }); i >= 0 {
			row.Told, row.Answered = x.r.Recipients[i].Told, x.r.Recipients[i].Answered
		}
		out = append(out, row)
	}
	return out
}

// Tell records the day on which a recipient was told of the erasure, or answered; it works on a complete
// request too. An unknown recipient is InvalidInput.
func (d *Desk) Tell(ctx context.Context, id, name, told, answered string) (Due, error) {
	const op = "gdpr-recipient"
	if !slices.ContainsFunc(d.Policy.Recipients, func(r Recipient) bool { return r.Name == name }) {
		return Due{}, model.Errorf(model.InvalidInput, op, "no recipient is called %q: the [[recipient]] blocks of the configuration name them", name)
	}
	for _, on := range []string{told, answered} {
		if on == "" {
			continue
		}
		if _, err := ParseDate(on); err != nil {
			return Due{}, err
		}
	}
	if strings.TrimSpace(told+answered) == "" {
		return Due{}, model.Errorf(model.InvalidInput, op, "say on which day the recipient was told or has answered")
	}
	r, err := d.load(id)
	if err != nil {
		return Due{}, err
	}
	last := d.Clock.Now().UTC().AddDate(0, 0, 1).Format(dateForm) // it may be tomorrow elsewhere
	for _, on := range []string{told, answered} {
		if on != "" && (on > last || on < r.Received) {
			return Due{}, model.Errorf(model.InvalidInput, op, "%s is in the future, or before the request was received on %s", on, r.Received)
		}
	}
	return d.amend(ctx, &r, op, nil, func(r *Request) error {
		i := slices.IndexFunc(r.Recipients, func(o receipt.Recipient) bool { return o.Name == name })
		if i < 0 {
			i, r.Recipients = len(r.Recipients), append(r.Recipients, receipt.Recipient{Name: name, Stores: []string{}})
		}
		r.Recipients[i].Told = cmp.Or(told, r.Recipients[i].Told)
		r.Recipients[i].Answered = cmp.Or(answered, r.Recipients[i].Answered)
		if o := r.Recipients[i]; o.Answered != "" && o.Answered < o.Told {
			return model.Errorf(model.InvalidInput, op, "%s cannot have answered on %s: it was told on %s", name, o.Answered, o.Told)
		}
		return nil
	})
}
