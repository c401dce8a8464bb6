package curated

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"memdesk/backends/internal/title"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
)

// pendingDir holds the proposals, below the agent's home.
const pendingDir = "pending/memory"

// The state of a proposal is its one writable field: setting it approves.
const (
	stateField    = "state"
	statePending  = "pending"
	stateApproved = "approved"
)

// proposal is one change that waits for approval.
type proposal struct {
	name     string // of its file, without .json
	raw      string
	stamp    string // of its file
	modified time.Time
	bad      string // why it is invalid; empty when it is not

	Subsystem, Action, Summary, Origin string
	CreatedAt                          float64 `json:"created_at"`
	Payload                            payload
}

type payload struct {
	Action, Target, Content string
	OldText                 string `json:"old_text"`
}

func (p proposal) id() string { return TierPending + "/" + p.name }

// body is the text that the proposal would write or remove; of an invalid one the raw bytes.
func (p proposal) body() string {
	switch {
	case p.bad != "":
		return p.raw
	case p.Payload.Action == "remove":
		return p.Payload.OldText
	}
	return p.Payload.Content
}

func (p proposal) fields() []model.Field {
	if p.bad != "" {
		return []model.Field{{Name: "problem", Value: p.bad, ReadOnly: true}}
	}
	out := []model.Field{{Name: stateField, Value: statePending}}
	for _, f := range [][2]string{
		{"action", p.Payload.Action}, {"target", p.Payload.Target}, {"old_text", p.Payload.OldText}, {"summary", p.Summary},
		{"origin", p.Origin}, {"created_at", date(p.CreatedAt)},
	} {
		out = append(out, model.Field{Name: f[0], Value: f[1], ReadOnly: true})
	}
	return out
}

// date writes seconds since 1970 as a date, or as they are when they are none.
func date(seconds float64) string {
	if at := when(seconds); !at.IsZero() {
		return at.Format(time.RFC3339)
	}
	return strconv.FormatFloat(seconds, 'f', -1, 64)
}

func when(seconds float64) time.Time {
	if seconds <= 0 || seconds > 1e11 || math.IsNaN(seconds) {
		return time.Time{}
	}
	return time.UnixMilli(int64(seconds * 1000)).UTC()
}

func (p proposal) item() model.Item {
	doc := model.Document{Meta: p.fields(), Body: p.body()}
	it := model.Item{Meta: doc.Meta, Body: doc.Body}
	it.ID, it.Tier, it.Bytes, it.Stamp = p.id(), TierPending, int64(len(doc.Body)), p.stamp
	it.Title, it.Modified, it.Revision = p.title(), p.modified, model.RevisionOf(doc)
	if at := when(p.CreatedAt); p.bad == "" && !at.IsZero() {
		it.Modified = at
	}
	it.Flags = []model.Flag{model.FlagPending}
	if p.bad != "" {
		it.Flags = append(it.Flags, model.FlagUnreadable)
	}
	if !utf8.ValidString(p.raw) {
		it.Flags = append(it.Flags, model.FlagBinary)
	}
	if _, hit := rules.Scan(it.Body); hit {
		it.Flags = append(it.Flags, model.FlagBlocked)
	}
	return it
}

func (p proposal) title() string {
	if p.bad != "" {
		return "cannot be understood: " + p.bad
	}
	return title.Line(p.Summary)
}

func parseProposal(name string, data []byte) proposal {
	p := proposal{name: name, raw: string(data)}
	if !utf8.Valid(data) {
		p.bad = "it is not UTF-8 text"
		return p
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&p); err != nil {
		p.bad = "it is no JSON of a proposal"
		return p
	}
	switch _, ok := p.file(); {
	case p.Subsystem != "" && p.Subsystem != "memory":
		p.bad = "it is not about the memory"
	case p.Payload.Action != "add" && p.Payload.Action != "replace" && p.Payload.Action != "remove":
		p.bad = "its action is not add, replace or remove: decide on it in the agent itself"
	case !ok:
		p.bad = "its target is not memory or user"
	}
	return p
}

func (p proposal) file() (string, bool) { return fileOf(strings.ToUpper(p.Payload.Target)) }

