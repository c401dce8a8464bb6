// Package install names memdesk as an MCP server in the configuration of agents' programs
// (agents-door.md AD28). It changes one entry and keeps every other byte.
package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// Client is a program whose configuration can name MCP servers.
type Client struct {
	Name string
	// File returns the path of the configuration; Project is that of a project, relative to its
	// directory, empty where the client has none.
	File    func(env func(string) string) string
	Project string
	path    []string // to the object of servers
	toml    bool
	// Stdio is the entry of a program to start, HTTP that of a running server.
	Stdio func(command string, args []string) map[string]any
	HTTP  func(url, tokenEnv string) map[string]any
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// IsName reports whether an entry can have this name in every client's configuration.
func IsName(name string) bool { return name != "" && strings.Trim(name, nameLetters) == "" }

func homeFile(rel string) func(func(string) string) string {
	return func(env func(string) string) string { return filepath.Join(env("HOME"), rel) }
}

// variables is the member of an entry that sets them for the program.
const variables = "env"

func commandEntry(command string, args []string) map[string]any {
	return map[string]any{"command": command, "args": args}
}

// bearerHeader names the token's variable in the form that a client expands.
func bearerHeader(form, tokenEnv string) map[string]any {
	return map[string]any{"Authorization": "Bearer " + fmt.Sprintf(form, tokenEnv)}
}

var Clients = []Client{
	{Name: "claude", File: homeFile(".claude.json"), Project: ".mcp.json", path: []string{"mcpServers"},
		Stdio: func(c string, args []string) map[string]any {
			return map[string]any{"type": "stdio", "command": c, "args": args, variables: map[string]any{}}
		},
		HTTP: func(url, v string) map[string]any {
			return map[string]any{"type": "http", "url": url, "headers": bearerHeader("${%s}", v)}
		}},
	{Name: "codex", Project: ".codex/config.toml", path: []string{"mcp_servers"}, toml: true, Stdio: commandEntry,
		File: func(env func(string) string) string {
			if dir := env("CODEX_HOME"); dir != "" {
				return filepath.Join(dir, "config.toml")
			}
			return filepath.Join(env("HOME"), ".codex", "config.toml")
		},
		HTTP: func(url, v string) map[string]any { return map[string]any{"url": url, "bearer_token_env_var": v} }},
	{Name: "cursor", File: homeFile(".cursor/mcp.json"), Project: ".cursor/mcp.json", path: []string{"mcpServers"}, Stdio: commandEntry,
		HTTP: func(url, v string) map[string]any {
			return map[string]any{"url": url, "headers": bearerHeader("${env:%s}", v)}
		}},
	{Name: "gemini", File: homeFile(".gemini/settings.json"), Project: ".gemini/settings.json", path: []string{"mcpServers"}, Stdio: commandEntry,
		HTTP: func(url, v string) map[string]any {
			return map[string]any{"httpUrl": url, "headers": bearerHeader("${%s}", v)}
		}},
	{Name: "openclaw", File: homeFile(".openclaw/openclaw.json"), path: []string{"mcp", "servers"}, Stdio: commandEntry,
		HTTP: func(url, v string) map[string]any {
			return map[string]any{"url": url, "transport": "streamable-http", "headers": bearerHeader("${%s}", v)}
		}},
}

// Replace writes a configuration, and keeps the old one beside it: backup is its path, empty when there was
// none. It is Conflict when the file is not as old any more, because the client writes it too. It follows
// links, as the clients do.
func Replace(file string, old, edited []byte, now time.Time) (backup string, err error) {
	if to, err := filepath.EvalSymlinks(file); err == nil {
		file = to
	}
	switch now, err := os.ReadFile(file); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	case !bytes.Equal(now, old):
		return "", model.Errorf(model.Conflict, "", "%s has changed meanwhile: nothing was written", file)
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
		stem := file + ".memdesk-" + now.UTC().Format("20060102T150405Z")
		backup = stem + ".bak"
		for n := 2; taken(backup); n++ { // an install of the same second
			backup = stem + "-" + strconv.Itoa(n) + ".bak"
		}
		if err := atomicfile.Write(backup, old, mode); err != nil {
			return "", err
		}
	} else if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	return backup, atomicfile.Write(file, edited, mode)
}

