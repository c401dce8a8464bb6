// Package entity spells what the official MCP memory server keeps as items: the ids of
// entities and relations, and observations as a Markdown list (mcpgraph.md MG1, MG2).
package entity

import (
	"slices"
	"strings"
	"unicode/utf8"

	"memdesk/model"
)

// The tiers of entities and of relations.
const (
	Tier         = "entity"
	RelationTier = "relation"
)

// The mark of an id that a name itself contains is doubled; unmarked is the reverse.
var (
	marked   = strings.NewReplacer(model.Inner, model.Inner+model.Inner)
	unmarked = strings.NewReplacer(model.Inner+model.Inner, model.Inner, model.Inner, "")
)

// ID is an entity's name; one that begins like another kind of id has its slash escaped
// (MG1).
func ID(name string) string {
	name = marked.Replace(name)
	for _, word := range []string{"edge/", "problem/"} {
		if rest, ok := strings.CutPrefix(name, word); ok {
			return strings.TrimSuffix(word, "/") + model.Inner + "/" + rest
		}
	}
	return name
}

// Name is the name that an entity's id stands for.
func Name(id string) string { return unmarked.Replace(id) }

// Is reports whether an id is spelled as ID and RelationID spell it; a relation's id without three parts passes.
func Is(id string) bool {
	if from, relation, to, ok := Ends(id); ok {
		return RelationID(from, relation, to) == id
	}
	return strings.HasPrefix(id, "edge/") || ID(Name(id)) == id
}

// RelationID is a relation's id: edge/FROM/TYPE/TO.
func RelationID(from, relation, to string) string {
	return "edge/" + part(from) + "/" + part(relation) + "/" + part(to)
}

// part is one part of a relation's id: its slashes divide nothing.
func part(s string) string {
	return strings.ReplaceAll(marked.Replace(s), "/", model.Inner+"/")
}

// Ends reads a relation's id; false for another id.
func Ends(id string) (from, relation, to string, ok bool) {
	rest, ok := strings.CutPrefix(id, "edge/")
	if !ok {
		return "", "", "", false
	}
	parts := Parts(rest)
	if len(parts) != 3 {
		return "", "", "", false
	}
	return parts[0], parts[1], parts[2], true
}

// Parts splits an id at the slashes that divide it, and takes the marks out of its parts.
func Parts(id string) []string {
	var out []string
	var part strings.Builder
	for i := 0; i < len(id); i++ {
		switch {
		case strings.HasPrefix(id[i:], model.Inner+model.Inner), strings.HasPrefix(id[i:], model.Inner+"/"):
			i += len(model.Inner)
			_, n := utf8.DecodeRuneInString(id[i:])
			part.WriteString(id[i : i+n])
			i += n - 1
		case id[i] == '/':
			out = append(out, part.String())
			part.Reset()
		default:
			part.WriteByte(id[i])
		}
	}
	return append(out, part.String())
}

// Encode writes observations as a Markdown list (MG2).
func Encode(observations []string) string {
	rows := make([]string, len(observations))
	for i, o := range observations {
		rows[i] = "- " + strings.ReplaceAll(o, "\n", "\n  ")
	}
	return strings.Join(rows, "\n")
}

// Decode reads a list back. InvalidInput names the line that is none of it.
func Decode(body string) ([]string, error) {
	out := []string{}
	body = strings.TrimSuffix(body, "\n")
	if body == "" {
		return out, nil
	}
	rows := strings.Split(body, "\n")
	var parts []string // the lines of the last observation
	end := func() {
		if parts != nil {
			out = append(out, strings.Join(parts, "\n"))
		}
	}
	for i, row := range rows {
		rest, begins := strings.CutPrefix(row, "- ")
		more, continues := strings.CutPrefix(row, "  ")
		blank := row == "" && i+1 < len(rows) && (strings.HasPrefix(rows[i+1], "  ") || rows[i+1] == "")
		switch {
		case begins:
			end()
			parts = []string{rest}
		case parts != nil && (continues || blank):
			parts = append(parts, more)
		default:
			return nil, model.Errorf(model.InvalidInput, "retain", "line %d: an observation begins with `- `, and its further lines with two spaces", i+1)
		}
	}
	end()
	return out, nil
}

// Set is observations by their text: an entity may have many thousands.
func Set(observations []string) map[string]bool {
	out := make(map[string]bool, len(observations))
	for _, o := range observations {
		out[o] = true
	}
	return out
}

// Join adds observations that are not there yet.
func Join(have, more []string) []string {
	out, there := slices.Clone(have), Set(have)
	for _, o := range more {
		if !there[o] {
			out, there[o] = append(out, o), true
		}
	}
	return out
}

// Type reads the one writable metadata field of an entity; without it the type is fallback.
func Type(meta []model.Field, fallback string) (string, error) {
	for _, f := range meta {
		switch {
		case f.ReadOnly:
			continue
		case f.Name != "entityType":
			return "", model.Errorf(model.InvalidInput, "retain", "an entity has the field entityType and no other")
		}
		fallback = f.Value
	}
	return fallback, nil
}
