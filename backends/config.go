package backends

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"memdesk/internal/meant"
	"memdesk/internal/privatefile"
	"memdesk/internal/statedir"
	"memdesk/model"
)

// Config is a configuration file. Every key of it is documented in
// config.toml.example; anything else in a file is an error with its position.
type Config struct {
	Operator OperatorConfig `toml:"operator"`
	Audit    AuditConfig    `toml:"audit"`
	Undo     UndoConfig     `toml:"undo"`
	GDPR     GDPRConfig     `toml:"gdpr"`
	Conflict ConflictConfig `toml:"conflict"`
	UI       UIConfig       `toml:"ui"`
	Door     DoorConfig     `toml:"door"`
	Scanner  ScannerConfig  `toml:"scanner"`
	Stores   []StoreConfig  `toml:"store"`
	// Backups are copies of stores that memdesk does not reach, Recipients who was given
	// their data.
	Backups    []BackupConfig    `toml:"backup"`
	Recipients []RecipientConfig `toml:"recipient"`

	// File is where it was read from, empty for none.
	File string `toml:"-"`
	at   keyIndex
}

// Wrong is the error of a table's key that others than the registry check, such as a key of the console. Like the
// errors of the file itself it says file, line and column.
func (c *Config) Wrong(table, key string, why error) error {
	pos := c.at.find(toml.Key{table, key})
	if pos == (position{1, 1}) {
		pos = c.at.find(toml.Key{table}) // the table is one line, or the key is spelled with escapes
	}
	return model.Errorf(model.InvalidInput, "config", "%s:%d:%d: %w", c.File, pos.line, pos.col, why)
}

// OperatorConfig says who operators are.
type OperatorConfig struct {
	// Names maps an SSH key fingerprint (SHA256:…) to the name shown and logged.
	Names map[string]string `toml:"names"`
	// Readers lists names and fingerprints that may look and not change.
	Readers []string `toml:"readers"`
	// Roles say who may what; without any everybody is an operator.
	Roles []RoleConfig `toml:"role"`
}

// RoleConfig gives a role to a key, to a certificate's principal, or to a token.
type RoleConfig struct {
	Name string `toml:"name"` // of the key's owner, as shown and logged; alone: the operator's id
	// Key is a fingerprint, SHA256:…; with Principal it is that of the authority that signs.
	Key       string `toml:"key"`
	Principal string `toml:"principal"`
	Token     string `toml:"token"` // the name of a token of the doors
	Role      string `toml:"role"`
}

// RoleNames are the names of all roles.
var RoleNames = []string{"viewer", "reviewer", "operator", "approver", "auditor", "privacy officer"}

// check says what is wrong with a block of roles; empty: nothing.
func (c OperatorConfig) check() string {
	seen := map[RoleConfig]bool{}
	for i, r := range c.Roles {
		fail := func(why string) string { return fmt.Sprintf("operator.role block %d: %s", i+1, why) }
		switch {
		case !slices.Contains(RoleNames, r.Role):
			return fail("role is one of " + strings.Join(RoleNames, ", "))
		case r.Name == "" && r.Key == "" && r.Token == "":
			return fail("whose role? Give key, principal with the key of its authority, token, or name")
		case r.Principal != "" && r.Key == "":
			return fail("a principal needs key: the fingerprint of the authority that signs its certificates")
		case r.Token != "" && (r.Key != "" || r.Principal != ""):
			return fail("a token has no key")
		case r.Key != "" && !strings.HasPrefix(r.Key, "SHA256:"):
			return fail("key is the fingerprint of a key, SHA256:…")
		case seen[r]:
			return fail("it stands twice")
		}
		seen[r] = true
	}
	return ""
}

// names are the names of keys, those of the roles too.
func (c OperatorConfig) names() map[string]string {
	out := maps.Clone(c.Names)
	for _, r := range c.Roles {
		if r.Key != "" && r.Principal == "" && r.Name != "" && out[r.Key] == "" {
			if out == nil {
				out = map[string]string{}
			}
			out[r.Key] = r.Name
		}
	}
	return out
}

