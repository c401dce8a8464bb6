package door

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"memdesk/audit"
	"memdesk/gdpr/suppress"
	"memdesk/model"
	"memdesk/operator"
	"memdesk/origin"
	"memdesk/quarantine/review"
)

type retainArgs struct {
	Content string  `json:"content"`
	Title   string  `json:"title"`
	Tier    string  `json:"tier"`
	Key     string  `json:"key"`
	Store   string  `json:"store"`
	Scope   string  `json:"scope"`
	Ref     string  `json:"ref"`
	IfMatch string  `json:"if_match"`
	Source  string  `json:"source"`
	Subject string  `json:"subject"`
	Mode    *string `json:"mode"`
}

type retained struct {
	Status   string         `json:"status"`
	Ref      string         `json:"ref"`
	Store    string         `json:"store"`
	Tier     string         `json:"tier"`
	Revision model.Revision `json:"revision"`
	Bytes    int64          `json:"bytes"`
	Undo     string         `json:"undo"`
	Notes    []string       `json:"notes,omitempty"`
}

type quarantined struct {
	Status   string `json:"status"`
	Category string `json:"category"`
	Pattern  string `json:"pattern"`
	Entry    string `json:"entry"`
}

type suppressed struct {
	Status string `json:"status"`
	Reason string `json:"reason"`
}

const erasedReason = "the person this is about was erased"

func retain(ctx context.Context, c *call, a retainArgs) (answer, error) {
	switch {
	case a.Content == "":
		return answer{}, model.Errorf(model.InvalidInput, "retain", "content is missing or empty")
	case len(a.Content) > maxContent:
		return answer{}, model.Errorf(model.InvalidInput, "retain", "content has %d bytes; %d are the most", len(a.Content), maxContent)
	case !utf8.ValidString(a.Content):
		return answer{}, model.Errorf(model.InvalidInput, "retain", "content is not UTF-8")
	case len(a.Title)+len(a.Key)+len(a.Tier)+len(a.Scope)+len(a.Subject) > model.MaxID:
		return answer{}, model.Errorf(model.InvalidInput, "retain", "title, key, tier, scope and subject are longer than %d bytes together", model.MaxID)
	}
	s, req, err := c.target(a)
	if err != nil {
		return answer{}, err
	}
	var notes []string
	if a.Title != "" {
		if why := c.entitle(ctx, s, &req, a.Title); why != "" {
			notes = append(notes, why+": the title was not written")
		}
	}
	return c.write(under(ctx, c.claimed(a.Source)), s, req, notes)
}

// target is the store and the request of the arguments (AD9).
func (c *call) target(a retainArgs) (model.Store, model.RetainRequest, error) {
	req := model.RetainRequest{Content: a.Content, Mode: model.Append, IfMatch: model.Revision(a.IfMatch), DataSubjectID: a.Subject}
	if a.Mode != nil {
		req.Mode = model.Mode(*a.Mode)
	}
	if err := req.Mode.Check(); err != nil {
		return model.Store{}, req, err
	}
	if a.Ref != "" {
		if a.Tier != "" || a.Key != "" || a.Scope != "" {
			return model.Store{}, req, model.Errorf(model.InvalidInput, "retain", "ref says which item it is: leave out tier, key and scope")
		}
		s, ref, err := c.at(a.Ref)
		if err == nil && a.Store != "" && a.Store != ref.Store {
			err = model.Errorf(model.InvalidInput, "retain", "ref and store name two stores")
		}
		req.ID = ref.ID
		return s, req, err
	}
	s, err := c.store(a.Store)
	if err != nil {
		return s, req, err
	}
	if req.Tier = cmp.Or(a.Tier, c.Tier); req.Tier == "" {
		return s, req, model.Errorf(model.InvalidInput, "retain", "give tier, one of %s", strings.Join(writableTiers(s), ", "))
	}
	if _, ok := s.Tier(req.Tier); !ok {
		return s, req, model.Errorf(model.InvalidInput, "retain", "there is no such tier; give one of %s", strings.Join(writableTiers(s), ", "))
	}
	req.Key = a.Key
	if err := scoped(&req, a.Scope); err != nil {
		return s, req, err
	}
	return s, req, s.CheckScope("retain", req.WorkspaceID, req.AgentID, req.CrewID)
}

// titleField is the field of items that have a title of their own.
const titleField = "title"

// entitle gives a request its title where items of the tier have a writable title field, and says why where it did
// not. The item itself shows the field, or its tier declares it, or else another item of the tier shows it.
func (c *call) entitle(ctx context.Context, s model.Store, req *model.RetainRequest, title string) (why string) {
	const none, unknown = "this store keeps no titles here", "no item here shows whether this store keeps titles"
	if s.Browser == nil {
		return none
	}
	var it model.Item
	err := error(model.NotFound)
	id := addressOf(s, *req)
	if id != "" {
		it, err = s.Browser.Read(ctx, id)
	}
	there := err == nil
	switch tier, _ := s.Tier(req.Tier); {
	case there:
	case !errors.Is(err, model.NotFound): // its other fields would go
		return unknown
	case tier.Titled:
		req.Meta = []model.Field{{Name: titleField, Value: title}}
		return ""
	default:
		page, err := s.Browser.List(ctx, model.PageRequest{Tier: req.Tier, Limit: 1})
		if err != nil || len(page.Items) == 0 {
			return unknown
		}
		if it, err = s.Browser.Read(ctx, page.Items[0].ID); err != nil {
			return unknown
		}
	}
	at := slices.IndexFunc(it.Meta, func(f model.Field) bool { return f.Name == titleField && !f.ReadOnly })
	switch {
	case at < 0:
		return none
	case !there:
		req.Meta = []model.Field{{Name: titleField, Value: title}}
	case it.Meta[at].Value != title:
		req.Meta = slices.Clone(it.Meta) // the whole set, as read
		req.Meta[at].Value = title
		if req.IfMatch == "" && req.Mode == model.Append { // a replace without a revision is refused
			req.IfMatch = it.Revision
		}
	}
	return ""
}

