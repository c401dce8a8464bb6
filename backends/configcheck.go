package backends

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"memdesk/internal/meant"
	"memdesk/model"
)

// ParseConfig checks text as a configuration; file is named in errors.
func ParseConfig(reg *Registry, file, text string) (Config, error) {
	cfg := Config{File: file, at: locateKeys(text)}
	found := findings{file: file}
	var raw struct {
		Stores []map[string]any `toml:"store"`
	}
	if _, err := toml.Decode(text, &raw); err == nil {
		wrongTypes(reg, raw.Stores, func(i int, key, want string) { found.add(cfg.at.inStore(i, key), "%s wants %s", key, want) })
	}
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") || !utf8.ValidString(text) {
		found.add(position{1, 1}, "the file is not UTF-8 text; save it as UTF-8")
	}
	if len(found.all) > 0 { // the decoder ends at the first
		return Config{}, found.err()
	}
	meta, err := toml.Decode(text, &cfg)
	if err != nil {
		pos, msg := cfg.at.decodeError(err)
		found.add(pos, "%s", msg)
		return Config{}, found.err()
	}
	fail := func(key toml.Key, format string, args ...any) { found.add(cfg.at.find(key), format, args...) }
	spelled := checkKeys(meta, fail)
	cfg.Operator.Names = cfg.Operator.names()
	cfg.checkTables(meta, fail)
	if len(spelled) > 1 { // the decoder takes each list for the stores, and keeps the one that it meets last
		found.add(position{cfg.at.block(0), 1}, "the stores stand under several keys, %s: write [[store]] for each", strings.Join(slices.Sorted(maps.Keys(spelled)), " and "))
		return Config{}, found.err()
	}
	cfg.checkStores(reg, cfg.at, found.add, raw.Stores)
	if key, why := cfg.checkOfficer(); why != "" {
		fail(toml.Key{key}, "%s", why)
	}
	if len(found.all) > 0 {
		return Config{}, found.err()
	}
	return cfg, nil
}

// checkKeys refuses unknown keys outside of store blocks, and returns the spellings of the key of these blocks.
func checkKeys(meta toml.MetaData, fail func(key toml.Key, format string, args ...any)) map[string]bool {
	var unknown toml.Key
	undecoded := meta.Undecoded()
	for _, key := range undecoded {
		if key[0] == "store" || len(unknown) > 0 && len(key) > len(unknown) && slices.Equal(key[:len(unknown)], unknown) {
			continue // the kinds check the keys of their stores, and what an unknown table holds need not be checked
		}
		if t := typeAt(key[:len(key)-1]); t != nil && t.Kind() == reflect.Map {
			continue // blocks in the place of a table that takes any key: that is said below
		}
		unknown = key
		fail(key, "unknown key %s; %s", key, suggest(key[len(key)-1], keysIn(key[:len(key)-1])))
	}
	spelled := map[string]bool{}
	for _, key := range meta.Keys() { // the decoder takes a key in any case, the checks only as it is written here
		if word := key[:min(2, len(key))].String(); word != strings.ToLower(word) && key[0] != "store" && !slices.ContainsFunc(undecoded, func(u toml.Key) bool { return slices.Equal(u, key) }) {
			fail(key, "unknown key %s; did you mean %s?", word, strings.ToLower(word))
		}
		if t := typeAt(key); key[0] != "store" && t != nil && t.Kind() == reflect.Map && meta.Type(key...) != "Hash" { // the decoder passes over it
			fail(key, "%s", wantsTable(key.String()))
		}
		if strings.EqualFold(key[0], "store") {
			spelled[key[0]] = true
		}
	}
	return spelled
}

