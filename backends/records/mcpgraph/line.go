package mcpgraph

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"memdesk/backends/internal/entity"
	"memdesk/backends/internal/jsonedit"
)

// The tiers of a graph.
const (
	entityTier   = entity.Tier
	relationTier = entity.RelationTier
	problemTier  = "problem"
)

// The reasons why a line is a problem (MG5).
const (
	whyNotJSON   = "not JSON"
	whyNotObject = "not an object"
	whyType      = "unknown type"
	whyShape     = "shape"
	whyDuplicate = "duplicate"
)

// line is one line of the file.
type line struct {
	raw    []byte
	number int    // from 1
	tier   string // empty for a blank line
	id     string
	body   string
	title  string

	name, entityType   string // of an entity
	from, relation, to string // of a relation
	why                string // of a problem
	more               bool   // it has keys that the program's next write drops
}

// parse reads a file into lines. A name that was seen before makes its line a problem.
func parse(data []byte) []line {
	var out []line
	seen := map[string]bool{}
	for i, raw := range bytes.Split(data, []byte("\n")) {
		l := readLine(raw)
		l.number = i + 1
		if l.tier == entityTier && seen[l.name] || l.tier == relationTier && seen[l.id] {
			l = problem(raw, whyDuplicate)
			l.number = i + 1
		}
		switch l.tier {
		case entityTier:
			seen[l.name] = true
		case relationTier:
			seen[l.id] = true
		case problemTier:
			l.title = "line " + strconv.Itoa(l.number) + ": " + l.why
			for n := 2; seen[l.id]; n++ { // the same bytes again
				l.id = strings.TrimSuffix(l.id, "-"+strconv.Itoa(n-1)) + "-" + strconv.Itoa(n)
			}
			seen[l.id] = true
		}
		out = append(out, l)
	}
	return out
}

func readLine(raw []byte) line {
	if len(bytes.TrimSpace(raw)) == 0 {
		return line{raw: raw}
	}
	if !json.Valid(raw) {
		return problem(raw, whyNotJSON)
	}
	o, err := jsonedit.Parse(raw)
	if err != nil {
		return problem(raw, whyNotObject)
	}
	kind, _ := o.Text("type")
	text := func(key string) (string, bool) {
		v := o.Raw(key)
		if len(v) == 0 || v[0] != '"' {
			return "", false
		}
		s, _ := o.Text(key)
		return s, true
	}
	l := line{raw: raw}
	switch kind {
	case "entity":
		var ok1, ok2 bool
		l.name, ok1 = text("name")
		l.entityType, ok2 = text("entityType")
		var obs []string
		if !ok1 || !ok2 || o.Find("observations") < 0 || json.Unmarshal(o.Raw("observations"), &obs) != nil || string(o.Raw("observations")) == "null" || !utf8.Valid(raw) {
			return problem(raw, whyShape)
		}
		l.tier, l.id, l.title, l.body, l.more = entityTier, entity.ID(l.name), l.name, entity.Encode(obs), len(o.Members) > 4
	case "relation":
		var ok1, ok2, ok3 bool
		l.from, ok1 = text("from")
		l.to, ok2 = text("to")
		l.relation, ok3 = text("relationType")
		if !ok1 || !ok2 || !ok3 || !utf8.Valid(raw) {
			return problem(raw, whyShape)
		}
		l.tier, l.id, l.body, l.more = relationTier, entity.RelationID(l.from, l.relation, l.to), l.from+" "+l.relation+" "+l.to, len(o.Members) > 4
		l.title = l.body
	default:
		return problem(raw, whyType)
	}
	return l
}

func problem(raw []byte, why string) line {
	sum := sha256.Sum256(raw)
	return line{raw: raw, tier: problemTier, id: "problem/" + hex.EncodeToString(sum[:])[:12], body: string(raw), why: why}
}
