package gdpr

import (
	"cmp"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"memdesk/gdpr/suppress"
	"memdesk/model"
)

// fileHash is the hash of an item's path.
func fileHash(key suppress.Key, path string) string { return key.Item("file", database(path)) }

// dirHash is the hash of a directory's path, or of a file's in which items lie.
func dirHash(key suppress.Key, dir string) string { return key.Item("dir", database(dir)) }

// besideHash is the hash of the path of a file that belongs to an item of another file.
func besideHash(key suppress.Key, file string) string { return key.Item("beside", database(file)) }

// database is, of a file that SQLite keeps beside a database, the path of the database: its pages lie in both, and each write and
// each scrub of the one changes or removes the other. A name without an extension before the suffix is no such file: daily-journal.
func database(path string) string {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if rest, ok := strings.CutSuffix(path, suffix); ok && filepath.Ext(rest) != "" {
			return rest
		}
	}
	return path
}

// resolved is a path with the links in it resolved, where they can be.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// above yields what a path lies in, from its directory, or its file, up to the root.
func above(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for path != "/" {
			path = cmp.Or(path[:strings.LastIndexByte(path, '/')], "/") // no Dir: the id of an item in a file may end in ".."
			if !yield(path) {
				return
			}
		}
	}
}

// opened is the file or directory that a store opened.
func opened(s *model.Store) string { return cmp.Or(s.Place, s.Location) }

// further are the paths of model.Store.Files, with the links in them resolved.
func further(s *model.Store) []string {
	var out []string
	for _, file := range s.Files {
		if filepath.IsAbs(file) {
			out = append(out, resolved(file))
		}
	}
	return out
}

// files returns the function that gives the path of an item of a store, with the links above it resolved; empty where the
// store is not on this machine. An item that shares its file with others lies below the file. It is safe for concurrent use.
func files(s *model.Store) func(id string) string {
	if !filepath.IsAbs(opened(s)) {
		return func(string) string { return "" }
	}
	type root struct {
		path   string
		shared bool // a file
	}
	var mu sync.Mutex
	roots := map[string]root{}
	return func(id string) string {
		dir, file := opened(s), id
		if s.PathOf != nil {
			dir, file = s.PathOf(id)
		}
		mu.Lock()
		defer mu.Unlock()
		in, ok := roots[dir]
		if !ok {
			in.path = resolved(dir)
			info, err := os.Stat(in.path)
			in.shared = err == nil && !info.IsDir()
			roots[dir] = in
		}
		if in.shared {
			return in.path + "/" + strings.ReplaceAll(file, "/", "\x00") // no id lies below another
		}
		return filepath.Join(in.path, filepath.FromSlash(file))
	}
}
