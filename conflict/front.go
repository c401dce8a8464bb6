package conflict

import (
	"strings"

	"memdesk/model"
)

// maxFront bounds the lines of front matter that are read.
const maxFront = 500

// frontFields reads the front matter of a text: top-level `key: value` lines, where lines indented below a
// key are its value.
func frontFields(text string) (fields []model.Field) {
	after, ok := cutFence(text)
	if !ok {
		return nil
	}
	for range maxFront {
		line, more, found := strings.Cut(after, "\n")
		bare := strings.TrimRight(line, "\r")
		if bare == "---" || bare == "..." {
			return fields
		}
		if !found {
			break
		}
		after = more
		if bare == "" || bare[0] == '#' {
			continue
		}
		if n := len(fields); (bare[0] == ' ' || bare[0] == '\t' || bare[0] == '-') && n > 0 {
			fields[n-1].Value = strings.TrimPrefix(fields[n-1].Value+"\n"+strings.TrimSpace(bare), "\n")
			continue
		}
		name, value, ok := strings.Cut(bare, ":")
		if !ok {
			return nil
		}
		fields = append(fields, model.Field{Name: strings.TrimSpace(name), Value: unquote(strings.TrimSpace(value))})
	}
	return nil
}

func cutFence(text string) (string, bool) {
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		return rest, true
	}
	return strings.CutPrefix(text, "---\r\n")
}

func unquote(v string) string {
	if n := len(v); n >= 2 && (v[0] == '"' || v[0] == '\'') && v[n-1] == v[0] {
		return v[1 : n-1]
	}
	return v
}

// FieldPair is one front matter field on both sides.
type FieldPair struct {
	Name           string
	Base, Copy     string
	InBase, InCopy bool
}

// Same reports whether the field is equal on both sides.
func (p FieldPair) Same() bool { return p.InBase && p.InCopy && p.Base == p.Copy }

// CompareFront sets the front matter of two texts side by side, in the base's order, then the fields that
// only the copy has.
func CompareFront(base, copied string) []FieldPair {
	return pairsOf(frontFields(base), frontFields(copied))
}

func pairsOf(base, copied []model.Field) []FieldPair {
	var out []FieldPair
	at := map[string]int{}
	for _, f := range base {
		if _, twice := at[f.Name]; !twice {
			at[f.Name] = len(out)
			out = append(out, FieldPair{Name: f.Name, Base: f.Value, InBase: true})
		}
	}
	for _, f := range copied {
		if i, ok := at[f.Name]; ok {
			if !out[i].InCopy {
				out[i].Copy, out[i].InCopy = f.Value, true
			}
			continue
		}
		at[f.Name] = len(out)
		out = append(out, FieldPair{Name: f.Name, Copy: f.Value, InCopy: true})
	}
	return out
}