func taken(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Snippet is the entry in an otherwise empty file.
func (m Client) Snippet(name string, entry map[string]any) string {
	out, err := m.Edit(nil, name, entry)
	if err != nil { // an empty file takes every entry
		return ""
	}
	return string(out)
}

// Edit puts the entry into a configuration's text and changes nothing else. An error says why the text is
// left alone: it is unreadable, would lose comments, or has an entry of that name that this command did not write.
func (m Client) Edit(old []byte, name string, entry map[string]any) ([]byte, error) {
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
		if !ours(have, entry) {
			return nil, fmt.Errorf("it has another entry %q", name)
		}
		if entry = m.withAdded(have.(map[string]any), entry); same(have, entry) {
			return old, nil
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

// ours reports whether an entry was made by this command: it starts serve mcp of our program, wherever that lies.
func ours(have any, entry map[string]any) bool {
	e, ok := have.(map[string]any)
	if !ok {
		return false
	}
	program := "memdesk"
	if command, ok := entry["command"].(string); ok {
		program = filepath.Base(command)
	}
	command, _ := e["command"].(string)
	args, _ := e["args"].([]any)
	n := len(args)
	return filepath.Base(command) == program && n >= 2 && args[n-2] == "serve" && args[n-1] == "mcp"
}

// Program is the entry of a program to start in the directories of this environment.
func (m Client) Program(command string, args []string, env func(string) string) map[string]any {
	entry, set := m.Stdio(command, args), map[string]any{}
	for _, v := range directories {
		if dir := env(v); dir != "" {
			set[v] = dir
		}
	}
	if len(set) > 0 {
		entry[variables] = set
	}
	return entry
}

// directories are the variables of an entry that this command writes: in other directories the server would know nothing
// of this desk's erasures and holds.
var directories = []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME"}

// withAdded is an entry with what somebody has added to the one before it: members that this command does not write, and
// further variables of the program.
func (m Client) withAdded(have, entry map[string]any) map[string]any {
	out, writes := maps.Clone(entry), m.Stdio("", nil)
	for k, v := range have {
		_, written := writes[k]
		if _, set := entry[k]; !written && !set && k != variables {
			out[k] = v
		}
	}
	theirs, _ := have[variables].(map[string]any)
	if _, starts := entry["command"]; starts && len(theirs) > 0 {
		all := maps.Clone(theirs)
		for _, v := range directories { // from an earlier run of this command
			delete(all, v)
		}
		set, _ := entry[variables].(map[string]any)
		maps.Copy(all, set)
		out[variables] = all
	}
	return out
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
	if obj[last-1] != '{' {
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
	if have, there := servers[name]; there {
		if same(have, entry) {
			return old, nil
		}
		e, _ := have.(map[string]any)
		written := []byte(tomlTable(table, name, e))
		if !ours(have, entry) || bytes.Count(old, written) != 1 { // what somebody has edited is his
			return nil, fmt.Errorf("it has another entry %q", name)
		}
		return parsedTOML(bytes.Replace(old, written, []byte(tomlTable(table, name, entry)), 1))
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
	return parsedTOML(append(out, tomlTable(table, name, entry)...))
}

func parsedTOML(out []byte) ([]byte, error) {
	if err := toml.Unmarshal(out, &map[string]any{}); err != nil {
		return nil, errors.New("the entry cannot be added to it")
	}
	return out, nil
}

// inlineTable reports whether the table is written as TABLE = { … }.
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
	for _, k := range slices.Sorted(maps.Keys(entry)) {
		switch v := entry[k].(type) {
		case []string, []any:
			var quoted []string
			for i := range reflect.ValueOf(v).Len() {
				quoted = append(quoted, strconv.Quote(fmt.Sprint(reflect.ValueOf(v).Index(i))))
			}
			b.WriteString(k + " = [" + strings.Join(quoted, ", ") + "]\n")
		case map[string]any:
			var set []string
			for _, name := range slices.Sorted(maps.Keys(v)) {
				set = append(set, name+" = "+strconv.Quote(fmt.Sprint(v[name])))
			}
			b.WriteString(k + " = { " + strings.Join(set, ", ") + " }\n")
		default:
			b.WriteString(k + " = " + strconv.Quote(fmt.Sprint(v)) + "\n")
		}
	}
	return b.String()
}
