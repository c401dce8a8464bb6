package hypergraph

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"memdesk/backends/internal/verdicts"
	"memdesk/backends/internal/vitals"
	"memdesk/internal/clock"
	"memdesk/model"
)

// Config describes a backend to Adapt.
type Config struct {
	Name     string
	Kind     string
	Location string // for display; never a secret
	Backend  Backend
	// Vocabulary of the schema; the zero value is Recurse.
	Vocabulary Vocabulary

	// The scope that the store is bound to: a request that names another one is refused
	// (provider-contract.md R17). An empty field binds nothing.
	model.Bound

	ReadOnly       bool
	ReadOnlyReason string // shown to the operator; empty takes a default

	// Remote gives Health one second instead of 200 ms (R35).
	Remote bool

	Clock      clock.Clock // nil: the system's
	Notes      []string
	Deviations []model.Deviation
	// Embedder turns a query into a vector; nil searches by content only (H15).
	Embedder Embedder
	// Migrator of the schema and Watcher of changes; nil where there is none.
	Migrator model.Migrator
	Watcher  model.Watcher
	// Reindex builds the index of words anew and counts the nodes in it; nil where there is none to build.
	Reindex func(context.Context) (int64, error)
	// Maintainer of the medium beneath the backend; nil where there is none.
	Maintainer model.Maintainer
	// Look and Deep are the backend's health probes beside Ping: Look answers within Health's deadline,
	// Deep runs in the background. Both change nothing (R39) and return nothing for a store in order.
	// Either may be nil.
	Look, Deep func(context.Context) []model.HealthFinding
}

// Embedder computes the vector of a text in the space of the store's vectors.
// It is safe for concurrent use, honours the context and keeps credentials out
// of its errors.
type Embedder interface {
	Embed(ctx context.Context, text string) ([]float32, error)
}

// Adapt makes a store of a backend: Provider and Browser over nodes and
// hyperedges as items. The store owns the backend and closes it.
func Adapt(c Config) model.Store {
	if len(c.Vocabulary.Tiers) == 0 {
		c.Vocabulary = Recurse()
	}
	c.Clock = clock.Or(c.Clock)
	if c.ReadOnly {
		c.ReadOnlyReason = cmp.Or(c.ReadOnlyReason, "the store was opened for reading only")
	}
	caps := c.Backend.Capabilities()
	a := &adapter{Config: c, caps: caps, scanner: verdicts.New()}
	s := model.Store{
		Name:           c.Name,
		Kind:           c.Kind,
		Location:       c.Location,
		ReadOnly:       c.ReadOnly,
		ReadOnlyReason: c.ReadOnlyReason,
		Tiers:          a.tierSpecs(),
		Orders:         []model.Order{model.OrderNewest, model.OrderOldest, model.OrderID},
		Deviations:     slices.Clone(c.Deviations),
		Notes:          slices.Clone(c.Notes),
		Features: map[string]bool{
			"vector_search":        caps.VectorSearch,
			"fts":                  caps.FullTextSearch,
			"transactions":         caps.Transactions,
			"concurrent_reads":     caps.ConcurrentReads,
			"concurrent_writes":    caps.ConcurrentWrites,
			"streaming":            caps.Streaming,
			"change_notifications": caps.ChangeNotifications,
		},
		Limits:     map[string]int{"max_connections": caps.MaxConnections, "max_vector_dimensions": caps.MaxVectorDimensions},
		Provider:   a,
		Browser:    a,
		Texts:      a,
		Graph:      graph{a},
		Migrator:   c.Migrator,
		Watcher:    c.Watcher,
		Maintainer: c.Maintainer,
		Address:    a.address,
		Origin:     originOf,
		Falls:      a.falls,
		Beside:     a.beside,
		Closer:     a.close,
	}
	maps.Copy(s.Features, c.Bound.Features())
	if c.Reindex != nil {
		s.Reindexer = reindexer{a}
	}
	if caps.HasSubjects {
		s.Subjects = subjects{a}
	} else {
		s.Deviations = append(s.Deviations, model.Deviation{Rule: "R33", Reason: "its schema keeps no data-subject keys; a person's items are found by search and erased one by one"})
	}
	return s
}

// adapter is the Provider and the Browser over one backend.
type adapter struct {
	Config
	caps    Capabilities
	scanner *verdicts.Cache
	vitals  vitals.Gate
}

func (a *adapter) close() error {
	a.vitals.Close()
	return a.Backend.Close()
}

func (a *adapter) tierSpecs() []model.TierSpec {
	specs := make([]model.TierSpec, 0, len(a.Vocabulary.Tiers)+1)
	for _, t := range a.Vocabulary.Tiers {
		specs = append(specs, model.TierSpec{
			Name: t, Title: tierTitles[t],
			KeyRule: model.KeyOptional, KeyHint: "the node's id; a new one is made when it is empty",
			Writable: !a.ReadOnly, Hidden: t == a.Vocabulary.ArchiveTier,
			Document: model.Structured, Extra: fieldMetadata,
		})
	}
	return append(specs, model.TierSpec{
		Name: EdgeTier, Title: "hyperedges: the label is the text",
		KeyRule: model.KeyOptional, KeyHint: "the edge's id; a new edge needs the field members",
		Writable: !a.ReadOnly, Document: model.Structured,
	})
}

var tierTitles = map[string]string{
	"task": "working memory of one task", "session": "memory of a session", "longterm": "long-term memory", "archive": "archived: the agent's own search skips it",
}

// checkTier is InvalidInput for a tier that the store does not declare.
func (a *adapter) checkTier(op, name string) error {
	if name == EdgeTier || slices.Contains(a.Vocabulary.Tiers, name) {
		return nil
	}
	return model.Errorf(model.InvalidInput, op, "unknown tier %q; there are %s and %s", name, strings.Join(a.Vocabulary.Tiers, ", "), EdgeTier)
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
