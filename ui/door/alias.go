package door

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memdesk/internal/bearer"
	"memdesk/model"
)

// aliases are the tools that prompts written for other memory servers expect
// (agents-door.md, section 5). Unknown arguments are dropped (AD26).
var aliases = map[string][]tool{
	"mem0": {
		alias("add_memory", "Remember a text.", bearer.ScopeRetain, object{"text": aString}, []string{"text"}, aliasAdd("text")),
		alias("search_memories", "Search memory.", bearer.ScopeRecall, object{"query": aString, "limit": aNumber}, []string{"query"}, aliasSearch),
		alias("get_memories", "List memory items.", bearer.ScopeRecall, object{}, nil, aliasList),
		alias("get_memory", "Read one memory item.", bearer.ScopeRecall, object{"memory_id": aString}, []string{"memory_id"}, aliasGet("memory_id")),
		alias("delete_memory", "Forget one memory item.", bearer.ScopeForget, object{"memory_id": aString}, []string{"memory_id"}, aliasForget("memory_id")),
	},
	"server-memory": {
		alias("create_entities", "Remember entities and what is known of them.", bearer.ScopeRetain, object{"entities": aList}, []string{"entities"}, aliasEntities),
		alias("add_observations", "Add what is known of an entity.", bearer.ScopeRetain, object{"observations": aList}, []string{"observations"}, aliasObservations),
		alias("search_nodes", "Search memory.", bearer.ScopeRecall, object{"query": aString}, []string{"query"}, aliasSearch),
		alias("open_nodes", "Find entities by name.", bearer.ScopeRecall, object{"names": object{"type": "array", "items": aString}}, []string{"names"}, aliasOpen),
		alias("read_graph", "List memory items.", bearer.ScopeRecall, object{}, nil, aliasList),
		alias("delete_entities", "Forget entities by reference.", bearer.ScopeForget, object{"entityNames": object{"type": "array", "items": aString}}, []string{"entityNames"}, aliasDelete),
		alias("create_relations", "Not supported here.", bearer.ScopeRetain, object{}, nil, aliasUnsupported),
		alias("delete_relations", "Not supported here.", bearer.ScopeForget, object{}, nil, aliasUnsupported),
	},
	"mcp-memory-service": {
		alias("memory_store", "Remember a text.", bearer.ScopeRetain, object{"content": aString, "tags": object{}}, []string{"content"}, aliasAdd("content")),
		alias("memory_search", "Search memory.", bearer.ScopeRecall, object{"query": aString, "limit": aNumber}, []string{"query"}, aliasSearch),
		alias("memory_delete", "Forget one memory item.", bearer.ScopeForget, object{"content_hash": aString}, []string{"content_hash"}, aliasForget("content_hash")),
	},
}

type runner = func(ctx context.Context, c *call, args json.RawMessage) (answer, error)

func alias(name, about, scope string, properties object, required []string, run runner) tool {
	reads := scope == bearer.ScopeRecall
	return tool{def: &mcp.Tool{Name: name, Description: about + " (an alias of memdesk's own tools)", Annotations: hints(reads, !reads, reads),
		InputSchema: input(true, required, properties), OutputSchema: output(object{})}, scopes: needs(scope), writes: !reads, run: run}
}

// argument is one argument of an alias as text; empty when it is not there.
func argument(raw json.RawMessage, name string) string {
	var all map[string]json.RawMessage
	var out string
	if json.Unmarshal(raw, &all) == nil {
		_ = json.Unmarshal(all[name], &out) // another type is no text
	}
	return out
}

func again(v any) json.RawMessage {
	b, _ := json.Marshal(v) // strings and numbers always encode
	return b
}

func aliasAdd(name string) runner {
	return func(ctx context.Context, c *call, raw json.RawMessage) (answer, error) {
		return retain(ctx, c, again(object{"content": argument(raw, name)}))
	}
}

func aliasSearch(ctx context.Context, c *call, raw json.RawMessage) (answer, error) {
	limit, err := decode[struct {
		Limit int `json:"limit"`
	}](raw, false)
	if err != nil {
		return answer{}, err
	}
	if limit.Limit < 1 || limit.Limit > model.RecallLimit {
		limit.Limit = usualHits
	}
	return recall(ctx, c, again(object{"query": argument(raw, "query"), "limit": limit.Limit}))
}

func aliasList(ctx context.Context, c *call, _ json.RawMessage) (answer, error) {
	return list(ctx, c, json.RawMessage("{}"))
}

