package conflict

import (
	"strings"

	"memdesk/internal/frontmatter"
	"memdesk/model"
)

// maxFront bounds the lines of front matter that are compared by fields.
const maxFront = 500

// frontFields reads the front matter of a text: top-level `key: value` lines, where lines indented below a
// key are its value.
func frontFields(text string) (fields []model.Field) {
	lines, _ := frontmatter.Split(text)
	if strings.Count(lines, "\n") > maxFront {
		return nil
	}
	for line := range strings.Lines(lines) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if n := len(fields); (line[0] == ' ' || line[0] == '\t' || line[0] == '-') && n > 0 {
			fields[n-1].Value = strings.TrimPrefix(fields[n-1].Value+"\n"+strings.TrimSpace(line), "\n")
			continue
		}
		name, value, ok := frontmatter.Pair(line)
		if !ok {
			return nil
		}
		fields = append(fields, model.Field{Name: strings.TrimSpace(name), Value: value})
	}
	return fields
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
