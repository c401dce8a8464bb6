package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"memdesk/backends/internal/declared"
	"memdesk/backends/internal/fields"
	"memdesk/backends/internal/snippet"
	"memdesk/model"
	"memdesk/quarantine"
)

// Tier is the only tier of a gateway: the memory of one user's agent.
const Tier = "AGENT"

// contentCap is the most that one Retain sends, in bytes: the limit of a message, not of the gateway's
// content, so it is no cap of the tier.
const contentCap = 64 << 10

// store is the backend behind every facet of one gateway.
type store struct {
	cfg Config
	*wire
	*journal
	last atomic.Int64 // the newest timestamp that was sent
}

// Open checks the configuration and opens a gateway; nothing is sent. Its errors name the wrong key and never
// contain the user key (R42, G5).
func Open(ctx context.Context, cfg Config) (model.Store, error) {
	s, err := open(ctx, cfg)
	if err != nil {
		return model.Store{}, err
	}
	return s.value(), nil
}

func open(ctx context.Context, cfg Config) (*store, error) {
	if err := model.FromContext(ctx, "open"); err != nil {
		return nil, err
	}
	bad := cfg.Check()
	if bad == nil {
		bad = checkKey(cfg.UserKey)
	}
	if bad != nil {
		return nil, model.Errorf(model.InvalidInput, "open", "%w", bad)
	}
	cfg = cfg.filled()
	return &store{cfg: cfg, wire: newWire(cfg), journal: &journal{clock: cfg.Clock, path: cfg.Journal}}, nil
}

func (s *store) value() model.Store {
	out := model.Store{
		Name: s.cfg.Name, Kind: Kind, Location: s.cfg.Location, ReadOnly: s.cfg.ReadOnly,
		Tiers: []model.TierSpec{{
			Name: Tier, Title: "what the gateway remembers of this user", KeyRule: model.KeyIgnored, Writable: true, Document: model.Opaque,
		}},
		Deviations: deviations(),
		Timeout:    2 * s.cfg.Timeout, // a write is two requests
		Notes: []string{
			"append only: the gateway can neither list, read, replace nor remove; an erasure has to be asked of whoever runs it",
			"healthy means that a connection can be opened: the gateway documents no health call, so neither the key nor the search is tried",
		},
		Provider: s, Events: s.journal, Closer: func() error { s.close(); return nil },
	}
	if s.cfg.ReadOnly {
		out.ReadOnlyReason = "its configuration says read_only"
	}
	return out
}

// deviations are the rules that search, add and flush cannot keep.
func deviations() []model.Deviation {
	return slices.Concat(
		declared.Deviate("append only: the gateway has no replace and keeps no revisions", "R2", "R5", "R10", "R44", "D3", "D4", "D7"),
		declared.Deviate("what was added cannot be read back, so its whole size is not known", "R6", "R16"),
		declared.Deviate("the gateway returns no id for what it adds", "R14", "R20", "R27", "R29", "D1", "D11"),
		declared.Deviate("the gateway has no delete", "R30", "R31", "R33", "R34", "D5"),
	)
}

const unscoped declared.Unscoped = "a gateway has no workspaces, crews and agents: it is bound to its user_id"

// Recall searches exactly once (G6). Texts that the scanner rejects are named, not shown (R25).
func (s *store) Recall(ctx context.Context, req model.RecallRequest) (model.RecallResult, error) {
	if strings.TrimSpace(req.Query) == "" {
		return model.RecallResult{}, model.Errorf(model.InvalidInput, "recall", "the query is blank")
	}
	if req.Tier != "" && req.Tier != Tier {
		return model.RecallResult{}, unknownTier("recall", req.Tier)
	}
	if err := cmp.Or(unscoped.Check("recall", req.WorkspaceID, req.CrewID, req.AgentID), model.FromContext(ctx, "recall")); err != nil {
		return model.RecallResult{}, err
	}
	found, bad := s.search(ctx, cmp.Or(s.cfg.ConversationID, s.cfg.Session), strings.ToValidUTF8(req.Query, "\uFFFD"))
	if bad != nil {
		err := model.Errorf(bad.kind(), "recall", "%w", bad)
		return model.RecallResult{}, errors.Join(err, s.failed(EventRecallFailed, "search", bad))
	}
	if err := s.recalled(s.cfg.Scope, len(found)); err != nil {
		return model.RecallResult{}, err
	}
	return s.hits(found, model.ClampLimit(req.Limit)), nil
}

