package operator

import (
	"context"

	"memdesk/audit"
	"memdesk/model"
)

// Act is the one word for a change of memory or of the desk's own state, for log, undo and screens alike.
type Act string

// The acts on items and stores.
const (
	Create   Act = "create" // an item
	Edit     Act = "edit"
	Append   Act = "append"
	Forget   Act = "forget"
	Restore  Act = "restore"
	Release  Act = "release"
	Resolve  Act = "resolve"
	Takeback Act = "takeback"
	Copy     Act = "copy"
	// ExportStore writes a whole store to a directory.
	ExportStore Act = "export"
	Repair      Act = "repair"
	Reindex     Act = "reindex"
	Migrate     Act = "migrate"
	MakeStore   Act = "create-store"
	ChangeWork  Act = "work"
)

// The acts on an erasure, as the log has them.
const (
	Request   Act = "gdpr-request"
	Plan      Act = "gdpr-plan"
	Hold      Act = "gdpr-hold"
	Unhold    Act = "gdpr-unhold"
	Choose    Act = "gdpr-choose"
	Extend    Act = "gdpr-extend"
	Pause     Act = "gdpr-pause"
	Resume    Act = "gdpr-resume"
	Identify  Act = "gdpr-identity"
	Withdraw  Act = "gdpr-withdraw"
	Attest    Act = "gdpr-attest"
	SetPolicy Act = "gdpr-policy"
	Approve   Act = "gdpr-approve"
	Erase     Act = "gdpr-erase"
	Verify    Act = "gdpr-verify"
	Export    Act = "gdpr-export"
	Tell      Act = "gdpr-recipient"
	Sweep     Act = "gdpr-sweep"
)

// The acts on the desk itself.
const (
	Acknowledge  Act = "acknowledge"
	Calibrate    Act = "quarantine-calibrate"
	Clear        Act = "quarantine-clear"
	Rescan       Act = "quarantine-rescan"
	RotateKey    Act = "audit-key"
	RetireLog    Act = "audit-retire"
	ControlJob   Act = "jobs"
	MigrateState Act = "state-migrate"
)

// The reads that need a role. Headers and health need none.
const (
	ReadContent  Act = "read-content"  // bodies, excerpts, names in them
	ReadLog      Act = "read-log"      // the audit log
	ReadRequests Act = "read-requests" // erasures, with the names in them
)

// rule lists who may do an act beside an operator, who may do all.
type rule struct {
	roles   []Role
	agents  bool // callers of a served store too
	readers bool // it changes nothing
	// changes: the act changes stores.
	changes bool
	// unlogged: the act needs no writable log, because it repairs the log or records nothing.
	unlogged bool
	// steps reports whether a record of the log is a step of the act; nil: the act works through no others.
	steps func(act, r audit.Row) bool
}

// officer are the roles that carry out erasures, readsOf those that read them.
var (
	officer = []Role{RoleOfficer}
	readsOf = []Role{RoleApprover, RoleAuditor, RoleOfficer}
)

// rules are the only place of authorisation: an act without a rule is refused.
var rules = map[Act]rule{
	Create: {agents: true, changes: true}, Edit: {agents: true, changes: true}, Append: {agents: true, changes: true},
	Forget: {agents: true, changes: true}, Restore: {changes: true, steps: written}, Release: {changes: true, steps: written}, Resolve: {changes: true, steps: written},
	Takeback: {changes: true, steps: written}, Copy: {changes: true}, ExportStore: {roles: officer, readers: true}, Repair: {changes: true}, Reindex: {changes: true}, Migrate: {changes: true},
	MakeStore: {changes: true}, ChangeWork: {changes: true},
	Request: {roles: officer}, Plan: {roles: officer}, Hold: {roles: officer}, Unhold: {roles: officer}, Choose: {roles: officer},
	Extend: {roles: officer}, Pause: {roles: officer}, Resume: {roles: officer}, Identify: {roles: officer}, Withdraw: {roles: officer},
	Attest: {roles: officer}, SetPolicy: {roles: officer}, Export: {roles: officer}, Tell: {roles: officer},
	Approve: {roles: []Role{RoleApprover, RoleOfficer}},
	Erase:   {roles: officer, changes: true, steps: erased}, Sweep: {roles: officer, changes: true},
	Verify:    {roles: []Role{RoleAuditor, RoleOfficer}, readers: true},
	Calibrate: {}, Clear: {}, Rescan: {},
	Acknowledge: {unlogged: true},
	RotateKey:   {}, RetireLog: {},
	// Older state forbids every other act; the log of that state records this one.
	MigrateState: {unlogged: true},
	ControlJob:   {roles: officer, unlogged: true}, // of other sessions; a session may always stop its own work

	ReadContent:  {roles: []Role{RoleReviewer, RoleApprover, RoleOfficer}, agents: true, readers: true, unlogged: true},
	ReadLog:      {roles: []Role{RoleAuditor, RoleOfficer}, readers: true, unlogged: true},
	ReadRequests: {roles: readsOf, readers: true, unlogged: true},
}

// May is nil when the session may do an act, else the Refusal with its reason.
func (s *Session) May(act Act) error {
	r, ruled := rules[act]
	why := ""
	switch {
	case !ruled:
		why = "no rule permits it"
	case s.Door == Agents && !r.agents:
		why = "it is the operator's, not an agent's"
	case !s.has(act):
		why = s.lacks(act)
	case !r.readers:
		why = s.lookOnly()
	}
	if why == "" && !r.unlogged {
		why = s.unlogged()
	}
	if why == "" {
		return nil
	}
	return model.Refuse(string(act), why)
}

// Allow is May, and records a refusal. id is the item of the act, if any.
func (s *Session) Allow(ctx context.Context, act Act, store, id string) error {
	refused := s.May(act)
	if refused == nil {
		return s.policyNoted(ctx, act)
	}
	if s.Log == nil {
		return refused
	}
	e := audit.Entry{Action: string(act), Store: store}
	if id != "" {
		e.Target = model.Ref{Store: store, ID: id}.String()
	}
	// An unwritable log refuses too; the first reason is the one to return.
	_ = s.Log.Act(ctx, e,
		func(context.Context) (map[string]int64, error) { return nil, refused })
	return refused
}

// Look is Allow for a read. Panes read every few seconds, so only a session's first refusal of each read is
// recorded.
func (s *Session) Look(ctx context.Context, act Act) error {
	refused := s.May(act)
	if refused == nil {
		return nil
	}
	if _, told := s.told.LoadOrStore(act, true); told {
		return refused
	}
	return s.Allow(ctx, act, "", "")
}
