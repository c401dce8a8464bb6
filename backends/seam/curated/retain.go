package curated

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"memdesk/backends/internal/verdicts"
	"memdesk/model"
)

// Retain adds an entry at the end of a tier's file, or with an ID changes the entry with that id; the
// result's ID is the entry's new one. With the ID of a whole file (MEMORY.md) it replaces all entries at
// once, and repairs a drifted file after keeping a backup. With the ID of a proposal it approves it (see
// approve). An error leaves everything unchanged, unless it says "written".
func (s *store) Retain(ctx context.Context, req model.RetainRequest) (model.RetainResult, error) {
	if err := cmp.Or(model.FromContext(ctx, "retain"), s.reason.Check("retain")); err != nil {
		return model.RetainResult{}, err
	}
	to, err := s.target(req)
	if err != nil {
		return model.RetainResult{}, err
	}
	switch {
	case to.pending != "":
		return s.approve(ctx, to, req)
	case req.ID != "" && to.hash == "":
		return s.retainFile(ctx, to.file, req)
	}
	return s.retainEntry(ctx, to, req)
}

// target applies the rules that need no read of the files.
func (s *store) target(req model.RetainRequest) (idParts, error) {
	const op = "retain"
	if err := cmp.Or(req.Mode.Check(), unscoped.Check(op, req.WorkspaceID, req.CrewID, req.AgentID)); err != nil {
		return idParts{}, err
	}
	to, err := s.addressed(req)
	if err != nil {
		return idParts{}, err
	}
	switch {
	case req.DataSubjectID != "":
		return idParts{}, model.Errorf(model.Unsupported, op, "this store keeps no data-subject keys")
	case to.pending != "":
		return to, nil
	case len(req.Meta) > 0:
		return idParts{}, model.Errorf(model.InvalidInput, op, "an entry has no metadata fields")
	case req.Binary && !utf8.ValidString(req.Content):
		return idParts{}, model.Errorf(model.Unsupported, op, "the files hold text only")
	case !utf8.ValidString(req.Content):
		return idParts{}, model.Errorf(model.InvalidInput, op, "the content is not UTF-8 text")
	case trim(req.Content) == "" && to.hash == "":
		return idParts{}, model.Errorf(model.InvalidInput, op, "the content is empty; forget entries instead")
	}
	return to, nil
}

// addressed combines ID, Tier and Key. Without an ID it is the entry of the content itself.
func (s *store) addressed(req model.RetainRequest) (idParts, error) {
	const op = "retain"
	if req.ID == "" {
		name, ok := fileOf(req.Tier)
		switch {
		case req.Tier == TierPending:
			return idParts{}, model.Errorf(model.InvalidInput, op, "only the agent itself files proposals; approve one by its id")
		case !ok:
			return idParts{}, model.Errorf(model.InvalidInput, op, "unknown tier %q; there are %s and %s", req.Tier, TierMemory, TierUser)
		case req.Key != "":
			return idParts{}, model.Errorf(model.InvalidInput, op, "an entry has no key: leave it out, or give the entry's id")
		}
		return idParts{file: name, hash: hashOf(trim(req.Content))}, nil
	}
	to, ok := parseID(req.ID)
	if !ok {
		return idParts{}, badID(op, req.ID)
	}
	tier, key := TierPending, to.pending
	if to.file != "" {
		tier, key = tierOf(to.file), to.hash
	}
	if req.Tier != "" && req.Tier != tier {
		return idParts{}, model.Errorf(model.InvalidInput, op, "%q is of tier %s, not %s", req.ID, tier, req.Tier)
	}
	if req.Key != "" && req.Key != key {
		return idParts{}, model.Errorf(model.InvalidInput, op, "key %q is not that of %q", req.Key, req.ID)
	}
	return to, nil
}

// address is the id that a request would write.
func (s *store) address(req model.RetainRequest) (string, error) {
	to, err := s.addressed(req)
	switch {
	case err != nil:
		return "", err
	case req.ID != "":
		return req.ID, nil
	}
	return to.file + "/" + to.hash, nil
}

// rewrites are the entries that a whole file's new text lacks, and the one that a proposal is about.
func (s *store) rewrites(ctx context.Context, req model.RetainRequest) (ids []string, err error) {
	to, ok := parseID(req.ID)
	if !ok || to.hash != "" || req.Mode == "" {
		return nil, nil // Retain itself refuses a bad id, and Forget removes one entry or proposal
	}
	files, err := s.both(ctx, "retain")
	if err != nil {
		return nil, err
	}
	if to.file != "" {
		next := textsOf(parse(normalise(req.Content)))
		for _, e := range files[indexOf(to.file)].entries {
			if !next[e.text] {
				ids = append(ids, to.file+"/"+e.hash)
			}
		}
		return ids, nil
	}
	d, p, err := s.proposal(to.pending)
	if err != nil {
		return nil, nil // as above
	}
	_ = d.Close() // read only
	name, ok := p.file()
	if ok && p.Payload.Action == "add" {
		return []string{name + "/" + hashOf(trim(p.Payload.Content))}, nil
	}
	if e, err := files[indexOf(name)].matching(p.Payload.OldText); ok && err == nil {
		ids = append(ids, name+"/"+e.hash)
	}
	return ids, nil
}

