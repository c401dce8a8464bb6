package tracker

// Capabilities are a backend's declarations (provider-contract.md B7).
type Capabilities struct {
	Create, Update, Delete, Close, Search, Query, ListReady, Dependencies, Labels, Sync bool
	// MaxConcurrency is how many concurrent calls a backend accepts; 0 means no limit.
	MaxConcurrency int
}

// The published presets (B8).
var (
	PresetJSONL = Capabilities{true, true, true, true, true, true, true, true, true, false, 1}
	PresetKnots = Capabilities{true, true, false, true, true, true, true, true, true, true, 1}
	PresetCLI   = Capabilities{true, true, true, true, true, true, true, true, true, true, 0}
	PresetStub  = Capabilities{Search: true, Query: true, ListReady: true}
)

// reading are the capabilities of a read-only store.
func (c Capabilities) reading() Capabilities {
	return Capabilities{Search: c.Search, Query: c.Query, ListReady: c.ListReady, MaxConcurrency: c.MaxConcurrency}
}

// Features are the flags by their published names.
func (c Capabilities) Features() map[string]bool {
	return map[string]bool{
		"canCreate": c.Create, "canUpdate": c.Update, "canDelete": c.Delete, "canClose": c.Close, "canSearch": c.Search,
		"canQuery": c.Query, "canListReady": c.ListReady, "canManageDependencies": c.Dependencies, "canManageLabels": c.Labels, "canSync": c.Sync,
	}
}
