package operator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// policyAction is the record that names the policy of roles in force from there on.
const policyAction = "policy"

// policyVersion is the last policy in the log. The log is the record; the file only saves searching it.
type policyVersion struct {
	Version int64  `json:"version"`
	Hash    string `json:"hash"`
}

// policyHash is over the roles of everybody and the rights of the roles; empty without such configuration, so
// that everybody is an operator.
func policyHash(c backends.OperatorConfig) string {
	if len(c.Roles) == 0 && len(c.Readers) == 0 {
		return ""
	}
	type permitted struct {
		Act                                Act
		Roles                              []Role
		Agents, Readers, Changes, Unlogged bool
	}
	var table []permitted
	for _, act := range slices.Sorted(maps.Keys(rules)) {
		r := rules[act]
		table = append(table, permitted{act, r.roles, r.agents, r.readers, r.changes, r.unlogged})
	}
	b, err := json.Marshal([]any{table, c.Roles, c.Readers})
	if err != nil {
		panic(err) // strings and booleans
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// tool names the program in every record, with the policy under which it acts.
func (s *Session) tool() string {
	if s.policy == "" {
		return "memdesk " + s.Version
	}
	return "memdesk " + s.Version + " policy " + s.policy[:12]
}

// policyNoted records a policy that is not in the log yet, before the first act under it.
func (s *Session) policyNoted(ctx context.Context, act Act) error {
	if r := rules[act]; r.readers || r.unlogged {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.noted {
		return nil
	}
	err := s.notePolicy(ctx)
	if errors.Is(err, context.Canceled) {
		return model.Interrupted(string(act))
	}
	if err != nil {
		return model.Refuse(string(act), "the policy of roles could not be recorded first: "+err.Error())
	}
	s.noted = true
	return nil
}

// notePolicy compares the policy in force with the last recorded one.
func (s *Session) notePolicy(ctx context.Context) error {
	last, err := s.lastPolicy(ctx)
	if err != nil || last.Hash == s.policy {
		return err
	}
	now := policyVersion{last.Version + 1, s.policy}
	e := audit.Entry{Action: policyAction, Plan: s.policy, Counts: map[string]int64{"version": now.Version, "roles": int64(len(s.Config.Operator.Roles))}}
	if err := s.Log.Note(ctx, e, audit.Result{Verdict: audit.OK, Counts: e.Counts}); err != nil {
		return err
	}
	b, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return atomicfile.Write(s.policyFile(), append(b, '\n'), 0o600)
}

func (s *Session) policyFile() string { return filepath.Join(s.State, "policy.json") }

// lastPolicy is the last policy in the log; version 0 without a hash where the log has none.
func (s *Session) lastPolicy(ctx context.Context) (policyVersion, error) {
	var last policyVersion
	b, err := atomicfile.ReadFile(s.policyFile())
	if err == nil && json.Unmarshal(b, &last) == nil {
		return last, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return last, errors.New("the recorded policy cannot be read")
	}
	if err != nil && s.policy == "" { // roles were never configured here, or the file is gone
		return last, nil
	}
	page, err := s.Log.List(ctx, audit.Filter{Action: policyAction}, 1, "")
	if err != nil || len(page.Rows) == 0 {
		return policyVersion{}, err
	}
	return policyVersion{page.Rows[0].Counts["version"], page.Rows[0].Plan}, nil
}