// pendingRoot opens the directory of the proposals; nil when there is none.
func (s *store) pendingRoot() (*rootdir.Dir, error) {
	if s.home == "" {
		return nil, nil
	}
	home, err := rootdir.Open(s.home, s.cfg.Fault)
	if err != nil {
		return nil, err
	}
	defer home.Close()
	d, err := home.Sub(pendingDir)
	if errors.Is(err, model.NotFound) {
		return nil, nil
	}
	return d, err
}

// proposals reads the review list; problems name the unreadable ones.
func (s *store) proposals(ctx context.Context) (out []proposal, problems []string, err error) {
	d, err := s.pendingRoot()
	if err != nil {
		return nil, []string{"the pending proposals: " + err.Error()}, nil
	}
	if d == nil {
		return nil, nil, nil
	}
	defer d.Close()
	unread, err := walk.Names(ctx, "list", d, proposalFiles, func(path string) bool {
		name, _ := proposalName(path)
		p, err := readProposal(d, name)
		switch {
		case errors.Is(err, model.NotFound): // approved or rejected meanwhile
		case err != nil:
			problems = append(problems, TierPending+"/"+name+": "+err.Error())
		default:
			out = append(out, p)
		}
		return ctx.Err() == nil
	})
	if err == nil {
		err = model.FromContext(ctx, "list")
	}
	for _, why := range unread {
		problems = append(problems, "the pending proposals: "+strings.TrimPrefix(why, ".: "))
	}
	return out, problems, err
}

// proposalFiles are the rules of a walk over the proposals.
var proposalFiles = walk.Rules{Enter: nowhere, Take: func(_ string, name []byte) bool {
	_, ok := proposalName(string(name))
	return ok
}}

func nowhere(string) bool { return false }

// proposalName is the name of a file's proposal.
func proposalName(file string) (name string, ok bool) {
	name, ok = strings.CutSuffix(file, ".json")
	return name, ok && name != ""
}

func readProposal(d *rootdir.Dir, name string) (proposal, error) {
	data, m, err := d.Read(name+".json", fileLimit)
	if err != nil {
		return proposal{}, err
	}
	p := parseProposal(name, data)
	p.stamp, p.modified = m.Stamp(), m.Modified
	return p, nil
}

// proposal reads one; NotFound when there is none.
func (s *store) proposal(name string) (*rootdir.Dir, proposal, error) {
	d, err := s.pendingRoot()
	if err != nil {
		return nil, proposal{}, err
	}
	if d == nil {
		return nil, proposal{}, model.Errorf(model.NotFound, "read", "there is no proposal %q", name)
	}
	p, err := readProposal(d, name)
	if err != nil {
		_ = d.Close()
		return nil, proposal{}, err
	}
	return d, p, nil
}

// takeProposal removes a proposal's file, unless the agent has amended it since it was read.
func (s *store) takeProposal(d *rootdir.Dir, p proposal) error {
	name := p.name + ".json"
	if _, err := d.Stat(name); err != nil {
		return err
	}
	_, err := d.Take(name, rootdir.Seen{Exists: true, Data: []byte(p.raw)}, s.clock.Now(), nil)
	return err
}

// reject removes a proposal's file.
func (s *store) reject(ctx context.Context, at idParts, req model.ForgetRequest) (model.ForgetResult, error) {
	d, p, err := s.proposal(at.pending)
	if errors.Is(err, model.NotFound) {
		return model.ForgetResult{}, nil
	}
	if err != nil {
		return model.ForgetResult{}, err
	}
	defer d.Close()
	if err := model.CheckMatch("forget", req.IfMatch, true, p.item().Revision); err != nil {
		return model.ForgetResult{}, err
	}
	if err := model.FromContext(ctx, "forget"); err != nil {
		return model.ForgetResult{}, err
	}
	switch err := s.takeProposal(d, p); {
	case errors.Is(err, model.NotFound):
		return model.ForgetResult{}, nil
	case err != nil:
		return model.ForgetResult{}, err
	}
	return model.ForgetResult{Removed: 1}, nil
}

