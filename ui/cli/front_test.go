package cli_test

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"memdesk/backends"
	"memdesk/ui/tui"
)

// TestCompletion: the shell must be offered stores, references, formats and kinds, by the word in the
// usage, and no id that would control the terminal; completion must leave no trace.
func TestCompletion(t *testing.T) {
	d := newDesk(t)
	d.write("topics/tide\x1b]0;owned\x07.md", "x\n")
	for _, tt := range []struct {
		args  []string
		want  []string
		lacks string
	}{
		{[]string{"show", ""}, []string{"crewship:\n", ":6"}, "AGENT"}, // a reference continues after the store
		{[]string{"show", "crewship:AG"}, []string{"crewship:AGENT.md\n"}, "daily"},
		{[]string{"show", "crewship:topics/"}, nil, "\x1b"},
		{[]string{"forget", "crewship:AGENT.md", "crewship:da"}, []string{"crewship:daily/2026-05-21.md"}, ""},
		{[]string{"tiers", "--store", ""}, []string{"crewship\n"}, "crewship:"},
		{[]string{"items", "-o", ""}, []string{"json\n", "wide\n", "name\n"}, ""},
		{[]string{"--open", ""}, []string{"vault=\n", "sqlite=\n"}, ""},
		{[]string{"show", "nosuch:x"}, nil, "no store"},
		{[]string{"conflicts", "resolve", ""}, []string{"crewship:\n", ":6"}, ""},
		{[]string{"conflicts", "resolve", "--take", ""}, []string{"base\n", "copy\n", "merged\n", ":4"}, ""},
		{[]string{"conflicts", "resolve", "crewship:AGENT.md", ""}, []string{":0"}, ""}, // a file
		{[]string{"items", "--sort", ""}, []string{":4"}, ""},
		{[]string{"undo", "restore", ""}, []string{":4"}, ""},
		{[]string{"items", "--config", ""}, []string{":0"}, ""},
	} {
		got := d.run(append([]string{"__complete"}, tt.args...)...).want(t, 0, tt.want...)
		if tt.lacks != "" && strings.Contains(got.out, tt.lacks) {
			t.Errorf("%q: %q offers %q", tt.args, got.out, tt.lacks)
		}
	}
	if _, err := os.Stat(filepath.Join(d.dir, "state")); err == nil {
		t.Error("completion has made the state directory")
	}
	id, _ := d.run("gdpr", "request", "--subject", "usr_1", "--ground", "asked", "--yes", "--json").want(t, 0).last(t, "request")["request"].(string)
	d.run("__complete", "gdpr", "plan", "").want(t, 0, id+"\n", ":4")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		d.bare("completion", shell).want(t, 0, "memdesk")
	}
}

// TestManPage: the page must contain every command, the flags as they are typed, and the examples.
func TestManPage(t *testing.T) {
	page := newDesk(t).bare("man").want(t, 0).out
	for _, text := range []string{".TH MEMDESK 1", ".SH SYNOPSIS", "[COMMAND]", `\-s, \-\-store NAME`, ".SS memdesk gdpr plan REQUEST", ".SS memdesk jobs cancel",
		`memdesk demo                                # the console`, "only the store of this NAME"} {
		if !strings.Contains(page, text) {
			t.Errorf("the man page lacks %q", text)
		}
	}
	for _, text := range []string{"`", `\-\-s `} {
		if strings.Contains(page, text) {
			t.Errorf("the man page has %q", text)
		}
	}
	if n := strings.Count(page, "configuration FILE"); n != 1 {
		t.Errorf("the options of every command stand there %d times", n)
	}
}

// TestHelpOfNoCommand: help of a command that is not there must say so.
func TestHelpOfNoCommand(t *testing.T) {
	d := newDesk(t)
	d.bare("help", "nope").want(t, 2, `unknown command "nope" for "memdesk"`)
	d.bare("help", "gdpr", "plam").want(t, 2, `unknown command "plam" for "memdesk gdpr"; did you mean plan?`)
	d.bare("help", "gdpr", "plan").want(t, 0, "Searches every store", "REQUEST")
	d.bare("help").want(t, 0, "memdesk demo")
}

