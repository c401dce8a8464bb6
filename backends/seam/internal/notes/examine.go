package notes

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/internal/texts"
	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
)

// Finding is a fact about a part of a store that still serves.
func Finding(kind, ref, format string, args ...any) model.HealthFinding {
	return model.HealthFinding{Kind: kind, Ref: ref, Message: fmt.Sprintf(format, args...), State: model.HealthDegraded}
}

// Examine reads every item of a layout once, in the order of ids, and passes each on. It finds items that
// are no file or no text, and those that the scanner rejects; an unreadable store is reported by Health
// itself.
func (l *Layout) Examine(ctx context.Context, path string, each func(id string, data []byte)) (out []model.HealthFinding, ok bool) {
	root, err := rootdir.Open(path, nil)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	var ids []string
	problems, err := walk.Names(ctx, "health", root, l.rules(), func(id string) bool {
		ids = append(ids, id)
		return true
	})
	if err != nil {
		return nil, false
	}
	for _, p := range problems {
		if link, ok := strings.CutSuffix(p, " "+model.LinkProblem); ok {
			out = append(out, Finding("symlink", link, "a symbolic link where a directory with items can be: it is not followed, and what it leads to is no part of this store"))
		}
	}
	for _, id := range ids {
		if ctx.Err() != nil {
			return nil, false
		}
		m, err := root.Stat(id)
		if err != nil {
			continue // gone, or reported by the walk itself
		}
		if m.Kind != rootdir.File {
			out = append(out, Finding("symlink", id, "a symbolic link or a special file is no item: it is neither followed nor removed"))
			continue
		}
		data, _, err := root.Read(id, texts.WholeLimit)
		if err != nil {
			continue
		}
		each(id, data)
		if !utf8.Valid(data) {
			out = append(out, Finding("not_text", id, "the file is not UTF-8 text"))
		} else if v, hit := scan(string(data)); hit {
			out = append(out, Finding("blocked", id, "the scanner rejects it: %s/%s", v.Category, v.Pattern))
		}
	}
	return out, true
}
