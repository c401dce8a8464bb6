package crewship

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"memdesk/backends/internal/window"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// The tiers on a Crewship disk (crewship-disk.md, Tiers). The first seven are
// the contract's (provider-contract.md R7).
const (
	tierAgent     = "AGENT"
	tierCrew      = "CREW"
	tierPersona   = "PERSONA"
	tierPins      = "pins"
	tierDaily     = "daily"
	tierPeers     = "peers"
	tierLessons   = "lessons"
	tierUsers     = "users"
	tierTopics    = "topics"
	tierLearned   = "learned"
	tierCrewPins  = "crew-pins"
	tierWorkspace = "workspace"
	tierProposals = "proposals"
	tierOther     = "other"
	// tierQuarantine is no declared tier: an entry is read and removed by its id and listed only by the
	// Quarantine facet.
	tierQuarantine = "quarantine"
)

// tierNames number the tiers in a walk's record of a file.
var tierNames = []string{tierAgent, tierCrew, tierPersona, tierPins, tierDaily, tierPeers, tierLessons, tierUsers,
	tierTopics, tierLearned, tierCrewPins, tierWorkspace, tierProposals, tierOther}

// contractTiers may be asked for in every store; what is not there gives no hits.
var contractTiers = []string{tierAgent, tierCrew, tierPersona, tierPins, tierDaily, tierPeers, tierLessons}

// specs are the declarations in the order in which people read them.
func specs() []model.TierSpec {
	one := func(name, title string, limit int64) model.TierSpec {
		return model.TierSpec{Name: name, Title: title, KeyRule: model.KeyIgnored, Cap: limit,
			CapUnit: model.CapBytes, Writable: true, Document: model.Opaque}
	}
	keyed := func(name, title, hint string, limit int64) model.TierSpec {
		t := one(name, title, limit)
		t.KeyRule, t.KeyHint = model.KeyRequired, hint
		return t
	}
	closed := func(t model.TierSpec, hidden bool) model.TierSpec {
		t.Writable, t.Hidden = false, hidden
		return t
	}
	aside := func(t model.TierSpec) model.TierSpec {
		t.Aside = true
		return t
	}
	return []model.TierSpec{
		one(tierAgent, "what an agent knows", 4000),
		one(tierCrew, "what a crew knows", 4000),
		one(tierPersona, "who the agent is", 1500),
		one(tierPins, "pinned by an agent", 8000),
		keyed(tierDaily, "journal of a day", "a date, 2026-05-21", 30000),
		keyed(tierPeers, "an agent about a user", "a user slug, 16 hex digits", 1500),
		closed(one(tierLessons, "lessons, from their own writer", 0), false),
		aside(keyed(tierUsers, "a crew about a user", "a user slug, 16 hex digits", 1500)),
		aside(keyed(tierTopics, "a crew's notes", "a topic", 0)),
		aside(keyed(tierLearned, "rules learned by a crew", "a date, 2026-05-21", 0)),
		aside(one(tierCrewPins, "pinned for a crew", 0)),
		keyed(tierWorkspace, "the coordinator's notes", "a name", 0),
		closed(keyed(tierProposals, "rules that wait for approval", "a proposal", 0), true),
		aside(keyed(tierOther, "files outside every tier", "a name", 0)),
	}
}

// kindsOf are the kinds of memory directory where a tier lives, in the order of choice.
func kindsOf(tier string) []ownerKind {
	switch tier {
	case tierAgent, tierPins, tierPeers:
		return []ownerKind{kindAgent, kindSolo, kindSingle}
	case tierCrew, tierTopics, tierLearned, tierCrewPins, tierProposals:
		return []ownerKind{kindCrew, kindSingle}
	case tierUsers:
		return []ownerKind{kindCrew, kindUsers, kindSingle}
	case tierPersona, tierDaily, tierLessons:
		return []ownerKind{kindAgent, kindSolo, kindCrew, kindSingle}
	case tierWorkspace:
		return []ownerKind{kindWorkspace}
	}
	return []ownerKind{kindAgent, kindSolo, kindCrew, kindWorkspace, kindUsers, kindSingle}
}

func lives(tier string, kind ownerKind) bool {
	return slices.Contains(kindsOf(tier), kind)
}

// declare returns the possible tiers of this store. A single directory with an owner in its path has only
// the owner's tiers, and a store narrowed to an agent or a crew only theirs.
func (s *store) declare(snap *snapshot) []model.TierSpec {
	var out []model.TierSpec
	for _, t := range specs() {
		narrowed := s.at.single || !s.bound().empty()
		if narrowed && !slices.ContainsFunc(snap.memories, func(p *memoryDir) bool { return lives(t.Name, p.kind) }) {
			continue
		}
		if (t.Name == tierLearned || t.Name == tierCrewPins) && !s.topicsKnown(snap) {
			t.Writable = false // without the crew's slug a new one has no place
		}
		out = append(out, t)
	}
	return out
}

