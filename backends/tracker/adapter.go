package tracker

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"memdesk/backends/internal/verdicts"
	"memdesk/backends/internal/vitals"
	"memdesk/backends/internal/window"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Config describes a backend to Adapt.
type Config struct {
	Name     string
	Kind     string
	Location string // for people; never a secret
	Backend  Backend
	// Capabilities are declared by their published names.
	Capabilities Capabilities
	// Statuses are the writable tiers; nil takes Statuses.
	Statuses []string
	// Memories: the store keeps remembered texts besides its work items.
	Memories bool
	// Lines: the store shows lines that are no entries.
	Lines bool
	// NewID makes the id of a new work item; nil where the backend makes its own.
	NewID func() string
	// Hidden are tiers of entries that are no work, such as leases. They are read-only.
	Hidden []string
	// DefaultStatus is a new item's status; empty means open. ClosedStatus ends an item; empty means closed.
	DefaultStatus, ClosedStatus string

	// The scope that the store is bound to (provider-contract.md R17).
	model.Bound

	ReadOnly       bool
	ReadOnlyReason string
	Clock          clock.Clock // nil: the system's
	Notes          []string
	Deviations     []model.Deviation
}

// Adapt makes a store of a backend. The store owns the backend and closes it.
func Adapt(c Config) model.Store {
	c.Clock = clock.Or(c.Clock)
	if c.Statuses == nil {
		c.Statuses = Statuses()
	}
	c.DefaultStatus, c.ClosedStatus = cmp.Or(c.DefaultStatus, DefaultStatus), cmp.Or(c.ClosedStatus, "closed")
	if c.ReadOnly {
		c.ReadOnlyReason = cmp.Or(c.ReadOnlyReason, "the store was opened for reading only")
		c.Capabilities = c.Capabilities.reading()
	}
	a := &adapter{Config: c, scanner: verdicts.New()}
	a.specs = a.tierSpecs()
	s := model.Store{
		Name:           c.Name,
		Kind:           c.Kind,
		Location:       c.Location,
		ReadOnly:       c.ReadOnly,
		ReadOnlyReason: c.ReadOnlyReason,
		Tiers:          a.specs,
		Orders:         orders(),
		Deviations: append([]model.Deviation{
			{Rule: "R33", Reason: "work items carry no data-subject keys; a person's items are found by search and erased one by one"},
		}, c.Deviations...),
		Notes:    slices.Clone(c.Notes),
		Features: c.Capabilities.Features(),
		Limits:   map[string]int{"maxConcurrency": c.Capabilities.MaxConcurrency},
		Provider: a,
		Browser:  a,
		Names:    a,
		Texts:    a,
		Work:     a,
		Closer:   c.Backend.Close,
	}
	maps.Copy(s.Features, c.Bound.Features())
	if c.NewID != nil {
		s.Address = a.address
	}
	if c.Capabilities.Delete {
		s.Rewrites = a.rewrites
	}
	if k, ok := c.Backend.(Keeper); ok {
		s.Beside = k.Keep
	}
	return s
}

// OrderStore is the store's own order: that of a file's lines.
const OrderStore model.Order = "store"

func orders() []model.Order {
	return []model.Order{OrderStore, model.OrderNewest, model.OrderOldest, model.OrderID, model.OrderLargest}
}

// adapter is the Provider, the Browser and the Work over one backend.
type adapter struct {
	Config
	specs   []model.TierSpec
	scanner *verdicts.Cache
	vitals  vitals.Gate

	mu   sync.Mutex
	last selected // the list of the last page
}

func (a *adapter) tierSpecs() []model.TierSpec {
	var specs []model.TierSpec
	for _, s := range a.Statuses {
		specs = append(specs, model.TierSpec{
			Name: s, Title: "work items whose status is " + s,
			KeyRule: model.KeyOptional, KeyHint: "the item's id; a new one is made when it is empty",
			Writable: !a.ReadOnly && a.Capabilities.Create, Document: model.Structured, Titled: true,
		})
	}
	add := func(name, title string, hidden bool) {
		specs = append(specs, model.TierSpec{Name: name, Title: title, KeyRule: model.KeyRequired, Hidden: hidden, Document: model.Structured, Sealed: hidden})
	}
	if a.Memories {
		specs = append(specs, model.TierSpec{
			Name: TierMemory, Title: "remembered texts; their age is unknown",
			KeyRule: model.KeyRequired, KeyHint: "the memory's key", Writable: !a.ReadOnly, Document: model.Structured,
		})
	}
	for _, name := range a.Hidden {
		add(name, "no work: "+name, true)
	}
	if a.Lines {
		add(TierCustom, "work items with a status that is no word", false)
		specs[len(specs)-1].Restores = true // memdesk has the line
		add(TierTombstone, "work items that were deleted long ago", true)
		add(TierLine, "lines that are no items: headers, foreign records, what cannot be read", true)
	}
	for i := range specs {
		if specs[i].Renews = []string{model.AllFields}; a.Lines { // memdesk writes the old line again
			specs[i].Renews = []string{"updated_at"}
		}
	}
	return specs
}

// declared reports whether the store declares a tier.
func (a *adapter) declared(name string) bool {
	_, ok := window.Tier(a.specs, name)
	return ok
}

// checkTier is InvalidInput for a tier that is neither declared nor in the view.
func (a *adapter) checkTier(op, name string, v View) error {
	if a.declared(name) || v != nil && slices.Contains(v.Tiers(), name) {
		return nil
	}
	return model.Errorf(model.InvalidInput, op, "unknown tier %q: there are %s", name, window.TierNames(a.specs))
}

func (a *adapter) hidden(tier string) bool {
	return tier == TierTombstone || tier == TierLine || slices.Contains(a.Hidden, tier)
}

// begin makes the checks that all operations share.
func (a *adapter) begin(ctx context.Context, op string, changes bool) error {
	if err := model.FromContext(ctx, op); err != nil {
		return err
	}
	if changes && a.ReadOnly {
		return model.Refuse(op, a.ReadOnlyReason)
	}
	return nil
}

func (a *adapter) view(ctx context.Context, op string) (View, error) {
	v, err := a.Backend.View(ctx)
	return v, model.Wrap(op, err)
}
