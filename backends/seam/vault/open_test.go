package vault_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memdesk/backends/backendtest"
	"memdesk/backends/seam/vault"
	"memdesk/model"
)

// machine is a directory with a vault, a home and AgentM's configuration.
func machine(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		plant(t, dir, name, strings.ReplaceAll(text, "$DIR", dir))
	}
	return dir
}

const key = `"plugins.obsidian-vault.`

func TestRoots(t *testing.T) {
	tests := []struct {
		name   string
		files  map[string]string
		path   string // below the machine
		memory string // of the block
		env    map[string]string
		want   string // memory root below the machine
		why    string // part of the reason
		err    model.Kind
		says   string
	}{
		{name: "a bare directory", files: map[string]string{"v/": ""}, path: "v", want: "v", why: "the vault itself"},
		{name: "the block names it", files: map[string]string{"v/Agent/": ""}, path: "v", memory: "Agent", want: "v/Agent", why: "store's block"},
		{name: "the block names it absolutely", files: map[string]string{"v/Agent/": ""}, path: "v", memory: "$DIR/v/Agent", want: "v/Agent"},
		{name: "the block names what is not there", files: map[string]string{"v/": ""}, path: "v", memory: "Agent", err: model.NotFound, says: "memory root"},
		{name: "the block climbs out", files: map[string]string{"v/": "", "x/": ""}, path: "v", memory: "../x", err: model.InvalidInput, says: "outside"},
		{name: "its own configuration", files: map[string]string{"v/Agent/": "", ".agentm-config.json": `{` + key + `vault_path": "$DIR/v", ` + key + `memory_root": "Agent"}`},
			path: "v", want: "v/Agent", why: "above the vault"},
		{name: "the configuration itself", files: map[string]string{"v/Agent/": "", "p/.agentm-config.json": `{` + key + `vault_path": "$DIR/v", ` + key + `memory_root": "Agent"}`},
			path: "p/.agentm-config.json", want: "v/Agent"},
		{name: "the older key", files: map[string]string{"v/": "", "p/.agentm-config.json": `{"vault_path": "$DIR/v"}`}, path: "p/.agentm-config.json", want: "v"},
		{name: "the newer key wins", files: map[string]string{"v/": "", "p/.agentm-config.json": `{"vault_path": "$DIR/w", ` + key + `vault_path": "$DIR/v"}`},
			path: "p/.agentm-config.json", want: "v"},
		{name: "under the home directory", files: map[string]string{"v/Agent/": "", "home/.claude/.agentm-config.json": `{` + key + `vault_path": "$DIR/v", ` + key + `memory_root": "Agent"}`},
			path: "v", env: map[string]string{"HOME": "$DIR/home"}, want: "v/Agent", why: "~/.claude"},
		{name: "under AgentM's prefix", files: map[string]string{"v/Agent/": "", "p/.agentm-config.json": `{` + key + `vault_path": "$DIR/v", ` + key + `memory_root": "Agent"}`},
			path: "v", env: map[string]string{"AGENTM_INSTALL_PREFIX": "$DIR/p"}, want: "v/Agent", why: "prefix"},
		{name: "another vault's configuration", files: map[string]string{"v/Agent/": "", "w/": "", ".agentm-config.json": `{` + key + `vault_path": "$DIR/w", ` + key + `memory_root": "Agent"}`},
			path: "v", want: "v"},
		{name: "a synced configuration of another machine", files: map[string]string{"v/Agent/": "", "v/.agentm-config.json": `{` + key + `vault_path": "/elsewhere/v", ` + key + `memory_root": "Agent"}`},
			path: "v", want: "v/Agent", why: "in the vault"},
		{name: "nested objects are not read", files: map[string]string{"v/Agent/": "", "v/.agentm-config.json": `{"plugins": {"obsidian-vault": {"memory_root": "Agent"}}}`},
			path: "v", want: "v"},

		{name: "no vault in the configuration", files: map[string]string{".agentm-config.json": `{}`}, path: ".agentm-config.json", err: model.InvalidInput, says: "names no vault"},
		{name: "no object", files: map[string]string{"v/.agentm-config.json": `[]`}, path: "v", err: model.InvalidInput, says: "not a JSON object"},
		{name: "null", files: map[string]string{"v/.agentm-config.json": `null`}, path: "v", err: model.InvalidInput, says: "not a JSON object"},
		{name: "broken", files: map[string]string{"v/.agentm-config.json": `{"a": `}, path: "v", err: model.InvalidInput, says: "not a JSON object"},
		{name: "a backend that is no text", files: map[string]string{"v/.agentm-config.json": `{"storage.backend": 3}`}, path: "v", err: model.InvalidInput, says: "storage.backend"},
		{name: "an empty backend", files: map[string]string{"v/.agentm-config.json": `{"storage.backend": " "}`}, path: "v", err: model.InvalidInput, says: "empty storage.backend"},
		{name: "another backend", files: map[string]string{"v/": "", ".agentm-config.json": `{"storage.backend": "s3", "vault_path": "$DIR/v"}`}, path: ".agentm-config.json", err: model.InvalidInput, says: "not registered"},
		{name: "device-local is selected", files: map[string]string{"v/": "", ".agentm-config.json": `{"storage.backend": "device-local", "vault_path": "$DIR/v"}`}, path: ".agentm-config.json", err: model.InvalidInput, says: "device-local"},
		{name: "a configuration that is a directory", files: map[string]string{"v/.agentm-config.json/": ""}, path: "v", err: model.InvalidInput, says: "no plain file"},
		{name: "nothing there", path: "v", err: model.NotFound, says: "vault is not there"},
		{name: "a file", files: map[string]string{"v": "x"}, path: "v", err: model.InvalidInput, says: "file"},
		{name: "a memory root that is a file", files: map[string]string{"v/Agent": "x"}, path: "v", memory: "Agent", err: model.InvalidInput, says: "memory root is a file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := machine(t, tt.files)
			cfg := vault.Config{
				Name: "v", Path: filepath.Join(dir, tt.path), MemoryRoot: strings.ReplaceAll(tt.memory, "$DIR", dir), DaemonURL: "-",
				Env: func(name string) string { return strings.ReplaceAll(tt.env[name], "$DIR", dir) },
			}
			s, err := vault.Open(t.Context(), cfg)
			if tt.err != "" {
				if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), dir) {
					t.Errorf("err = %v, want %s that says %q and no path", err, tt.err, tt.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			real, err := filepath.EvalSymlinks(filepath.Join(dir, tt.want))
			if err != nil {
				t.Fatal(err)
			}
			if note := s.Notes[0]; !strings.Contains(note, "memory root "+real+" (") || !strings.Contains(note, tt.why) {
				t.Errorf("the notes say %q, want the memory root %s and %q", note, real, tt.why)
			}
		})
	}
}

