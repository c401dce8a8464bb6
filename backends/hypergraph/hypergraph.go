// Package hypergraph is the node-and-hyperedge family: the types and the Backend
// interface that its members implement, and the adapter that turns a Backend
// into a model.Store. It holds no storage of its own.
package hypergraph

import (
	"context"
	"iter"
	"time"

	"memdesk/backends/internal/cursor"
	"memdesk/model"
)

// Node is one piece of memory. Values are copies: changing one never changes the
// store (provider-contract.md H5).
type Node struct {
	ID         string
	Type       string
	Subtype    string
	Content    string
	Tier       string
	Confidence float64 // 0..1
	Provenance string  // JSON object or empty
	Metadata   string  // JSON object or empty
	SubjectID  string  // the subject's key; always empty where HasSubjects is false
	// AsStored, when writing: provenance and metadata come from a store, in whatever shape, and are not
	// checked.
	AsStored bool
	// Forms, when writing, are those that Forms.Forms returned.
	Forms []model.BesideRow

	// Kept by the store: Create takes the times and the count from here, Update ignores them.
	CreatedAt    time.Time
	UpdatedAt    time.Time
	LastAccessed time.Time // zero: never
	AccessCount  int64
	HasVector    bool
	RowVersion   int64 // 0 where the schema has none
	// Oversize is the size in bytes of a row beyond MaxText, whose content, provenance and metadata are
	// left empty; 0 for any other row.
	Oversize int64
	Decision *Decision // set on a node whose row exists: in memdesk's own schemas only nodes of type decision have one
}

// DecisionType is the type of the nodes that have a decision.
const DecisionType = "decision"

// Decision is the reasoning-trace row beside a decision node.
type Decision struct {
	Kind       string // goal, decision, option, action, outcome, observation
	Confidence int64  // 0..100
	Prompt     string
	Files      string // JSON array or empty
	Branch     string
	Commit     string
	ParentID   string
	Status     string // active, completed, rejected
}

// Edge is a hyperedge with its members in position order.
type Edge struct {
	ID        string
	Type      string
	Label     string
	Weight    float64
	Metadata  string // JSON object or empty
	AsStored  bool   // as Node's
	Forms     []model.BesideRow
	CreatedAt time.Time
	Members   []Membership
	Oversize  int64 // as Node's, of label and metadata
}

// Membership ties a node to an edge. (edge, node, role) is unique.
type Membership struct {
	NodeID   string
	Role     string // subject, object, context, participant
	Position int64
}

// NodeFilter is conjunctive; an empty list is no constraint (H6).
type NodeFilter struct {
	IDs           []string
	Types         []string
	Tiers         []string
	Subtypes      []string
	NotSubtypes   []string // excluded, to hide bookkeeping
	MinConfidence float64
	CreatedAfter  time.Time
	CreatedBefore time.Time
	SubjectID     string
}

// Listing is a keyset page over nodes or edges.
type Listing struct {
	Filter NodeFilter
	Order  model.Order // allow-list: newest, oldest, id
	// Text keeps the nodes that contain it in content, id or metadata, matched as Search does; empty
	// keeps all.
	Text   string
	Cursor string // opaque, of this backend
	End    bool
	Limit  int // > 0
}

// List tells the listing's cursors from another's. what names the backend's list.
func (l Listing) List(what string) cursor.List {
	l.Cursor, l.End, l.Limit = "", false, 0
	return cursor.ListOf(what, l)
}

// NodePage is a window of a list in the list's order.
type NodePage struct {
	Nodes      []Node
	Next, Prev string
	Total      model.Count
}

// EdgePage is a window of the edges, in the requested order.
type EdgePage struct {
	Edges      []Edge
	Next, Prev string
	Total      model.Count
}

// SearchOptions narrows a search (H7). Limit 0 is no limit.
type SearchOptions struct {
	Types           []string
	Tiers           []string
	MinConfidence   float64
	Limit           int
	IncludeArchived bool
	NotSubtypes     []string
}

// Hit is one result, best first. Score is in 0..1.
type Hit struct {
	Node  Node
	Score float64
}

// SearchResult holds the hits and says how they were ranked.
type SearchResult struct {
	Hits      []Hit
	Total     model.Count
	Bounded   bool   // only a part of the matches was ranked
	BoundNote string // which part, in words
}

