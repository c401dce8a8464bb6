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
