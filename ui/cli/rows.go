package cli

import (
	"strconv"
	"strings"
	"time"

	"memdesk/jobs"
	"memdesk/model"
)

// undoRow is an undo entry.
type undoRow struct {
	Undo      string    `json:"undo"`
	Store     string    `json:"store"`
	ID        encodedID `json:"id"`
	Op        string    `json:"op"`
	At        instant   `json:"at"`
	Expires   instant   `json:"expires"`
	Bytes     int64     `json:"bytes"`
	Confirmed bool      `json:"confirmed"` // the change was made, and its result noted
	Sides     any       `json:"sides"`
}

func (undoRow) kind() string { return "undo" }

func (r undoRow) cells() []any {
	return []any{r.Undo, r.ID.in(r.Store), r.Op, when(time.Time(r.At)), when(time.Time(r.Expires)), r.Bytes}
}

// jobRow is long work.
type jobRow struct {
	Job      jobs.ID    `json:"job"`
	Kind     string     `json:"kind"`
	Title    string     `json:"title"`
	State    jobs.State `json:"state"`
	Done     int64      `json:"done"`
	Total    int64      `json:"total"`
	Unit     string     `json:"unit"`
	Note     string     `json:"note"`
	Steps    any        `json:"steps"`
	Class    any        `json:"class"`
	PID      int        `json:"pid"`
	Started  instant    `json:"started"`
	Updated  instant    `json:"updated"`
	progress string
}

func (jobRow) kind() string { return "job" }

func (r jobRow) cells() []any {
	return []any{string(r.Job), r.Kind, string(r.State), r.progress, when(time.Time(r.Started)), r.Title}
}

// versionRow is a version that a store keeps of an item.
type versionRow struct {
	Store    string    `json:"store"`
	ID       encodedID `json:"id"`
	Version  string    `json:"version"`
	At       instant   `json:"at"`
	By       string    `json:"by"`
	Bytes    int64     `json:"bytes"`
	SHA256   string    `json:"sha256"`
	Readable bool      `json:"readable"`
}

func (versionRow) kind() string { return "version" }

func (r versionRow) cells() []any {
	return []any{r.Version, when(time.Time(r.At)), r.By, r.Bytes, yesNo(r.Readable), r.SHA256}
}

// dependencyRow is one work item that waits for another.
type dependencyRow struct {
	Store   string    `json:"store"`
	Blocker encodedID `json:"blocker"`
	Blocked encodedID `json:"blocked"`
	Kind    string    `json:"kind"`
}

func (dependencyRow) kind() string { return "dependency" }

func (r dependencyRow) cells() []any {
	return []any{r.Blocker.in(r.Store), r.Blocked.in(r.Store), r.Kind}
}

// linkRow is a relation between items of a graph.
type linkRow struct {
	Store string      `json:"store"`
	ID    encodedID   `json:"id"`
	Kind  string      `json:"kind"`
	Label string      `json:"label"`
	Items []encodedID `json:"items"`
}

func (linkRow) kind() string { return "link" }

func (r linkRow) cells() []any {
	items := make([]string, len(r.Items))
	for i, id := range r.Items {
		items[i] = string(id)
	}
	return []any{r.ID.in(r.Store), r.Kind, strings.Join(items, " "), r.Label}
}

// similarRow is an item near another in meaning.
type similarRow struct {
	Store   string    `json:"store"`
	ID      encodedID `json:"id"`
	Source  string    `json:"source"`
	Snippet string    `json:"snippet"`
	Line    int       `json:"line"`
	Score   float64   `json:"score"`
}

func (similarRow) kind() string { return "hit" }

func (r similarRow) cells() []any { return []any{r.ID.in(r.Store), r.Score, r.Snippet} }

// tierRow is a tier with its counts; a cap is null where there is none.
type tierRow struct {
	Store    string        `json:"store"`
	Tier     string        `json:"tier"`
	Items    int64         `json:"items"`
	Bytes    int64         `json:"bytes"`
	CapBytes *int64        `json:"cap_bytes"` // only where the cap counts bytes
	Cap      *int64        `json:"cap"`
	CapUnit  model.CapUnit `json:"cap_unit"`
	Writable bool          `json:"writable"`
	Hidden   bool          `json:"hidden"`
	AtLeast  bool          `json:"at_least"` // something could not be counted
	title    string
}

func (tierRow) kind() string { return "tier" }

func (r tierRow) cells() []any {
	limit := "-"
	if r.Cap != nil {
		limit = strconv.FormatInt(*r.Cap, 10)
	}
	return []any{r.Store, r.Tier, r.Items, r.Bytes, limit, r.title}
}

// stepRow is one migration of a schema.
type stepRow struct {
	store string
	model.SchemaStep
}

func (stepRow) kind() string { return "step" }

func (r stepRow) cells() []any { return []any{r.Version, yesNo(r.Applied), r.What} }

func (r stepRow) fields() row {
	return row{"store": r.store, "version": r.Version, "what": r.What, "applied": r.Applied}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