// AuditConfig shapes the audit log.
type AuditConfig struct {
	SegmentBytes int64 `toml:"segment_bytes"` // rotation size; 0 is the log's default
	// CheckpointEvery is after how many records, AnchorEvery after how long, a program that goes on
	// running signs the log's head and gives it to the anchors; 0 is the log's default.
	CheckpointEvery int64    `toml:"checkpoint_every"`
	AnchorEvery     Duration `toml:"anchor_every"`
	// KeyAgent is the fingerprint of a key in the SSH agent, KeyCommand prints the key: without
	// either the log's key is a file beside the log.
	KeyAgent   string         `toml:"key_agent"`
	KeyCommand string         `toml:"key_command"`
	Anchors    []AnchorConfig `toml:"anchor"`
}

// AnchorConfig is a place outside the log that keeps its checkpoints.
type AnchorConfig struct {
	Kind    string `toml:"kind"` // file, command or witness
	Path    string `toml:"path"`
	Command string `toml:"command"`
	URL     string `toml:"url"`
	Key     string `toml:"key"` // the witness's verifier key, name+hash+key
}

// UndoConfig shapes what is kept of displaced items.
type UndoConfig struct {
	Keep Duration `toml:"keep"` // how long; 0 is the store's default
}

// GDPRConfig shapes erasures.
type GDPRConfig struct {
	MaxShare        *float64 `toml:"max_share"`        // of a store, 0..1; nil is the desk's default
	RequireApproval bool     `toml:"require_approval"` // a second operator signs the plan
	Approval        string   `toml:"approval"`         // "signature", or "session" where a session's record is enough; empty: signature
	Approvers       []string `toml:"approvers"`        // fingerprints that may sign
	ApprovalValid   Duration `toml:"approval_valid"`   // 0 is the desk's default
	KeepClosed      Duration `toml:"keep_closed"`      // 0 is for ever
	PDFToText       string   `toml:"pdftotext"`        // the program that reads PDFs; empty: the one on the PATH
}

// BackupConfig says where copies of a store are kept and for how long.
type BackupConfig struct {
	Store        string   `toml:"store"` // empty: of every store that has no block of its own
	Where        string   `toml:"where"`
	ExpiresAfter Duration `toml:"expires_after"` // 0 is not known
	RestoreGuard string   `toml:"restore_guard"` // what keeps an erased person from coming back with a restore
}

// RecipientConfig is somebody to whom data of stores are disclosed (GDPR Art. 19).
type RecipientConfig struct {
	Name    string   `toml:"name"`
	Contact string   `toml:"contact"`
	Stores  []string `toml:"stores"` // empty: all
}

// ConflictConfig says what sync tools cannot tell by a name alone.
type ConflictConfig struct {
	// Hosts are machines and people that sync here: a copy may be called `stem-HOST`.
	Hosts []string `toml:"hosts"`
}

// DoorConfig says whose word counts at the agents' door.
type DoorConfig struct {
	// Untrusted is "label", which keeps and marks untrusted writes, or "review", which
	// holds them back; empty is label.
	Untrusted string `toml:"untrusted"`
	// Trust grants channels to the names of tokens.
	Trust map[string][]string `toml:"trust"`
}

// ScannerConfig shapes the signals of planted memories.
type ScannerConfig struct {
	// Command is a classifier: a text on standard input, 0 to 1 on standard output.
	Command []string `toml:"command"`
	// Model is a file that `memdesk quarantine train` wrote; empty is the shipped one.
	Model string `toml:"model"`
	// Recall is "label", which marks what looks planted for operators, or "withhold",
	// which also keeps it from agents; empty is label.
	Recall string `toml:"recall"`
}

