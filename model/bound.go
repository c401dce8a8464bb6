package model

// Bound is the scope that a store is tied to; an empty field is not tied.
type Bound struct {
	Workspace string
	AgentID   string
	CrewID    string
}

// CheckBound refuses a request that names another scope as InvalidInput (provider-contract.md R17); an empty
// field means the store's own scope.
func (b Bound) CheckBound(op, workspace, agent, crew string) error {
	for _, f := range []struct{ what, bound, asked string }{
		{"workspace", b.Workspace, workspace},
		{"agent", b.AgentID, agent},
		{"crew", b.CrewID, crew},
	} {
		if f.bound != "" && f.asked != "" && f.bound != f.asked {
			return Errorf(InvalidInput, op, "%s %q is not the one this store is bound to", f.what, f.asked)
		}
	}
	return nil
}

// The features of a store that keeps to the scope of a request (R17, R27); another would ignore it.
const (
	FeatureWorkspaces = "workspaces"
	FeatureCrews      = "crews"
	FeatureAgents     = "agents"
	// FeatureErase says that the store keeps displaced texts for undo, and heeds Erase; false: it refuses Erase to this
	// caller.
	FeatureErase = "erase"
)

// Features are the scopes that the store is tied to.
func (b Bound) Features() map[string]bool {
	return map[string]bool{FeatureWorkspaces: b.Workspace != "", FeatureCrews: b.CrewID != "", FeatureAgents: b.AgentID != ""}
}

// CheckScope refuses a scope that the store would ignore, as InvalidInput.
func (s Store) CheckScope(op, workspace, agent, crew string) error {
	for _, f := range []struct{ feature, asked string }{{FeatureWorkspaces, workspace}, {FeatureCrews, crew}, {FeatureAgents, agent}} {
		if f.asked != "" && !s.Features[f.feature] {
			return Errorf(InvalidInput, op, "store %s knows no %s: leave out %q", s.Name, f.feature, f.asked)
		}
	}
	return nil
}
