package vault

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// configName is AgentM's configuration file (agentm.md, Configuration).
const configName = ".agentm-config.json"

// roots are the two roots of a vault and the directory of its locks, all absolute and with links resolved.
type roots struct {
	vault  string
	memory string
	below  string // the memory root's key below the vault; empty when they are one
	locks  string // empty when no directory is known
	why    string // how the memory root was found
	port   int    // of the daemon, 0 for the usual one
	notes  []string
}

// resolve finds both roots as AgentM's own chain does and refuses loudly (agentm.md, Configuration;
// provider-contract.md S16, S17).
func resolve(cfg Config) (roots, error) {
	env := cfg.Env
	if env == nil {
		env = func(string) string { return "" }
	}
	if cfg.Path == "" {
		return roots{}, model.Errorf(model.InvalidInput, "open", "a vault needs the path of its directory")
	}
	var r roots
	path, chosen := cfg.Path, false
	if filepath.Base(path) == configName {
		c, err := readConfig(path)
		if err != nil {
			return roots{}, err
		}
		if err := c.checkBackend(); err != nil {
			return roots{}, err
		}
		if c.vault == "" {
			return roots{}, model.Errorf(model.InvalidInput, "open", "%s names no vault: set plugins.obsidian-vault.vault_path in it, or open the vault's directory", configName)
		}
		path, chosen = expand(c.vault, env), c.backend == Kind
	}
	var err error
	if r.vault, err = directory("the vault", path); err != nil {
		return roots{}, err
	}
	memory, why, port, err := memoryRoot(cfg, r.vault, env)
	if err != nil {
		return roots{}, err
	}
	r.port, r.why = port, why
	if r.memory, err = directory("the memory root", memory); err != nil {
		return roots{}, err
	}
	rel, err := filepath.Rel(r.vault, r.memory)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return roots{}, model.Errorf(model.InvalidInput, "open", "the memory root lies outside the vault; correct memory_root")
	}
	if rel != "." {
		r.below = filepath.ToSlash(rel)
	}
	r.locks = lockRoot(cfg, env)
	r.notes = r.describe()
	if filepath.Base(cfg.Path) == configName && !chosen && env("MEMORY_VAULT_PATH") == "" {
		r.notes = append(r.notes, configName+" names no storage.backend, so AgentM itself keeps its memory on the device and not in this vault")
	}
	return r, nil
}

// memoryRoot is the configured one, else the one that an AgentM configuration names for this vault, else
// the vault itself.
func memoryRoot(cfg Config, vault string, env func(string) string) (path, why string, port int, err error) {
	found, file, err := configOf(cfg, vault, env)
	if err != nil {
		return "", "", 0, err
	}
	port = found.port
	switch {
	case filepath.IsAbs(expand(cfg.MemoryRoot, env)):
		return expand(cfg.MemoryRoot, env), "memory_root of the store's block", port, nil
	case cfg.MemoryRoot != "":
		return filepath.Join(vault, cfg.MemoryRoot), "memory_root of the store's block", port, nil
	case found.memory != "":
		return filepath.Join(vault, filepath.FromSlash(found.memory)), "memory_root of " + file, port, nil
	}
	return vault, "the vault itself: no memory_root is configured", port, nil
}

// configOf finds the configuration of this vault: the opened file, else the nearest one in the vault and
// its ancestors, else AgentM's prefix, else ~/.claude. It skips one that names another vault. An unreadable
// one is an error (S17).
func configOf(cfg Config, vault string, env func(string) string) (agentmConfig, string, error) {
	if filepath.Base(cfg.Path) == configName {
		c, err := readConfig(cfg.Path)
		return c, configName, err
	}
	type place struct{ path, name string }
	var places []place
	for d := vault; ; d = filepath.Dir(d) {
		name := configName + " above the vault"
		if d == vault {
			name = configName + " in the vault"
		}
		places = append(places, place{filepath.Join(d, configName), name})
		if d == filepath.Dir(d) {
			break
		}
	}
	if p := env("AGENTM_INSTALL_PREFIX"); p != "" {
		places = append(places, place{filepath.Join(p, configName), configName + " in AgentM's prefix"})
	}
	if h := env("HOME"); h != "" {
		places = append(places, place{filepath.Join(h, ".claude", configName), "~/.claude/" + configName})
	}
	for i, p := range places {
		c, err := readConfig(p.path)
		if errors.Is(err, model.NotFound) {
			continue
		}
		if err != nil {
			return agentmConfig{}, "", err
		}
		if c.speaksOf(vault, i < 2, env) {
			return c, p.name, nil
		}
	}
	return agentmConfig{}, "", nil
}

// speaksOf reports whether a configuration means this vault. One that stands in the
// vault or right beside it does also when it names a place that is not on this
// machine: a vault is synced, its path is not.
func (c agentmConfig) speaksOf(vault string, beside bool, env func(string) string) bool {
	if c.vault == "" {
		return beside
	}
	real, err := canonical(expand(c.vault, env))
	if err == nil {
		return real == vault
	}
	if !beside || !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	st, err := os.Stat(filepath.Join(vault, filepath.FromSlash(c.memory)))
	return err == nil && st.IsDir()
}

