package operator

import (
	"context"

	"memdesk/audit"
	"memdesk/model"
)

// Act is the one word for something that changes memory or the desk's own state, for log, undo
// and screens alike.
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
	ControlJob   Act = "jobs"
	MigrateState Act = "state-migrate"
)

// rule says who may do an act beside an operator, who may do all of them.
type rule struct {
	agents  bool // callers of a served store may too
	readers bool // it is recorded and changes nothing
	// unlogged: the act needs no writable log, because it mends the log or records nothing.
	unlogged bool
}

// rules are the one place of authorisation: an act without a rule is refused.
var rules = map[Act]rule{
	Create: {agents: true}, Edit: {agents: true}, Append: {agents: true}, Forget: {agents: true},
	Restore: {}, Release: {}, Resolve: {}, Takeback: {}, Copy: {}, ExportStore: {readers: true}, Repair: {}, Reindex: {}, Migrate: {}, MakeStore: {},
	ChangeWork: {},
	Request:    {}, Plan: {}, Hold: {}, Unhold: {}, Choose: {}, Extend: {}, Pause: {}, Resume: {}, Identify: {}, Withdraw: {}, Attest: {},
	SetPolicy: {}, Approve: {}, Erase: {}, Verify: {readers: true}, Export: {}, Tell: {}, Sweep: {},
	Calibrate: {}, Clear: {}, Rescan: {},
	Acknowledge: {unlogged: true},
	RotateKey:   {},
	// Older state forbids every other act; this one is recorded in the log of that state.
	MigrateState: {unlogged: true},
	ControlJob:   {unlogged: true}, // of others; a session may always stop its own work
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
	case r.unlogged:
		why = s.forbidden()
	case r.readers:
		why = s.unlogged()
	default:
		why = s.Unwritable()
	}
	if why == "" {
		return nil
	}
	return model.Refuse(string(act), why)
}

// Allow is May, and a refusal is recorded. id is of the item that the act is about, if any.
func (s *Session) Allow(ctx context.Context, act Act, store, id string) error {
	refused := s.May(act)
	if refused == nil || s.Log == nil {
		return refused
	}
	e := audit.Entry{Action: string(act), Store: store}
	if id != "" {
		e.Target = model.Ref{Store: store, ID: id}.String()
	}
	// A log that cannot be written refuses too; the first reason is the one to tell.
	_ = s.Log.Act(ctx, e,
		func(context.Context) (map[string]int64, error) { return nil, refused })
	return refused
}
