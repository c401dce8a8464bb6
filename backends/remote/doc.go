// Package remote carries the Provider contract over HTTP: the client, which is a backend like any other, and
// the handler that serves any store to it. Four JSON calls make a provider (retain, recall, forget, health);
// the reads beside them are optional. openapi.json describes the same for other languages and is tested
// against the handler. A store's medium (Maintainer) and its changes (Watcher) are not served.
package remote

import (
	"encoding/base64"
	"time"
	"unicode/utf8"

	"memdesk/backends/internal/declared"
	"memdesk/model"
)

// Limits of one request and one answer.
const (
	// MaxBody is the most bytes of a request or an answer that is not a stream.
	MaxBody = 80 << 20
	// MaxLine is the most bytes of one line of a stream.
	MaxLine = 1 << 20
)

// storeInfo is the answer of GET /v1/store: the store's declarations.
type storeInfo struct {
	Kind           string          `json:"kind"`
	ReadOnly       bool            `json:"read_only"`
	ReadOnlyReason string          `json:"read_only_reason,omitempty"`
	Tiers          []tier          `json:"tiers"`
	Orders         []model.Order   `json:"orders,omitempty"`
	Deviations     []deviation     `json:"deviations,omitempty"`
	Features       map[string]bool `json:"features,omitempty"`
	Limits         map[string]int  `json:"limits,omitempty"`
	Notes          []string        `json:"notes,omitempty"`
	Facets         []string        `json:"facets,omitempty"` // the optional reads that the server has
	Unseen         bool            `json:"unseen,omitempty"` // retain takes the field; an older server refuses the word
}

type deviation struct {
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
}

type tier declared.Tier

type field struct {
	Name     string `json:"name"`
	Value    string `json:"value"`
	ReadOnly bool   `json:"read_only,omitempty"`
	Sealed   bool   `json:"sealed,omitempty"`
}

// id is the handle of an item, in the form of a reference: controls, bytes that are no UTF-8 and % are
// percent-encoded.
type id string

// MarshalText encodes the handle.
func (i id) MarshalText() ([]byte, error) { return []byte(model.EncodeID(string(i))), nil }

// UnmarshalText decodes it.
func (i *id) UnmarshalText(text []byte) error {
	s, err := model.DecodeID(string(text))
	*i = id(s)
	return err
}

// content is text, or any bytes in base64 where they are no UTF-8.
type content struct {
	Text   string `json:"content,omitempty"`
	Base64 string `json:"content_base64,omitempty"`
}

func contentOf(s string) content {
	if utf8.ValidString(s) {
		return content{Text: s}
	}
	return content{Base64: base64.StdEncoding.EncodeToString([]byte(s))}
}

func (c content) bytes(op string) (string, error) {
	if c.Base64 == "" {
		return c.Text, nil
	}
	if c.Text != "" {
		return "", model.Errorf(model.InvalidInput, op, "content and content_base64 are both there: give one")
	}
	b, err := base64.StdEncoding.DecodeString(c.Base64)
	if err != nil {
		return "", model.Errorf(model.InvalidInput, op, "content_base64 is no base64")
	}
	return string(b), nil
}

type retainRequest struct {
	WorkspaceID string `json:"workspace_id,omitempty"`
	AgentID     string `json:"agent_id,omitempty"`
	CrewID      string `json:"crew_id,omitempty"`
	Tier        string `json:"tier,omitempty"`
	Key         string `json:"key,omitempty"`
	content
	Mode          model.Mode     `json:"mode"`
	ID            id             `json:"id,omitempty"`
	IfMatch       model.Revision `json:"if_match,omitempty"`
	Unseen        bool           `json:"unseen,omitempty"`
	Meta          *[]field       `json:"meta,omitempty"` // absent keeps the stored fields
	DataSubjectID string         `json:"data_subject_id,omitempty"`
	Binary        bool           `json:"binary,omitempty"`
	Restore       bool           `json:"restore,omitempty"`
	Erase         bool           `json:"erase,omitempty"`
}

