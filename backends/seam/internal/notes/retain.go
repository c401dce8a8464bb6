package notes

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"memdesk/backends/internal/verdicts"
	"memdesk/backends/internal/window"
	"memdesk/backends/seam"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/model"
	"memdesk/quarantine"
)

// nameLimit is the longest file name that leaves room for the writers' temporary
// names and for a conflict copy's, in bytes.
const nameLimit = 255 - len(" (conflict 2006-01-02-15-04-05) (99)")

// target is the destination of a Retain.
type target struct {
	at   seam.Locator
	tier string // by its address; its content may say otherwise
}

// Retain writes one file. The bytes are the document, unchanged: a new item belongs to its tier by its
// folder, or by its own front matter.
func (s *store) Retain(ctx context.Context, req model.RetainRequest) (model.RetainResult, error) {
	if err := checkRetain(req); err != nil {
		return model.RetainResult{}, err
	}
	if err := s.checkMeta(ctx, req); err != nil {
		return model.RetainResult{}, err
	}
	to, err := s.target(req)
	if err != nil {
		return model.RetainResult{}, err
	}
	if err := s.reason.Check("retain"); err != nil {
		return model.RetainResult{}, err
	}
	if err := s.check("retain", to.at.Key()); err != nil {
		return model.RetainResult{}, err
	}
	if req.ID != "" && req.Tier != "" {
		if err := s.agrees(to, req); err != nil {
			return model.RetainResult{}, err
		}
	}
	defer s.changed()
	var out outcome
	var before *string // nil: the item is new
	done, err := s.cfg.Tree.Change(ctx, "retain", to.at, func(old []byte, exists bool) (seam.Edit, error) {
		ask, err := req, error(nil)
		before = nil
		if !exists {
			ask, err = s.fresh(to, req)
		} else if before = new(string(old)); to.tier != "" { // its address says nothing of what stands there
			err = inTier(to.at.Key(), s.tierOfNew(to.at.Key(), *before), to.tier)
		}
		if err == nil {
			out, err = evaluate(to, ask, old, exists)
		}
		return seam.Edit{Data: out.data, Kept: req.Beside}, err
	})
	warnings := append(out.warnings, s.noteDisplaced(to.at.Key(), done, s.clock.Now().UTC())...)
	if err != nil {
		return model.RetainResult{}, err
	}
	if l := s.cfg.Layout; l != nil {
		warnings = append(warnings, l.Wrote(ctx, to.at.Key(), before, string(out.data), req)...)
	}
	return model.RetainResult{
		ID: to.at.Key(), Bytes: int64(len(out.data)), Revision: seam.RevisionOf(string(out.data)), Warnings: warnings,
	}, nil
}

func checkRetain(req model.RetainRequest) error {
	if err := req.Mode.Check(); err != nil {
		return err
	}
	switch {
	case req.Content == "" && !req.Binary && (req.ID == "" || req.Mode == model.Append):
		return model.Errorf(model.InvalidInput, "retain", "the content is empty; forget the item instead, or name it by its id to empty it")
	case !req.Binary && !utf8.ValidString(req.Content):
		return model.Errorf(model.InvalidInput, "retain", "the content is not UTF-8 text")
	case req.DataSubjectID != "":
		return model.Errorf(model.Unsupported, "retain", "this store keeps no data-subject keys")
	}
	return nil
}

// checkMeta refuses fields: front matter is part of the content, and the fields beside an item belong to
// its program.
func (s *store) checkMeta(ctx context.Context, req model.RetainRequest) error {
	own := s.cfg.Layout != nil && s.cfg.Layout.Meta != nil
	if len(req.Meta) == 0 || own && req.Restore {
		return nil
	}
	if own {
		if slices.Equal(s.metaOf(ctx, req.ID), req.Meta) {
			return nil
		}
		return model.Errorf(model.InvalidInput, "retain", "the fields of %q are read-only: leave them as they are", req.ID)
	}
	return model.Errorf(model.InvalidInput, "retain", "this store keeps no metadata fields: front matter is part of the content")
}

// target applies the rules of ids, tiers and keys.
func (s *store) target(req model.RetainRequest) (target, error) {
	if req.ID != "" {
		at, err := s.locate("retain", req.ID)
		return target{at: at}, err
	}
	spec, err := window.Known("retain", s.tiers, req.Tier)
	if err != nil {
		return target{}, err
	}
	if err := checkKey(spec, req.Key); err != nil {
		return target{}, err
	}
	id, err := s.addressOf(req.Tier, req.Key)
	if err != nil {
		return target{}, err
	}
	at, err := s.locate("retain", id)
	return target{at: at, tier: req.Tier}, err
}

