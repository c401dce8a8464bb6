package gateway

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"memdesk/internal/atomicfile"
	"memdesk/internal/clock"
	"memdesk/internal/linefile"
	"memdesk/model"
)

// The six audit events (provider-contract.md G16). They are hidden from an
// agent's context and search; none holds a credential or a body (G17).
const (
	EventRecallSucceeded = "memory_gateway_recall_succeeded" // scope, result_count
	EventRecallFailed    = "memory_gateway_recall_failed"    // operation, category, http_status?
	EventAddSucceeded    = "memory_gateway_add_succeeded"    // session_id, message_count
	EventAddFailed       = "memory_gateway_add_failed"       // operation, category, http_status?
	EventFlushSucceeded  = "memory_gateway_flush_succeeded"  // session_id
	EventFlushFailed     = "memory_gateway_flush_failed"     // operation, category, http_status?, add_succeeded
)

// eventsKept bounds the events that one process keeps without a file.
const eventsKept = 1000

// journal keeps the events in a file, or the newest of this process in memory.
type journal struct {
	clock clock.Clock
	path  string // empty: in memory

	mu   sync.Mutex
	kept []model.StoreEvent // oldest first
}

// stored is an event as a line of the file.
type stored struct {
	At      time.Time         `json:"at"`
	Name    string            `json:"name"`
	Payload map[string]string `json:"payload,omitempty"`
}

// note records an event. The error is the file's: the store of the session decides what the loss means (G19).
func (j *journal) note(name string, payload ...model.Field) error {
	e := model.StoreEvent{At: j.clock.Now().UTC(), Name: name, Payload: payload}
	if j.path == "" {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.kept = append(j.kept, e)
		if extra := len(j.kept) - eventsKept; extra > 0 {
			j.kept = slices.Delete(j.kept, 0, extra)
		}
		return nil
	}
	b, err := json.Marshal(stored{At: e.At, Name: name, Payload: model.Values(payload)})
	if err == nil {
		err = j.file().Add(append(b, '\n'))
	}
	if err != nil {
		return model.Errorf(model.Internal, "event", "the event %s could not be stored: %w", name, atomicfile.Pathless(err))
	}
	return nil
}

// StoreEvents lists the newest first.
func (j *journal) StoreEvents(ctx context.Context, limit int) ([]model.StoreEvent, error) {
	if err := model.FromContext(ctx, "store-events"); err != nil {
		return nil, err
	}
	if j.path != "" {
		return j.read(limit)
	}
	j.mu.Lock()
	out := slices.Clone(j.kept)
	j.mu.Unlock()
	slices.Reverse(out)
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	for i := range out {
		out[i].Payload = slices.Clone(out[i].Payload)
	}
	return out, nil
}

// file is the journal's file; the newest events are in at most two of its size.
func (j *journal) file() linefile.File { return linefile.File{Path: j.path, Most: 1 << 20} }

// read decodes the newest events; limit 0: all.
func (j *journal) read(limit int) ([]model.StoreEvent, error) {
	var lines [][]byte
	if err := j.file().Each(func(line []byte) { lines = append(lines, line) }); err != nil {
		return nil, model.Errorf(model.Unavailable, "store-events", "the events cannot be read: %w", atomicfile.Pathless(err))
	}
	out := []model.StoreEvent{}
	for _, line := range slices.Backward(lines) {
		if limit > 0 && len(out) == limit {
			break
		}
		var s stored
		if json.Unmarshal(line, &s) != nil { // cut off when its program died
			continue
		}
		e := model.StoreEvent{At: s.At, Name: s.Name}
		for _, name := range slices.Sorted(maps.Keys(s.Payload)) {
			e.Payload = append(e.Payload, model.Field{Name: name, Value: s.Payload[name]})
		}
		out = append(out, e)
	}
	return out, nil
}

func (j *journal) recalled(scope []string, n int) error {
	return j.note(EventRecallSucceeded, model.Field{Name: "scope", Value: strings.Join(scope, ",")}, model.Field{Name: "result_count", Value: strconv.Itoa(n)})
}

func (j *journal) added(session string, messages int) error {
	return j.note(EventAddSucceeded, model.Field{Name: "session_id", Value: "chat:" + session}, model.Field{Name: "message_count", Value: strconv.Itoa(messages)})
}

func (j *journal) flushed(session string) error {
	return j.note(EventFlushSucceeded, model.Field{Name: "session_id", Value: "chat:" + session})
}

// failed records one of the three failures.
func (j *journal) failed(name, operation string, f *failure) error {
	payload := []model.Field{{Name: "operation", Value: operation}, {Name: "category", Value: string(f.Category)}}
	if f.Status != 0 {
		payload = append(payload, model.Field{Name: "http_status", Value: strconv.Itoa(f.Status)})
	}
	if name == EventFlushFailed {
		payload = append(payload, model.Field{Name: "add_succeeded", Value: "true"})
	}
	return j.note(name, payload...)
}