// Direction of a traversal: Outgoing means that the start node is the subject.
type Direction string

// The directions.
const (
	Both     Direction = ""
	Outgoing Direction = "outgoing"
	Incoming Direction = "incoming"
)

// TraversalOptions bounds GetConnected (H8). MaxDepth 0 acts as 1.
type TraversalOptions struct {
	Direction  Direction
	MaxDepth   int
	EdgeTypes  []string
	NodeTypes  []string
	Tiers      []string
	MaxResults int
}

// Capabilities are the published flags (H11).
type Capabilities struct {
	VectorSearch, FullTextSearch, Transactions  bool
	ConcurrentReads, ConcurrentWrites           bool
	Streaming, ChangeNotifications, HasSubjects bool
	MaxConnections, MaxVectorDimensions         int
}

// Has maps a feature name to its flag; an unknown name is false (H13).
func (c Capabilities) Has(feature string) bool {
	switch feature {
	case "vector_search":
		return c.VectorSearch
	case "fts":
		return c.FullTextSearch
	case "transactions":
		return c.Transactions
	}
	return false
}

// Ops are the reads and writes, the same inside a transaction and outside it. Errors are *model.Error:
// NotFound for an absent id (H4), AlreadyExists for a create of an existing one (H3), InvalidInput for a
// value outside the schema's lists. A violated constraint, such as removing a decision that has children,
// is Conflict; Locked means that another writer holds the store.
type Ops interface {
	// CreateNode stores the fields as given, even a confidence or access count of 0, and stamps every
	// zero time except LastAccessed. A decision whose parent has no decision row is Conflict.
	CreateNode(ctx context.Context, n Node) error
	GetNode(ctx context.Context, id string) (Node, error)
	// UpdateNode writes type, subtype, content, tier, confidence, provenance, metadata and the decision
	// row of an existing node. Changed content drops the node's vector, which belonged to the old text.
	// A nil Decision leaves the row as it is.
	UpdateNode(ctx context.Context, n Node) error
	// DeleteNode removes the node, its memberships, its vector, and edges left with
	// fewer than two members. A node whose decision has children is Conflict.
	DeleteNode(ctx context.Context, id string) error
	// DeleteNodes deletes each of the nodes as DeleteNode does and counts them; absent ones are skipped.
	// The slice has any order. A node whose decision keeps a child is Conflict, before anything is deleted.
	// Where there are transactions, a failure deletes nothing.
	DeleteNodes(ctx context.Context, ids []string) (int64, error)
	// ListNodes returns a window in the listing's order, which is total: ties go by id. newest is oldest
	// reversed. A cursor of another backend or order, and an order that is not allowed, are InvalidInput.
	ListNodes(ctx context.Context, l Listing) (NodePage, error)
	// AllNodes streams every node that the filter keeps, by id.
	AllNodes(ctx context.Context, f NodeFilter) iter.Seq2[Node, error]
	// NodeIDs is AllNodes with the ids only.
	NodeIDs(ctx context.Context, f NodeFilter) iter.Seq2[string, error]
	// StreamNodes streams every node in the order that costs least.
	StreamNodes(ctx context.Context) iter.Seq2[Node, error]

	// CreateEdge stores the edge with its members, even a weight of 0, and stamps CreatedAt where it is
	// zero. A member that is no node is Conflict; (node, role) twice is InvalidInput.
	CreateEdge(ctx context.Context, e Edge) error
	GetEdge(ctx context.Context, id string) (Edge, error)
	// UpdateEdge writes type, label, weight and metadata, not the members.
	UpdateEdge(ctx context.Context, e Edge) error
	DeleteEdge(ctx context.Context, id string) error
	// ListEdges is ListNodes over edges: of the listing's filter only IDs and the two times count, and
	// Text is matched in label, id and metadata.
	ListEdges(ctx context.Context, l Listing) (EdgePage, error)
	// EdgesOf lists at most limit edges of a node and counts them all.
	EdgesOf(ctx context.Context, node string, limit int) ([]Edge, int64, error)
	// EdgesOfAll returns, for each of the nodes, the sorted ids of all its edges; a node without edges
	// is not in the map.
	EdgesOfAll(ctx context.Context, nodes []string) (map[string][]string, error)
	// AddMembership is NotFound for an absent edge or node and AlreadyExists for
	// (edge, node, role) twice.
	AddMembership(ctx context.Context, edge string, m Membership) error
	// RemoveMembership removes every role of the node in the edge and keeps the edge.
	// NotFound when the node is no member.
	RemoveMembership(ctx context.Context, edge, node string) error

	SearchByContent(ctx context.Context, query string, o SearchOptions) (SearchResult, error)
	// SearchByEmbedding ranks by cosine similarity, ignores nodes without a vector
	// and is InvalidInput for a dimension mismatch (H9).
	SearchByEmbedding(ctx context.Context, vector []float32, o SearchOptions) (SearchResult, error)
	// SetEmbedding stores a node's vector; nil removes it.
	SetEmbedding(ctx context.Context, node, modelName string, vector []float32) error
	// GetConnected walks breadth first and leaves out the start node. Archived nodes are neither
	// returned nor walked through unless Tiers names their tier.
	GetConnected(ctx context.Context, id string, o TraversalOptions) ([]Node, error)
	// GetSubgraph returns the nodes within depth steps of the given ones, these included, and every edge
	// with at least two members among them. Absent ids are skipped. One of too many nodes is refused (Reach).
	GetSubgraph(ctx context.Context, ids []string, depth int) ([]Node, []Edge, error)

	// Counts returns items and bytes of content per tier, edges under EdgeTier.
	Counts(ctx context.Context) ([]model.TierCount, error)
}