// agentmConfig is the relevant part of AgentM's configuration. The rest may hold passwords and is not kept.
type agentmConfig struct {
	backend, vault, memory string
	port                   int
}

// configLimit bounds the file, in bytes.
const configLimit = 1 << 20

// readConfig reads the flat, dotted keys. NotFound when there is no file;
// InvalidInput for one that is no object or whose values are of the wrong type,
// PermissionDenied for one that cannot be read.
func readConfig(path string) (agentmConfig, error) {
	loud := func(format string, args ...any) (agentmConfig, error) {
		return agentmConfig{}, model.Errorf(model.InvalidInput, "open", configName+" "+format, args...)
	}
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return agentmConfig{}, model.Errorf(model.NotFound, "open", "there is no %s", configName)
	case err != nil:
		return agentmConfig{}, model.Errorf(model.PermissionDenied, "open", "%s cannot be read: %w", configName, atomicfile.Pathless(err))
	case !st.Mode().IsRegular() || st.Size() > configLimit:
		return loud("is no plain file of at most %d bytes", configLimit)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return agentmConfig{}, model.Errorf(model.PermissionDenied, "open", "%s cannot be read: %w", configName, atomicfile.Pathless(err))
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil || all == nil {
		return loud("is not a JSON object; correct or remove it")
	}
	var c agentmConfig
	for key, to := range map[string]*string{
		"storage.backend": &c.backend, "vault_path": &c.vault, "plugins.obsidian-vault.memory_root": &c.memory,
	} {
		if raw, ok := all[key]; ok && json.Unmarshal(raw, to) != nil {
			return loud("holds a %s that is not a text", key)
		}
	}
	if raw, ok := all["plugins.obsidian-vault.vault_path"]; ok { // the newer key wins
		if json.Unmarshal(raw, &c.vault) != nil {
			return loud("holds a plugins.obsidian-vault.vault_path that is not a text")
		}
	}
	if raw, ok := all["storage.backend"]; ok && (strings.TrimSpace(c.backend) == "" || string(raw) == "null") {
		return loud("holds an empty storage.backend; name device-local or vault, or remove the key")
	}
	if raw, ok := all["daemon.port"]; ok {
		_ = json.Unmarshal(raw, &c.port) // the vault is good without a daemon
	}
	return c, nil
}

// Selected reports whether a path names a vault: a directory, or a configuration of AgentM that does
// not select another store. An unreadable configuration, or one with an unknown store, counts, so that
// opening it refuses loudly (S17).
func Selected(path string) bool {
	if filepath.Base(path) != configName {
		return true
	}
	c, err := readConfig(path)
	return err != nil || c.backend != "device-local" && (c.backend != "" || c.vault != "")
}

// checkBackend refuses a configuration that selects another store than a vault.
func (c agentmConfig) checkBackend() error {
	switch c.backend {
	case "", Kind:
		return nil
	case "device-local":
		return model.Errorf(model.InvalidInput, "open", "%s selects device-local, not a vault; open kind devicelocal", configName)
	}
	return model.Errorf(model.InvalidInput, "open", "%s selects the storage backend %q, which is not registered: there are device-local and vault", configName, c.backend)
}

// directory is the canonical path of a directory that is there.
func directory(what, path string) (string, error) {
	real, err := canonical(path)
	if err == nil {
		var st fs.FileInfo
		if st, err = os.Stat(real); err == nil && !st.IsDir() {
			return "", model.Errorf(model.InvalidInput, "open", "%s is a file; name the directory that holds the notes", what)
		}
	}
	switch {
	case err == nil:
		return real, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", model.Errorf(model.NotFound, "open", "%s is not there; check its path, or mount it", what)
	case errors.Is(err, fs.ErrPermission):
		return "", model.Errorf(model.PermissionDenied, "open", "%s may not be looked at by this user", what)
	}
	return "", model.Errorf(model.Unavailable, "open", "%s cannot be looked at: %w", what, atomicfile.Pathless(err))
}

// lockRoot is the base of the lock directories (agentm.md, Mutex protocol); the
// variable counts on every system.
func lockRoot(cfg Config, env func(string) string) string {
	if cfg.LockRoot != "" {
		return cfg.LockRoot
	}
	if c := env("XDG_CACHE_HOME"); c != "" {
		return filepath.Join(c, "agentm", "locks")
	}
	if h := env("HOME"); h != "" {
		return filepath.Join(h, ".cache", "agentm", "locks")
	}
	return ""
}

// lockKeys are the keys of the locks to hold, sorted: the memory root's and, when
// it differs, the vault's.
func (r roots) lockKeys() []string {
	keys := []string{lockKey(r.memory)}
	if r.vault != r.memory {
		keys = append(keys, lockKey(r.vault))
	}
	slices.Sort(keys)
	return keys
}

func lockKey(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:])
}

// expand replaces ~ by the home directory.
func expand(path string, env func(string) string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') && env("HOME") != "" {
		return filepath.Join(env("HOME"), rest)
	}
	return path
}