func (s *store) hits(found []Result, limit int) model.RecallResult {
	out := model.RecallResult{Hits: []model.RecallSnippet{}, Total: model.TotalUnknown}
	for i, r := range found {
		label := labelOf(r, i)
		if _, rejected := quarantine.Scan(r.Text); rejected {
			out.Quarantined = append(out.Quarantined, label)
			continue
		}
		if len(out.Hits) == limit {
			continue
		}
		out.Hits = append(out.Hits, model.RecallSnippet{ID: handle(r.ID), Source: label, Snippet: snippet.First(r.Text, model.SnippetRunes), Score: r.Score, Meta: metaOf(r)})
	}
	if len(found) == s.cfg.TopK {
		out.Bounded = true
		out.BoundNote = fmt.Sprintf("the gateway was asked for its best %d (top_k); there may be more", s.cfg.TopK)
	}
	return out
}

// metaOf is the gateway's metadata of a result (G8). A path in a file system is left out (R15).
func metaOf(r Result) []model.Field {
	return fields.ReadOnly("session_id", handle(r.SessionID), "source_scope", handle(r.SourceScope), "resource_uri", handle(r.ResourceURI))
}

// labelOf names the source of a result, never by a path of some machine (R15).
func labelOf(r Result, n int) string {
	for _, s := range []string{r.ResourceURI, r.ID, r.SessionID, r.SourceScope} {
		if handle(s) != "" {
			return s
		}
	}
	return fmt.Sprintf("result %d", n+1)
}

