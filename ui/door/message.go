package door

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// The answers to a text without a message (agents-door.md, AD13). Their id is null, tooLong's until longAnswer
// finds one: the text's cannot be relied on.
const (
	noText    = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is not UTF-8 text"}}`
	tooLong   = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the message is larger than 1048576 bytes"}}`
	noJSON    = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is no JSON text, or it is nested too deep"}}`
	noLine    = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"this is no JSON text, or it is nested too deep: over stdio, a message is one line"}}`
	noMessage = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"this is no JSON-RPC 2.0 message with a string or an integer below 2^53 as its id"}}`
	sameID    = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"another call with this id has no answer yet"}}`
)

// maxHead is how much of a message that is too long is searched for its id.
const maxHead = 4 << 10

// longAnswer is tooLong, under the id of the call where its head shows one before what is long: a client waits for it. An
// id that another call has stays without an answer of its own.
func (a *asked) longAnswer(head []byte) string {
	in := json.NewDecoder(bytes.NewReader(head))
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return tooLong
	}
	for {
		name, err := in.Token()
		var value json.RawMessage
		if err != nil || in.Decode(&value) != nil {
			return tooLong
		}
		if name != "id" {
			continue
		}
		call, answer := messages([]byte(`{"jsonrpc":"2.0","method":"call","id":` + string(value) + `}`))
		if answer != "" || !a.add(call) {
			return tooLong
		}
		a.answered(call[0].(*jsonrpc.Request).ID)
		return strings.Replace(tooLong, "null", string(value), 1)
	}
}

// messages decodes a message or a batch as the library does, so that both see the same calls. answer is for a
// text that holds none; blanks need no answer.
func messages(text []byte) (all []jsonrpc.Message, answer string) {
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return nil, ""
	}
	if !utf8.Valid(text) { // the decoder would replace the bytes, so that another text is stored than was sent
		return nil, noText
	}
	if !json.Valid(text) {
		return nil, noJSON
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil { // no batch
		parts = []json.RawMessage{text}
	}
	for _, part := range parts {
		m, err := jsonrpc.DecodeMessage(part)
		if err != nil || !soundID(part) {
			return nil, noMessage
		}
		all = append(all, m)
	}
	if len(all) == 0 {
		return nil, noMessage
	}
	return all, ""
}

// asked are the ids of the calls that have no answer yet. Its zero value has none.
type asked struct {
	mu    sync.Mutex
	ids   map[jsonrpc.ID]bool
	freed chan struct{} // has an element after an answer, for one who waits; nil: nobody does
}

// add takes in the calls among messages, or none of them where two calls would have the same id: the library
// leaves the second without an answer, and ends the session over a batch.
func (a *asked) add(all []jsonrpc.Message) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids := map[jsonrpc.ID]bool{}
	for _, m := range all {
		if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
			if ids[r.ID] || a.ids[r.ID] {
				return false
			}
			ids[r.ID] = true
		}
	}
	if a.ids == nil {
		a.ids = map[jsonrpc.ID]bool{}
	}
	maps.Copy(a.ids, ids)
	return true
}

// answered takes out a call.
func (a *asked) answered(id jsonrpc.ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.ids, id)
	select {
	case a.freed <- struct{}{}:
	default:
	}
}

// waiting counts the calls that wait for their answers.
func (a *asked) waiting() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.ids)
}

// soundID refuses a number that the library would answer as another one, and null, which it takes for a
// notification.
func soundID(message []byte) bool {
	var fields map[string]json.RawMessage
	var n *float64
	if json.Unmarshal(message, &fields) != nil || json.Unmarshal(fields["id"], &n) != nil {
		return true
	}
	if n == nil {
		return fields["method"] == nil
	}
	return *n == math.Trunc(*n) && math.Abs(*n) < 1<<53
}
