package backends_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/model"
)

// testRegistry has one kind, which opens an empty store.
func testRegistry(t *testing.T) *backends.Registry {
	t.Helper()
	reg := &backends.Registry{}
	err := reg.Register(backends.Kind{Name: "tree", NeedsPath: true, Location: "a directory", Keys: []string{"path", "crew"},
		Open: func(context.Context, backends.StoreConfig, backends.Env) (model.Store, error) {
			return model.Store{}, nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

func TestParseConfigErrors(t *testing.T) {
	tests := []struct {
		name, text, want string
	}{
		{"syntax", "[ui\nplain = true", "c.toml:2:4: expected"},
		{"unknown table", "[colours]\nred = 1", "c.toml:1:1: unknown key colours"},
		{"unknown key", "[ui]\nplain = true\n  colour = \"red\"", "c.toml:3:3: unknown key ui.colour"},
		{"unknown store key", "[[store]]\nkind=\"tree\"\npath=\"p\"\ncolor=1", "c.toml:4:1: unknown key store.color"},
		{"a role that is none", "[[operator.role]]\nkey = \"SHA256:a\"\nrole = \"root\"", "operator.role block 1: role is one of viewer"},
		{"nobody's role", "[[operator.role]]\nrole = \"viewer\"", "block 1: whose role?"},
		{"a principal of anybody", "[[operator.role]]\nprincipal = \"desk\"\nname = \"x\"\nrole = \"viewer\"", "a principal needs key"},
		{"a key that is no fingerprint", "[[operator.role]]\nkey = \"ssh-ed25519 AAAA\"\nrole = \"viewer\"", "SHA256:"},
		{"a token with a key", "[[operator.role]]\nkey = \"SHA256:a\"\ntoken = \"t\"\nrole = \"viewer\"", "a token has no key"},
		{"a role twice", "[[operator.role]]\nkey = \"SHA256:a\"\nrole = \"viewer\"\n[[operator.role]]\nkey = \"SHA256:a\"\nrole = \"viewer\"", "block 2: it stands twice"},
		{"wrong type", "[ui]\nplain = \"yes\"", "c.toml:2:1: ui.plain wants true or false"},
		{"an approver by name", "[gdpr]\napprovers = [\"alice\"]", `c.toml:2:1: gdpr.approvers are fingerprints of keys, SHA256:…, not "alice"`},
		{"a key in capitals", "[undo]\nKEEP = \"0s\"", `c.toml:2:1: unknown key undo.KEEP`},
		{"a table in capitals", "[Undo]\nkeep = \"0s\"", `c.toml:1:1: unknown key Undo`},
		{"stores under two keys", "[[store]]\nkind=\"tree\"\npath=\"p\"\n[[Store]]\nkind=\"tree\"\n[[Store]]\nkind=\"tree\"", "c.toml:1:1: the stores stand under several keys, Store and store"},
		{"a number where blocks stand", "[operator]\nrole = 5", `c.toml:2:1: operator.role wants blocks: write [[operator.role]]`},
		{"a number where names stand", "[operator]\nnames = 5", "c.toml:2:1: operator.names wants a table: write [operator.names]"},
		{"a number where a table stands", "audit = 5", "c.toml:1:1: audit wants a table: write [audit]"},
		{"blocks where a table stands", "[[undo]]\nkeep = \"1d\"", "c.toml:1:1: undo wants a table: write [undo]"},
		{"a number where a view stands", "[ui.views]\na = 5", "c.toml:2:1: ui.views.a wants a table: write [ui.views.a]"},
		{"a number for a block", "operator.role = [5]", "c.toml:1:1: operator.role wants blocks: write [[operator.role]]"},
		{"a number where stores stand", "store = 5", "c.toml:1:1: store wants blocks: write [[store]]"},
		{"a number of a key in quotes", "[ui.keys]\n\"ctrl+o\" = 5", `c.toml:2:1: ui.keys."ctrl+o" wants a text in quotes`},
		{"an unknown key of a view", "[ui.views.\"ä\"]\npane = \"health\"\nfliter = \"x\"", "c.toml:3:1: unknown key ui.views.\"ä\".fliter; did you mean filter?"},
		{"a text where a list stands", "[scanner]\ncommand = \"x\"", `c.toml:2:1: scanner.command wants a list, as in ["first", "second"]`},
		{"a table where a list stands", "[scanner]\ncommand = { x = 1 }", "c.toml:2:1: scanner.command wants a list"},
		{"a list where a text stands", "[audit]\nkey_command = [\"x\"]", "c.toml:2:1: audit.key_command wants a text in quotes"},
		{"a text where a number stands", "[audit]\nsegment_bytes = \"x\"", "c.toml:2:1: audit.segment_bytes wants a whole number"},
		{"a text where a share stands", "[gdpr]\nmax_share = \"x\"", "c.toml:2:1: gdpr.max_share wants a number"},
		{"wrong type in the first of two blocks", "[[store]]\nkind=\"tree\"\n  path=3\n[[store]]\nkind=\"tree\"\npath=\"p\"", "c.toml:3:3: path wants a text"},
		{"wrong bool", "[[store]]\nkind=\"tree\"\nread_only=\"no\"", "c.toml:3:1: read_only wants true or false"},
		{"bad duration", "[[store]]\nkind=\"tree\"\npath=\"p\"\ntimeout=\"soon\"", `"soon" is no duration`},
		{"a key of another kind, inline", "store = [{kind=\"tree\", path=\"p\", agent=\"a\"}]", `takes no key "agent"`},
		{"backups of no store", "[[backup]]\nstore = \"other\"\nwhere = \"tape\"\n[[store]]\nkind=\"tree\"\npath=\"p\"", `backup block 1 names a store "other"`},
		{"a backup without a place", "[[backup]]\nexpires_after = \"9d\"", `backup block 1 does not say where`},
		{"a backup without an end", "[[backup]]\nwhere = \"tape\"\nexpires_after = \"ever\"", `"ever" is no duration`},
		{"an unknown key of a backup", "[[backup]]\nwhere = \"tape\"\ncolor = 1", `unknown key backup.color`},
		{"a recipient without a name", "[[recipient]]\ncontact = \"x\"", `recipient block 1 has no name`},
		{"a recipient twice", "[[recipient]]\nname = \"x\"\n[[recipient]]\nname = \"x\"", `two recipient blocks are called "x"`},
		{"a recipient of no store", "[[recipient]]\nname = \"x\"\nstores = [\"other\"]\n[[store]]\nkind=\"tree\"\npath=\"p\"", `recipient "x" names a store "other"`},
		{"idle_lock too short", "[ui]\nidle_lock = \"1ms\"", "c.toml:2:1: ui.idle_lock must be 1s"},
		{"poll too short", "[ui]\npoll = \"1ns\"", "c.toml:2:1: ui.poll must be 100ms"},
		{"too small a segment", "[audit]\nsegment_bytes = -5", "c.toml:2:1: audit.segment_bytes must be"},
		{"too long", "[undo]\nkeep = \"9999999d\"", "no duration"},
		{"undo that keeps nothing", "[undo]\nkeep = \"0s\"", "c.toml:2:1: undo.keep must be more than 0s"},
		{"an approval that never counts", "[gdpr]\napproval_valid = \"0d\"", "c.toml:2:1: gdpr.approval_valid must be more than 0s"},
		{"closed requests that are not kept", "gdpr = {keep_closed = \"0s\"}", "gdpr.keep_closed must be more than 0s"},
		{"a share that is none", "[gdpr]\nmax_share = nan", "c.toml:2:1: gdpr.max_share is a part of a store"},
		{"not UTF-8", "\xff\xfe[\x00u\x00", "UTF-8"},
		{"no kind", "\n[[store]]\nname=\"a\"", "c.toml:2:1: the store block has no kind"},
		{"unknown kind", "[[store]]\nkind=\"bush\"", `c.toml:2:1: unknown kind "bush"; there are tree`},
		{"no path", "[[store]]\nkind=\"tree\"", "c.toml:2:1: a tree store needs path"},
		{"a key of another kind", "[[store]]\nkind=\"tree\"\npath=\"p\"\nagent=\"a\"", `c.toml:4:1: kind tree takes no key "agent"`},
		{"bad name", "[[store]]\nname=\"A b\"\nkind=\"tree\"\npath=\"p\"", "c.toml:2:1: store name"},
		{"taken name", "[[store]]\nkind=\"tree\"\npath=\"p\"\n[[store]]\nkind=\"tree\"\npath=\"q\"", `"tree" is taken by the block at line 1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := backends.ParseConfig(testRegistry(t), "c.toml", tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) || model.KindOf(err) != model.InvalidInput {
				t.Errorf("err = %v (%v); want InvalidInput with %q", err, model.KindOf(err), tt.want)
			}
		})
	}
}

func TestParseConfig(t *testing.T) {
	cfg, err := backends.ParseConfig(testRegistry(t), "c.toml", `
[operator]
readers = ["ben"]
names = { "SHA256:abc" = "ana" }
[undo]
keep = "30d"
[[store]]
kind = "tree"
path = "p"
timeout = "500ms"
`)
	if err != nil {
		t.Fatal(err)
	}
	s := cfg.Stores[0]
	if s.Name != "tree" || time.Duration(s.Timeout) != 500*time.Millisecond || s.Line != 7 {
		t.Errorf("store = %+v", s)
	}
	if time.Duration(cfg.Undo.Keep) != 30*24*time.Hour || cfg.Operator.Names["SHA256:abc"] != "ana" {
		t.Errorf("config = %+v", cfg)
	}
}

// TestPathsOfTheConfiguration: a path is one from the file's directory, wherever the program runs; a bare command is one
// on the PATH.
func TestPathsOfTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string][3]string{
		"[scanner]\nmodel = \"w.txt\"\ncommand = [\"bin/judge\", \"x/y\"]\n[gdpr]\npdftotext = \"~/pdf\"\n": {filepath.Join(dir, "w.txt"), filepath.Join(dir, "bin", "judge"), "/home/ana/pdf"},
		"[scanner]\nmodel = \"~/w.txt\"\ncommand = [\"judge\"]\n":                                           {"/home/ana/w.txt", "judge", ""},
		"[scanner]\nmodel = \"/w.txt\"\ncommand = [\"/bin/judge\"]\n[gdpr]\npdftotext = \"pdf\"\n":          {"/w.txt", "/bin/judge", "pdf"},
	} {
		path := filepath.Join(dir, "config.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := backends.LoadConfig(backends.Builtin(), path, true, func(string) string { return "/home/ana" })
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]string{cfg.Scanner.Model, cfg.Scanner.Command[0], cfg.GDPR.PDFToText}; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestTheCommandOfAStore: its program stands beside the file, not in the working directory or in the store that it runs in.
func TestTheCommandOfAStore(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	for command, want := range map[string]string{"bin/kno": filepath.Join(dir, "bin", "kno"), "~/bin/kno": "/home/ana/bin/kno", "/bin/kno": "/bin/kno", "kno": "kno"} {
		text := "[[store]]\nkind = \"knots\"\npath = \"repo\"\ncommand = \"" + command + "\"\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := backends.LoadConfig(backends.Builtin(), path, true, func(string) string { return "/home/ana" })
		if err != nil || cfg.Stores[0].Command != want {
			t.Errorf("%s: %+v, %v", command, cfg.Stores, err)
		}
	}
}

func TestLoadConfigAbsence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.toml")
	if _, err := backends.LoadConfig(testRegistry(t), path, false, os.Getenv); err != nil {
		t.Errorf("an absent file that nobody named: %v", err)
	}
	if _, err := backends.LoadConfig(testRegistry(t), path, true, os.Getenv); model.KindOf(err) != model.InvalidInput {
		t.Errorf("an absent file that was named: %v", err)
	}
}

// TestLoadConfigByRelativePath: two desks opened as config.toml from their own directories are two desks.
func TestLoadConfigByRelativePath(t *testing.T) {
	dir := t.TempDir()
	text := "[[store]]\nname = \"one\"\nkind = \"tree\"\npath = \"memory\"\n[[audit.anchor]]\nkind = \"file\"\npath = \"roots\"\n"
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	cfg, err := backends.LoadConfig(testRegistry(t), "config.toml", true, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	if got, want := cfg.Stores[0].Path, filepath.Join(dir, "memory"); got != want {
		t.Errorf("the store is at %q, want %q", got, want)
	}
	if got, want := cfg.Audit.Anchors[0].Path, filepath.Join(dir, "roots"); got != want {
		t.Errorf("the anchor is at %q, want %q", got, want)
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add("[[store]]\nkind=\"tree\"\npath=\"p\"\n")
	f.Add("[ui]\nplain=true\n[operator]\nnames={a=\"b\"}")
	f.Fuzz(func(t *testing.T, text string) {
		reg := &backends.Registry{}
		_, err := backends.ParseConfig(reg, "f", text)
		if err != nil && model.KindOf(err) != model.InvalidInput {
			t.Fatalf("kind %v: %v", model.KindOf(err), err)
		}
	})
}

// TestGatewayBlocks checks the rules G2 to G4 of provider-contract.md and their positions in the file.
func TestGatewayBlocks(t *testing.T) {
	const head = "[[store]]\nkind = \"gateway\"\n"
	const unscoped = head + "base_url = \"http://127.0.0.1:1\"\nuser_id = \"u\"\nuser_key_env = \"K\"\n"
	const good = unscoped + "scope = [\"all_user_memory\"]\n"
	for _, tt := range []struct{ name, text, want string }{
		{"no url", head + "user_id = \"u\"", "c.toml:1:1: base_url must not be empty"},
		{"another scheme", strings.Replace(good, "http://", "ftp://", 1), "c.toml:3:1: base_url must begin with http"},
		{"a password in the url", strings.Replace(good, "http://", "http://u:s3cret@", 1), "c.toml:3:1: base_url must not hold a user"},
		{"no user", strings.Replace(good, "\"u\"", "\"\"", 1), "c.toml:4:1: user_id must not be empty"},
		{"no key", strings.Replace(good, "user_key_env = \"K\"", "", 1), "c.toml:2:1: the block needs user_key_env or user_key_file"},
		{"two keys", good + "user_key_file = \"k\"", "c.toml:5:1: give user_key_env or user_key_file"},
		{"no scope", unscoped, "c.toml:1:1: scope must not be empty: give some of current_chat"},
		{"empty scope", unscoped + "scope = []", "c.toml:6:1: scope must not be empty"},
		{"unknown scope", unscoped + "scope = [\"world\"]", "c.toml:6:1: scope holds \"world\""},
		{"scope of another type", unscoped + "scope = \"resources\"", "c.toml:6:1: scope wants a list of texts"},
		{"scope of numbers", unscoped + "scope = [1]", "c.toml:6:1: scope wants a list of texts"},
		{"top_k 0", good + "top_k = 0", "c.toml:7:1: top_k must be 1 to 100"},
		{"top_k 101", good + "  top_k = 101", "c.toml:7:3: top_k must be 1 to 100"},
		{"top_k as text", good + "top_k = \"8\"", "c.toml:7:1: top_k wants a whole number"},
		{"top_k with a fraction", good + "top_k = 8.5", "c.toml:7:1: top_k wants a whole number"},
		{"no time", good + "timeout = \"0s\"", "c.toml:7:1: timeout must be more than 0"},
		{"empty app", good + "app_id = \"\"", "c.toml:7:1: app_id must not be empty"},
		{"a path elsewhere", good + "add_path = \"//evil/add\"", "c.toml:7:1: add_path must be a path"},
		{"an unknown field", good + "fields = { colour = \"x\" }", "c.toml:7:1: fields maps \"colour\""},
		{"fields of another type", good + "fields = { text = 1 }", "c.toml:7:1: fields wants a table of texts"},
		{"a file and a url", good + "path = \"config.json\"", "c.toml:3:1: base_url stands in the config.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := backends.ParseConfig(backends.Builtin(), "c.toml", tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) || model.KindOf(err) != model.InvalidInput {
				t.Errorf("err = %v (%v); want InvalidInput with %q", err, model.KindOf(err), tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error shows a password: %v", err)
			}
		})
	}
	for _, text := range []string{good, good + "top_k = 100\ntimeout = \"3s\"\nfields = { text = \"body\" }", head + "path = \"config.json\"\nsession = \"ops\""} {
		if _, err := backends.ParseConfig(backends.Builtin(), "c.toml", text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestPostgresBlock(t *testing.T) {
	for text, want := range map[string]string{
		"dsn_env = \"X\"": "",
		"dsn_env = \"X\"\nmax_conns = 4\nmin_conns = 2":                    "",
		"workspace = \"w\"":                                                "dsn_env or dsn_file",
		"dsn_env = \"X\"\ndsn_file = \"y\"":                                "not both",
		"dsn_env = \"X\"\nmax_conns = 0":                                   "max_conns goes from 1",
		"dsn_env = \"X\"\nmax_conns = 101":                                 "max_conns goes from 1",
		"dsn_env = \"X\"\nmin_conns = 11":                                  "min_conns goes from 0",
		"dsn_env = \"X\"\nmax_conns = \"4\"":                               "whole number",
		"dsn_env = \"X\"\npath = \"y\"":                                    "takes no key",
		"dsn_env = \"X\"\nembed_url = \"nowhere\"":                         "embed_url",
		"dsn_env = \"X\"\nembed_url = \"http://h\"\nembed_command = \"c\"": "not both",
	} {
		_, err := backends.ParseConfig(backends.Builtin(), "f", "[[store]]\nkind = \"postgres\"\n"+text)
		if (err == nil) != (want == "") || want != "" && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestWordsOfAKey: a word that a key does not take is found where it stands, before a store opens.
func TestWordsOfAKey(t *testing.T) {
	for text, want := range map[string]string{
		"kind = \"claude\"\npath = \"/c\"\ntranscripts = \"sometimes\"":         "f:4:1: transcripts is \"sometimes\": it is keep or redact",
		"kind = \"claude\"\npath = \"/c\"\ngit = \"x\"":                         "f:4:1: git is \"x\": it is keep or rewrite",
		"kind = \"openclaw\"\npath = \"/c\"\ntranscripts = \"Redact\"":          "f:4:1: transcripts",
		"kind = \"claude\"\npath = \"/c\"\ntranscripts = \"redact\"":            "",
		"kind = \"claude\"\npath = \"/c\"\ngit = \"rewrite\"\ntranscripts=\"\"": "",
	} {
		_, err := backends.ParseConfig(backends.Builtin(), "f", "[[store]]\n"+text)
		if (err == nil) != (want == "") || want != "" && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestOpenPostgresTakesAName: a connection string must appear in no message.
func TestOpenPostgresTakesAName(t *testing.T) {
	env := func(string) string { return "" }
	got, err := backends.ParseOpen(backends.Builtin(), []string{"postgres=DESK_DSN", "postgres=OTHER"}, "/d", env)
	if err != nil || got[0].DSNEnv != "DESK_DSN" || got[0].Path != "" || got[1].Name != "postgres-2" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, flag := range []string{"postgres=postgres://u:p4ss@h/d", "postgres=host=h password=p4ss", "postgres="} {
		if _, err := backends.ParseOpen(backends.Builtin(), []string{flag}, "/d", env); err == nil || strings.Contains(err.Error(), "p4ss") {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// TestALinkToNowhere: a configuration that is a broken link is not an absent one.
func TestALinkToNowhere(t *testing.T) {
	link := filepath.Join(t.TempDir(), "config.toml")
	if _, err := backends.LoadConfig(testRegistry(t), link, false, os.Getenv); err != nil {
		t.Errorf("no configuration: %v", err)
	}
	if err := os.Symlink("gone", link); err != nil {
		t.Fatal(err)
	}
	if _, err := backends.LoadConfig(testRegistry(t), link, false, os.Getenv); !errors.Is(err, model.InvalidInput) {
		t.Errorf("a broken link: %v", err)
	}
}

// TestAllFaultsAtOnce: a configuration is corrected in one go, and a slip is told from an unknown word.
func TestAllFaultsAtOnce(t *testing.T) {
	_, err := backends.ParseConfig(backends.Builtin(), "c.toml", "[ui]\ntheme = \"drak\"\nplian = true\n[colours]\nred = 1\nblue = 2\n[[store]]\nkind = \"sqlit\"\npath = \"p\"\n[[store]]\nname = \"A b\"\nkind = \"vault\"\npaht = \"p\"\n[audit.anchro]\n[gdpr]\napproval = \"no\"\n")
	var faults backends.Faults
	if !errors.As(err, &faults) || model.KindOf(err) != model.InvalidInput {
		t.Fatal(err)
	}
	want := []string{
		`c.toml:2:1: theme "drak" is not there; did you mean dark?`, `c.toml:3:1: unknown key ui.plian; did you mean plain?`, `c.toml:4:1: unknown key colours; there are operator, audit`,
		`c.toml:8:1: unknown kind "sqlit"; did you mean sqlite?`, `c.toml:11:1: store name`, `c.toml:12:1: a vault store needs path`, `c.toml:13:1: unknown key store.paht; did you mean path?`,
		`c.toml:14:1: unknown key audit.anchro; did you mean anchor?`, `c.toml:16:1: gdpr.approval is`,
	}
	for i := range max(len(want), len(faults)) {
		if i >= len(want) || i >= len(faults) || !strings.HasPrefix(faults[i], want[i]) {
			t.Fatalf("fault %d of\n%s", i+1, strings.Join(faults, "\n"))
		}
	}
	for text, want := range map[string][]string{ // each fault once
		"[Audit]\nfoo = 1": {"c.toml:1:1: unknown key Audit; did you mean audit?", "c.toml:2:1: unknown key Audit.foo; there are segment_bytes"},
		"[[operator.names]]\nbogus = 1\n[[ui.views]]\npane = \"tiers\"": {"c.toml:1:1: operator.names wants a table", "c.toml:3:1: ui.views wants a table"},
		"[Colours]\nred = 1": {"c.toml:1:1: unknown key Colours; there are operator"},
		strings.Repeat("[[store]]\nkind = \"vault\"\npath = \"p\"\n", 3): {`c.toml:4:1: store name "vault" is taken by the block at line 1`, `c.toml:7:1: store name "vault" is taken by the block at line 1`},
	} {
		_, err := backends.ParseConfig(backends.Builtin(), "c.toml", text)
		if !errors.As(err, &faults) || !slices.EqualFunc(faults, want, strings.HasPrefix) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := backends.ParseConfig(backends.Builtin(), "c.toml", "[[store]]\nkind = \"vault\"\npath = 3\nread_only = \"no\"\n"); err == nil || !strings.Contains(err.Error(), "3:1: path wants") || !strings.Contains(err.Error(), "4:1: read_only wants") {
		t.Error(err)
	}
}
