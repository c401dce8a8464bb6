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

// The reasons for which a line is a problem (MG5).
const (
	whyNotJSON   = "not JSON"
	whyNotObject = "not an object"
	whyType      = "unknown type"
	whyShape     = "shape"
	whyBytes     = "not UTF-8"
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
	more               string // its members that the server's next write drops, a JSON object
}

// identity is the key that must be unique in the file: a name, a relation; for a problem, its bytes.
func (l line) identity() string {
	switch l.tier {
	case entityTier:
		return entityTier + " " + l.name
	case problemTier:
		id, _, _ := strings.Cut(l.id, "-") // which of the lines with these bytes it is
		return id
	}
	return l.id
}

// parse reads a file into lines.
func parse(data []byte) []line {
	var out []line
	for i, raw := range bytes.Split(data, []byte("\n")) {
		l := readLine(raw)
		l.number = i + 1
		out = append(out, l)
	}
	return single(out)
}

// single turns lines with the identity of an earlier line into problems.
func single(lines []line) []line {
	seen := make(map[string]int, len(lines))
	for i, l := range lines {
		if (l.tier == entityTier || l.tier == relationTier) && seen[l.identity()] > 0 {
			l = problem(l.raw, whyDuplicate)
			l.number = i + 1
		}
		n := seen[l.identity()] + 1
		seen[l.identity()] = n
		if n > 1 && l.tier == problemTier { // the same bytes again
			l.id += "-" + strconv.Itoa(n)
		}
		lines[i] = l
	}
	return lines
}

// splice derives the lines of data from the old ones: it reads only the lines between the first and the last
// difference, from and to in the new lines. ok is false where one of these has, or had, the identity of
// another line: then all lines must be read again to know which one counts.
func splice(old []line, data []byte) (lines []line, from, to int, ok bool) {
	raw := bytes.Split(data, []byte("\n"))
	least := min(len(old), len(raw))
	for from < least && bytes.Equal(raw[from], old[from].raw) {
		from++
	}
	tail := 0
	for tail < least-from && bytes.Equal(raw[len(raw)-1-tail], old[len(old)-1-tail].raw) {
		tail++
	}
	to = len(raw) - tail
	touched := map[string]bool{} // identities of removed and added lines
	for _, l := range old[from : len(old)-tail] {
		touched[l.identity()] = true
	}
	lines = append(make([]line, 0, len(raw)), old[:from]...)
	came := map[string]bool{"": true}
	for _, r := range raw[from:to] {
		l := readLine(r)
		if l.tier != "" && came[l.identity()] {
			return nil, 0, 0, false
		}
		came[l.identity()], touched[l.identity()] = true, true
		lines = append(lines, l)
	}
	lines = append(lines, old[len(old)-tail:]...)
	for i := range lines {
		lines[i].raw, lines[i].number = raw[i], i+1
		if l := lines[i]; (i < from || i >= to) && l.tier != "" && (touched[l.identity()] || l.why == whyDuplicate) {
			return nil, 0, 0, false
		}
	}
	return lines, from, to, true
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
	kind, _ := text(o, "type")
	l := line{raw: raw}
	switch kind {
	case "entity":
		var ok1, ok2 bool
		l.name, ok1 = text(o, "name")
		l.entityType, ok2 = text(o, "entityType")
		obs, ok3 := jsonedit.Texts(o.Raw("observations"))
		if !ok1 || !ok2 || !ok3 || l.name == "" { // no id is empty
			return problem(raw, whyShape)
		}
		l.tier, l.id, l.title, l.body, l.more = entityTier, entity.ID(l.name), l.name, entity.Encode(obs), o.Rest(entityMembers...)
	case "relation":
		var ok1, ok2, ok3 bool
		l.from, ok1 = text(o, "from")
		l.to, ok2 = text(o, "to")
		l.relation, ok3 = text(o, "relationType")
		if !ok1 || !ok2 || !ok3 {
			return problem(raw, whyShape)
		}
		l.tier, l.id, l.body, l.more = relationTier, entity.RelationID(l.from, l.relation, l.to), l.from+" "+l.relation+" "+l.to, o.Rest(relationMembers...)
		l.title = l.body
	default:
		return problem(raw, whyType)
	}
	if !utf8.Valid(raw) {
		return problem(raw, whyBytes)
	}
	return l
}

// The members of a line that are in its item.
var (
	entityMembers   = []string{"type", "name", "entityType", "observations"}
	relationMembers = []string{"type", "from", "to", "relationType"}
)

// text returns a member that is a string.
func text(o *jsonedit.Object, key string) (string, bool) {
	s, _ := o.Text(key)
	return s, bytes.HasPrefix(o.Raw(key), []byte(`"`))
}

func problem(raw []byte, why string) line {
	sum := sha256.Sum256(raw)
	return line{raw: raw, tier: problemTier, id: "problem/" + hex.EncodeToString(sum[:])[:12], body: string(raw), why: why}
}
