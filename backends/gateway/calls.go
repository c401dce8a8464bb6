package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strings"
)

// Result is one search result, reduced to the documented fields (G8).
type Result struct {
	ID, SessionID, Text      string
	Score                    float64 // 0..1; 1 where the gateway gives none
	SourceScope, ResourceURI string
}

// search asks once. It returns at most TopK results, in the gateway's order.
func (w *wire) search(ctx context.Context, conversation, query string) ([]Result, *failure) {
	data, bad := w.post(ctx, w.cfg.SearchPath, w.searchBody(conversation, query))
	if bad != nil {
		return nil, bad
	}
	return w.decode(data)
}

func (w *wire) searchBody(conversation, query string) []pair {
	return []pair{
		{"user_id", w.cfg.UserID}, {"user_key", w.cfg.UserKey.Reveal()}, {"conversation_id", conversation}, {"query", query},
		{"scope", w.cfg.Scope}, {"top_k", w.cfg.TopK}, {"app_id", w.cfg.AppID}, {"project_id", w.cfg.ProjectID},
	}
}

// decode reads an answer tolerantly: an error in one item costs only that item, a missing list the whole
// answer (G7).
func (w *wire) decode(data json.RawMessage) ([]Result, *failure) {
	var top map[string]json.RawMessage
	var items []json.RawMessage
	list, there := []byte(nil), false
	if json.Unmarshal(data, &top) == nil {
		list, there = top[w.cfg.field("results")]
	}
	if !there || !bytes.HasPrefix(bytes.TrimSpace(list), []byte("[")) || json.Unmarshal(list, &items) != nil {
		return nil, &failure{Category: CategoryInvalidShape, Detail: "the answer has no list of results"}
	}
	out := []Result{}
	for _, raw := range items {
		if len(out) == w.cfg.TopK { // a gateway may ignore the requested number
			break
		}
		if r, ok := w.item(raw); ok {
			out = append(out, r)
		}
	}
	return out, nil
}

// item is false for an unusable item: no object, a field of another type, no text.
func (w *wire) item(raw json.RawMessage) (Result, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return Result{}, false
	}
	var r Result
	for _, f := range []struct {
		name string
		into *string
	}{{"id", &r.ID}, {"session_id", &r.SessionID}, {"text", &r.Text}, {"source_scope", &r.SourceScope}, {"resource_uri", &r.ResourceURI}} {
		v, there := fields[w.cfg.field(f.name)]
		if !there {
			continue
		}
		if json.Unmarshal(v, f.into) != nil { // null leaves it empty
			return Result{}, false
		}
		*f.into = w.conceal(*f.into)
	}
	score := math.Inf(1)
	if v, there := fields[w.cfg.field("score")]; there {
		if json.Unmarshal(v, &score) != nil {
			return Result{}, false
		}
	}
	r.Score = min(max(score, 0), 1) // its scale is unspecified
	return r, strings.TrimSpace(r.Text) != ""
}

// message is one of an add: of the two of a turn (G12), or the one of an operator. At is in milliseconds
// since 1970.
type message struct {
	sender, role, content string
	at                    int64
}

// add stores messages. It is sent once, whatever the result (G13).
func (w *wire) add(ctx context.Context, session string, turn []message) *failure {
	_, bad := w.post(ctx, w.cfg.AddPath, w.addBody(session, turn))
	return bad
}

func (w *wire) addBody(session string, turn []message) []pair {
	messages := make([][]pair, 0, len(turn))
	for _, m := range turn {
		messages = append(messages, []pair{{"sender_id", m.sender}, {"role", m.role}, {"timestamp", m.at}, {"content", m.content}})
	}
	return append(w.sessionBody(session), pair{"messages", messages})
}

// flush ends a turn that was added. It is sent once, and only after a successful add (G14).
func (w *wire) flush(ctx context.Context, session string) *failure {
	_, bad := w.post(ctx, w.cfg.FlushPath, w.sessionBody(session))
	return bad
}

func (w *wire) sessionBody(session string) []pair {
	return []pair{
		{"user_id", w.cfg.UserID}, {"user_key", w.cfg.UserKey.Reveal()}, {"session_id", "chat:" + session},
		{"app_id", w.cfg.AppID}, {"project_id", w.cfg.ProjectID},
	}
}
