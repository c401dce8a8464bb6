package main

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"memdesk/model"
)

// shelf keeps notes in memory, one per key. Its lock makes it safe for concurrent use.
type shelf struct {
	mu    sync.Mutex
	limit int
	notes map[string]string
}

// newShelf is a store whose notes have at most limit bytes.
func newShelf(label string, limit int) model.Store {
	return model.Store{Location: label, Provider: &shelf{limit: limit, notes: map[string]string{}}, Tiers: []model.TierSpec{
		{Name: "notes", KeyRule: model.KeyRequired, KeyHint: "a word", Cap: int64(limit), CapUnit: model.CapBytes, Writable: true, Document: model.Opaque}},
		Deviations: []model.Deviation{{Rule: "R33", Reason: "a note does not say whom it is about"}}}
}

func revision(body string) model.Revision { return model.RevisionOf(model.Document{Body: body}) }

func (s *shelf) Retain(ctx context.Context, r model.RetainRequest) (res model.RetainResult, err error) {
	key := r.Key
	if r.ID != "" {
		key = r.ID
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, exists := s.notes[key]
	if err := first(model.FromContext(ctx, "retain"), r.Mode.Check(), model.CheckMatch("retain", r.IfMatch, exists, revision(old))); err != nil {
		return res, err
	}
	body := r.Content
	if r.Mode == model.Append {
		body = old + body
	}
	switch bad := model.InvalidInput; {
	case r.Tier != "notes" && (r.Tier != "" || r.ID == "") || r.Key != "" && r.Key != key:
		return res, model.Errorf(bad, "retain", "the tier is notes, and a key agrees with the id")
	case key == "" || !utf8.ValidString(key) || strings.ContainsAny(key, "/\\\x00") || strings.Contains(key, ".."):
		return res, model.Errorf(bad, "retain", "the key is a word without a slash")
	case r.Content == "" || !utf8.ValidString(r.Content) || len(r.Meta) > 0 || len(body) > s.limit:
		return res, model.Errorf(bad, "retain", "a note is UTF-8 text of 1 to %d bytes, without metadata", s.limit)
	case r.DataSubjectID != "":
		return res, model.Errorf(model.Unsupported, "retain", "a note does not say whom it is about")
	}
	s.notes[key] = body
	res = model.RetainResult{ID: key, Bytes: int64(len(body)), Revision: revision(body)}
	if len(body)*5 >= s.limit*4 {
		res.Warnings = []string{"the note fills 80 % of its cap or more"}
	}
	return res, nil
}

func (s *shelf) Recall(ctx context.Context, r model.RecallRequest) (model.RecallResult, error) {
	res := model.RecallResult{Hits: []model.RecallSnippet{}}
	words := strings.ToLower(strings.TrimSpace(r.Query))
	if err := model.FromContext(ctx, "recall"); err != nil {
		return res, err
	}
	if words == "" || r.Tier != "" && r.Tier != "notes" {
		return res, model.Errorf(model.InvalidInput, "recall", "a query has a word, and the tier is notes")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, body := range s.notes {
		for n, line := range strings.Split(body, "\n") {
			if !strings.Contains(strings.ToLower(line), words) {
				continue
			}
			if res.Total++; len(res.Hits) < model.ClampLimit(r.Limit) {
				runes := []rune(line)
				res.Hits = append(res.Hits, model.RecallSnippet{ID: key, Source: key, Snippet: string(runes[:min(len(runes), model.SnippetRunes)]), Line: n + 1, Score: 1})
			}
			break
		}
	}
	return res, nil
}

func (s *shelf) Forget(ctx context.Context, r model.ForgetRequest) (model.ForgetResult, error) {
	if err := first(model.FromContext(ctx, "forget"), r.CheckSelectors()); err != nil {
		return model.ForgetResult{}, err
	}
	if r.DataSubjectID != "" {
		return model.ForgetResult{}, model.NoCascade("")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old, exists := s.notes[r.ID]
	if !exists {
		return model.ForgetResult{}, nil
	}
	if err := model.CheckMatch("forget", r.IfMatch, exists, revision(old)); err != nil {
		return model.ForgetResult{}, err
	}
	delete(s.notes, r.ID)
	return model.ForgetResult{Removed: 1}, nil
}

func (s *shelf) Health(context.Context) model.HealthStatus { return model.NewHealth(time.Now()) }

// first is the first error that is not nil.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
