package tracker

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"memdesk/backends/internal/fields"
	"memdesk/backends/internal/title"
	"memdesk/backends/internal/verdicts"
	"memdesk/model"
)

// The field names of a work item's document that the adapter itself reads.
const (
	FieldTitle    = "title"
	FieldStatus   = "status"
	FieldType     = "type"
	FieldPriority = "priority"
	FieldDepends  = "depends"
)

// Retain writes a work item or a memory. Read-only and unknown fields, and other entries, stay unchanged.
func (a *adapter) Retain(ctx context.Context, req model.RetainRequest) (model.RetainResult, error) {
	if err := a.begin(ctx, "retain", true); err != nil {
		return model.RetainResult{}, err
	}
	id, err := a.checkRetain(req)
	if err != nil {
		return model.RetainResult{}, err
	}
	got, err := a.Backend.Put(ctx, id, func(have Record, exists bool) (Record, error) {
		if err := model.FromContext(ctx, "retain"); err != nil {
			return Record{}, err
		}
		if err := model.CheckMatch("retain", req.IfMatch, exists, have.Revision()); err != nil {
			return Record{}, err
		}
		want, err := a.want(id, have, exists, req)
		if err != nil {
			return Record{}, err
		}
		if err := a.admit(have, want, req); err != nil {
			return Record{}, err
		}
		return want, req.Foretell(want.Body, result(want))
	})
	if err != nil {
		return model.RetainResult{}, model.Wrap("retain", err)
	}
	res := result(got)
	if got.Back != nil {
		res.Warnings = []string{"it was made anew from its document: its own line, its place and what waited for it did not come back"}
	}
	return res, nil
}

func result(r Record) model.RetainResult {
	return model.RetainResult{ID: r.ID, Bytes: int64(len(r.Body)), Revision: r.Revision()}
}

// admit applies R18 to every text of the item that agents may see. The store's own fields pass where the item had
// them before: it stands, or comes back.
func (a *adapter) admit(have, want Record, req model.RetainRequest) error {
	exists, after := have.ID != "", want.Document()
	if after.Meta = slices.Clone(after.Meta); !exists && !req.Restore && !req.Erase {
		for i := range after.Meta {
			after.Meta[i].ReadOnly = false
		}
	}
	return a.scanner.AdmitDocument(have.Document(), after, exists && verdicts.Cleans(req))
}

// checkRetain applies every rule that needs no read of the store and returns the addressed id.
func (a *adapter) checkRetain(req model.RetainRequest) (string, error) {
	if err := cmp.Or(req.Mode.Check(), a.CheckBound("retain", req.WorkspaceID, req.AgentID, req.CrewID)); err != nil {
		return "", err
	}
	id, err := a.target(req)
	if err != nil {
		return "", err
	}
	switch {
	case req.Binary:
		return "", model.Errorf(model.Unsupported, "retain", "this store holds text only")
	case !utf8.ValidString(req.Content):
		return "", model.Errorf(model.InvalidInput, "retain", "the content is not valid UTF-8 text")
	case req.Content == "" && (req.Meta == nil || tierOfID(id) == TierMemory && !req.Restore || req.Mode == model.Append):
		return "", model.Errorf(model.InvalidInput, "retain", "the content is empty: forget the item to remove it")
	case req.DataSubjectID != "":
		return "", model.Errorf(model.Unsupported, "retain", "this store keeps no data subject keys")
	}
	return id, nil
}

// address returns the item of a write without an id: the one that its key names, or a new one when there is
// no key.
func (a *adapter) address(req model.RetainRequest) (string, error) {
	if req.ID == "" && req.Key == "" && req.Tier != TierMemory {
		return "", a.checkTier("retain", req.Tier, nil)
	}
	return a.target(req)
}