// checkTables refuses wrong values outside of store blocks.
func (c *Config) checkTables(meta toml.MetaData, fail func(key toml.Key, format string, args ...any)) {
	idle, poll, share := time.Duration(c.UI.IdleLock), c.UI.Poll, c.GDPR.MaxShare
	zero := func(table, key string, value Duration) bool { return value == 0 && meta.IsDefined(table, key) }
	for _, rule := range []struct {
		key    string
		broken bool
		words  string
	}{
		{"audit", c.Audit.check() != "", c.Audit.check()},
		{"audit.segment_bytes", c.Audit.SegmentBytes != 0 && c.Audit.SegmentBytes < minSegment, fmt.Sprintf("audit.segment_bytes must be %d or more", minSegment)},
		{"operator", c.Operator.check() != "", c.Operator.check()},
		{"ui.theme", c.UI.Theme != "" && !slices.Contains(Themes, c.UI.Theme), fmt.Sprintf("theme %q is not there; %s", c.UI.Theme, suggest(c.UI.Theme, Themes))},
		{"ui.idle_lock", idle > 0 && idle < minIdle, fmt.Sprintf("ui.idle_lock must be %s or more, or 0s for never: a shorter one locks before a key can be pressed", minIdle)},
		{"ui.poll", poll != nil && *poll > 0 && time.Duration(*poll) < minPoll, fmt.Sprintf("ui.poll must be %s or more, or 0s for never", minPoll)},
		{"door.untrusted", !oneOf(c.Door.Untrusted, "label", "review"), `door.untrusted is "label" or "review"`},
		{"scanner.recall", !oneOf(c.Scanner.Recall, "label", "withhold"), `scanner.recall is "label" or "withhold"`},
		{"gdpr.approval", !oneOf(c.GDPR.Approval, "signature", "session"), `gdpr.approval is "signature" or "session"`},
		{"gdpr.max_share", share != nil && !(*share >= 0 && *share <= 1), "gdpr.max_share is a part of a store, from 0 to 1"},
		{"conflict.hosts", slices.ContainsFunc(c.Conflict.Hosts, func(h string) bool { return len(h) < 2 || strings.ContainsAny(h, "/\x00") }),
			"a host of conflict.hosts has two characters or more and no slash"},
		// A zero that is written is not the default: it would be taken for the opposite of what it says.
		{"undo.keep", zero("undo", "keep", c.Undo.Keep), "undo.keep must be more than 0s: undo keeps what a change replaced or removed, for a short time too: write 1h for an hour"},
		{"gdpr.approval_valid", zero("gdpr", "approval_valid", c.GDPR.ApprovalValid), "gdpr.approval_valid must be more than 0s: an approval needs time to be used: write 1h for an hour"},
		{"gdpr.keep_closed", zero("gdpr", "keep_closed", c.GDPR.KeepClosed), "gdpr.keep_closed must be more than 0s: write 1d for a day; without the key closed requests are kept for ever"},
	} {
		if rule.broken {
			fail(strings.Split(rule.key, "."), "%s", rule.words)
		}
	}
	if i := slices.IndexFunc(c.GDPR.Approvers, func(key string) bool { return !strings.HasPrefix(key, "SHA256:") }); i >= 0 {
		fail(toml.Key{"gdpr", "approvers"}, "gdpr.approvers are fingerprints of keys, SHA256:…, not %q", c.GDPR.Approvers[i])
	}
	for name, channels := range c.Door.Trust {
		if i := slices.IndexFunc(channels, func(c string) bool { return !slices.Contains([]string{"user", "tool", "web", "agent"}, c) }); i >= 0 {
			fail(toml.Key{"door", "trust", name}, "door.trust: a channel is user, tool, web or agent, not %q", channels[i])
		}
	}
}

// oneOf reports whether a value is one of the words, or is not set.
func oneOf(value string, words ...string) bool { return value == "" || slices.Contains(words, value) }

// Faults are all that is wrong with a configuration, in the order of the file, each with its position.
type Faults []string

func (f Faults) Error() string { return strings.Join(f, "; ") }

// findings are faults by their positions.
type findings struct {
	file string
	all  []finding
}

type finding struct {
	at    position
	words string
}

func (f *findings) add(at position, format string, args ...any) {
	f.all = append(f.all, finding{at, fmt.Sprintf(format, args...)})
}

func (f *findings) err() error {
	slices.SortStableFunc(f.all, func(a, b finding) int { return cmp.Or(a.at.line-b.at.line, a.at.col-b.at.col) })
	var out Faults
	for _, one := range slices.Compact(f.all) {
		out = append(out, fmt.Sprintf("%s:%d:%d: %s", f.file, one.at.line, one.at.col, one.words))
	}
	return model.E(model.InvalidInput, "config", out)
}

// suggest names the known word that was likely meant, else all.
func suggest(word string, known []string) string {
	if near := meant.Nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "there are " + strings.Join(known, ", ")
}

