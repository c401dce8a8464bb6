package door

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"memdesk/internal/bearer"
	"memdesk/model"
)

// aliases are the tools that prompts written for other memory servers expect
// (agents-door.md, section 5). Unknown arguments are dropped (AD26).
var aliases = map[string][]tool{
	"mem0": {
		alias("add_memory", "Remember a text.", bearer.ScopeRetain, object{"text": aString}, []string{"text"}, aliasAdd(func(a textArgs) string { return a.Text })),
		alias("search_memories", "Search memory.", bearer.ScopeRecall, object{"query": aString, "limit": aNumber}, []string{"query"}, aliasSearch),
		alias("get_memories", "List memory items.", bearer.ScopeRecall, object{}, nil, aliasList),
		alias("get_memory", "Read one memory item.", bearer.ScopeRecall, object{"memory_id": aString}, []string{"memory_id"}, aliasGet),
		alias("delete_memory", "Forget one memory item.", bearer.ScopeForget, object{"memory_id": aString}, []string{"memory_id"}, aliasForget(func(a idArgs) string { return a.MemoryID })),
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
		alias("memory_store", "Remember a text.", bearer.ScopeRetain, object{"content": aString, "tags": object{}}, []string{"content"}, aliasAdd(func(a textArgs) string { return a.Content })),
		alias("memory_search", "Search memory.", bearer.ScopeRecall, object{"query": aString, "limit": aNumber}, []string{"query"}, aliasSearch),
		alias("memory_delete", "Forget one memory item.", bearer.ScopeForget, object{"content_hash": aString}, []string{"content_hash"}, aliasForget(func(a idArgs) string { return a.ContentHash })),
	},
}

// lenient tools share their name with a main tool, and drop unknown arguments when their alias is offered.
var lenient = map[string]map[string]runner{
	"mcp-memory-service": {"memory_list": reading(list, false), "memory_health": reading(health, false)},
}

// maxValues bounds the entities, names or observations of one call.
const maxValues = 100

// alias is a tool that drops unknown arguments.
func alias[T any](name, about, scope string, properties object, required []string, run func(context.Context, *call, T) (answer, error)) tool {
	reads := scope == bearer.ScopeRecall
	return tool{def: &mcp.Tool{Name: name, Description: about + " (an alias of memdesk's own tools)", Annotations: hints(reads, !reads, reads),
		InputSchema: input(true, required, properties), OutputSchema: output(object{})}, scopes: needs(scope), writes: !reads, run: reading(run, false)}
}

// aliasReason is the reason of a forget by an alias, which gives none (AD26).
const aliasReason = "alias"

type textArgs struct {
	Text    string `json:"text"`
	Content string `json:"content"`
}

func aliasAdd(text func(textArgs) string) func(context.Context, *call, textArgs) (answer, error) {
	return func(ctx context.Context, c *call, a textArgs) (answer, error) {
		return retain(ctx, c, c.keyed(retainArgs{Content: text(a)}, ""))
	}
}

type searchArgs struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
}

func aliasSearch(ctx context.Context, c *call, a searchArgs) (answer, error) {
	if a.Limit < 1 || a.Limit > model.RecallLimit {
		a.Limit = usualHits
	}
	return recall(ctx, c, recallArgs{Query: a.Query, Limit: &a.Limit})
}

func aliasList(ctx context.Context, c *call, _ struct{}) (answer, error) {
	return list(ctx, c, listArgs{})
}

type idArgs struct {
	MemoryID    string `json:"memory_id"`
	ContentHash string `json:"content_hash"`
}

func aliasGet(ctx context.Context, c *call, a idArgs) (answer, error) {
	return get(ctx, c, getArgs{Ref: a.MemoryID})
}

func aliasForget(id func(idArgs) string) func(context.Context, *call, idArgs) (answer, error) {
	return func(ctx context.Context, c *call, a idArgs) (answer, error) {
		return forget(ctx, c, forgetArgs{Ref: id(a), Reason: aliasReason})
	}
}

func aliasUnsupported(context.Context, *call, struct{}) (answer, error) {
	return answer{}, model.Errorf(model.Unsupported, "call", "relations are not supported here")
}

// aliasEntities writes one item per entity: its name, then one line per observation. An entity whose name is among the
// first hits stays as it is: a second one could not be told from it.
func aliasEntities(ctx context.Context, c *call, a struct {
	Entities []struct {
		Name         string   `json:"name"`
		Observations []string `json:"observations"`
	} `json:"entities"`
}) (answer, error) {
	if _, err := c.store(""); err != nil { // what other stores answer matters to no write
		return answer{}, err
	}
	return each(c.writing, a.Entities, func(i int) (answer, error) {
		e := a.Entities[i]
		if strings.TrimSpace(e.Name) == "" {
			return answer{}, model.Errorf(model.InvalidInput, "call", "an entity needs a name")
		}
		if ref, unsure, _, err := c.entity(ctx, e.Name); err != nil {
			return answer{}, err
		} else if ref != "" {
			return answer{object{"status": "exists", "ref": ref}, "an entity has this name already: " + ref}, nil
		} else if unsure != "" {
			return answer{}, model.Errorf(model.Unavailable, "call", "not all searched: %s", unsure)
		}
		whole := c.keyed(retainArgs{Content: strings.Join(append([]string{e.Name}, e.Observations...), "\n") + "\n"}, e.Name)
		return c.retainLines(ctx, whole, e.Observations)
	})
}