// edit is a file after a request.
type edit struct {
	next     []entry
	text     string // of the entry that results
	warnings []string
}

// result is that of the entry, in a file.
func (e edit) result(file string) model.RetainResult {
	return model.RetainResult{ID: file + "/" + hashOf(e.text), Bytes: int64(len(e.text)), Revision: revisionOf(e.text), Warnings: e.warnings}
}

func (s *store) retainEntry(ctx context.Context, to idParts, req model.RetainRequest) (model.RetainResult, error) {
	var done edit
	err := s.change(ctx, "retain", to.file, func(f file) ([]entry, error) {
		var err error
		done, err = s.evaluate(f, to, req)
		return done.next, err
	}, func() error { return req.Foretell(done.text, done.result(to.file)) })
	if err != nil {
		return model.RetainResult{}, err
	}
	res := done.result(to.file)
	if done.next == nil {
		return res, nil // it was there already
	}
	if req.Restore { // a restored text keeps its id
		return res, nil
	}
	if req.ID != "" && res.ID != req.ID {
		res.Warnings = append(res.Warnings, "the entry has a new id, "+res.ID)
	}
	res.Warnings = append(res.Warnings, nextSession)
	return res, nil
}

// evaluate judges one entry: revision, form, repeats, cap, scanner.
func (s *store) evaluate(f file, to idParts, req model.RetainRequest) (edit, error) {
	if err := f.checkChangeable("retain", s.cfg.Name); err != nil {
		return edit{}, err
	}
	i := find(f.entries, to.hash)
	old := ""
	if i >= 0 {
		old = f.entries[i].text
	}
	if err := model.CheckMatch("retain", req.IfMatch, i >= 0, revisionOf(old)); err != nil {
		return edit{}, err
	}
	whole := req.Content
	if req.Mode == model.Append && req.ID != "" {
		whole = old + req.Content
	}
	text := trim(whole)
	if why := unfit(text); why != "" {
		return edit{}, model.Errorf(model.InvalidInput, "retain", "%s", why)
	}
	out := edit{text: text}
	if text != whole {
		out.warnings = append(out.warnings, "white space around the entry was taken off: the file cannot keep it")
	}
	switch {
	case i < 0 && req.ID != "" && hashOf(text) != to.hash:
		return edit{}, model.Errorf(model.NotFound, "retain", "there is no entry %s; to add one give --tier %s", req.ID, tierOf(f.name))
	case i >= 0 && text == old && req.ID != "":
		return out, nil
	}
	if at := find(f.entries, hashOf(text)); at >= 0 {
		return edit{}, model.Errorf(model.AlreadyExists, "retain", "the entry stands there already, as %s/%s", f.name, hashOf(text))
	}
	if i < 0 {
		out.next = slices.Insert(slices.Clone(f.entries), placeOf(req, len(f.entries)), newEntry(text))
	} else {
		out.next = slices.Clone(f.entries)
		out.next[i] = newEntry(text)
	}
	guarded := i >= 0 && verdicts.Cleans(req)
	more, err := s.judge(f, out.next, old, text, guarded)
	out.warnings = append(out.warnings, more...)
	return out, err
}

// placeOf is the place of a new entry: the end, or the earlier place of a restored one.
func placeOf(req model.RetainRequest, end int) int {
	if req.Restore && req.Beside != nil && len(req.Beside.Lines) > 0 {
		return min(max(req.Beside.Lines[0].At, 0), end)
	}
	return end
}

// beside is the position of an entry in its file: agents read entries in that order.
func (s *store) beside(ctx context.Context, id string) (model.Beside, error) {
	at, ok := parseID(id)
	if !ok || at.hash == "" {
		return model.Beside{}, nil
	}
	files, err := s.both(ctx, "beside")
	if err != nil {
		return model.Beside{}, err
	}
	if i := find(files[indexOf(at.file)].entries, at.hash); i >= 0 {
		return model.Beside{Lines: []model.BesideLine{{At: i}}}, nil
	}
	return model.Beside{}, absent(id)
}

// judge applies cap and scanner to the resulting file. A guarded edit may leave earlier faults, never add
// to them.
func (s *store) judge(f file, next []entry, old, text string, guarded bool) (warnings []string, err error) {
	size, limit := runes(next), int64(s.limit(f.name))
	spec := model.TierSpec{Cap: limit}
	switch over := size > limit; {
	case over && !(guarded && size <= f.size):
		return nil, model.Errorf(model.InvalidInput, "retain", "over the cap of %s: it would have %d of %d characters, separators included", f.name, size, limit)
	case over:
		warnings = append(warnings, fmt.Sprintf("%s is still over its cap: %d of %d characters", f.name, size, limit))
	case size >= spec.SoftCap():
		warnings = append(warnings, fmt.Sprintf("%s is at %d %% of its cap: %d of %d characters", f.name, size*100/limit, size, limit))
	}
	more, err := screen(old, text, guarded)
	return append(warnings, more...), err
}

