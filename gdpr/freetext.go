package gdpr

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"memdesk/gdpr/receipt"
	"memdesk/gdpr/subject"
	"memdesk/model"
)

// Free text of a request can name anybody: its ground, who filed it, the ground of a hold, the reason of a
// withdrawal. A receipt is signed and never edited, so the only free text that it keeps is the article of a
// ground, and everything else in it is redacted for every person that this desk knows. A text that names an
// erased person is refused at intake: it would put that person back into the desk's own files.

// erasedIn says which erased person a text names; empty for none. The request's own subject may be named,
// even one that was erased before.
func (d *Desk) erasedIn(r *Request, what, text string) (why string, err error) {
	ix, err := d.Suppressed().Now()
	if err != nil {
		return "", model.Refuse("gdpr", "nobody can say whether a text names an erased person: "+err.Error())
	}
	for _, m := range ix.Find(true, text) {
		own, err := subject.New(r.Terms()...)
		if m.Person.Pseudonym == r.Pseudonym || err == nil && own.Names(m.Text) {
			continue
		}
		return what + " names a person who was erased under request " + m.Person.Request + ": write it without the name", nil
	}
	return "", nil
}

// refuseErased refuses a text that names an erased person, and audits the refusal.
func (d *Desk) refuseErased(ctx context.Context, r *Request, op, what, text string) error {
	why, err := d.erasedIn(r, what, text)
	if err != nil || why == "" {
		return err
	}
	return d.refused(ctx, r, op, why)
}

var (
	article = regexp.MustCompile(`(?i)\bArt(?:icle|ikel|\.)?\s*([0-9]{1,2})\s*(\([0-9]{1,2}\))?\s*(\([a-z]\))?`)
	// underOther matches the desk's own ground for an item that another request holds.
	underOther = regexp.MustCompile(`^(on hold )?under request er-[0-9]{8}-[0-9a-f]{8}$`)
)

// citedArticles is a hold's ground as the receipt has it: the articles that it cites.
func citedArticles(ground string) string {
	if underOther.MatchString(ground) {
		return strings.TrimPrefix(ground, "on hold ")
	}
	var cited []string
	for _, m := range article.FindAllStringSubmatch(ground, -1) {
		if c := "Art. " + m[1] + m[2] + strings.ToLower(m[3]); !slices.Contains(cited, c) {
			cited = append(cited, c)
		}
	}
	return cmp.Or(strings.Join(cited, ", "), "a ground") + "; its words are on record with the request"
}

// requestGround is a request's ground as the receipt has it: its articles. The words are
// removed with the request.
func requestGround(ground string) string {
	cited, _, _ := strings.Cut(citedArticles(ground), ";")
	if cited == "a ground" {
		return "no article was cited"
	}
	return cited
}

// nameless redacts the persons that this desk knows: the request's subject, those of open requests, and
// erased ones.
type nameless struct {
	known  []*subject.Matcher
	erased func(text string) []span
}

type span struct{ start, end int }

func (x *run) nameless() (nameless, error) {
	n := nameless{known: []*subject.Matcher{x.m}}
	all, err := x.d.List()
	if err != nil {
		return n, err
	}
	for _, o := range all {
		if o.ID == x.r.ID || o.Done() {
			continue
		}
		if m, err := subject.New(o.Terms()...); err == nil { // it was valid when it was filed
			n.known = append(n.known, m)
		}
	}
	ix, err := x.d.Suppressed().Now()
	if err != nil {
		return n, model.Refuse("gdpr-erase", err.Error())
	}
	n.erased = func(text string) (out []span) {
		for _, m := range ix.Find(true, text) {
			out = append(out, span{m.Start, m.End})
		}
		return out
	}
	return n, nil
}

func (n nameless) text(s string) string {
	for _, m := range n.known {
		s = m.Redact(s, Erased)
	}
	spans := n.erased(s)
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	out, at := "", 0
	for _, p := range spans { // overlapping ones are one
		if p.start >= at {
			out += s[at:p.start] + Erased
		}
		at = max(at, p.end)
	}
	return out + s[at:]
}

// receipt redacts them in every text of a receipt that the program did not write itself.
func (n nameless) receipt(r *receipt.Receipt) {
	for _, p := range []*receipt.Party{&r.Operator, r.Approver} {
		if p != nil {
			p.Name = n.text(p.Name)
		}
	}
	r.Policy.By = n.text(r.Policy.By)
	if r.Identity != nil { // its own copy
		r.Identity.By = n.text(r.Identity.By)
	}
	n.layers(r.Layers)
	for i := range r.Backups {
		b := &r.Backups[i]
		b.Reason, b.Where, b.Guard = n.text(b.Reason), n.text(b.Where), n.text(b.Guard)
	}
	for i := range r.Attested {
		r.Attested[i].Layer, r.Attested[i].By.Name = n.text(r.Attested[i].Layer), n.text(r.Attested[i].By.Name)
	}
	for i := range r.Recipients {
		r.Recipients[i].Name = n.text(r.Recipients[i].Name)
	}
	for i := range r.Open {
		r.Open[i].Layer, r.Open[i].Reason, r.Open[i].Do = n.text(r.Open[i].Layer), n.text(r.Open[i].Reason), n.text(r.Open[i].Do)
	}
	for i := range r.Notes {
		r.Notes[i] = n.text(r.Notes[i])
	}
}

func (n nameless) layers(all []receipt.Layer) {
	for i, l := range all {
		all[i].Layer, all[i].Reason = n.text(l.Layer), n.text(l.Reason)
	}
}
