package crewship

import (
	"cmp"
	"slices"
	"strings"

	"memdesk/model"
)

// selection is the owner meant by a request or the configuration; an empty part does not constrain (R17).
type selection struct{ workspace, crew, agent string }

func (sel selection) empty() bool { return sel == selection{} }

func (sel selection) String() string {
	var said []string
	for _, part := range []struct{ what, value string }{{"workspace", sel.workspace}, {"crew", sel.crew}, {"agent", sel.agent}} {
		if part.value != "" {
			said = append(said, part.what+" "+quote(part.value))
		}
	}
	return strings.Join(said, ", ")
}

// bound is what the configuration selects.
func (s *store) bound() selection { return selection{s.cfg.Workspace, s.cfg.Crew, s.cfg.Agent} }

// of keeps the selected ones of all memory directories.
func (sel selection) of(all []*memoryDir, known *directory) []*memoryDir {
	if sel.empty() {
		return all
	}
	crews := map[string]bool{} // of the selected agent
	for _, p := range all {
		if sel.agent != "" && p.isAgent() && p.crew != "" && sel.sees(p, known, nil) {
			crews[p.crew] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(p *memoryDir) bool { return !sel.sees(p, known, crews) })
}

// sees reports whether a memory directory is in the selection. An agent sees its own memory and its crews'
// shared one. A directory of an unknown workspace is in no workspace's view (R27), except a single
// directory that neither its path nor the configuration binds to a workspace: every request names one.
func (sel selection) sees(p *memoryDir, known *directory, agentsCrews map[string]bool) bool {
	unbound := p.prefix == "" && p.workspace == ""
	if sel.workspace != "" && !unbound && !known.isWorkspace(p.workspace, sel.workspace) {
		return false
	}
	if sel.crew != "" && (p.crew == "" || !known.isCrew(p.crew, sel.crew)) {
		return false
	}
	switch {
	case sel.agent == "":
		return true
	case p.kind == kindCrew:
		return agentsCrews[p.crew]
	}
	return p.agent != "" && known.isAgent(p, sel.agent)
}

// choose returns the memory directories that a request may mean. A part that contradicts the store's
// binding is InvalidInput (R17).
func (s *store) choose(op string, snap *snapshot, sel selection) ([]*memoryDir, error) {
	if out := sel.of(snap.memories, snap.names); sel.empty() || len(out) > 0 {
		return out, nil
	}
	hint := ""
	switch {
	case s.at.single:
		hint = "; set workspace, crew and agent in its configuration to say whose it is"
	case snap.names.problem != "":
		hint = "; what crewship.db tells is missing: " + snap.names.problem
	}
	return nil, model.Errorf(model.InvalidInput, op, "this store is not bound to %s%s", sel, hint)
}

// pick finds the one memory directory where a tier of the selection lives.
func (s *store) pick(op string, snap *snapshot, spec model.TierSpec, sel selection) (*memoryDir, error) {
	places, err := s.choose(op, snap, sel)
	if err != nil {
		return nil, err
	}
	var found []*memoryDir
	for _, p := range places {
		if lives(spec.Name, p.kind) && s.meant(p, spec.Name, sel) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, model.Errorf(model.InvalidInput, op, "nothing here has tier %s; %s", spec.Name, whose(spec.Name))
	}
	return nil, model.Errorf(model.InvalidInput, op, "tier %s is in %d places; %s", spec.Name, len(found), whose(spec.Name))
}

// meant decides between an agent's file and its crew's where both have the tier: a named agent means the
// agent's, a crew alone means the crew's.
func (s *store) meant(p *memoryDir, tier string, sel selection) bool {
	agent := cmp.Or(sel.agent, s.cfg.Agent)
	crew := cmp.Or(sel.crew, s.cfg.Crew)
	switch tier {
	case tierPersona, tierDaily, tierLessons, tierOther:
	default:
		return true
	}
	switch {
	case s.at.single:
		return true
	case agent != "":
		return p.isAgent()
	case crew != "":
		return p.kind == kindCrew
	}
	return true
}

func whose(tier string) string {
	switch kinds := kindsOf(tier); {
	case kinds[0] == kindWorkspace:
		return "give a workspace"
	case kinds[0] == kindCrew:
		return "give a crew, or an id"
	case len(kinds) > 3:
		return "give an agent with its crew or workspace, or a crew, or an id"
	}
	return "give an agent with its crew or workspace, or an id"
}

// agrees refuses a request whose scope differs from the named item's.
func (s *store) agrees(op string, snap *snapshot, p *memoryDir, sel selection) error {
	places, err := s.choose(op, snap, sel)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(places, func(q *memoryDir) bool { return q.prefix == p.prefix }) {
		return nil
	}
	return model.Errorf(model.InvalidInput, op, "the id lies in %q, which is outside the workspace, crew or agent that the request names", p.scope())
}