func aliasGet(name string) runner {
	return func(ctx context.Context, c *call, raw json.RawMessage) (answer, error) {
		return get(ctx, c, again(object{"ref": argument(raw, name)}))
	}
}

func aliasForget(name string) runner {
	return func(ctx context.Context, c *call, raw json.RawMessage) (answer, error) {
		return forget(ctx, c, again(object{"ref": argument(raw, name), "reason": "alias"}))
	}
}

func aliasUnsupported(context.Context, *call, json.RawMessage) (answer, error) {
	return answer{}, model.Errorf(model.Unsupported, "call", "relations are not supported here")
}

type entity struct {
	Name         string   `json:"name"`
	EntityName   string   `json:"entityName"`
	Observations []string `json:"observations"`
	Contents     []string `json:"contents"`
}

// aliasEntities writes one item an entity: its name, then a line an observation.
func aliasEntities(ctx context.Context, c *call, raw json.RawMessage) (answer, error) {
	a, err := decode[struct {
		Entities []entity `json:"entities"`
	}](raw, false)
	if err != nil {
		return answer{}, err
	}
	return each(a.Entities, func(e entity) (answer, error) {
		return retain(ctx, c, again(object{"content": strings.Join(append([]string{e.Name}, e.Observations...), "\n") + "\n"}))
	})
}

// aliasObservations adds lines to the item that an entity's name finds.
func aliasObservations(ctx context.Context, c *call, raw json.RawMessage) (answer, error) {
	a, err := decode[struct {
		Observations []entity `json:"observations"`
	}](raw, false)
	if err != nil {
		return answer{}, err
	}
	return each(a.Observations, func(e entity) (answer, error) {
		ref, err := c.entity(ctx, e.EntityName)
		if err != nil {
			return answer{}, err
		}
		return retain(ctx, c, again(object{"content": strings.Join(e.Contents, "\n") + "\n", "ref": ref}))
	})
}

func aliasOpen(ctx context.Context, c *call, raw json.RawMessage) (answer, error) {
	a, err := decode[struct {
		Names []string `json:"names"`
	}](raw, false)
	if err != nil {
		return answer{}, err
	}
	return each(a.Names, func(name string) (answer, error) {
		ref, err := c.entity(ctx, name)
		if err != nil {
			return answer{}, err
		}
		return get(ctx, c, again(object{"ref": ref}))
	})
}

func aliasDelete(ctx context.Context, c *call, raw json.RawMessage) (answer, error) {
	a, err := decode[struct {
		Names []string `json:"entityNames"`
	}](raw, false)
	if err != nil {
		return answer{}, err
	}
	return each(a.Names, func(name string) (answer, error) {
		ref, err := c.entity(ctx, name)
		if err != nil {
			return answer{}, err
		}
		return forget(ctx, c, again(object{"ref": ref, "reason": "alias"}))
	})
}

// entity is the reference of the item whose first line is the name.
func (c *call) entity(ctx context.Context, name string) (string, error) {
	out, err := c.recall(ctx, name, model.RecallLimit, "", "")
	if err != nil {
		return "", err
	}
	found := ""
	for _, h := range out.Hits {
		s, ref, err := c.at(h.Ref)
		if err != nil {
			continue
		}
		it, err := c.read(ctx, s, ref.ID)
		if first, _, _ := strings.Cut(it.Body, "\n"); err != nil || first != name {
			continue
		}
		if found != "" {
			return "", model.Errorf(model.InvalidInput, "call", "several items have this name: give a reference to memory_get or memory_forget")
		}
		found = h.Ref
	}
	if found == "" {
		return "", model.Errorf(model.NotFound, "call", "no entity has this name")
	}
	return found, nil
}

// each runs a call for every value and answers with all of their facts. It stops at
// the first error when nothing was done before; later ones stand among the facts.
func each[T any](values []T, run func(T) (answer, error)) (answer, error) {
	facts, texts := []any{}, []string{}
	for i, v := range values {
		a, err := run(v)
		if err != nil && i == 0 {
			return answer{}, err
		}
		if err != nil {
			a = answer{failed{"error", errorFact{Kind: snake(model.KindOf(err)), Message: message(err), Retryable: model.KindOf(err).Retryable()}}, message(err)}
		}
		facts, texts = append(facts, a.facts), append(texts, a.text)
	}
	return answer{object{"status": "ok", "results": facts}, strings.Join(texts, "\n")}, nil
}
