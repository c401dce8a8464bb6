package gateway

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"memdesk/internal/clock"
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

// eventsKept bounds what one process remembers of its events; the sink gets all.
const eventsKept = 1000

// journal keeps the newest events of this process and passes every one on.
type journal struct {
	clock clock.Clock
	sink  func(model.StoreEvent) error

	mu   sync.Mutex
	kept []model.StoreEvent // oldest first
}

// note records an event. The error is the sink's: whoever stores the session
// decides what its loss means (G19).
func (j *journal) note(name string, payload ...model.Field) error {
	e := model.StoreEvent{At: j.clock.Now().UTC(), Name: name, Payload: payload}
	j.mu.Lock()
	j.kept = append(j.kept, e)
	if extra := len(j.kept) - eventsKept; extra > 0 {
		j.kept = slices.Delete(j.kept, 0, extra)
	}
	j.mu.Unlock()
	if j.sink == nil {
		return nil
	}
	if err := j.sink(e); err != nil {
		return model.Errorf(model.Internal, "event", "the event %s could not be stored: %w", name, err)
	}
	return nil
}

// StoreEvents lists the newest first: those of this process, at most a thousand.
func (j *journal) StoreEvents(ctx context.Context, limit int) ([]model.StoreEvent, error) {
	if err := model.FromContext(ctx, "events"); err != nil {
		return nil, err
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

func (j *journal) recalled(scope []string, n int) error {
	return j.note(EventRecallSucceeded, model.Field{Name: "scope", Value: strings.Join(scope, ",")}, model.Field{Name: "result_count", Value: strconv.Itoa(n)})
}

func (j *journal) added(session string, messages int) error {
	return j.note(EventAddSucceeded, model.Field{Name: "session_id", Value: "chat:" + session}, model.Field{Name: "message_count", Value: strconv.Itoa(messages)})
}

func (j *journal) flushed(session string) error {
	return j.note(EventFlushSucceeded, model.Field{Name: "session_id", Value: "chat:" + session})
}

// failed is one of the three failures.
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