func TestAnUnsetPathIsLoud(t *testing.T) {
	if _, err := vault.Open(t.Context(), vault.Config{}); !errors.Is(err, model.InvalidInput) {
		t.Errorf("err = %v", err)
	}
}

// TestNothingOfTheConfigurationIsTold: the configuration may hold a password.
func TestNothingOfTheConfigurationIsTold(t *testing.T) {
	const password = "not-a-real-password"
	for _, text := range []string{
		`{"plugins.autonomy.email_smtp_url": "smtp://x:` + password + `@h", "vault_path": 7}`,
		`{"plugins.autonomy.email_smtp_url": "smtp://x:` + password + `@h"`,
	} {
		dir := machine(t, map[string]string{"v/.agentm-config.json": text})
		_, err := vault.Open(t.Context(), vault.Config{Path: filepath.Join(dir, "v"), DaemonURL: "-"})
		if err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("err = %v", err)
		}
	}
}

func TestHealthAsksTheDaemon(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		body   string
		ok     bool
		says   string
	}{
		"well":          {200, `{"ok": true, "status": "ok"}`, true, ""},
		"another shape": {200, `hello`, true, ""},
		"says no":       {200, `{"ok": false}`, false, "not well"},
		"says error":    {200, `{"status": "error"}`, false, "not well"},
		"broken":        {503, `secret detail`, false, "503"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != "/health" {
					t.Errorf("asked %s %s", r.Method, r.URL.Path)
				}
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			defer srv.Close()
			cfg := fresh(t)
			cfg.DaemonURL = srv.URL
			h := backendtest.Health(t, open(t, cfg))
			said := fmt.Sprint(h.Findings)
			if !h.OK || (len(h.Findings) == 0) != tt.ok || !strings.Contains(said, tt.says) || strings.Contains(said, "secret") {
				t.Errorf("health = %+v", h)
			}
		})
	}
	cfg := fresh(t)
	srv := httptest.NewServer(nil)
	cfg.DaemonURL = srv.URL
	srv.Close()
	s := open(t, cfg)
	if h := backendtest.Health(t, s); !h.OK {
		t.Errorf("no daemon at all is no fault: %+v", h)
	}
	if !strings.Contains(strings.Join(s.Notes, "\n"), "no AgentM daemon answers") {
		t.Errorf("the notes do not say so: %q", s.Notes)
	}
	stop := make(chan struct{})
	hung := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	defer hung.Close()
	defer close(stop)
	cfg.DaemonURL = hung.URL
	if h := backendtest.Health(t, open(t, cfg)); h.State != model.HealthDegraded || !strings.Contains(h.Findings[0].Message, "daemon does not answer") {
		t.Errorf("a hung daemon: %+v", h)
	}
}

// TestOpeningMakesNothing, even for refused changes.
func TestOpeningMakesNothing(t *testing.T) {
	cfg := fresh(t)
	plant(t, cfg.Path, "n.md", "x")
	s := open(t, cfg)
	if _, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "x"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "absent.md"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "n.md", Mode: model.Replace, Content: poison}); err == nil {
		t.Error("poison was taken")
	}
	if _, err := os.Lstat(cfg.LockRoot); err == nil {
		t.Error("reading, or a refused change, made the lock's place")
	}
}
