package backends

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"memdesk/internal/atomicfile"
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
	for ; pos == (position{1, 1}) && table != ""; table = table[:max(strings.LastIndexByte(table, '.'), 0)] {
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
	// Views are lists that the console opens by name.
	Views map[string]ViewConfig `toml:"views"`
	// Mouse says whether the console takes the mouse; nil is yes.
	Mouse *bool `toml:"mouse"`
	// Poll is the pause between two looks at a list whose source tells no changes; 0 is never, nil 3 s.
	Poll *Duration `toml:"poll"`
	// IdleLock is how long nobody presses a key before the screen is blanked; 0 is never.
	IdleLock Duration `toml:"idle_lock"`
}

// ViewConfig is a list of the console with its filter, order and width.
type ViewConfig struct {
	Pane   string `toml:"pane"`            // its name, in small letters
	Store  string `toml:"store,omitempty"` // of a list of items, as Tier and Scope are; empty: the pane's own list
	Tier   string `toml:"tier,omitempty"`
	Scope  string `toml:"scope,omitempty"`
	Filter string `toml:"filter,omitempty"`
	// Order is the heading of the column that sorts, after - the other way round; in the tiers pane it is one of its orders.
	Order  string `toml:"order,omitempty"`
	Wide   bool   `toml:"wide,omitempty"`   // the list alone
	Hidden bool   `toml:"hidden,omitempty"` // in the tiers pane: hidden tiers and archived items too
}

// Lines are the lines of a configuration file that give the view a name.
func (v ViewConfig) Lines(name string) (string, error) {
	keys, err := toml.Marshal(v)
	return fmt.Sprintf("[%s]\n%s", toml.Key{"ui", "views", name}, keys), err
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
		return Config{}, model.Errorf(model.InvalidInput, "config", "%s cannot be read: %v", path, atomicfile.Pathless(err))
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