// target resolves ID, or Tier and Key, to a handle; those that are set must agree.
func (a *adapter) target(req model.RetainRequest) (string, error) {
	if later := req.ID != "" && IsStatus(req.Tier) && !a.declared(req.Tier); !later && (req.ID == "" || req.Tier != "") {
		if err := a.checkTier("retain", req.Tier, nil); err != nil {
			return "", err
		}
		if !a.writable(req.Tier) {
			return "", model.Errorf(model.InvalidInput, "retain", "nothing can be written to the tier %q", req.Tier)
		}
	}
	if req.ID == "" {
		if req.Key == "" {
			if req.Tier == TierMemory {
				return "", model.Errorf(model.InvalidInput, "retain", "a memory needs a key")
			}
			if a.NewID == nil {
				return "", nil // the backend makes one
			}
			return a.NewID(), nil
		}
		if err := CheckKey(req.Key); err != nil {
			return "", err
		}
		if req.Tier == TierMemory {
			return MemoryPrefix + req.Key, nil
		}
		return req.Key, nil
	}
	if err := checkID("retain", req.ID); err != nil {
		return "", err
	}
	tier := tierOfID(req.ID)
	switch {
	case tier == TierLine:
		return "", model.Errorf(model.InvalidInput, "retain", "%q is a line that is no item: forget it, or mend the file", req.ID)
	case req.Key != "" && req.Key != strings.TrimPrefix(req.ID, MemoryPrefix):
		return "", model.Errorf(model.InvalidInput, "retain", "id %q and key %q name two items", req.ID, req.Key)
	case req.Tier != "" && (tier == TierMemory) != (req.Tier == TierMemory):
		return "", model.Errorf(model.InvalidInput, "retain", "id %q is not of tier %q", req.ID, req.Tier)
	}
	return req.ID, nil
}

// keyBytes is the longest key of a new item.
const keyBytes = 255