// checkKey applies R9 and R11: one path segment, and no name of machinery.
func checkKey(spec model.TierSpec, key string) error {
	switch {
	case spec.KeyRule == model.KeyIgnored:
		return nil
	case key == "":
		return model.Errorf(model.InvalidInput, "retain", "tier %s needs a key, %s", spec.Name, spec.KeyHint)
	case strings.ContainsAny(key, "/\\\x00") || strings.Contains(key, "..") || key == ".":
		return model.Errorf(model.InvalidInput, "retain", "key %q is not one path segment", key)
	case !model.PlainID(key):
		return model.Errorf(model.InvalidInput, "retain", "key %q holds control, format or invalid characters", key)
	}
	return nil
}

// agrees compares an id with the tier and key of the request.
func (s *store) agrees(to target, req model.RetainRequest) error {
	id := to.at.Key()
	if err := inTier(id, s.tierAt(id, req.Content), req.Tier); err != nil {
		return err
	}
	if req.Key != "" && !agreesKey(id, req.Key) {
		return model.Errorf(model.InvalidInput, "retain", "key %q is not that of %q", req.Key, id)
	}
	return nil
}

func inTier(id, got, want string) error {
	if got != want {
		return model.Errorf(model.InvalidInput, "retain", "%q is of tier %s, not %s", id, got, want)
	}
	return nil
}

func agreesKey(id, key string) bool {
	base := baseName(id)
	return base == key || base == key+".md"
}

// tierAt is the tier of the item at an id, or of a new one with the text.
func (s *store) tierAt(id, text string) string {
	if root, err := s.open("look"); err == nil && root != nil {
		defer root.Close()
		if data, _, err := root.Head(id, headBytes); err == nil {
			text = string(data)
		}
	}
	return s.tierOfNew(id, text)
}

func (s *store) tierOfNew(id, text string) string {
	var h head
	if isNote(id) {
		h = parseHead(text)
	}
	return s.entryTier(id, h.kind)
}

// outcome is the resulting file of a request.
type outcome struct {
	data     []byte
	warnings []string
}

// evaluate judges one request: revision, name, scanner, and the rule that cleaning is always possible.
func evaluate(to target, req model.RetainRequest, old []byte, exists bool) (outcome, error) {
	id := to.at.Key()
	if err := model.CheckMatch("retain", req.IfMatch, exists, seam.RevisionOf(string(old))); err != nil {
		return outcome{}, err
	}
	if !exists && !req.Restore { // what stood there before may have any name
		if strings.Contains(id, `\`) {
			return outcome{}, model.Errorf(model.InvalidInput, "retain", "%q: a new item's name must not hold a backslash (S5)", id)
		}
		if !model.PlainID(id) {
			return outcome{}, model.Errorf(model.InvalidInput, "retain", "%q: a new item's name must not hold control, format or invalid characters (R34)", id)
		}
		if len(to.at.Name()) > nameLimit {
			return outcome{}, model.Errorf(model.InvalidInput, "retain", "the name is too long: at most %d bytes fit", nameLimit)
		}
	}
	if len(old) > texts.WholeLimit {
		return outcome{}, model.Errorf(model.Unsupported, "retain", "%q: %w of %d bytes", id, rootdir.ErrTooLarge, texts.WholeLimit)
	}
	out := outcome{data: []byte(req.Content)}
	if req.Mode == model.Append {
		if exists && !req.Binary && !utf8.Valid(old) {
			return outcome{}, model.Errorf(model.InvalidInput, "retain", "%q is not UTF-8, so nothing can be appended; replace it as a whole", id)
		}
		out.data = append(old[:len(old):len(old)], req.Content...)
	}
	verdict, hit := scan(readable(out.data))
	if !hit {
		return out, nil
	}
	guarded := exists && verdicts.Cleans(req)
	if guarded && len(quarantine.Added(readable(old), readable(out.data))) == 0 {
		out.warnings = append(out.warnings, "recall still leaves this item out: the scanner rejects "+verdict.Category+"/"+verdict.Pattern+", which was there before")
		return out, nil
	}
	return outcome{}, model.Errorf(model.InvalidInput, "retain", "the scanner rejects the resulting text: %s/%s; nothing was written", verdict.Category, verdict.Pattern)
}

// readable is the text that the scanner judges: of bytes that are no UTF-8 those letters and marks that people read. Other
// programs show such a file to agents as a text, and the bytes of a picture are an invisible character by chance.
func readable(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r >= utf8.RuneSelf && !(unicode.IsLetter(r) && r < 0x0530) { // of Latin, Greek and Cyrillic
			return -1
		}
		return r
	}, string(data))
}

// address is the id that a request would write, by the rules alone.
func (s *store) address(req model.RetainRequest) (string, error) {
	to, err := s.target(req)
	if err == nil && req.ID != "" && req.Tier != "" {
		err = inTier(req.ID, s.tierOfNew(req.ID, req.Content), req.Tier)
	}
	return to.at.Key(), err
}