// typeAt is the type of a key's value, of a list that of its elements; nil: there is no such key.
func typeAt(key toml.Key) reflect.Type {
	t := reflect.TypeFor[Config]()
	for _, part := range key {
		switch t.Kind() {
		case reflect.Map: // of names
			t = t.Elem()
		case reflect.Struct:
			t = keyType(t, strings.ToLower(part))
		default:
			return nil
		}
		if t == nil {
			return nil
		}
		if t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
	}
	return t
}

// keysIn are the keys of a table.
func keysIn(table toml.Key) (out []string) {
	t := typeAt(table)
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		if key := tomlKey(f); key != "" {
			out = append(out, key)
		}
	}
	return out
}

// tomlKey is the key of a field; empty: none.
func tomlKey(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
	return strings.TrimPrefix(key, "-")
}

// vkey is the form of a verifier key.
var vkey = regexp.MustCompile(`^[^ +]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]+=*$`)

// check says what is wrong with the block, empty when nothing is.
func (c AuditConfig) check() string {
	if c.CheckpointEvery < 0 {
		return "audit.checkpoint_every is a number of records, 1 or more"
	}
	if c.KeyAgent != "" && c.KeyCommand != "" {
		return "give audit.key_agent or audit.key_command, not both"
	}
	if c.KeyAgent != "" && !strings.HasPrefix(c.KeyAgent, "SHA256:") {
		return "audit.key_agent is the fingerprint of a key, SHA256:…"
	}
	seen := map[AnchorConfig]bool{}
	for i, a := range c.Anchors {
		want := AnchorConfig{Kind: a.Kind}
		switch a.Kind {
		case "file":
			want.Path = a.Path
		case "command":
			want.Command = a.Command
		case "witness":
			want.URL, want.Key = a.URL, a.Key
			if !vkey.MatchString(a.Key) {
				return fmt.Sprintf("audit.anchor block %d: key is the line that the witness prints when it starts, name+hash+key", i+1)
			}
			if u, err := url.Parse(a.URL); err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
				return fmt.Sprintf("audit.anchor block %d: url is http:// or https:// with a host, and without a password", i+1)
			}
		default:
			return fmt.Sprintf("audit.anchor block %d: kind is file, command or witness, not %q", i+1, a.Kind)
		}
		if a != want || want == (AnchorConfig{Kind: a.Kind}) {
			return fmt.Sprintf("audit.anchor block %d: a %s takes %s and nothing else", i+1, a.Kind, map[string]string{"file": "path", "command": "command", "witness": "url and key"}[a.Kind])
		}
		if seen[a] {
			return fmt.Sprintf("audit.anchor block %d stands twice", i+1)
		}
		seen[a] = true
	}
	return ""
}

// checkOfficer says what is wrong with a backup or recipient block, and of which key.
func (c *Config) checkOfficer() (key, why string) {
	known := func(name string) bool {
		return len(c.Stores) == 0 || slices.ContainsFunc(c.Stores, func(s StoreConfig) bool { return s.Name == name })
	}
	for i, b := range c.Backups {
		if b.Store != "" && !known(b.Store) {
			return "backup", fmt.Sprintf("backup block %d names a store %q that no block configures", i+1, b.Store)
		}
		if b.Where == "" {
			return "backup", fmt.Sprintf("backup block %d does not say where the copies are: where", i+1)
		}
	}
	for i, r := range c.Recipients {
		if r.Name == "" {
			return "recipient", fmt.Sprintf("recipient block %d has no name", i+1)
		}
		if slices.ContainsFunc(c.Recipients[:i], func(o RecipientConfig) bool { return o.Name == r.Name }) {
			return "recipient", fmt.Sprintf("two recipient blocks are called %q", r.Name)
		}
		if n := slices.IndexFunc(r.Stores, func(s string) bool { return !known(s) }); n >= 0 {
			return "recipient", fmt.Sprintf("recipient %q names a store %q that no block configures", r.Name, r.Stores[n])
		}
	}
	return "", ""
}

// Themes are the values of [ui] theme; the console paints them.
var Themes = []string{"auto", "dark", "light", "high-contrast", "colour-blind"}

// The shortest times of the console that leave it usable.
const (
	minIdle = time.Second
	minPoll = 100 * time.Millisecond
)

// minSegment is the smallest segment of the audit log that is worth a file.
const minSegment = 64 << 10