// scoped parses a scope as stores spell it, crews/ID or an agent's name.
func scoped(req *model.RetainRequest, scope string) error {
	req.WorkspaceID, req.CrewID, req.AgentID = operator.Owners(scope)
	crew, isCrew := strings.CutPrefix(scope, "crews/")
	switch {
	case req.WorkspaceID != "" || req.CrewID != "" || req.AgentID != "":
	case !strings.Contains(scope, "/"):
		req.AgentID = scope
	case isCrew && !strings.Contains(crew, "/"):
		req.CrewID = crew
	default:
		return model.Errorf(model.InvalidInput, "retain", "this scope is not one that can be written to by name: give ref")
	}
	return nil
}

func writableTiers(s model.Store) []string {
	var out []string
	for _, t := range s.Tiers {
		if t.Writable && !t.Sealed && !poisoned(t.Name) { // a server behind the store may name them
			out = append(out, t.Name)
		}
	}
	return out
}

// write makes the change and describes the result. A held or suppressed change is an ordinary answer (AD10,
// AD11).
func (c *call) write(ctx context.Context, s model.Store, req model.RetainRequest, notes []string) (answer, error) {
	if err := c.guardReplace(ctx, s, &req); err != nil {
		return answer{}, err
	}
	res, e, err := c.Undo.Retain(ctx, s, req)
	var held *origin.HeldError
	switch {
	case suppress.Refused(err):
		return answer{suppressed{"suppressed", erasedReason}, "suppressed: " + erasedReason}, nil
	case errors.As(err, &held):
		return answer{quarantined{"quarantined", held.Category, held.Pattern, s.Name + ":" + held.Entry},
			"quarantined: held for review by an operator (" + held.Category + " / " + held.Pattern + "). Do not retry."}, nil
	case err != nil && !model.IsPartial(err):
		return answer{}, stale(ctx, s, addressOf(s, req), err)
	}
	var part *model.Partial
	if errors.As(err, &part) {
		notes = append(notes, "a part of it was not done: "+message(part.Err))
	}
	for _, w := range res.Warnings {
		notes = append(notes, plainLine(w))
	}
	out := retained{Status: "retained", Store: s.Name, Tier: req.Tier, Revision: res.Revision, Bytes: res.Bytes, Undo: e.ID, Notes: notes}
	text := "retained"
	if res.ID != "" {
		out.Ref = model.Ref{Store: s.Name, ID: res.ID}.String()
		text += " " + out.Ref
	}
	if out.Tier == "" && s.Browser != nil && res.ID != "" {
		if it, err := s.Browser.Read(ctx, res.ID); err == nil {
			out.Tier = it.Tier
		}
	}
	if res.Revision != "" {
		text += " revision " + string(res.Revision)
	}
	return answer{out, text}, nil
}

// guardReplace demands the revision that a replace would overwrite (AD9). A replace of nothing only creates: an
// item that another makes meanwhile stays.
func (c *call) guardReplace(ctx context.Context, s model.Store, req *model.RetainRequest) error {
	id := addressOf(s, *req)
	if req.Mode != model.Replace || req.IfMatch != "" || id == "" || s.Browser == nil {
		return nil
	}
	it, err := s.Browser.Read(ctx, id)
	switch {
	case err == nil:
		return staleError{model.Errorf(model.Conflict, "retain", "the item exists: give if_match, the revision that you have read"), it.Revision}
	case model.KindOf(err) == model.NotFound:
		req.IfMatch = model.Absent
		return nil
	case model.KindOf(err) == model.Unsupported: // the item has no revision to give
		return nil
	}
	return err
}

func addressOf(s model.Store, req model.RetainRequest) string {
	if req.ID != "" || s.Address == nil {
		return req.ID
	}
	id, err := s.Address(req)
	if err != nil {
		return ""
	}
	return id
}

type forgetArgs struct {
	Ref    string `json:"ref"`
	Reason string `json:"reason"`
}

type forgotten struct {
	Status  string `json:"status"`
	Ref     string `json:"ref,omitempty"`
	Removed int64  `json:"removed"`
	Undo    string `json:"undo,omitempty"`
}

func forget(ctx context.Context, c *call, a forgetArgs) (answer, error) {
	if strings.TrimSpace(a.Reason) == "" || len(a.Reason) > maxReason {
		return answer{}, model.Errorf(model.InvalidInput, "forget", "give a reason of 1 to %d bytes", maxReason)
	}
	s, ref, err := c.at(a.Ref)
	if err != nil {
		return answer{}, err
	}
	return c.forget(audit.WithReason(ctx, a.Reason), s, ref)
}

func (c *call) forget(ctx context.Context, s model.Store, ref model.Ref) (answer, error) {
	if review.HeldID(ref.ID) { // no agent may see or remove a held text
		return answer{forgotten{Status: "absent"}, "absent"}, nil
	}
	res, e, err := c.Undo.Forget(ctx, s, model.ForgetRequest{ID: ref.ID})
	switch {
	case err != nil:
		return answer{}, stale(ctx, s, ref.ID, err)
	case res.Removed == 0:
		return answer{forgotten{Status: "absent"}, "absent"}, nil
	}
	return answer{forgotten{"forgotten", ref.String(), res.Removed, e.ID}, "forgotten " + ref.String()}, nil
}
