package gdpr

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"memdesk/backends"
	"memdesk/gdpr/subject"
	"memdesk/model"
)

// nameKeys are the metadata fields that hold a person's name or address, in lower case.
var nameKeys = []string{"name", "display_name", "displayname", "full_name", "fullname", "first_name", "firstname", "last_name", "lastname",
	"given_name", "family_name", "user_name", "username", "nickname", "email", "e_mail", "email_address", "mail", "phone", "phone_number", "telephone", "mobile"}

// The bounds of a search for proposals: it runs before the request is filed.
const (
	proposalItems = 1000            // tied items read, per store
	proposalMost  = 20              // proposals reported, per store
	proposalRunes = 200             // of a value: a longer one is a text
	proposalTime  = 5 * time.Second // per store
)

// Proposal is a name that a store itself ties to the subject and that the request does not have. It is never
// taken automatically: the operator who files the request gives it as an alias, or not.
type Proposal struct {
	Store string
	Field string // the metadata field
	Value string
}

// proposals collects the names of one store, each once.
type proposals struct {
	m     *subject.Matcher
	store string
	all   []Proposal
	more  int // found and not kept
	unfit int // values that cannot be identifiers, such as those with control characters
}

// add takes the names from an item that the store ties to the subject.
func (p *proposals) add(it model.Item) {
	for _, f := range it.Meta {
		for _, key := range nameKeys {
			for _, v := range taggedIn(f, []string{key}) {
				p.take(key, strings.TrimSpace(v))
			}
		}
	}
}

func (p *proposals) take(field, value string) {
	known := func(o Proposal) bool { return o.Value == value }
	switch {
	case value == "" || value == Erased || utf8.RuneCountInString(value) > proposalRunes:
	case subject.Check(value) != nil:
		p.unfit++
	case isIdentifier(p.m, value) || slices.ContainsFunc(p.all, known):
	case len(p.all) == proposalMost:
		p.more++
	default:
		p.all = append(p.all, Proposal{Store: p.store, Field: field, Value: value})
	}
}

// note describes the proposals for a plan.
func (p *proposals) note() []string {
	if len(p.all) == 0 {
		return nil
	}
	words := make([]string, len(p.all))
	for i, one := range p.all {
		words[i] = one.Field + " " + one.Value
	}
	list := strings.Join(words, ", ")
	if p.more > 0 {
		list += fmt.Sprintf(" and %d more", p.more)
	}
	return []string{"the store ties to the person, and no alias names: " + list + "; if one is this person's and nobody else's, withdraw the request and file it again with that alias"}
}

// Propose asks every store for the names that it ties to the identifiers of a request that is to be filed.
// notes say which store was not asked, or not to the end. It returns an error only for invalid identifiers
// and an ended context.
func Propose(ctx context.Context, fleet *backends.Fleet, in Intake) (all []Proposal, notes []string, err error) {
	m, err := subject.New(append([]string{in.Subject}, in.Aliases...)...)
	if err != nil {
		return nil, nil, err
	}
	for _, member := range fleet.Members() {
		if member.Err != nil {
			notes = append(notes, member.Name+": not asked for names, it cannot be opened: "+string(model.KindOf(member.Err)))
			continue
		}
		s := member.Store
		if s.Subjects == nil || s.Browser == nil {
			continue // the store ties nothing to a person
		}
		p := proposals{m: m, store: s.Name}
		why := p.ask(ctx, s)
		if ctx.Err() != nil {
			return nil, nil, model.FromContext(ctx, "gdpr-request")
		}
		if p.more > 0 {
			notes = append(notes, fmt.Sprintf("%s: names that are not shown: %d", s.Name, p.more))
		}
		if p.unfit > 0 {
			notes = append(notes, fmt.Sprintf("%s: values of fields with names that cannot be identifiers as they stand: %d; read the items that it ties to the person", s.Name, p.unfit))
		}
		if why != "" {
			notes = append(notes, s.Name+": not asked for names to the end: "+why)
		}
		all = append(all, p.all...)
	}
	return all, notes, nil
}

// ask reads the items that a store ties to the subject, within the bounds, and says why it did not read all
// of them.
func (p *proposals) ask(ctx context.Context, s model.Store) (why string) {
	ctx, cancel := context.WithTimeout(ctx, proposalTime)
	defer cancel()
	var ids []string
	err := s.Subjects.Concerning(ctx, p.m.Terms(), func(h model.SubjectHit) bool {
		if h.Called != "" {
			p.take(h.Reason, strings.TrimSpace(h.Called))
			return true
		}
		if len(ids) == proposalItems {
			why = fmt.Sprintf("it ties more than %d items to the person", proposalItems)
			return false
		}
		ids = including(ids, h.ID)
		return true
	})
	unread := 0
	for _, id := range ids {
		if ctx.Err() != nil {
			return fmt.Sprintf("it took more than %s", proposalTime)
		}
		it, rerr := s.Browser.Read(ctx, id)
		switch {
		case rerr == nil:
			p.add(it)
		case model.KindOf(rerr) != model.NotFound:
			unread++
		}
	}
	switch {
	case err != nil:
		return string(model.KindOf(err))
	case unread > 0:
		return fmt.Sprintf("%d items cannot be read", unread)
	}
	return why
}