// keyed gives a write a key where its tier needs one, since no alias has keys: the entity's name where the
// store takes it, else its words and a hash of the text.
func (c *call) keyed(a retainArgs, name string) retainArgs {
	s, err := c.store("")
	if t, ok := s.Tier(c.Tier); err != nil || !ok || t.KeyRule != model.KeyRequired {
		return a
	}
	words := strings.FieldsFunc(strings.ToLower(cmp.Or(name, a.Content)), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	sum := sha256.Sum256([]byte(cmp.Or(name, a.Content)))
	a.Key = strings.Join(append(words[:min(len(words), keyWords)], hex.EncodeToString(sum[:4])), "-")
	if name != "" && s.Address != nil {
		if _, err := s.Address(model.RetainRequest{Tier: c.Tier, Key: name, Content: a.Content}); err == nil {
			a.Key = name
		}
	}
	return a
}

// retainLines writes observations as lines of text, or as a list where the store takes only lists.
func (c *call) retainLines(ctx context.Context, a retainArgs, observations []string) (answer, error) {
	out, err := retain(ctx, c, a)
	if model.KindOf(err) != model.InvalidInput || len(observations) == 0 {
		return out, err
	}
	a.Content = ""
	for _, o := range observations {
		a.Content += "- " + strings.ReplaceAll(o, "\n", "\n  ") + "\n"
	}
	if out, lerr := retain(ctx, c, a); lerr == nil {
		return out, nil
	}
	return out, err
}

// keyWords is the number of words of a text in its key.
const keyWords = 5

// aliasObservations adds lines to the item of an entity's name.
func aliasObservations(ctx context.Context, c *call, a struct {
	Observations []struct {
		EntityName string   `json:"entityName"`
		Contents   []string `json:"contents"`
	} `json:"observations"`
}) (answer, error) {
	return each(c.writing, a.Observations, func(i int) (answer, error) {
		return c.named(ctx, a.Observations[i].EntityName, true, func(ref string) (answer, error) {
			lines := a.Observations[i].Contents
			return c.retainLines(ctx, retainArgs{Content: strings.Join(lines, "\n") + "\n", Ref: ref}, lines)
		})
	})
}

func aliasOpen(ctx context.Context, c *call, a struct {
	Names []string `json:"names"`
}) (answer, error) {
	return each(nil, a.Names, func(i int) (answer, error) {
		return c.named(ctx, a.Names[i], false, func(ref string) (answer, error) { return get(ctx, c, getArgs{Ref: ref}) })
	})
}

func aliasDelete(ctx context.Context, c *call, a struct {
	Names []string `json:"entityNames"`
}) (answer, error) {
	return each(c.writing, a.Names, func(i int) (answer, error) {
		return c.named(ctx, a.Names[i], true, func(ref string) (answer, error) {
			return forget(ctx, c, forgetArgs{Ref: ref, Reason: aliasReason})
		})
	})
}

// named runs a call on the item of an entity's name. A change needs every store's answer: a silent one may have another
// item of that name.
func (c *call) named(ctx context.Context, name string, changes bool, run func(ref string) (answer, error)) (answer, error) {
	ref, unsure, more, err := c.entity(ctx, name)
	switch {
	case err != nil:
		return answer{}, err
	case unsure != "" && (changes || ref == ""):
		return answer{}, model.Errorf(model.Unavailable, "call", "not all searched: %s", unsure)
	case ref == "" && more:
		return answer{}, model.Errorf(model.NotFound, "call", "no entity of the first hits has this name, and there may be more")
	case ref == "":
		return answer{}, model.Errorf(model.NotFound, "call", "no entity has this name")
	}
	return run(ref)
}

// entity is the reference of the item with the name: as its title, its id or its first line; empty where none was
// found. unsure says which part of the stores was not looked at, and more that there may be further hits.
func (c *call) entity(ctx context.Context, name string) (found, unsure string, more bool, err error) {
	out, err := c.recall(ctx, name, model.RecallLimit, "", "")
	if err != nil {
		return "", "", false, err
	}
	for _, s := range out.Stores {
		if s.Error != "" {
			unsure = cmp.Or(unsure, s.Store+": "+s.Error)
		}
	}
	for _, h := range out.Hits {
		s, ref, err := c.at(h.Ref)
		if err != nil {
			continue
		}
		it, err := c.read(ctx, s, ref.ID)
		if model.KindOf(err).Retryable() {
			unsure = cmp.Or(unsure, s.Name+": "+message(err))
		}
		if first, _, _ := strings.Cut(it.Body, "\n"); err != nil || first != name && it.Title != name && it.ID != name {
			continue
		}
		if found != "" {
			return "", "", false, model.Errorf(model.InvalidInput, "call", "several items have this name: give a reference to memory_get or memory_forget")
		}
		found = h.Ref
	}
	return found, unsure, out.Bounded || len(out.Hits) == model.RecallLimit, nil
}

// each runs a call for every value and returns all of their facts. It stops at a first error that precedes
// any success; later errors are among the facts. pace is asked before every call except the first, which was
// counted on arrival.
func each[T any](pace func() error, values []T, run func(i int) (answer, error)) (answer, error) {
	if len(values) > maxValues {
		return answer{}, model.Errorf(model.InvalidInput, "call", "%d values in one call; %d are the most", len(values), maxValues)
	}
	facts, texts, room := []any{}, []string{}, maxText
	for i := range values {
		var a answer
		var err error
		if i > 0 && pace != nil {
			err = pace()
		}
		if err == nil {
			a, err = run(i)
		}
		if err != nil && i == 0 {
			return answer{}, err
		}
		if err != nil {
			f := factOf(err)
			a = answer{failed{"error", f}, f.Message}
		}
		facts = append(facts, a.facts)
		if room -= len(a.text) + 1; room >= 0 {
			texts = append(texts, a.text)
		}
	}
	if room < 0 {
		texts = append(texts, restLeftOut)
	}
	return answer{object{"status": "ok", "results": facts}, strings.Join(texts, "\n")}, nil
}