// TestInfoNamesThePaths: info must print the paths of the state, with --json too.
func TestInfoNamesThePaths(t *testing.T) {
	d := newDesk(t)
	state := filepath.Join(d.dir, "state", "memdesk")
	d.bare("info").want(t, 0, "version", "config.toml", state, filepath.Join(state, "audit"), filepath.Join(state, "undo"))
	d.bare("info", "--json").want(t, 0, `"`+state+`"`)
	file := d.file("some.toml", "[ui]\nplain = true\n")
	t.Chdir(d.dir)
	d.bare("--config", "some.toml", "info").want(t, 0, file)
}

// TestAConfigurationWithoutAStore: the error must name the file that was read, and not send the reader to write one.
func TestAConfigurationWithoutAStore(t *testing.T) {
	d := newDesk(t)
	file := d.file("empty.toml", "[ui]\nplain = true\n")
	for _, command := range []string{"stores", "items"} {
		d.bare("--config", file, command).want(t, 2, "empty.toml has no [[store]] block")
	}
}

var commented = regexp.MustCompile(`(?m)^# ((?:[a-z_]+|"[^"]+") += .*|\[\[?[a-z._]+\]\]?)$`)

// TestTheCommentedConfiguration: the example must have every configuration key and a block of every kind with
// each of its keys; its commented lines, and each block by itself, must be valid when uncommented.
func TestTheCommentedConfiguration(t *testing.T) {
	b, err := os.ReadFile("../../config.toml.example")
	if err != nil {
		t.Fatal(err)
	}
	var config backends.Config
	if md, err := toml.Decode(commented.ReplaceAllString(string(b), "$1"), &config); err != nil {
		t.Errorf("what is commented out: %v", err)
	} else {
		for _, key := range md.Undecoded() {
			if key[0] != "store" { // a kind's own key
				t.Errorf("what is commented out has %s, and there is no such key", key)
			}
		}
	}
	if key, err := tui.CheckKeys(config.UI.Keys, config.UI.Views); err != nil {
		t.Errorf("%s of the example: %v", key, err)
	}
	if _, _, err := tui.CheckViews(config.UI.Views); err != nil || len(config.UI.Views) == 0 {
		t.Errorf("the example has %d views: %v", len(config.UI.Views), err)
	}
	for _, key := range keysOf(reflect.TypeFor[backends.Config](), map[reflect.Type]bool{}) {
		if !regexp.MustCompile(`(?m)^(# )*(` + key + ` = |\[\[?([a-z]+\.)?` + key + `(\.[a-z]+)?\]\]?$)`).Match(b) {
			t.Errorf("config.toml.example has no %s", key)
		}
	}

	reg := backends.Builtin()
	blocks := map[string]string{}
	for _, block := range regexp.MustCompile(`(?m)^# \[\[store\]\]\n(?:#.*\n?)+`).FindAllString(string(b), -1) {
		text := strings.TrimPrefix(strings.ReplaceAll("\n"+block, "\n# ", "\n"), "\n")
		c, err := backends.ParseConfig(reg, filepath.Join(t.TempDir(), "config.toml"), text)
		if err != nil {
			t.Errorf("a block of the example: %v\n%s", err, text)
			continue
		}
		blocks[c.Stores[0].Kind] = text
	}
	for _, name := range reg.Names() {
		kind, _ := reg.Kind(name)
		block, there := blocks[name]
		if !there {
			t.Errorf("config.toml.example has no block of kind %s", name)
			continue
		}
		for _, key := range slices.Concat(kind.Keys, slices.Collect(maps.Keys(kind.Own))) {
			if !regexp.MustCompile(`(?m)^(# )?` + key + ` = `).MatchString(block) {
				t.Errorf("config.toml.example: the block of kind %s has no %s", name, key)
			}
		}
	}
}

// keysOf are the keys of a configuration, including its blocks.
func keysOf(typ reflect.Type, seen map[reflect.Type]bool) (keys []string) {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || seen[typ] {
		return nil
	}
	seen[typ] = true
	for i := range typ.NumField() {
		f := typ.Field(i)
		if key, _, _ := strings.Cut(f.Tag.Get("toml"), ","); key != "" && key != "-" {
			keys = append(keys, key)
		}
		keys = append(keys, keysOf(f.Type, seen)...)
	}
	return keys
}
