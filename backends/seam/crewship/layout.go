package crewship

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// layout holds the paths of a store's parts.
type layout struct {
	single bool      // one .memory directory
	base   string    // B: holds crews; the directory itself when single
	memory string    // M: versions and workspace tier; empty when there is none
	db     string    // crewship.db; empty when there is none
	bound  memoryDir // of a single directory: the owner, as far as its path names one
	kept   bool      // only undo entries identify it
}

const (
	memoryName = ".memory"
	dbName     = "crewship.db"
)

// recognise finds the layout of the configured path (crewship-disk.md, Roots).
func recognise(cfg Config) (layout, error) {
	switch {
	case cfg.Path == "" && cfg.BasePath == "":
		return layout{}, model.Errorf(model.InvalidInput, "open", "a crewship store needs a path: a data directory or one .memory directory")
	case cfg.Path == "":
		cfg.Path = cfg.BasePath
	}
	path, err := filepath.Abs(cfg.Path)
	if err != nil {
		return layout{}, model.Errorf(model.InvalidInput, "open", "the path %q cannot be made absolute", cfg.Path)
	}
	children, err := names(path, "path")
	if err != nil {
		return layout{}, err
	}
	has := func(n string) bool { return children[n] }
	var at layout
	switch {
	case strings.HasSuffix(filepath.Base(path), memoryName) || looksLikeMemory(children):
		at = singleLayout(path)
	case cfg.BasePath != "" || has("output") && (has(dbName) || has("memory") || isBase(filepath.Join(path, "output"))):
		at = layout{base: filepath.Join(path, "output"), memory: existing(path, "memory"), db: existing(path, dbName)}
	case has("crews") || has("solo"):
		at = layout{base: path}
		if up := filepath.Dir(path); filepath.Base(path) == "output" {
			at.memory, at.db = existing(up, "memory"), existing(up, dbName)
		}
	case has(dbName):
		return layout{}, model.Errorf(model.InvalidInput, "open", "%q holds crewship.db but no output directory: set base_path to the directory that holds crews", filepath.Base(path))
	case has("output"):
		return layout{}, model.Errorf(model.InvalidInput, "open", "%q holds an output directory without crews, and no crewship.db: it is no Crewship data directory, or half of one", filepath.Base(path))
	case cfg.Kept != nil && len(cfg.Kept()) > 0: // forget removes no directory, so that a data directory keeps its signs
		at = singleLayout(path)
		at.kept = true
	default:
		return layout{}, model.Errorf(model.InvalidInput, "open", "%q is no Crewship memory: a data directory holds crewship.db and output, a memory directory is named .memory or holds AGENT.md, CREW.md or daily", filepath.Base(path))
	}
	return override(at, cfg)
}

// override replaces found roots by configured ones; an absent one is an error, never an empty store.
func override(at layout, cfg Config) (layout, error) {
	for _, o := range []struct {
		key, value string
		to         *string
	}{{"base_path", cfg.BasePath, &at.base}, {"memory_root", cfg.MemoryRoot, &at.memory}} {
		if o.value == "" || at.single && o.key == "base_path" {
			continue
		}
		abs, err := filepath.Abs(o.value)
		if err != nil {
			return layout{}, model.Errorf(model.InvalidInput, "open", "%s cannot be made absolute", o.key)
		}
		if _, err := names(abs, o.key); err != nil {
			return layout{}, err
		}
		*o.to = abs
	}
	return at, nil
}

// names reads the children of a directory that the operator named by key.
func names(path, key string) (map[string]bool, error) {
	fail := func(kind model.Kind, what string) error {
		return model.Errorf(kind, "open", "%s %q %s", key, filepath.Base(path), what)
	}
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fail(model.NotFound, "does not exist; check it, or mount what it lies on")
	case errors.Is(err, fs.ErrPermission):
		return nil, fail(model.PermissionDenied, "may not be looked at by this user; run as root or as the store's own user")
	case err != nil:
		return nil, fail(model.Unavailable, "cannot be looked at: "+reason(err))
	case !fi.IsDir():
		return nil, fail(model.InvalidInput, "is a file; name the directory that holds the memory")
	}
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		var list []string
		if list, err = f.Readdirnames(-1); err == nil {
			out := make(map[string]bool, len(list))
			for _, n := range list {
				out[n] = true
			}
			return out, nil
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		return nil, fail(model.PermissionDenied, "may not be read by this user; run as root or as the store's own user")
	}
	return nil, fail(model.Unavailable, "cannot be read: "+reason(err))
}

// reason is an error's words without the path of the os package.
func reason(err error) string { return atomicfile.Pathless(err).Error() }

// looksLikeMemory recognises a .memory directory under another name.
func looksLikeMemory(children map[string]bool) bool {
	if children["output"] || children["crews"] || children["solo"] || children[dbName] {
		return false
	}
	for _, n := range []string{"AGENT.md", "CREW.md", "PERSONA.md", "lessons.md", "daily", "peers", ".quarantine"} {
		if children[n] {
			return true
		}
	}
	return false
}

func isBase(path string) bool {
	return existing(path, "crews") != "" || existing(path, "solo") != ""
}

// existing is the joined path if there is something, else empty.
func existing(elem ...string) string {
	path := filepath.Join(elem...)
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// singleLayout derives the owner of a .memory directory from its path, and finds the database of the data
// directory around it.
func singleLayout(path string) layout {
	at := layout{single: true, base: path}
	at.bound = memoryDir{kind: kindSingle, root: path, dir: "."}
	parts := strings.Split(filepath.ToSlash(path), "/")
	n := len(parts)
	if parts[n-1] != memoryName {
		return at
	}
	up := func(levels int) string { return filepath.Join(path, strings.Repeat("../", levels)) }
	var base string
	switch {
	case n >= 6 && parts[n-3] == "agents" && parts[n-5] == "crews":
		at.bound.kind, at.bound.crew, at.bound.agent = kindAgent, parts[n-4], parts[n-2]
		base = up(5)
	case n >= 5 && parts[n-2] == "shared" && parts[n-4] == "crews":
		at.bound.kind, at.bound.crew = kindCrew, parts[n-3]
		base = up(4)
	case n >= 6 && parts[n-3] == "agents" && parts[n-5] == "solo":
		at.bound.kind, at.bound.workspace, at.bound.agent = kindSolo, parts[n-4], parts[n-2]
		base = up(5)
	default:
		return at
	}
	if data := filepath.Dir(base); filepath.Base(base) == "output" {
		at.db, at.memory = existing(data, dbName), existing(data, "memory")
	}
	return at
}
