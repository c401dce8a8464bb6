package backends

import (
	"context"
	"strings"

	"memdesk/backends/mcpclient"
	"memdesk/model"
)

// MCPTiersMeta is the key under which a server of memdesk's MCP tools declares the tiers
// of its stores in the metadata of memory_health: for clients that are no model.
const MCPTiersMeta = mcpclient.TiersMeta

// MCPTiers is the declaration of a store by such a server.
func MCPTiers(s model.Store) any { return mcpclient.Declare(s) }

func checkMCP(c StoreConfig, set func(string) bool) (string, error) {
	args, _ := c.Own["args"].([]string)
	switch {
	case c.Command == "" && c.BaseURL == "":
		return "kind", model.Errorf(model.InvalidInput, "config", "a memory server needs command = \"…\" or base_url = \"https://…/mcp\"")
	case c.Command != "" && c.BaseURL != "":
		return "base_url", model.Errorf(model.InvalidInput, "config", "command and base_url are two servers: give one")
	case c.Command == "" && len(args) > 0:
		return "args", model.Errorf(model.InvalidInput, "config", "args go with command")
	case c.Command != "" && (set("token_env") || set("token_file")):
		return "command", model.Errorf(model.InvalidInput, "config", "a token goes with base_url; a command reads its own")
	case c.TokenEnv == "" && c.TokenFile == "":
		return "", nil // a server may ask for none
	}
	return checkSecret("token", c.TokenEnv, c.TokenFile)
}

// openMCP also takes a location, for --open: URL, TOKENVARIABLE@URL, or a command with
// its arguments.
func openMCP(ctx context.Context, c StoreConfig, env Env) (model.Store, error) {
	args, _ := c.Own["args"].([]string)
	if c.Command == "" && c.BaseURL == "" {
		name, url, token := strings.Cut(c.Location, "@")
		words := strings.Fields(c.Location)
		switch {
		case token && variableName.MatchString(name) && strings.Contains(url, "://"):
			c.TokenEnv, c.BaseURL = name, url
		case strings.Contains(c.Location, "://") && len(words) == 1:
			c.BaseURL = c.Location
		case len(words) > 0:
			c.Command, args = words[0], words[1:]
		default:
			return model.Store{}, model.Errorf(model.InvalidInput, "open", "say which server: --open mcp='COMMAND ARGUMENT…', mcp=URL or mcp=TOKENVARIABLE@URL")
		}
	}
	cfg := mcpclient.Config{Name: c.Name, Command: c.Command, Args: args, BaseURL: c.BaseURL, ReadOnly: c.ReadOnly, Clock: env.Clock}
	if c.TokenEnv != "" || c.TokenFile != "" {
		var err error
		if cfg.Token, err = readSecret(env, "token", c.TokenEnv, c.TokenFile); err != nil {
			return model.Store{}, err
		}
	}
	return mcpclient.Open(ctx, cfg)
}