// checkStores checks every store block, and fills in what its kind has by default.
func (c *Config) checkStores(reg *Registry, at keyIndex, add func(position, string, ...any), raw []map[string]any) {
	seen := map[string]int{}
	for i := range c.Stores {
		s := &c.Stores[i]
		s.Line = at.block(i)
		s.Origin = fmt.Sprintf("configured at line %d", s.Line)
		fail := func(key, format string, args ...any) { add(at.inStore(i, key), format, args...) }
		kind, ok := reg.Kind(s.Kind)
		takes := append(slices.Clone(commonKeys), kind.keys()...)
		if !ok {
			takes = keysIn(toml.Key{"store"})
		}
		for _, key := range slices.Sorted(maps.Keys(raw[i])) {
			switch {
			case slices.Contains(takes, key):
			case storeType(key) == nil && !reg.takes(key):
				fail(key, "unknown key store.%s; %s", key, suggest(key, takes))
			case ok:
				fail(key, "kind %s takes no key %q; it takes %s", s.Kind, key, strings.Join(kind.keys(), ", "))
			}
		}
		s.Name = cmp.Or(s.Name, s.Kind)
		if err := model.CheckStoreName(s.Name); err != nil && s.Name != "" {
			fail("name", "%s", model.Reason(err))
		} else if first, twice := seen[s.Name]; twice && s.Name != "" {
			fail("name", "store name %q is taken by the block at line %d", s.Name, first)
		}
		if seen[s.Name] == 0 {
			seen[s.Name] = s.Line
		}
		switch {
		case s.Kind == "":
			fail("kind", "the store block has no kind; there are %s", strings.Join(reg.Names(), ", "))
			continue
		case !ok:
			fail("kind", "unknown kind %q; %s", s.Kind, suggest(s.Kind, reg.Names()))
			continue
		}
		filled, key, err := kind.withOwn(*s, raw[i])
		if err != nil {
			fail(key, "%s", err)
			continue
		}
		*s = filled
		if kind.Check != nil {
			key, err := kind.Check(*s, func(key string) bool { _, there := raw[i][key]; return there })
			if err != nil {
				fail(key, "%s", model.Reason(err))
				continue
			}
		}
		if kind.NeedsPath && s.Path == "" {
			fail("kind", "a %s store needs path = \"…\": %s", s.Kind, kind.Location)
		}
	}
}

// wrongTypes finds the keys of store blocks whose values are of another type than their fields. The decoder would name
// the line of the last block that has the key, not of this one.
func wrongTypes(reg *Registry, blocks []map[string]any, found func(block int, key, want string)) {
	for i, b := range blocks {
		name, _ := b["kind"].(string)
		kind, _ := reg.Kind(name)
		for _, key := range slices.Sorted(maps.Keys(b)) {
			if want := mismatch(kind.keyType(key), b[key]); want != "" {
				found(i, key, want)
			}
		}
	}
}

// storeType is the type of the field that takes a key of a store block; nil for
// an unknown key.
func storeType(key string) reflect.Type { return keyType(reflect.TypeFor[StoreConfig](), key) }

// keyType is the type of the field that takes a key of a table; nil for an unknown key.
func keyType(table reflect.Type, key string) reflect.Type {
	for f := range table.Fields() {
		if key != "" && tomlKey(f) == key {
			return f.Type
		}
	}
	return nil
}

// mismatch says what a field of the type wants when a decoded value is not that;
// empty when it is.
func mismatch(t reflect.Type, v any) string {
	if t == nil {
		return ""
	}
	if t == reflect.TypeFor[Duration]() {
		t = reflect.TypeFor[string]()
	}
	switch t.Kind() {
	case reflect.Bool:
		if _, ok := v.(bool); !ok {
			return "true or false"
		}
	case reflect.Int, reflect.Int64:
		if _, ok := v.(int64); !ok {
			return "a whole number"
		}
	case reflect.Slice:
		list, ok := v.([]any)
		if !ok || slices.ContainsFunc(list, func(e any) bool { return mismatch(t.Elem(), e) != "" }) {
			return "a list of texts in quotes"
		}
	case reflect.Map:
		table, ok := v.(map[string]any)
		if !ok || slices.ContainsFunc(slices.Collect(maps.Values(table)), func(e any) bool { return mismatch(t.Elem(), e) != "" }) {
			return "a table of texts in quotes"
		}
	default:
		if _, ok := v.(string); !ok {
			return "a text in quotes"
		}
	}
	return ""
}