// CheckKey is InvalidInput for a key that is not one path segment (R11) or that looks like another kind of
// handle.
func CheckKey(key string) error {
	bad := func(why string) error {
		return model.Errorf(model.InvalidInput, "retain", "key %q: %s", key, why)
	}
	switch {
	case strings.ContainsAny(key, `/\`) || strings.Contains(key, ".."):
		return bad("a key is one name, without a slash, a backslash or two dots")
	case !model.PlainID(key) || strings.ContainsFunc(key, unicode.IsSpace): // two keys never look the same
		return bad("a key is printable text without blanks and invisible characters")
	case strings.Contains(key, "#") || strings.HasPrefix(key, "-") || strings.HasPrefix(key, "~"):
		return bad("a key has no number sign and does not begin with a dash or a tilde")
	case len(key) > keyBytes:
		return bad("it is too long")
	}
	return nil
}

// checkID refuses an impossible id.
func checkID(op, id string) error {
	if id == "" || strings.ContainsRune(id, 0) {
		return model.Errorf(model.InvalidInput, op, "%q is no id of this store", id)
	}
	return nil
}

// want is the record that the request asks for.
func (a *adapter) want(id string, have Record, exists bool, req model.RetainRequest) (Record, error) {
	if !exists {
		return a.newRecord(id, req)
	}
	want := have
	switch {
	case req.Tier != "" && req.Tier != have.Tier:
		return Record{}, model.Errorf(model.InvalidInput, "retain", "item %q is in tier %q, not %q; its field status moves it", id, have.Tier, req.Tier)
	case have.Kind == Line:
		return Record{}, model.Errorf(model.InvalidInput, "retain", "%q is a line that is no item: forget it, or mend the file", id)
	case have.Tier == TierTombstone:
		return Record{}, model.Errorf(model.InvalidInput, "retain", "%q was deleted long ago; its line can only be forgotten", id)
	}
	want.Body = req.Content
	if req.Mode == model.Append {
		if !utf8.ValidString(have.Body) {
			return Record{}, model.Errorf(model.InvalidInput, "retain", "the stored text is not UTF-8: replace it or remove it, text cannot be appended")
		}
		want.Body = have.Body + req.Content
	}
	merged, err := model.MergeMeta("retain", have.Fields, fields.Restored(have.Fields, req.Meta))
	if err != nil {
		return Record{}, err
	}
	want.Fields = merged
	return want, checkFields(have, want, req.Restore)
}

// newRecord is a new item. The store's own fields are accepted as they were shown, so that a forgotten item
// can be restored whole.
func (a *adapter) newRecord(id string, req model.RetainRequest) (Record, error) {
	if !a.Capabilities.Create {
		return Record{}, model.Errorf(model.Unsupported, "retain", "this store makes no new items")
	}
	if err := a.checkTier("retain", cmp.Or(req.Tier, a.DefaultStatus), nil); err != nil {
		return Record{}, err
	}
	key := id
	want := Record{Head: Head{ID: id, Kind: Issue, Tier: req.Tier}, Body: req.Content}
	if req.Restore {
		want.Back = req.Beside
	}
	if tierOfID(id) == TierMemory {
		key = strings.TrimPrefix(id, MemoryPrefix)
		want.Kind, want.Tier = Memory, TierMemory
	}
	if key != "" {
		// A restored item comes back under the name that it had, also one that no new item may have.
		if err := CheckKey(key); err != nil && !req.Restore {
			return Record{}, err
		}
	} else if a.NewID != nil || id != "" {
		return Record{}, model.Errorf(model.InvalidInput, "retain", "%q is no id of an item", id)
	}
	seen := map[string]bool{}
	for _, f := range req.Meta {
		if seen[f.Name] {
			return Record{}, model.Errorf(model.InvalidInput, "retain", "field %q stands twice", f.Name)
		}
		seen[f.Name] = true
	}
	want.Fields = slices.Clone(req.Meta)
	if want.Kind == Memory {
		return want, nil
	}
	want.Tier = cmp.Or(want.Tier, a.DefaultStatus)
	if s := want.Field(FieldStatus); s == "" {
		want.set(FieldStatus, want.Tier)
	} else if req.Tier != "" && s != req.Tier {
		return Record{}, model.Errorf(model.InvalidInput, "retain", "tier %q is asked for, but the field status says %q", req.Tier, s)
	}
	if want.Back != nil && len(want.Back.Lines) > 0 { // the kept line has what it had, and no more
		return want, checkFields(Record{}, want, req.Restore)
	}
	if want.Field(FieldTitle) == "" {
		// With a key, not the text: a title would outlive a replaced text.
		want.set(FieldTitle, cmp.Or(req.Key, title.Line(want.Body), key))
	}
	if want.Field(FieldType) == "" {
		want.set(FieldType, DefaultType)
	}
	if want.Field(FieldPriority) == "" {
		want.set(FieldPriority, strconv.Itoa(DefaultPriority))
	}
	return want, checkFields(Record{}, want, req.Restore)
}

// set writes a field in its place, or as the last one.
func (r *Record) set(name, value string) {
	r.Fields = slices.Clone(r.Fields)
	for i, f := range r.Fields {
		if f.Name == name {
			r.Fields[i].Value = value
			return
		}
	}
	r.Fields = append(r.Fields, model.Field{Name: name, Value: value})
}

// With is the record with one field set.
func (r Record) With(name, value string) Record {
	r.set(name, value)
	return r
}

// checkFields checks only changed fields, so that an odd value from a foreign writer never blocks another
// edit. A restored item may have the odd status or priority that the store held.
func checkFields(have, want Record, restore bool) error {
	if want.Kind == Memory {
		return nil
	}
	for _, name := range []string{FieldTitle, FieldStatus, FieldType} {
		if v := want.Field(name); v == "" && have.Field(name) != "" {
			return model.Errorf(model.InvalidInput, "retain", "field %q is missing: a work item always has one", name)
		}
	}
	if s := want.Field(FieldStatus); s != have.Field(FieldStatus) && !IsStatus(s) && !restore {
		return model.Errorf(model.InvalidInput, "retain", "status %q: a status is a small letter and then letters, digits, - or _", s)
	}
	if p := want.Field(FieldPriority); p != have.Field(FieldPriority) && p != "" && !restore {
		if n, err := strconv.Atoi(p); err != nil || n < 0 || n > 4 {
			return model.Errorf(model.InvalidInput, "retain", "priority %q: it is 0, 1, 2, 3 or 4", p)
		}
	}
	for _, f := range want.Fields {
		if !utf8.ValidString(f.Value) && f.Value != have.Field(f.Name) && !restore {
			return model.Errorf(model.InvalidInput, "retain", "field %q is not valid UTF-8 text", f.Name)
		}
	}
	return nil
}

// IsStatus reports whether a word can be a status: a published one, or a custom one of bd's form.
func IsStatus(s string) bool {
	if s == "" || len(s) > 64 || s[0] < 'a' || s[0] > 'z' || s == TierMemory || s == TierLine || s == TierCustom || s == TierTombstone {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	})
}