// screen applies the agent's scanner to each entry of a text, and reports the further findings of memdesk's
// own rules. Guarded, an entry passes that adds nothing to one of old, which lets one entry pass.
func screen(old, text string, guarded bool) (warnings []string, err error) {
	var had []entry
	if guarded {
		had = parse(old)
	}
	next := parse(text) // as in had, no two are equal
	before, after := textsOf(had), textsOf(next)
	had = slices.DeleteFunc(had, func(e entry) bool { return after[e.text] })
	cleans := func(text string) bool {
		i := slices.IndexFunc(had, func(e entry) bool { return len(rules.Added(e.text, text)) == 0 })
		if i >= 0 {
			had = slices.Delete(had, i, i+1)
		}
		return i >= 0
	}
	for _, e := range next {
		v, hit := rules.Scan(e.text)
		switch {
		case hit && !before[e.text] && !cleans(e.text):
			return nil, model.Errorf(model.InvalidInput, "retain", "the scanner rejects the text: %s/%s; nothing was written", v.Category, v.Pattern)
		case hit:
			warnings = append(warnings, "agents still do not get this entry: the scanner rejects "+v.Category+"/"+v.Pattern+", which was there before")
		default:
			if own := rules.Beside(e.text); len(own) > 0 {
				warnings = append(warnings, "agents get this entry, and memdesk's own rules find "+own[0].Category+"/"+own[0].Pattern+" in it")
			}
		}
	}
	return warnings, nil
}

// retainFile replaces all entries of a file, judged on their final size. It also repairs a drifted file:
// its text returns to the agent's format, and the earlier bytes are kept in a backup beside it.
func (s *store) retainFile(ctx context.Context, name string, req model.RetainRequest) (model.RetainResult, error) {
	if req.Mode != model.Replace {
		return model.RetainResult{}, model.Errorf(model.Unsupported, "retain", "a whole file is replaced; to add an entry give --tier %s", tierOf(name))
	}
	next := parse(normalise(req.Content))
	for _, e := range next {
		if why := unfit(e.text); why != "" {
			return model.RetainResult{}, model.Errorf(model.InvalidInput, "retain", "%s", why)
		}
		if n := utf8.RuneCountInString(e.text); n > s.limit(name) {
			return model.RetainResult{}, model.Errorf(model.InvalidInput, "retain", "one entry alone has %d characters, over the cap of %d: shorten or divide it", n, s.limit(name))
		}
	}
	text := join(next)
	res := model.RetainResult{ID: name, Bytes: int64(len(text)), Revision: revisionOf(text)}
	var warnings []string
	err := s.change(ctx, "retain", name, func(f file) ([]entry, error) {
		warnings = nil
		if f.bad != nil {
			return nil, f.bad
		}
		if err := model.CheckMatch("retain", req.IfMatch, f.exists, revisionOf(f.raw)); err != nil {
			return nil, err
		}
		if f.exists && f.raw == text {
			return nil, nil
		}
		more, err := s.judge(f, next, f.raw, text, f.exists && (verdicts.Cleans(req) || f.drift != ""))
		if err != nil {
			return nil, err
		}
		if f.drift != "" {
			warnings = append(warnings, "the file as it was is kept beside it as "+name+".bak.…; an erasure must sweep that, too")
		}
		warnings = append(append(warnings, more...), nextSession)
		return next, nil
	}, func() error { return req.Foretell(text, res) })
	if err != nil {
		return model.RetainResult{}, err
	}
	res.Warnings = warnings
	return res, nil
}

// Forget removes one entry, or rejects a proposal by removing its file. A whole file cannot be forgotten,
// only its entries.
func (s *store) Forget(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	err := cmp.Or(model.FromContext(ctx, "forget"), req.CheckSelectors(), unscoped.Check("forget", req.WorkspaceID, req.CrewID, req.AgentID), s.reason.Check("forget"))
	if err != nil {
		return model.ForgetResult{}, err
	}
	if req.DataSubjectID != "" {
		return model.ForgetResult{}, model.NoCascade("; nothing was removed")
	}
	at, ok := parseID(req.ID)
	switch {
	case !ok:
		return model.ForgetResult{}, badID("forget", req.ID)
	case at.pending != "":
		return s.reject(ctx, at, req)
	case at.hash == "":
		return model.ForgetResult{}, model.Errorf(model.Unsupported, "forget", "%s is the whole file: forget its entries", at.file)
	}
	var out model.ForgetResult
	err = s.change(ctx, "forget", at.file, func(f file) ([]entry, error) {
		out = model.ForgetResult{}
		if f.bad != nil {
			return nil, f.bad
		}
		i := find(f.entries, at.hash)
		if i < 0 {
			return nil, nil
		}
		if err := model.CheckMatch("forget", req.IfMatch, true, revisionOf(f.entries[i].text)); err != nil {
			return nil, err
		}
		if err := f.checkChangeable("forget", s.cfg.Name); err != nil {
			return nil, err
		}
		out.Removed = 1
		return without(f.entries, i), nil
	}, nil)
	if err != nil {
		return model.ForgetResult{}, err
	}
	return out, nil
}
