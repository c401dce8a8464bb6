package mem0

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/backends/internal/litefile"
	"memdesk/backends/records"
	"memdesk/model"
)

// files are the databases of one store; an empty path means a missing one.
type files struct {
	vectors, history, entities string
	python                     bool // the history has Python's columns
}

// The columns that identify a file (M01); its name does not count.
var known = map[string]map[string][]string{
	"vectors": {"vectors": records.PayloadColumns},
	"history": {"memory_history": {"id", "memory_id", "previous_value", "new_value", "action", "created_at", "updated_at"}},
	"python":  {"history": {"id", "memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at"}},
}

// messageTable is the table of messages beside a history.
var messageTable = map[string][]string{"messages": {"id", "session_scope", "role", "content", "name", "created_at"}}

const entitiesSuffix = "_entities"

// locate finds the files of a store: a directory, or the vector file itself.
func locate(ctx context.Context, path, history string, readOnly bool) (files, error) {
	var f files
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return f, model.Errorf(model.NotFound, "open", "there is no %q: check the path", filepath.Base(path))
	case err != nil:
		return f, litefile.Worded("open", err)
	}
	dir := path
	if !info.IsDir() {
		dir = filepath.Dir(path)
	}
	names, err := records.Databases(dir)
	if err != nil {
		return f, err
	}
	var vectors, histories, python []string
	for _, name := range names {
		kind, err := records.Tell(ctx, filepath.Join(dir, name), readOnly, known)
		if err != nil && (info.IsDir() || history == "") { // it may be a part of the store
			return f, err
		}
		switch {
		case kind == "vectors" && !strings.HasSuffix(stem(name), entitiesSuffix):
			vectors = append(vectors, name)
		case kind == "history":
			histories = append(histories, name)
		case kind == "python":
			python = append(python, name)
		}
	}
	if !info.IsDir() {
		vectors = []string{filepath.Base(path)}
	}
	if len(vectors) == 0 && isQdrant(dir) {
		return f, model.Errorf(model.Unsupported, "open", "%q is a local Qdrant folder, which only its own program reads: run mem0's server and open that", filepath.Base(dir))
	}
	if f.vectors, err = only(dir, "vector file", vectors); err != nil {
		return f, err
	}
	if f.vectors == "" {
		return f, model.Errorf(model.InvalidInput, "open", "no file in %q has the columns of mem0's vectors (id, vector, payload)", filepath.Base(dir))
	}
	if history != "" {
		f.history = history
		f.python, err = pythons(ctx, history, readOnly)
		return f.withEntities(names), err
	}
	if f.history, err = only(dir, "history file", append(histories, python...)); err != nil {
		return f, err
	}
	f.python = len(histories) == 0 && len(python) == 1
	return f.withEntities(names), nil
}

// pythons reports whether a configured history file has Python's columns. It refuses a file that is no history.
func pythons(ctx context.Context, path string, readOnly bool) (bool, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return false, model.Errorf(model.NotFound, "open", "there is no history file %q: check the key history", filepath.Base(path))
	} else if err != nil {
		return false, litefile.Worded("open", err)
	}
	if kind, err := records.Tell(ctx, path, readOnly, known); err != nil || kind == "python" || kind == "history" {
		return kind == "python", err
	}
	return false, model.Errorf(model.InvalidInput, "open", "the history file %q has not the columns of mem0's history", filepath.Base(path))
}

// withEntities adds the entity store beside the vector file.
func (f files) withEntities(names []string) files {
	ext := filepath.Ext(f.vectors)
	name := stem(filepath.Base(f.vectors)) + entitiesSuffix + ext
	if slices.Contains(names, name) {
		f.entities = filepath.Join(filepath.Dir(f.vectors), name)
	}
	return f
}

func stem(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

// only is the single candidate; two are an error that names them.
func only(dir, what string, names []string) (string, error) {
	switch len(names) {
	case 0:
		return "", nil
	case 1:
		return filepath.Join(dir, names[0]), nil
	}
	return "", model.Errorf(model.InvalidInput, "open", "%d candidates for the %s: %s; name one", len(names), what, strings.Join(names, ", "))
}

func isQdrant(dir string) bool {
	for _, name := range []string{"meta.json", "collection"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}
