package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"

	"memdesk/internal/atomicfile"
)

// mcpClient is a program whose configuration can name MCP servers
// (agents-door.md AD28).
type mcpClient struct {
	name string
	// file is where the configuration stands, project that of a project.
	file    func(env func(string) string) string
	project string
	path    []string // to the object of servers
	toml    bool
	stdio   func(command string, args []string) map[string]any
	http    func(url, tokenEnv string) map[string]any
}

func homeFile(rel string) func(func(string) string) string {
	return func(env func(string) string) string { return filepath.Join(env("HOME"), rel) }
}

func commandEntry(command string, args []string) map[string]any {
	return map[string]any{"command": command, "args": args}
}

// bearerHeader names the token's variable in the form that a client expands.
func bearerHeader(form, tokenEnv string) map[string]any {
	return map[string]any{"Authorization": "Bearer " + fmt.Sprintf(form, tokenEnv)}
}

var mcpClients = []mcpClient{
	{name: "claude", file: homeFile(".claude.json"), project: ".mcp.json", path: []string{"mcpServers"},
		stdio: func(c string, args []string) map[string]any {
			return map[string]any{"type": "stdio", "command": c, "args": args, "env": map[string]any{}}
		},
		http: func(url, v string) map[string]any {
			return map[string]any{"type": "http", "url": url, "headers": bearerHeader("${%s}", v)}
		}},
	{name: "codex", project: ".codex/config.toml", path: []string{"mcp_servers"}, toml: true, stdio: commandEntry,
		file: func(env func(string) string) string {
			if dir := env("CODEX_HOME"); dir != "" {
				return filepath.Join(dir, "config.toml")
			}
			return filepath.Join(env("HOME"), ".codex", "config.toml")
		},
		http: func(url, v string) map[string]any { return map[string]any{"url": url, "bearer_token_env_var": v} }},
	{name: "cursor", file: homeFile(".cursor/mcp.json"), project: ".cursor/mcp.json", path: []string{"mcpServers"}, stdio: commandEntry,
		http: func(url, v string) map[string]any {
			return map[string]any{"url": url, "headers": bearerHeader("${env:%s}", v)}
		}},
	{name: "gemini", file: homeFile(".gemini/settings.json"), project: ".gemini/settings.json", path: []string{"mcpServers"}, stdio: commandEntry,
		http: func(url, v string) map[string]any {
			return map[string]any{"httpUrl": url, "headers": bearerHeader("${%s}", v)}
		}},
	{name: "openclaw", file: homeFile(".openclaw/openclaw.json"), path: []string{"mcp", "servers"}, stdio: commandEntry,
		http: func(url, v string) map[string]any {
			return map[string]any{"url": url, "transport": "streamable-http", "headers": bearerHeader("${%s}", v)}
		}},
}

type installFlags struct {
	name, url, tokenEnv  string
	project, dryRun, yes bool
}

func (a *app) mcpCommand() *cobra.Command {
	c := &cobra.Command{Use: "mcp", Short: "Agents that reach memory through memdesk"}
	var f installFlags
	var names []string
	for _, m := range mcpClients {
		names = append(names, m.name)
	}
	install := &cobra.Command{
		Use: "install CLIENT", Short: "Name memdesk in a client's configuration: " + strings.Join(names, ", "),
		Long: "Adds one entry to the configuration of an agent's program and leaves everything else as it is; the old file is\n" +
			"kept beside it. A file that cannot be read, that holds comments which would be lost, or that has another entry\n" +
			"of the name is left alone, and the entry is printed (exit 6). --store, --open and --config become part of the entry.",
		RunE: func(cmd *cobra.Command, args []string) error {
			i := slices.IndexFunc(mcpClients, func(m mcpClient) bool { return m.name == args[0] })
			if i < 0 {
				return usage("no client is named %q; there are %s", args[0], strings.Join(names, ", "))
			}
			return a.installMCP(cmd, mcpClients[i], f)
		},
	}
	fl := install.Flags()
	fl.StringVar(&f.name, "name", "memdesk", "`NAME` of the entry")
	fl.BoolVar(&f.project, "project", false, "in the project of the working directory")
	fl.StringVar(&f.url, "url", "", "`URL` of a running serve mcp, instead of a program to start")
	fl.StringVar(&f.tokenEnv, "token-env", "", "with --url: `VARIABLE` that holds the token")
	fl.BoolVar(&f.dryRun, "dry-run", false, "only print the file and the entry")
	fl.BoolVar(&a.flags.yes, "yes", false, "do not ask")
	c.AddCommand(install)
	return c
}