// UIConfig shapes the console.
type UIConfig struct {
	Plain   bool   `toml:"plain"`
	NoColor bool   `toml:"no_color"`
	Theme   string `toml:"theme"`
	Linear  bool   `toml:"linear"`
	// Keys are further keys of the console: the word of an act, or a command line, by its key.
	Keys map[string]string `toml:"keys"`
	// Mouse says whether the console takes the mouse; nil is yes.
	Mouse *bool `toml:"mouse"`
	// Poll is the pause between two looks at a list whose source tells no changes; 0 is never, nil 3 s.
	Poll *Duration `toml:"poll"`
	// IdleLock is how long nobody presses a key before the screen is blanked; 0 is never.
	IdleLock Duration `toml:"idle_lock"`
}

// StoreConfig is one [[store]] block: the keys of all kinds together. Which of
// them a kind takes is declared by the registry.
type StoreConfig struct {
	Name        string   `toml:"name"`
	Kind        string   `toml:"kind"`
	Environment string   `toml:"environment"`
	ReadOnly    bool     `toml:"read_only"`
	Timeout     Duration `toml:"timeout"`

	Path       string `toml:"path"`
	BasePath   string `toml:"base_path"`
	MemoryRoot string `toml:"memory_root"`
	LockRoot   string `toml:"lock_root"`
	Workspace  string `toml:"workspace"`
	Crew       string `toml:"crew"`
	Agent      string `toml:"agent"`
	Port       string `toml:"port"`
	Command    string `toml:"command"`
	History    string `toml:"history"`

	// Of a database server, and of what embeds a query.
	DSNEnv       string `toml:"dsn_env"`
	DSNFile      string `toml:"dsn_file"`
	Schema       string `toml:"schema"`
	MaxConns     int    `toml:"max_conns"`
	MinConns     int    `toml:"min_conns"`
	Distributed  bool   `toml:"distributed"`
	EmbedURL     string `toml:"embed_url"`
	EmbedCommand string `toml:"embed_command"`

	// Of a gateway.
	BaseURL        string            `toml:"base_url"`
	UserID         string            `toml:"user_id"`
	UserKeyEnv     string            `toml:"user_key_env"`
	APIURL         string            `toml:"api_url"`
	APITokenEnv    string            `toml:"api_token_env"`
	APITokenFile   string            `toml:"api_token_file"`
	TokenEnv       string            `toml:"token_env"`
	TokenFile      string            `toml:"token_file"`
	UserKeyFile    string            `toml:"user_key_file"`
	AppID          string            `toml:"app_id"`
	ProjectID      string            `toml:"project_id"`
	Scope          []string          `toml:"scope"`
	TopK           int               `toml:"top_k"`
	Session        string            `toml:"session"`
	ConversationID string            `toml:"conversation_id"`
	SenderID       string            `toml:"sender_id"`
	SearchPath     string            `toml:"search_path"`
	AddPath        string            `toml:"add_path"`
	FlushPath      string            `toml:"flush_path"`
	Fields         map[string]string `toml:"fields"`

	// Own holds the keys that Kind.Own declares, each with the type declared there.
	Own map[string]any `toml:"-"`

	// Location is the value of --open for a kind whose location is no path.
	Location string `toml:"-"`

	// ReadOnlyReason says why discovery opens a store for reading only.
	ReadOnlyReason string `toml:"-"`

	// Origin says why the store is here; Line is its block's line in the file.
	Origin string `toml:"-"`
	Line   int    `toml:"-"`
}

// commonKeys are taken by every kind.
var commonKeys = []string{"name", "kind", "environment", "read_only", "timeout"}

// Duration is a time span in a file: Go's notation, or whole days as "30d".
type Duration time.Duration

// maxDays is the longest duration, a hundred years.
const maxDays = 36500

// UnmarshalText parses the notation.
func (d *Duration) UnmarshalText(text []byte) error {
	s := string(text)
	var days int
	if n, err := fmt.Sscanf(s, "%dd", &days); err == nil && n == 1 && s == fmt.Sprintf("%dd", days) && days >= 0 && days <= maxDays {
		*d = Duration(time.Duration(days) * 24 * time.Hour)
		return nil
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is no duration: write 500ms, 10s, 12h or 30d, up to %dd", s, maxDays)
	}
	*d = Duration(v)
	return nil
}