// handle is the gateway's own id, unless it looks like a path in a file system.
func handle(id string) string {
	low := strings.ToLower(id)
	drive := len(id) > 2 && id[1] == ':' && (id[2] == '\\' || id[2] == '/')
	if drive || strings.HasPrefix(id, "/") || strings.HasPrefix(id, `\`) || strings.HasPrefix(id, "~") || strings.HasPrefix(low, "file:") {
		return ""
	}
	return id
}

func unknownTier(op, tier string) error {
	return model.Errorf(model.InvalidInput, op, "unknown tier %q; a gateway has %s only", tier, Tier)
}

// Retain adds the content as the user's only message and flushes it, each exactly once (G13, G14). A failed
// add is not repeated: after a timeout it may have been stored. A failed flush is a model.Partial. The flush
// continues even if the context ends after the add: half a turn would remain.
func (s *store) Retain(ctx context.Context, req model.RetainRequest) (model.RetainResult, error) {
	if err := cmp.Or(model.FromContext(ctx, "retain"), s.checkRetain(req)); err != nil {
		return model.RetainResult{}, err
	}
	err := s.persist(ctx, s.cfg.Session, []message{{s.cfg.SenderID, "user", req.Content, s.stamp(s.cfg.Clock.Now())}})
	res := model.RetainResult{Bytes: int64(len(req.Content)), Warnings: []string{
		"the gateway decides by itself what it extracts and keeps; it cannot be read back or removed from here"}}
	if err == nil {
		return res, nil
	}
	return model.RetainResult{}, err.orPartial(res)
}

// stamp returns strictly rising positive milliseconds (G12).
func (s *store) stamp(at time.Time) int64 {
	for {
		last := s.last.Load()
		next := max(at.UnixMilli(), last+1, 1)
		if s.last.CompareAndSwap(last, next) {
			return next
		}
	}
}

// persistError is the outcome of an add and its flush.
type persistError struct {
	add, flush *failure
	event      error // of a sink
}

// orPartial is the Provider's error: partial once the add has succeeded.
func (e *persistError) orPartial(done model.RetainResult) error {
	if e.add != nil {
		note := "nothing was flushed, and it is not sent again"
		if !certain(e.add) {
			note = "it may have been stored; it is not sent again: search before you repeat it"
		}
		var cause error = fmt.Errorf("add: %w; %s", e.add, note)
		if certain(e.add) {
			cause = &model.Untouched{Err: cause}
		}
		return errors.Join(&model.Error{Op: "retain", Kind: e.add.kind(), Err: cause}, e.event)
	}
	cause := e.event
	kind := model.Internal
	if e.flush != nil {
		kind = model.Unavailable
		cause = errors.Join(fmt.Errorf("the text was added, but the flush after it failed: %w; it may not be searchable yet, and neither is sent again: do not repeat it", e.flush), e.event)
	}
	return &model.Error{Op: "retain", Kind: kind, Err: &model.Partial{Retained: done, Err: cause}}
}

// certain reports whether a failed add certainly stored nothing: it was not sent, or was refused by a status
// in the 400s, or belongs elsewhere. A server that has carried a call out may answer 302 or 303.
func certain(f *failure) bool {
	return f.Unsent || f.Status >= 300 && f.Status < 500 && f.Status != 302 && f.Status != 303 && f.Status != 408
}

// persist adds and flushes, each once, with their events.
func (s *store) persist(ctx context.Context, session string, turn []message) *persistError {
	if bad := s.add(ctx, session, turn); bad != nil {
		return &persistError{add: bad, event: s.failed(EventAddFailed, "add", bad)}
	}
	event := s.added(session, len(turn))
	// The flush has its own limit, Timeout.
	bad := s.flush(context.WithoutCancel(ctx), session)
	if bad != nil {
		return &persistError{flush: bad, event: errors.Join(event, s.failed(EventFlushFailed, "flush", bad))}
	}
	if event = errors.Join(event, s.flushed(session)); event != nil {
		return &persistError{event: event}
	}
	return nil
}

func (s *store) checkRetain(req model.RetainRequest) error {
	if err := req.Mode.Check(); err != nil {
		return err
	}
	const op = "retain"
	if req.ID == "" && req.Tier != Tier || req.ID != "" && req.Tier != "" && req.Tier != Tier {
		return unknownTier(op, req.Tier)
	}
	if err := unscoped.Check(op, req.WorkspaceID, req.CrewID, req.AgentID); err != nil {
		return err
	}
	switch {
	case req.Content == "":
		return model.Errorf(model.InvalidInput, op, "the content is empty")
	case !utf8.ValidString(req.Content) && req.Binary:
		return model.Errorf(model.Unsupported, op, "a gateway takes text only")
	case !utf8.ValidString(req.Content):
		return model.Errorf(model.InvalidInput, op, "the content is not UTF-8 text")
	case len(req.Content) > contentCap:
		return model.Errorf(model.InvalidInput, op, "over the cap: %d bytes, one message takes %d", len(req.Content), contentCap)
	}
	if v, rejected := quarantine.Scan(req.Content); rejected {
		return model.Errorf(model.InvalidInput, op, "the scanner rejects the text: %s/%s; nothing was sent", v.Category, v.Pattern)
	}
	if s.cfg.ReadOnly {
		return model.Refuse(op, "the store is read-only: its configuration says read_only")
	}
	switch {
	case req.Mode == model.Replace:
		return model.Errorf(model.Unsupported, op, "a gateway only adds: use append")
	case req.ID != "":
		return model.Errorf(model.Unsupported, op, "a gateway gives no ids to write to: give --tier %s instead of a reference", Tier)
	case req.IfMatch != "":
		return model.Errorf(model.Unsupported, op, "a gateway keeps no revisions to expect")
	case req.DataSubjectID != "":
		return model.Errorf(model.Unsupported, op, "this store keeps no data-subject keys")
	case len(req.Meta) > 0:
		return model.Errorf(model.Unsupported, op, "a gateway keeps no metadata of a message")
	}
	return nil
}

// Forget is Unsupported: success without an effect would be a lie.
func (s *store) Forget(ctx context.Context, req model.ForgetRequest) (model.ForgetResult, error) {
	if err := cmp.Or(model.FromContext(ctx, "forget"), req.CheckSelectors()); err != nil {
		return model.ForgetResult{}, err
	}
	if s.cfg.ReadOnly {
		return model.ForgetResult{}, model.Refuse("forget", "the store is read-only: its configuration says read_only")
	}
	if req.DataSubjectID != "" {
		return model.ForgetResult{}, model.NoCascade(" of whoever runs the gateway: it has no delete, and nothing was removed")
	}
	return model.ForgetResult{}, model.Errorf(model.Unsupported, "forget",
		"a gateway has no delete: nothing was removed; ask whoever runs it")
}

// Health opens a connection and closes it again: the gateway documents no health call, and a search has a
// cost and leaves traces (R39).
func (s *store) Health(ctx context.Context) model.HealthStatus {
	ctx, cancel := context.WithTimeout(ctx, healthDeadline)
	defer cancel()
	err := s.probe(ctx)
	var found []model.HealthFinding
	switch {
	case err == nil:
	case ctx.Err() != nil:
		found = append(found, model.HealthFinding{Kind: model.FindingTimeout, Message: "health check timeout", State: model.HealthUnknown})
	default:
		found = append(found, model.HealthFinding{Kind: model.FindingUnreachable, Message: "no connection to the gateway: " + network(err), State: model.HealthDown})
	}
	return model.NewHealth(s.cfg.Clock.Now(), found...)
}
