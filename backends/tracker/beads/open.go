package beads

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"memdesk/backends/internal/vitals"
	"memdesk/backends/tracker"
	"memdesk/backends/tracker/command"
	"memdesk/model"
)

// Find resolves a location to the .beads directory.
func Find(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", model.Errorf(model.NotFound, "open", "%q is not there", filepath.Base(path))
	case err != nil:
		return "", fileError("open", filepath.Base(path), err)
	case info.Mode().IsRegular() && filepath.Base(path) == issuesName:
		return filepath.Dir(path), nil
	case !info.IsDir():
		return "", model.Errorf(model.InvalidInput, "open", "%q is no directory: give a repository or its .beads", filepath.Base(path))
	case filepath.Base(path) == ".beads":
		return path, nil
	}
	inner := filepath.Join(path, ".beads")
	if info, err := os.Stat(inner); err == nil && info.IsDir() {
		return inner, nil
	}
	if info, err := os.Stat(filepath.Join(path, issuesName)); err == nil && info.Mode().IsRegular() {
		return path, nil
	}
	return "", model.Errorf(model.NotFound, "open", "%q holds no .beads directory", filepath.Base(path))
}

// Open opens the store. It creates nothing.
func Open(ctx context.Context, c Config) (model.Store, error) {
	dir, err := Find(c.Path)
	if err != nil {
		return model.Store{}, err
	}
	led := ""
	if filepath.Base(c.Path) != issuesName { // a named issues.jsonl follows no redirect
		if dir, led, err = redirected(dir); err != nil {
			return model.Store{}, err
		}
	}
	cli, why, err := choose(c, dir)
	if err != nil {
		return model.Store{}, err
	}
	why = joined(led, why)
	if cli {
		return openCLI(ctx, c, dir, why)
	}
	if why := vitals.Unwritable(dir); why != "" && !c.ReadOnly {
		c.ReadOnly, c.ReadOnlyReason = true, why
	}
	s := NewStore(dir, c)
	snap, whole, err := s.beginning(ctx, 1)
	if err != nil {
		return model.Store{}, err
	}
	s.prefix = snap.prefix()
	statuses := statusesOf(snap)
	if !whole {
		why = joined(why, "the file is large: it opens by its beginning, and a status of its own that stands only further down is no tier to make new items in")
	}
	store := tracker.Adapt(tracker.Config{
		Name: c.Name, Kind: "beads", Location: c.Path, Backend: s, Capabilities: tracker.PresetJSONL, Statuses: statuses,
		Memories: true, Lines: true, NewID: s.NewID,
		Bound:    model.Bound{Workspace: c.Workspace, AgentID: c.AgentID, CrewID: c.CrewID},
		ReadOnly: c.ReadOnly, ReadOnlyReason: c.ReadOnlyReason, Clock: s.clock, Notes: withWhy(why, s.notes()),
	})
	store.Place, store.PathOf, store.Files = dir, s.pathOf, []string{s.path(issuesName), s.path(depsName)}
	store.Conflicts, store.Maintainer, store.Watcher, store.Events = s, s, s, s
	return store, nil
}

// pathOf is where an item lies: all share one file.
func (s *Store) pathOf(id string) (dir, file string) { return s.path(issuesName), id }

// statusesOf are the published statuses and the store's custom ones.
func statusesOf(snap *snapshot) []string {
	out := tracker.Statuses()
	for _, t := range snap.tiers {
		if tracker.IsStatus(t) && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

func withWhy(why string, notes []string) []string {
	if why == "" {
		return notes
	}
	return append([]string{why}, notes...)
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// openCLI opens the bd command. It runs it once, so that a store that does not answer is not opened.
func openCLI(ctx context.Context, c Config, dir, why string) (model.Store, error) {
	b := NewCLI(command.Program{Name: cmp.Or(c.Command, "bd"), Dir: filepath.Dir(dir)})
	v, err := b.view(ctx)
	if err != nil {
		return model.Store{}, err
	}
	files := NewStore(dir, c)
	files.export = true
	store := tracker.Adapt(tracker.Config{
		Name: c.Name, Kind: "beads", Location: c.Path, Backend: b, Capabilities: tracker.PresetCLI, Statuses: statusesOf(v.snapshot),
		Memories: true, Bound: model.Bound{Workspace: c.Workspace, AgentID: c.AgentID, CrewID: c.CrewID},
		ReadOnly: c.ReadOnly, ReadOnlyReason: c.ReadOnlyReason, Clock: files.clock, Notes: withWhy(why, cliNotes()),
		Deviations: []model.Deviation{{Rule: "D7", Reason: "bd has no compare-and-swap: two writers with one revision may both succeed"}},
	})
	store.Place, store.PathOf, store.Files = dir, files.pathOf, []string{dir, files.path(issuesName)} // bd says not which of its files it writes
	store.Maintainer, store.Events = files, files
	return store, nil
}

// notes say what was opened and what a write to it means.
func (s *Store) notes() []string {
	out := []string{
		"this is the JSONL, not bd's database: bd keeps its truth in Dolt and takes a changed line only when it imports the file",
		"a running Foolery holds a cache and overwrites what others change in the file: close it before writing",
		"ready work counts every recorded blocker, a closed one too, as the JSONL store has it",
	}
	if _, err := os.Lstat(s.path(issuesName)); err != nil {
		out = append(out, "there is no issues.jsonl yet: the store is empty and the first write makes the file")
	}
	return out
}