// ConfigPath is where the configuration is read from: the flag, else
// $MEMDESK_CONFIG, else $XDG_CONFIG_HOME/memdesk/config.toml. explicit says that
// somebody named it, so that its absence is an error.
func ConfigPath(flag string, env func(string) string) (path string, explicit bool) {
	if flag != "" {
		return flag, true
	}
	if p := env("MEMDESK_CONFIG"); p != "" {
		return p, true
	}
	dir := statedir.Base(env, "XDG_CONFIG_HOME", ".config")
	if dir == "" {
		return "", false
	}
	return filepath.Join(dir, "config.toml"), false
}

// maxConfig is the largest configuration, in bytes.
const maxConfig = 4 << 20

// LoadConfig reads and checks a file against the registry. An absent file is an
// empty configuration unless explicit. A file that others can change is refused:
// it says who may change memory, and names programs that run.
func LoadConfig(reg *Registry, path string, explicit bool, env func(string) string) (Config, error) {
	if path == "" {
		return Config{}, nil
	}
	data, err := privatefile.Read(path, privatefile.Unwritable, maxConfig)
	if errors.Is(err, os.ErrNotExist) && !explicit {
		// A link that leads nowhere is a configuration that cannot be read: its roles must not fall away.
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
			return Config{}, nil
		}
	}
	if errors.Is(err, privatefile.ErrShared) {
		return Config{}, model.E(model.InvalidInput, "config", fmt.Errorf("%s: %w", path, err))
	}
	if err != nil {
		return Config{}, model.Errorf(model.InvalidInput, "config", "%s cannot be read: %s", path, reason(err))
	}
	cfg, err := ParseConfig(reg, path, string(data))
	if err != nil {
		return Config{}, err
	}
	dir, err := filepath.Abs(filepath.Dir(path)) // a store's identity is its absolute path, however the file was named
	if err != nil {
		return Config{}, model.Errorf(model.InvalidInput, "config", "%s: the working directory is gone: name the file by its absolute path", path)
	}
	cfg.Scanner.Model = ExpandPath(cfg.Scanner.Model, dir, env)
	programs := []*string{&cfg.GDPR.PDFToText}
	if len(cfg.Scanner.Command) > 0 {
		programs = append(programs, &cfg.Scanner.Command[0])
	}
	for i := range cfg.Stores {
		programs = append(programs, &cfg.Stores[i].Command)
	}
	for _, p := range programs {
		if strings.Contains(*p, "/") { // a bare name is one on the PATH
			*p = ExpandPath(*p, dir, env)
		}
	}
	for i, a := range cfg.Audit.Anchors {
		if a.Path != "" {
			cfg.Audit.Anchors[i].Path = ExpandPath(a.Path, dir, env)
		}
	}
	for i := range cfg.Stores {
		cfg.Stores[i].resolve(dir, env)
		cfg.Stores[i].resolveOwn(dir, env)
	}
	return cfg, nil
}