// mostReached is how many nodes a subgraph may have: it is one answer, not pages.
const mostReached = 10_000

// Reach refuses a subgraph that has reached this many nodes already.
func Reach(nodes int) error {
	if nodes <= mostReached {
		return nil
	}
	return model.Errorf(model.InvalidInput, "subgraph", "more than %d items lie within these steps: go fewer steps, or from fewer items", mostReached)
}

// EdgeTier is the tier name under which edges are listed as items of their own.
const EdgeTier = "edges"

// Backend is one store of the family.
type Backend interface {
	Ops
	// WithTx runs fn in one transaction: an error or a panic rolls everything back (H10). A backend whose
	// Transactions capability is false runs fn under its lock and need not undo anything. Reads of fn hold until it
	// commits: a read and the write that depends on it lose no update of another transaction. fn may be run
	// again after a serialization failure. It uses only the Ops it is given, and only until it returns.
	WithTx(ctx context.Context, fn func(Ops) error) error
	// Ping checks that the store answers, changing nothing.
	Ping(ctx context.Context) error
	Capabilities() Capabilities
	Close() error
}

// Forms is implemented by a Backend whose columns store one value in several forms, as other programs
// wrote it: NULL or an empty text, a time in several shapes.
type Forms interface {
	// Forms returns the forms of a node's or an edge's rows that the item's fields do not show, so that
	// writing the same fields leaves the rows as they were. A cell holds no text of the item: a cell of
	// type bytes stands for the field's text.
	Forms(ctx context.Context, id string, edge bool) ([]model.BesideRow, error)
	// PutVectorForms writes the forms that a node's vector had, among those of its other rows, to its new vector.
	PutVectorForms(ctx context.Context, node string, forms []model.BesideRow) error
}

// Vocabulary holds the values that a backend's schema admits.
type Vocabulary struct {
	NodeTypes   []string
	EdgeTypes   []string
	Tiers       []string
	DefaultTier string
	DefaultType string
	ArchiveTier string   // search skips it
	Bookkeeping []string // subtypes hidden by default
}

// Recurse is the vocabulary of recurse.md, which memdesk's own schema shares.
func Recurse() Vocabulary {
	return Vocabulary{
		NodeTypes: []string{"entity", "fact", "experience", "decision", "snippet"},
		EdgeTypes: []string{"relation", "composition", "causation", "context", "spawns", "considers",
			"chooses", "rejects", "implements", "produces", "informs"},
		Tiers:       []string{"task", "session", "longterm", "archive"},
		DefaultTier: "task",
		DefaultType: "fact",
		ArchiveTier: "archive",
		Bookkeeping: []string{"budget_session", "budget_project", "routing_profile", "routing_history", "learning_signal", "evolution_log"},
	}
}