// entry is the new entry of the configuration.
func (a *app) mcpEntry(m mcpClient, f installFlags) (map[string]any, error) {
	switch {
	case f.url != "" && f.tokenEnv == "":
		return nil, usage("--url needs --token-env: the token itself never stands in a configuration")
	case f.url == "" && f.tokenEnv != "":
		return nil, usage("--token-env goes with --url")
	case f.url != "":
		return m.http(f.url, f.tokenEnv), nil
	}
	command, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{}
	config := a.flags.config
	if config == "" && len(a.flags.open) == 0 { // a client starts elsewhere, with another environment
		config = a.Env("MEMDESK_CONFIG")
	}
	if config != "" {
		args = append(args, "--config", a.absolute(config))
	}
	for _, o := range a.flags.open {
		args = append(args, "--open", a.absoluteOpen(o))
	}
	for _, s := range a.flags.stores {
		args = append(args, "--store", s)
	}
	if a.flags.readOnly {
		args = append(args, "--read-only")
	}
	return m.stdio(command, append(args, "serve", "mcp")), nil
}

func (a *app) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.Dir, path)
}

// absoluteOpen makes the path of KIND=PATH absolute: a client starts elsewhere.
func (a *app) absoluteOpen(flag string) string {
	kind, location, _ := strings.Cut(flag, "=")
	if k, ok := a.Kinds.Kind(kind); ok && !k.Bare && !k.Variable && location != "" && !strings.HasPrefix(location, "~") {
		location = a.absolute(location)
	}
	return kind + "=" + location
}

func (a *app) installMCP(cmd *cobra.Command, m mcpClient, f installFlags) error {
	if strings.Trim(f.name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || f.name == "" {
		return usage("--name takes letters, digits, - and _")
	}
	file := ""
	switch {
	case f.project && m.project == "":
		return usage("%s has no configuration of a project", m.name)
	case f.project:
		file = filepath.Join(a.Dir, m.project)
	case a.Env("HOME") == "":
		return usage("HOME is not set: use --project")
	default:
		file = m.file(a.Env)
	}
	entry, err := a.mcpEntry(m, f)
	if err != nil {
		return err
	}
	snippet := m.snippet(f.name, entry)
	if f.dryRun {
		a.linef("%s", file)
		a.body(snippet)
		return nil
	}
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	edited, err := m.edit(old, f.name, entry)
	if err != nil {
		a.body(snippet)
		return &exitError{exitRefused, fmt.Errorf("%s was left as it is: %w; the entry is printed above", file, err)}
	}
	if bytes.Equal(edited, old) {
		a.sayf("%s names memdesk already", file)
		return nil
	}
	if err := a.confirm(cmd.Context(), a.text.Sprintf("add %s to %s?", f.name, file).String()); err != nil {
		return err
	}
	if err := a.replaceConfig(file, old, edited); err != nil {
		return err
	}
	a.linef("%s", file)
	return nil
}

// replaceConfig writes a configuration and keeps the old one beside it. A link is
// followed, as the client does.
func (a *app) replaceConfig(file string, old, edited []byte) error {
	if to, err := filepath.EvalSymlinks(file); err == nil {
		file = to
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
		backup := file + ".memdesk-" + a.Clock.Now().UTC().Format("20060102T150405Z") + ".bak"
		if err := atomicfile.Write(backup, old, mode); err != nil {
			return err
		}
		a.sayf("the old file is kept as %s", backup)
	} else if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(file, edited, mode)
}

// snippet is the entry as it would stand in an empty file.
func (m mcpClient) snippet(name string, entry map[string]any) string {
	out, err := m.edit(nil, name, entry)
	if err != nil { // an empty file takes everything
		return ""
	}
	return string(out)
}

// edit puts the entry into a configuration's text and changes nothing else.
func (m mcpClient) edit(old []byte, name string, entry map[string]any) ([]byte, error) {
	if m.toml {
		return editTOML(old, m.path[0], name, entry)
	}
	if len(bytes.TrimSpace(old)) == 0 {
		old = []byte("{}\n")
	}
	var root map[string]any
	d := json.NewDecoder(bytes.NewReader(old))
	d.UseNumber()
	if err := d.Decode(&root); err != nil || d.More() {
		return nil, errors.New("it is no plain JSON, or it holds comments")
	}
	at := root
	for _, p := range m.path {
		next, ok := at[p].(map[string]any)
		if _, there := at[p]; there && !ok {
			return nil, fmt.Errorf("%s is no object", p)
		}
		at = next
	}
	if have, there := at[name]; there {
		if same(have, entry) {
			return old, nil
		}
		if !ours(have) {
			return nil, fmt.Errorf("it has another entry %q", name)
		}
	}
	value, err := json.MarshalIndent(entry, "", "  ")
	if err != nil {
		return nil, err
	}
	return setJSON(old, append(slices.Clone(m.path), name), value, 1)
}

// same compares what a file holds with an entry.
func same(have any, entry map[string]any) bool {
	a, err := json.Marshal(have)
	b, err2 := json.Marshal(entry)
	return err == nil && err2 == nil && bytes.Equal(a, b)
}

// ours reports whether an entry was made by this command: it starts serve mcp.
func ours(have any) bool {
	e, ok := have.(map[string]any)
	if !ok {
		return false
	}
	args, _ := e["args"].([]any)
	n := len(args)
	return n >= 2 && args[n-2] == "serve" && args[n-1] == "mcp"
}

// setJSON sets a member of nested objects by its path and keeps every other byte.
func setJSON(obj []byte, path []string, value []byte, depth int) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(obj))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("it is no JSON object")
	}
	pad := strings.Repeat("  ", depth)
	start, end, last := -1, -1, int(d.InputOffset())
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, err
		}
		last = int(d.InputOffset())
		if key == path[0] {
			if start >= 0 {
				return nil, fmt.Errorf("it has %q twice", path[0])
			}
			start, end = last-len(raw), last
		}
	}
	inner := indent(value, pad)
	var err error
	if len(path) > 1 {
		below := []byte("{}")
		if start >= 0 {
			below = obj[start:end]
		}
		if inner, err = setJSON(below, path[1:], value, depth+1); err != nil {
			return nil, err
		}
	}
	if start >= 0 {
		return slices.Concat(obj[:start], inner, obj[end:]), nil
	}
	key, err := json.Marshal(path[0])
	if err != nil {
		return nil, err
	}
	member := slices.Concat([]byte("\n"+pad), key, []byte(": "), inner)
	rest := obj[last:]
	if obj[last-1] != '{' || last == 0 {
		return slices.Concat(obj[:last], []byte(","), member, rest), nil
	}
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return slices.Concat(obj[:last], member, []byte("\n"+strings.Repeat("  ", depth-1)), rest), nil
}

