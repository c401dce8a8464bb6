package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"memdesk/ui/door/install"
)

type installFlags struct {
	name, url, tokenEnv string
	project, dryRun     bool
}

func (a *app) mcpCommand() *cobra.Command {
	var f installFlags
	names := mapped(install.Clients, func(m install.Client) string { return m.Name })
	c := &cobra.Command{
		Use: "install CLIENT", Short: "Name memdesk in a client's configuration: " + strings.Join(names, ", "),
		Long: "Adds one entry to the configuration of an agent's program and leaves everything else as it is; the old file is\n" +
			"kept beside it. A file that cannot be read, that holds comments which would be lost, or that has an entry of the\n" +
			"name that memdesk did not write, is left alone, and the entry is printed (exit 6). --store, --open and --config become part of the entry.",
		RunE: func(cmd *cobra.Command, args []string) error {
			i := slices.IndexFunc(install.Clients, func(m install.Client) bool { return m.Name == args[0] })
			if i < 0 {
				return usage("no client is named %q; there are %s", args[0], strings.Join(names, ", "))
			}
			return a.installMCP(cmd, install.Clients[i], f)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.name, "name", "memdesk", "`NAME` of the entry")
	fl.BoolVar(&f.project, "project", false, "in the project of the working directory")
	fl.StringVar(&f.url, "url", "", "`URL` of a running serve mcp, instead of a program to start")
	fl.StringVar(&f.tokenEnv, "token-env", "", "with --url: `VARIABLE` that holds the token")
	fl.BoolVar(&f.dryRun, "dry-run", false, "only print the file and the entry")
	return group("mcp", "Agents that reach memory through memdesk", a.asks(c))
}

// mcpEntry makes the client's entry for memdesk.
func (a *app) mcpEntry(m install.Client, f installFlags) (map[string]any, error) {
	switch {
	case f.url != "" && f.tokenEnv == "":
		return nil, usage("--url needs --token-env: the token itself never stands in a configuration")
	case f.url == "" && f.tokenEnv != "":
		return nil, usage("--token-env goes with --url")
	case f.url != "" && (a.flags.readOnly || len(a.flags.stores)+len(a.flags.open) > 0):
		return nil, usage("--url names a server, which has its own stores and rights: --store, --open and --read-only do not go with it")
	case f.url != "":
		return m.HTTP(f.url, f.tokenEnv), nil
	}
	command, err := os.Executable()
	if err != nil {
		return nil, err
	}
	config := a.flags.config
	if config == "" && len(a.flags.open) == 0 { // a client starts elsewhere, with another environment
		config = a.Env("MEMDESK_CONFIG")
	}
	args := a.storeArgs(config)
	for _, s := range a.flags.stores {
		args = append(args, "--store", s)
	}
	if a.flags.readOnly {
		args = append(args, "--read-only")
	}
	return m.Program(command, append(args, "serve", "mcp"), a.Env), nil
}

type installRow struct {
	Client  string `json:"client"`
	File    string `json:"file"`
	Name    string `json:"name"`
	Entry   string `json:"entry"`
	Written bool   `json:"written"`
}

func (a *app) installMCP(cmd *cobra.Command, m install.Client, f installFlags) error {
	if !install.IsName(f.name) {
		return usage("--name takes letters, digits, - and _")
	}
	file := ""
	switch {
	case f.project && m.Project == "":
		return usage("%s has no configuration of a project", m.Name)
	case f.project:
		file = filepath.Join(a.Dir, m.Project)
	case a.Env("HOME") == "":
		return usage("HOME is not set: use --project")
	default:
		file = m.File(a.Env)
	}
	entry, err := a.mcpEntry(m, f)
	if err != nil {
		return err
	}
	snippet := m.Snippet(f.name, entry)
	object := func(written bool) {
		a.emit("install", installRow{m.Name, file, f.name, snippet, written})
	}
	if f.dryRun {
		a.tellf("%s", file)
		a.tellBody(snippet)
		object(false)
		return nil
	}
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	edited, err := m.Edit(old, f.name, entry)
	if err != nil {
		a.tellBody(snippet)
		object(false)
		return &exitError{exitRefused, fmt.Errorf("%s was left as it is: %w; the entry is printed above", file, err)}
	}
	if bytes.Equal(edited, old) {
		a.sayf("%s names memdesk already", file)
		object(false)
		return nil
	}
	if err := a.confirm(cmd.Context(), a.text.Sprintf("add %s to %s?", f.name, file).String()); err != nil {
		return err
	}
	backup, err := install.Replace(file, old, edited, a.Clock.Now())
	if backup != "" {
		a.sayf("the old file is kept as %s", backup)
	}
	if err != nil {
		return err
	}
	a.tellf("%s", file)
	object(true)
	return nil
}