// ParseConfig checks text as a configuration; file is named in errors.
func ParseConfig(reg *Registry, file, text string) (Config, error) {
	cfg := Config{File: file}
	at := locateKeys(text)
	cfg.at = at
	found := findings{file: file}
	fail := found.add
	var raw struct {
		Stores []map[string]any `toml:"store"`
	}
	if _, err := toml.Decode(text, &raw); err == nil {
		wrongTypes(reg, raw.Stores, func(i int, key, want string) { fail(at.inStore(i, key), "%s wants %s", key, want) })
	}
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") || !utf8.ValidString(text) {
		fail(position{1, 1}, "the file is not UTF-8 text; save it as UTF-8")
	}
	if len(found.all) > 0 { // the decoder ends at the first
		return Config{}, found.err()
	}
	meta, err := toml.Decode(text, &cfg)
	if err != nil {
		pos, msg := at.decodeError(err)
		fail(pos, "%s", msg)
		return Config{}, found.err()
	}
	var unknown toml.Key
	undecoded := meta.Undecoded()
	for _, key := range undecoded {
		if key[0] == "store" || len(unknown) > 0 && len(key) > len(unknown) && slices.Equal(key[:len(unknown)], unknown) {
			continue // the keys of stores are checked by their kinds below, and what an unknown table holds need not be
		}
		unknown = key
		fail(at.find(key), "unknown key %s; %s", key, suggest(key[len(key)-1], keysIn(key[:len(key)-1])))
	}
	spelled := map[string]bool{}      // the keys of store blocks
	for _, key := range meta.Keys() { // the decoder takes a key in any case, the checks below only as it is written here
		if word := key[:min(2, len(key))].String(); word != strings.ToLower(word) && key[0] != "store" && !slices.ContainsFunc(undecoded, func(u toml.Key) bool { return slices.Equal(u, key) }) {
			fail(at.find(key), "unknown key %s; did you mean %s?", word, strings.ToLower(word))
		}
		if strings.EqualFold(key[0], "store") {
			spelled[key[0]] = true
		}
	}
	if cfg.Audit.SegmentBytes != 0 && cfg.Audit.SegmentBytes < minSegment {
		fail(at.find(toml.Key{"audit", "segment_bytes"}), "audit.segment_bytes must be %d or more", minSegment)
	}
	if why := cfg.Operator.check(); why != "" {
		fail(at.find(toml.Key{"operator"}), "%s", why)
	}
	cfg.Operator.Names = cfg.Operator.names()
	if why := cfg.Audit.check(); why != "" {
		fail(at.find(toml.Key{"audit"}), "%s", why)
	}
	if t := cfg.UI.Theme; t != "" && !slices.Contains(Themes, t) {
		fail(at.find(toml.Key{"ui", "theme"}), "theme %q is not there; %s", t, suggest(t, Themes))
	}
	if d := time.Duration(cfg.UI.IdleLock); d > 0 && d < minIdle {
		fail(at.find(toml.Key{"ui", "idle_lock"}), "ui.idle_lock must be %s or more, or 0s for never: a shorter one locks before a key can be pressed", minIdle)
	}
	if p := cfg.UI.Poll; p != nil && *p > 0 && time.Duration(*p) < minPoll {
		fail(at.find(toml.Key{"ui", "poll"}), "ui.poll must be %s or more, or 0s for never", minPoll)
	}
	if u := cfg.Door.Untrusted; u != "" && u != "label" && u != "review" {
		fail(at.find(toml.Key{"door", "untrusted"}), "door.untrusted is \"label\" or \"review\"")
	}
	if a := cfg.GDPR.Approval; a != "" && a != "signature" && a != "session" {
		fail(at.find(toml.Key{"gdpr", "approval"}), "gdpr.approval is \"signature\" or \"session\"")
	}
	if i := slices.IndexFunc(cfg.GDPR.Approvers, func(key string) bool { return !strings.HasPrefix(key, "SHA256:") }); i >= 0 {
		fail(at.find(toml.Key{"gdpr", "approvers"}), "gdpr.approvers are fingerprints of keys, SHA256:…, not %q", cfg.GDPR.Approvers[i])
	}
	if r := cfg.Scanner.Recall; r != "" && r != "label" && r != "withhold" {
		fail(at.find(toml.Key{"scanner", "recall"}), "scanner.recall is \"label\" or \"withhold\"")
	}
	for name, channels := range cfg.Door.Trust {
		if i := slices.IndexFunc(channels, func(c string) bool { return !slices.Contains([]string{"user", "tool", "web", "agent"}, c) }); i >= 0 {
			fail(at.find(toml.Key{"door", "trust", name}), "door.trust: a channel is user, tool, web or agent, not %q", channels[i])
		}
	}
	if m := cfg.GDPR.MaxShare; m != nil && !(*m >= 0 && *m <= 1) {
		fail(at.find(toml.Key{"gdpr", "max_share"}), "gdpr.max_share is a part of a store, from 0 to 1")
	}
	// A zero that is written is not the default: it would be taken for the opposite of what it says.
	for _, zero := range []struct {
		table, key string
		value      Duration
		advice     string
	}{
		{"undo", "keep", cfg.Undo.Keep, "undo keeps what a change replaced or removed, for a short time too: write 1h for an hour"},
		{"gdpr", "approval_valid", cfg.GDPR.ApprovalValid, "an approval needs time to be used: write 1h for an hour"},
		{"gdpr", "keep_closed", cfg.GDPR.KeepClosed, "write 1d for a day; without the key closed requests are kept for ever"},
	} {
		if zero.value == 0 && meta.IsDefined(zero.table, zero.key) {
			fail(at.find(toml.Key{zero.table, zero.key}), "%s.%s must be more than 0s: %s", zero.table, zero.key, zero.advice)
		}
	}
	if slices.ContainsFunc(cfg.Conflict.Hosts, func(h string) bool { return len(h) < 2 || strings.ContainsAny(h, "/\x00") }) {
		fail(at.find(toml.Key{"conflict", "hosts"}), "a host of conflict.hosts has two characters or more and no slash")
	}
	if len(spelled) > 1 { // the decoder takes each list for the stores, and keeps the one that it meets last
		fail(position{at.block(0), 1}, "the stores stand under several keys, %s: write [[store]] for each", strings.Join(slices.Sorted(maps.Keys(spelled)), " and "))
		return Config{}, found.err()
	}
	cfg.checkStores(reg, at, fail, raw.Stores)
	if key, why := cfg.checkOfficer(); why != "" {
		fail(at.find(toml.Key{key}), "%s", why)
	}
	if len(found.all) > 0 {
		return Config{}, found.err()
	}
	return cfg, nil
}

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