func indent(value []byte, pad string) []byte {
	return bytes.ReplaceAll(value, []byte("\n"), []byte("\n"+pad))
}

// editTOML adds a table at the end, or replaces the one that this command wrote.
func editTOML(old []byte, table, name string, entry map[string]any) ([]byte, error) {
	var root map[string]any
	if err := toml.Unmarshal(old, &root); err != nil {
		return nil, errors.New("it is no TOML")
	}
	servers, ok := root[table].(map[string]any)
	if _, there := root[table]; there && !ok {
		return nil, fmt.Errorf("%s is no table", table)
	}
	text := tomlTable(table, name, entry)
	if have, there := servers[name]; there {
		if same(have, entry) {
			return old, nil
		}
		return nil, fmt.Errorf("it has another entry %q", name)
	}
	if inlineTable(old, table) {
		return nil, fmt.Errorf("%s is written on one line", table)
	}
	out := slices.Clone(old)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	if len(out) > 0 {
		out = append(out, '\n')
	}
	out = append(out, text...)
	if err := toml.Unmarshal(out, &root); err != nil {
		return nil, errors.New("the entry cannot be added to it")
	}
	return out, nil
}

// inlineTable reports whether the table stands as TABLE = { … }.
func inlineTable(text []byte, table string) bool {
	for line := range bytes.Lines(text) {
		key, _, ok := strings.Cut(string(line), "=")
		if ok && strings.TrimSpace(key) == table {
			return true
		}
	}
	return false
}

func tomlTable(table, name string, entry map[string]any) string {
	var b strings.Builder
	b.WriteString("[" + table + "." + name + "]\n")
	keys := []string{}
	for k := range entry {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		switch v := entry[k].(type) {
		case []string:
			var quoted []string
			for _, s := range v {
				quoted = append(quoted, strconv.Quote(s))
			}
			b.WriteString(k + " = [" + strings.Join(quoted, ", ") + "]\n")
		default:
			b.WriteString(k + " = " + strconv.Quote(fmt.Sprint(v)) + "\n")
		}
	}
	return b.String()
}
