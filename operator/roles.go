package operator

import (
	"context"
	"slices"
	"strings"

	"memdesk/audit"
	"memdesk/model"
)

// Role names a set of acts; rules lists them.
type Role string

// The roles that [[operator.role]] gives. Every role sees health, and headers without titles.
const (
	RoleOperator Role = "operator" // everything
	RoleViewer   Role = "viewer"   // health, and headers without titles; nothing else
	RoleReviewer Role = "reviewer" // also content
	RoleApprover Role = "approver" // content and requests, and the approval of a plan
	RoleAuditor  Role = "auditor"  // the log, requests and their proofs; no content
	RoleOfficer  Role = "privacy officer"
	// RoleReader is an operator reduced by [operator] readers, a read-only key or --read-only: it sees
	// everything and changes nothing.
	RoleReader Role = "reader"
)

// Agent is the actor of a token with this name.
func Agent(token string) audit.Actor { return audit.Actor{ID: "agent " + token} }

// grantedRoles are the roles that the configuration gives to this operator or agent. Where it has blocks for
// people, an SSH login in none of them is a viewer. A shell of the account itself owns the files, so without
// a block of its own it is an operator. A token without a block has the rights of its scopes.
func (s *Session) grantedRoles() []Role {
	var out []Role
	people := false
	for _, b := range s.Config.Operator.Roles {
		people = people || b.Token == ""
		mine := false
		switch {
		case b.Token != "":
			mine = s.Door == Agents && s.Who.ID == Agent(b.Token).ID
		case s.Door == Agents:
		case b.Principal != "":
			mine = s.Who.Authenticated && s.Who.CA == b.Key && slices.Contains(s.Who.Principals, b.Principal)
		case b.Key != "":
			mine = s.Who.Authenticated && s.Who.Key == b.Key
		default:
			mine = s.Who.Is(b.Name)
		}
		if mine && !slices.Contains(out, Role(b.Role)) {
			out = append(out, Role(b.Role))
		}
	}
	switch {
	case len(out) > 0:
		slices.Sort(out)
	case people && s.overSSH():
		out = []Role{RoleViewer}
	default:
		out = []Role{RoleOperator}
	}
	return out
}

// overSSH reports whether the login came over SSH, with or without a known key. An agent has no login: the variables
// are those of the shell that started its server.
func (s *Session) overSSH() bool {
	return s.Door == Visit || s.Who.Authenticated ||
		s.Door != Agents && slices.ContainsFunc([]string{"SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY", "SSH_USER_AUTH"}, func(k string) bool { return s.Env(k) != "" })
}

// Role returns the operator's role in words, from the configuration and the door.
func (s *Session) Role() string {
	if s.lookOnly() != "" {
		return string(RoleReader)
	}
	words := make([]string, len(s.roles))
	for i, r := range s.roles {
		words[i] = string(r)
	}
	return strings.Join(words, ", ")
}

// has reports whether one of the session's roles may do an act.
func (s *Session) has(act Act) bool {
	r, ruled := rules[act]
	return ruled && slices.ContainsFunc(s.roles, func(role Role) bool { return role == RoleOperator || slices.Contains(r.roles, role) })
}

type withinKey struct{}

// within marks the calls of an allowed act: the stores' middleware lets them pass.
func within(ctx context.Context) context.Context { return context.WithValue(ctx, withinKey{}, true) }

// headers are the operations that show no more than every role may see; byRole takes the titles out of a list.
var headers = []model.Op{model.OpHealth, model.OpTiers, model.OpStoreConflicts, model.OpSchema, model.OpBroken,
	model.OpWatch, model.OpChangedSince}

// byRole is the middleware that applies the rules to store calls outside the acts.
func (s *Session) byRole(ctx context.Context, c *model.Call, next func(context.Context) error) error {
	switch {
	case ctx.Value(withinKey{}) != nil:
	case c.Op.Mutates():
		if act := actOfCall(c); !s.has(act) {
			return model.Refuse(string(c.Op), s.lacks(act))
		}
	case c.Op == model.OpList && c.Page.Query == "":
		if err := next(ctx); err != nil || c.Listed == nil || s.May(ReadContent) == nil {
			return err
		}
		c.Listed.Items = slices.Clone(c.Listed.Items)
		for i := range c.Listed.Items { // most stores make the title from the text; of a short one it is all
			c.Listed.Items[i].Title = ""
		}
		return nil
	case slices.Contains(headers, c.Op):
	default: // also a list by a query, which reveals whether a text holds the words
		if err := s.Look(ctx, ReadContent); err != nil {
			return err
		}
	}
	return next(ctx)
}

// actOfCall is the act of a store call.
func actOfCall(c *model.Call) Act {
	switch c.Op {
	case model.OpRetain:
		return ActOf(*c.Retain)
	case model.OpForget:
		return Forget
	case model.OpScrub:
		return Erase
	case model.OpReindex:
		return Reindex
	case model.OpSetAside:
		return Repair
	case model.OpMigrate:
		return Migrate
	}
	return Act(c.Op)
}

// lacks says that the role does not cover an act.
func (s *Session) lacks(act Act) string {
	if len(s.roles) > 1 {
		return "none of the roles " + s.Role() + " covers " + string(act)
	}
	return "the role " + s.Role() + " does not cover " + string(act)
}