// keysIn are the keys of a table.
func keysIn(table toml.Key) (out []string) {
	t := reflect.TypeFor[Config]()
	for _, part := range table {
		if t = keyType(t, strings.ToLower(part)); t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer) {
			t = t.Elem()
		}
		if t == nil || t.Kind() != reflect.Struct {
			return nil
		}
	}
	for f := range t.Fields() {
		if key := f.Tag.Get("toml"); key != "-" && key != "" {
			out = append(out, key)
		}
	}
	return out
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
		if f.Tag.Get("toml") == key && key != "-" {
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

var decoderText = regexp.MustCompile(`^toml: (?:line (\d+) )?(?:\(last key "([^"]*)"\))?:? ?(.*)$`)

// decodeError turns the decoder's error into a position and words.
func (ix keyIndex) decodeError(err error) (position, string) {
	var pe toml.ParseError
	if errors.As(err, &pe) && pe.Message != "" {
		return position{max(1, pe.Position.Line), max(1, pe.Position.Col)}, pe.Message
	}
	m := decoderText.FindStringSubmatch(err.Error())
	if m == nil {
		return position{1, 1}, err.Error()
	}
	pos := ix.find(strings.Split(m[2], "."))
	if n, convErr := strconv.Atoi(m[1]); convErr == nil && pos.line != n {
		pos = position{n, 1}
	}
	if t := wrongShape.FindStringSubmatch(m[3]); t != nil {
		if t[2] == "slice" && (strings.HasPrefix(t[1], "map") || slices.Contains(blockKeys, m[2])) {
			return pos, fmt.Sprintf("%s wants blocks: write [[%s]]", m[2], m[2])
		}
		return pos, m[2] + " wants " + cmp.Or(shapes[t[2]], "another value")
	}
	return pos, m[2] + ": " + m[3]
}

// blockKeys are the keys of blocks, besides a store's.
var blockKeys = []string{"operator.role", "audit.anchor", "backup", "recipient"}

// wrongShape is the decoder's word for a value of another type, shapes are ours for the type that it wants.
var (
	wrongShape = regexp.MustCompile(`^incompatible types: TOML value has type (.*); destination has type (\w+)$`)
	shapes     = map[string]string{"slice": `a list, as in ["first", "second"]`, "map": `a table, as in { first = "second" }`, "string": "a text in quotes", "boolean": "true or false",
		"bool": "true or false", "integer": "a whole number", "float": "a number"}
)

// resolve makes the paths of a block absolute: ~ is the home directory, relative
// ones start at the file's directory.
func (s *StoreConfig) resolve(dir string, env func(string) string) {
	for _, p := range s.paths() {
		*p = ExpandPath(*p, dir, env)
	}
}

// paths are the keys that hold a path from the file's directory. A vault's memory
// root is one below the vault, as AgentM's own configuration has it.
func (s *StoreConfig) paths() []*string {
	paths := []*string{&s.Path, &s.BasePath, &s.LockRoot, &s.UserKeyFile, &s.TokenFile, &s.APITokenFile, &s.DSNFile, &s.History}
	if s.Kind != "vault" {
		paths = append(paths, &s.MemoryRoot)
	}
	return paths
}

// ExpandPath makes a path that a person wrote absolute.
func ExpandPath(p, dir string, env func(string) string) string {
	switch home := env("HOME"); {
	case p == "":
		return ""
	case p == "~" && home != "":
		return home
	case strings.HasPrefix(p, "~/") && home != "":
		return filepath.Join(home, p[2:])
	case filepath.IsAbs(p):
		return p
	}
	return filepath.Join(dir, p)
}

// position is where a key stands, from 1.
type position struct{ line, col int }

// located is a key with its table: path is "store" for every [[store]] block,
// whose number block then is.
type located struct {
	table string
	block int
	key   string
	at    position
}

// keyIndex finds keys in a text that is known to be valid TOML; the decoder
// itself gives no position for a key that it did not expect.
type keyIndex []located

var (
	tableLine = regexp.MustCompile(`^\s*(\[\[?)\s*([^\]]+?)\s*\]`)
	keyLine   = regexp.MustCompile(`^(\s*)("[^"]+"|'[^']+'|[A-Za-z0-9_.-]+)\s*=`)
)

func locateKeys(text string) keyIndex {
	var out keyIndex
	table, blocks, block := "", -1, -1
	for i, line := range strings.Split(text, "\n") {
		if m := tableLine.FindStringSubmatchIndex(line); m != nil {
			table, block = line[m[4]:m[5]], -1
			if line[m[2]:m[3]] == "[[" && table == "store" {
				blocks++
				block = blocks
			}
			out = append(out, located{table, block, "", position{i + 1, m[2] + 1}})
			continue
		}
		if m := keyLine.FindStringSubmatchIndex(line); m != nil {
			key := strings.Trim(line[m[4]:m[5]], `"'`)
			out = append(out, located{table, block, key, position{i + 1, m[4] + 1}})
		}
	}
	return out
}

// find locates a decoder key such as store.colour or ui.x.y; the start of the
// file when it cannot.
func (ix keyIndex) find(key toml.Key) position {
	for _, l := range ix {
		full := l.table
		if l.key != "" {
			full = strings.TrimPrefix(l.table+"."+l.key, ".")
		}
		if full == strings.Join(key, ".") {
			return l.at
		}
	}
	return position{1, 1}
}

func (ix keyIndex) block(n int) int { return cmp.Or(ix.inStore(n, "").line, 1) }

// inStore locates a key of the nth store block, or the block's own line.
func (ix keyIndex) inStore(n int, key string) position {
	head := position{1, 1}
	for _, l := range ix {
		if l.table != "store" || l.block != n {
			continue
		}
		if l.key == "" {
			head = l.at
		}
		if l.key == key {
			return l.at
		}
	}
	return head
}

// reason is an OS error without the path that the caller has already named.
func reason(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