type retainResult struct {
	ID       id             `json:"id"`
	Bytes    int64          `json:"bytes"`
	Revision model.Revision `json:"revision,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
}

type recallRequest struct {
	WorkspaceID string `json:"workspace_id,omitempty"`
	AgentID     string `json:"agent_id,omitempty"`
	CrewID      string `json:"crew_id,omitempty"`
	Tier        string `json:"tier,omitempty"`
	Query       string `json:"query"`
	Limit       int    `json:"limit,omitempty"`
}

type recallResult struct {
	Hits        []hit    `json:"hits"` // never null (R22)
	Quarantined []string `json:"quarantined,omitempty"`
	Total       *int64   `json:"total,omitempty"` // absent: not counted
	Bounded     bool     `json:"bounded,omitempty"`
	BoundNote   string   `json:"bound_note,omitempty"`
	Warnings    []string `json:"warnings,omitempty"`
}

type hit struct {
	ID      id      `json:"id,omitempty"`
	Source  string  `json:"source"`
	Snippet string  `json:"snippet"`
	Line    int     `json:"line,omitempty"`
	Score   float64 `json:"score"`
	Meta    []field `json:"meta,omitempty"`
}

type forgetRequest struct {
	WorkspaceID   string         `json:"workspace_id,omitempty"`
	AgentID       string         `json:"agent_id,omitempty"`
	CrewID        string         `json:"crew_id,omitempty"`
	ID            id             `json:"id,omitempty"`
	DataSubjectID string         `json:"data_subject_id,omitempty"`
	IfMatch       model.Revision `json:"if_match,omitempty"`
	KeepHistory   bool           `json:"keep_history,omitempty"`
	Erase         bool           `json:"erase,omitempty"`
}

type forgetResult struct {
	Removed  int64    `json:"removed"`
	Warnings []string `json:"warnings,omitempty"`
}

// health: a server of the published contract sends the first three fields; the others are optional.
type health struct {
	OK            bool              `json:"ok"`
	Message       string            `json:"message,omitempty"`
	CheckedAt     time.Time         `json:"checked_at"`
	State         model.HealthState `json:"state,omitempty"`
	Findings      []finding         `json:"findings,omitempty"`
	DeepCheckedAt *time.Time        `json:"deep_checked_at,omitempty"`
	Probing       bool              `json:"probing,omitempty"`
}

type finding struct {
	Kind      string            `json:"kind"`
	Ref       string            `json:"ref,omitempty"`
	Message   string            `json:"message"`
	CheckedAt time.Time         `json:"checked_at"`
	State     model.HealthState `json:"state"`
}

type listRequest struct {
	Tier   string      `json:"tier,omitempty"`
	Scope  string      `json:"scope,omitempty"`
	Query  string      `json:"query,omitempty"`
	Order  model.Order `json:"order,omitempty"`
	Cursor string      `json:"cursor,omitempty"`
	End    bool        `json:"end,omitempty"`
	Limit  int         `json:"limit,omitempty"`
	Hidden bool        `json:"hidden,omitempty"`
}

type page struct {
	Items    []header `json:"items"`
	Next     string   `json:"next,omitempty"`
	Prev     string   `json:"prev,omitempty"`
	Total    count    `json:"total"`
	Problems []string `json:"problems,omitempty"`
}

type count struct {
	N       int64 `json:"n"`
	AtLeast bool  `json:"at_least,omitempty"`
	Unknown bool  `json:"unknown,omitempty"`
}

type header struct {
	ID       id             `json:"id"`
	Tier     string         `json:"tier"`
	Scope    string         `json:"scope,omitempty"`
	Title    string         `json:"title,omitempty"`
	Bytes    int64          `json:"bytes"`
	Modified *time.Time     `json:"modified,omitempty"` // absent: unknown to the store
	Stamp    string         `json:"stamp,omitempty"`
	Revision model.Revision `json:"revision,omitempty"`
	Flags    []model.Flag   `json:"flags,omitempty"`
}

type item struct {
	header
	content
	Meta       []field `json:"meta,omitempty"`
	Links      []link  `json:"links,omitempty"`
	LinksTotal int64   `json:"links_total,omitempty"`
}

type link struct {
	ID    id     `json:"id,omitempty"`
	Kind  string `json:"kind,omitempty"`
	Role  string `json:"role,omitempty"`
	Label string `json:"label,omitempty"`
	Other []id   `json:"other,omitempty"`
}

type idRequest struct {
	ID      id     `json:"id"`
	Version string `json:"version,omitempty"`
}

type tierCounts struct {
	Tiers []tierCount `json:"tiers"`
}

type tierCount struct {
	Scope      string `json:"scope,omitempty"`
	ScopeTitle string `json:"scope_title,omitempty"`
	Tier       string `json:"tier"`
	Items      int64  `json:"items"`
	Bytes      int64  `json:"bytes"`
}

type versions struct {
	State    model.HistoryState `json:"state"`
	Reason   string             `json:"reason,omitempty"`
	Versions []version          `json:"versions"`
}

type version struct {
	ID       string     `json:"id"`
	At       *time.Time `json:"at,omitempty"`
	By       string     `json:"by,omitempty"`
	Bytes    int64      `json:"bytes"`
	Hash     string     `json:"hash,omitempty"`
	Readable bool       `json:"readable"`
	Change   *edit      `json:"change,omitempty"`
}

type edit struct {
	Action   string  `json:"action"`
	Previous *string `json:"previous,omitempty"`
	New      *string `json:"new,omitempty"`
}

type quarantineList struct {
	Entries []quarantined `json:"entries"`
}

type quarantined struct {
	ID       id         `json:"id"`
	Source   string     `json:"source,omitempty"`
	SourceID id         `json:"source_id,omitempty"`
	Category string     `json:"category,omitempty"`
	Pattern  string     `json:"pattern,omitempty"`
	SHA256   string     `json:"sha256,omitempty"`
	At       *time.Time `json:"at,omitempty"`
	Bytes    int64      `json:"bytes"`
	content
	Problem string `json:"problem,omitempty"`
	Unread  bool   `json:"unread,omitempty"` // it could not be read: there may be a text where there is none here
}

type conflictList struct {
	Conflicts []storeConflict `json:"conflicts"`
}

type storeConflict struct {
	CopyID id         `json:"copy_id"`
	BaseID id         `json:"base_id,omitempty"`
	Tool   string     `json:"tool,omitempty"`
	Reason string     `json:"reason"`
	At     *time.Time `json:"at,omitempty"`
}

type subjectsRequest struct {
	Subjects []string `json:"subjects"`
}

type fallsRequest struct {
	IDs []id `json:"ids"`
}

type fallsResult struct {
	Falls []fall `json:"falls"`
}

type fall struct {
	ID   id   `json:"id"`
	With []id `json:"with"` // the members that go
	Left int  `json:"left"` // members that stay
}

// line is one line of a stream. The last one has Done: a stream that ends
// without it was cut.
type line struct {
	ID       id       `json:"id,omitempty"`
	Subject  string   `json:"subject,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Called   string   `json:"called,omitempty"`
	Done     bool     `json:"done,omitempty"`
	Problems []string `json:"problems,omitempty"`
	Error    *failure `json:"error,omitempty"`
}

// failure is an error on the wire. Refused says that a policy of the serving side refused the call.
type failure struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
	Refused   bool   `json:"refused,omitempty"`
}

type failed struct {
	Error failure `json:"error"`
}