// approve replays a proposal when its state is set to approved, and removes its file afterwards. After a
// crash in between it can be approved again, which finds the entry and only removes the file. The result's
// ID is the entry's; for a removal the proposal's own.
func (s *store) approve(ctx context.Context, at idParts, req model.RetainRequest) (model.RetainResult, error) {
	const op = "retain"
	if req.Mode != model.Replace {
		return model.RetainResult{}, model.Errorf(model.Unsupported, op, "nothing is appended to a proposal: replace its %s by %s, or forget it", stateField, stateApproved)
	}
	d, p, err := s.proposal(at.pending)
	if errors.Is(err, model.NotFound) {
		return model.RetainResult{}, model.Errorf(model.InvalidInput, op, "there is no proposal %q; only the agent itself files them", at.pending)
	}
	if err != nil {
		return model.RetainResult{}, err
	}
	defer d.Close()
	it := p.item()
	if err := model.CheckMatch(op, req.IfMatch, true, it.Revision); err != nil {
		return model.RetainResult{}, err
	}
	meta, err := model.MergeMeta(op, it.Meta, req.Meta)
	switch {
	case err != nil:
		return model.RetainResult{}, err
	case p.bad != "":
		return model.RetainResult{}, model.Errorf(model.Unsupported, op, "the proposal cannot be replayed: %s; forget it to reject it", p.bad)
	case len(meta) != len(it.Meta) || meta[0].Value != stateApproved || req.Content != it.Body:
		return model.RetainResult{}, model.Errorf(model.InvalidInput, op, "a proposal is approved as it is, by `%s: %s`; forget it to reject it", stateField, stateApproved)
	}
	res, err := s.replay(ctx, p)
	if err != nil {
		return model.RetainResult{}, err
	}
	switch err := s.takeProposal(d, p); {
	case errors.Is(err, rootdir.ErrChanged):
		res.Warnings = append(res.Warnings, "the agent has filed another proposal under this id meanwhile: it waits for approval")
	case err != nil && !errors.Is(err, model.NotFound):
		res.Warnings = append(res.Warnings, "the proposal was applied, but its file could not be removed: "+err.Error()+"; approve it again to remove it")
	}
	return res, nil
}

// replay makes the change of a proposal by the rules of every change.
func (s *store) replay(ctx context.Context, p proposal) (model.RetainResult, error) {
	name, _ := p.file()
	if p.Payload.Action == "add" {
		res, err := s.retainEntry(ctx, idParts{file: name, hash: hashOf(trim(p.Payload.Content))},
			model.RetainRequest{Tier: tierOf(name), Mode: model.Append, Content: p.Payload.Content})
		if errors.Is(err, model.AlreadyExists) {
			text := trim(p.Payload.Content)
			return model.RetainResult{ID: name + "/" + hashOf(text), Bytes: int64(len(text)), Revision: revisionOf(text),
				Warnings: []string{"the entry stood there already; the proposal is removed"}}, nil
		}
		return res, err
	}
	files, err := s.both(ctx, "retain")
	if err != nil {
		return model.RetainResult{}, err
	}
	e, err := files[indexOf(name)].matching(p.Payload.OldText)
	if err != nil {
		return model.RetainResult{}, err
	}
	id := name + "/" + e.hash
	if p.Payload.Action == "remove" {
		_, err := s.Forget(ctx, model.ForgetRequest{ID: id, IfMatch: revisionOf(e.text)})
		return model.RetainResult{ID: p.id(), Warnings: []string{"the entry " + id + " was removed", nextSession}}, err
	}
	return s.retainEntry(ctx, idParts{file: name, hash: e.hash},
		model.RetainRequest{ID: id, Mode: model.Replace, Content: p.Payload.Content, IfMatch: revisionOf(e.text)})
}

func indexOf(name string) int {
	if name == fileNames[0] {
		return 0
	}
	return 1
}

// matching is the only entry that holds a text; a text in several entries identifies none.
func (f file) matching(old string) (entry, error) {
	if f.bad != nil {
		return entry{}, f.bad
	}
	old = trim(old)
	var found []entry
	for _, e := range f.entries {
		if old != "" && strings.Contains(e.text, old) {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return entry{}, model.Errorf(model.InvalidInput, "retain", "no entry of %s holds the text that the proposal names; reject it", f.name)
	}
	return entry{}, model.Errorf(model.InvalidInput, "retain", "%s of %s hold the text that the proposal names; it must name one", fmt.Sprintf("%d entries", len(found)), f.name)
}
