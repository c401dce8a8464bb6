package notes

import (
	"path"
	"slices"
	"strings"

	"memdesk/backends/internal/window"
	"memdesk/backends/seam/internal/walk"
	"memdesk/model"
)

// Tiers that are not kinds of notes.
const (
	tierOther = "other" // a note without a type or kind
	tierFiles = "files" // anything but markdown
)

// knownKinds are the types that AgentM saves in an empty store (agentm.md, Layout); further kinds in a
// store become tiers too.
var knownKinds = []string{"convention", "fix", "idea", "preference", "reference", "workflow"}

// isTemp reports whether a name is that of an unfinished write or of an editor's own file
// (conflict-names.md, Not copies). It is called for every name of a walk.
func isTemp(name string) bool {
	n := len(name)
	switch last := name[n-1]; {
	case last == '~', name[0] == '.' && (strings.HasPrefix(name, ".#") || name == ".DS_Store"), name[0] == '#' && last == '#' && n > 1:
		return true
	}
	lower := asciiLower(name)
	switch {
	case strings.HasSuffix(lower, ".tmp"), name[0] == '.' && strings.HasSuffix(lower, ".icloud"),
		strings.HasPrefix(lower, ".syncthing."), strings.HasPrefix(lower, "~syncthing~"):
		return true
	case n > 4 && lower[n-4:n-1] == ".sw" && strings.IndexByte("pox", lower[n-1]) >= 0:
		return true
	}
	if rest, ok := strings.CutPrefix(lower, ".tmp-"); ok && strings.Trim(rest, "0123456789abcdef-") == "" { // the memory tool's, .tmp-PID-UUID
		return true
	}
	i := strings.LastIndex(lower, ".tmp.")
	return i >= 0 && i+5 < n && strings.Trim(lower[i+5:], "0123456789abcdef") == ""
}

// asciiLower is strings.ToLower for the characters of the patterns; it mostly allocates nothing.
func asciiLower(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			return strings.ToLower(s)
		}
	}
	return s
}

// bookkeeping are AgentM's own files beside the notes, which hold slugs but no text.
var bookkeeping = []string{".lifecycle.json", ".heat.json"}

// isConfig reports whether a file is AgentM's configuration. It names the memory root, so whoever could write
// it through the store would decide where the store is, and whether it opens. Case does not count: a volume
// may ignore it.
func isConfig(name string) bool { return strings.EqualFold(name, ".agentm-config.json") }

// isMachinery reports whether a file is no item: an unfinished write, or the
// agent's own books and configuration.
func isMachinery(name string) bool {
	return isTemp(name) || name[0] == '.' && (slices.Contains(bookkeeping, name) || isConfig(name))
}

// isOpenDir reports whether a directory of this path, or of this name, holds items: dot folders
// are machinery of sync tools, editors and git.
func isOpenDir(path string) bool { return !strings.HasPrefix(baseName(path), ".") }

// isItem reports whether an id can be an item's.
func isItem(id string) bool {
	return inOpenDir(id) && !isMachinery(baseName(id))
}

// inOpenDir reports whether every directory of an id holds items.
func inOpenDir(id string) bool {
	dirs := strings.Split(id, "/")
	return !slices.ContainsFunc(dirs[:len(dirs)-1], func(d string) bool { return !isOpenDir(d) })
}

// hidden: a dotfile that is no note.
func hidden(id string) bool {
	base := baseName(id)
	return strings.HasPrefix(base, ".") && !strings.HasSuffix(base, ".md")
}

func isNote(id string) bool {
	ext := path.Ext(id)
	return strings.EqualFold(ext, ".md") || strings.EqualFold(ext, ".markdown")
}

// tierOf is the tier of an item: the one type or kind in its front matter, else its folder, else other.
// known are the declared tiers.
func tierOf(id, kind string, known func(string) bool) string {
	if kind != "" && known(kind) {
		return kind
	}
	if !isNote(id) {
		return tierFiles
	}
	if folder := path.Base(path.Dir(id)); folder != tierFiles && known(folder) {
		return folder
	}
	return tierOther
}

// isKind reports whether a type or kind can name a tier: at most 64 letters and digits, and _ and - after the first.
func isKind(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', i > 0 && (c == '_' || c == '-'):
		default:
			return false
		}
	}
	return 0 < len(name) && len(name) <= 64
}

// maxKinds bounds the tiers made by front matter; a note of a further kind is in its folder's tier or in
// other.
const maxKinds = 500

// declare makes the tiers of a store from the kinds it knows and holds.
func declare(kinds []string) []model.TierSpec {
	names := slices.Clone(knownKinds)
	for _, k := range kinds {
		if len(names) < maxKinds && !slices.Contains(names, k) && k != tierOther && k != tierFiles {
			names = append(names, k)
		}
	}
	slices.Sort(names)
	var out []model.TierSpec
	add := func(name, title, hint string) {
		out = append(out, model.TierSpec{Name: name, Title: title, KeyRule: model.KeyRequired, KeyHint: hint, Writable: true, Document: model.Opaque})
	}
	const slug = "a slug: keep-tests-small"
	for _, n := range names {
		add(n, "notes of type or kind "+n, slug)
	}
	add(tierOther, "notes without a type or kind", slug)
	add(tierFiles, "files that are no notes", "a file name with its extension: plan.txt")
	return out
}

// addressOf is the id of a new item of a tier: memory/<kind>/<slug>.md below the memory root, as AgentM's
// own save does (agentm.md, Layout).
func (s *store) addressOf(tier, key string) (string, error) {
	if s.cfg.Layout != nil {
		return s.cfg.Layout.Address(tier, key)
	}
	id := "memory/"
	switch tier {
	case tierOther:
		id += key + ".md"
	case tierFiles:
		id += key
	default:
		id += tier + "/" + key + ".md"
	}
	if s.cfg.Memory != "" {
		id = s.cfg.Memory + "/" + id
	}
	return id, nil
}

// Scopes of a store whose memory root is a part of the directory.
const (
	scopeMemory   = "memory"
	scopeOperator = "operator" // folders of the vault's owner
)

func (s *store) scopeOf(id string) string {
	if s.cfg.Layout != nil {
		return s.cfg.Layout.Scope(id)
	}
	switch {
	case s.cfg.Memory == "":
		return ""
	case strings.HasPrefix(id, s.cfg.Memory+"/"):
		return scopeMemory
	}
	return scopeOperator
}

// scopeAt is scopeOf a file of the walk.
func (s *store) scopeAt(f walk.File) string {
	if s.cfg.Layout == nil && s.cfg.Memory == "" {
		return ""
	}
	return s.scopeOf(f.Path())
}

func (s *store) scopeTitle(scope string) string {
	switch scope {
	case scopeMemory:
		return "the memory root, " + s.cfg.Memory
	case scopeOperator:
		return "folders of the vault's owner, outside the memory root"
	}
	return ""
}

func (s *store) tier(name string) (model.TierSpec, bool) { return window.Tier(s.tiers, name) }

// entryTier is the tier of a file, as far as known.
func (s *store) entryTier(id, kind string) string {
	return s.tierOf(id, kind, func(n string) bool { _, ok := s.tier(n); return ok })
}