func (s *store) tier(name string) (model.TierSpec, bool) { return window.Tier(s.tiers, name) }

// classify is the tier of a label in a memory directory. A label without a place is "other", so that no
// file is hidden.
func classify(kind ownerKind, label string) string {
	if kind == kindWorkspace {
		return tierWorkspace
	}
	tier := tierOther
	switch dir, base := path.Split(label); {
	case !strings.HasSuffix(base, ".md"):
	case dir == "":
		switch base {
		case "AGENT.md":
			tier = tierAgent
		case "CREW.md":
			tier = tierCrew
		case "PERSONA.md":
			tier = tierPersona
		case "pins.md":
			tier = tierPins
		case "lessons.md":
			tier = tierLessons
		}
	case dir == "daily/":
		tier = tierDaily
	case dir == "peers/":
		tier = tierPeers
	case dir == "users/":
		tier = tierUsers
	case strings.HasSuffix(dir, "topics/.proposed/"):
		tier = tierProposals
	default:
		tier = topicTier(dir, base)
	}
	if !lives(tier, kind) {
		return tierOther
	}
	return tier
}

// topicTier is the tier of a file below `topics/` or `<crew slug>/topics/`.
func topicTier(dir, base string) string {
	if strings.HasPrefix(dir, "topics/") {
		return tierTopics
	}
	slug, rest, _ := strings.Cut(dir, "/")
	switch {
	case slug == "" || !strings.HasPrefix(rest, "topics/"):
		return tierOther
	case rest == "topics/" && base == "pins.md":
		return tierCrewPins
	case rest == "topics/" && strings.HasPrefix(base, "learned-"):
		return tierLearned
	}
	return tierTopics
}

// isMemory is false for the machinery beside the memories (crewship-disk.md):
// locks, temporary files, dot directories except proposals, the search index.
func isMemory(label string) bool {
	dir, base := path.Split(label)
	if strings.HasSuffix(base, ".lock") || isTemp(base) || isIndex(base) {
		return false
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(dir, "/"), "/") {
		if !isOpenDir(part) {
			return false
		}
	}
	return true
}

func isOpenDir(name string) bool {
	return !strings.HasPrefix(name, ".") || name == ".proposed"
}

func isIndex(base string) bool {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if base == "index.sqlite"+suffix {
			return true
		}
	}
	return false
}

// isTemp recognises `<file>.tmp.<12 or 16 hex>`, the writers' temporary names.
func isTemp(base string) bool {
	i := strings.LastIndex(base, ".tmp.")
	if i <= 0 {
		return false
	}
	tail := base[i+len(".tmp."):]
	if len(tail) != 12 && len(tail) != 16 {
		return false
	}
	return strings.Trim(tail, "0123456789abcdef") == ""
}

// labelOf is the label that a tier and a key give (R9–R11).
func (s *store) labelOf(snap *snapshot, p *memoryDir, spec model.TierSpec, key string) (string, error) {
	if spec.KeyRule == model.KeyRequired {
		if err := checkKey(spec, key); err != nil {
			return "", err
		}
	}
	switch spec.Name {
	case tierAgent, tierCrew, tierPersona, tierPins, tierLessons:
		return spec.Name + ".md", nil
	case tierDaily, tierPeers, tierUsers, tierTopics:
		return spec.Name + "/" + key + ".md", nil
	case tierLearned, tierCrewPins, tierProposals:
		slug := s.topicsSlug(snap.names, p)
		if slug == "" {
			return "", model.Errorf(model.InvalidInput, "retain", "tier %s lies below the crew's slug, which neither crewship.db nor the directory tells; give an id", spec.Name)
		}
		file := map[string]string{tierLearned: "learned-" + key, tierCrewPins: "pins", tierProposals: ".proposed/" + key}[spec.Name]
		return slug + "/topics/" + file + ".md", nil
	}
	label := key + ".md"
	if got := classify(p.kind, label); got != spec.Name {
		return "", model.Errorf(model.InvalidInput, "retain", "key %q names an item of tier %s; give that tier", key, got)
	}
	return label, nil
}

func checkKey(spec model.TierSpec, key string) error {
	switch {
	case key == "":
		return model.Errorf(model.InvalidInput, "retain", "tier %s needs a key: %s", spec.Name, spec.KeyHint)
	case !utf8.ValidString(key):
		return model.Errorf(model.InvalidInput, "retain", "the key is not UTF-8")
	case strings.ContainsAny(key, "/\\\x00") || strings.Contains(key, ".."):
		return model.Errorf(model.InvalidInput, "retain", "key %q: a key is one name without / \\ NUL and two dots", key)
	}
	return rootdir.CheckName(key)
}
