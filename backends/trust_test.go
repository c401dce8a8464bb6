package backends_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/model"
)

// A configuration that others can change must have no effect.
func TestConfigurationOfOthers(t *testing.T) {
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o644: true, 0o400: true, 0o666: false, 0o646: false, 0o664: false, 0o620: false} {
		path := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(path, []byte("[ui]\nplain = true\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		cfg, err := backends.LoadConfig(testRegistry(t), path, true, os.Getenv)
		switch {
		case ok && (err != nil || !cfg.UI.Plain):
			t.Errorf("mode %04o: %v", mode, err)
		case !ok && (model.KindOf(err) != model.InvalidInput || !strings.Contains(err.Error(), "chmod go-w") || !strings.Contains(err.Error(), path)):
			t.Errorf("mode %04o: err = %v", mode, err)
		}
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := backends.LoadConfig(testRegistry(t), pipe, true, os.Getenv); err == nil {
		t.Error("a pipe is a configuration")
	}
}

// A token in place of its variable's name must appear in no message.
func TestSecretInTheWrongPlace(t *testing.T) {
	env := func(key string) string {
		if key == "GOOD" {
			return "a-token"
		}
		return ""
	}
	for _, secret := range []string{"5ecret-with-dashes", "cafe0123456789", "5ecret=x"} {
		for _, flag := range []string{"remote=" + secret + "@http://127.0.0.1:1", "remotee=" + secret + "@http://127.0.0.1:1", secret} {
			configs, err := backends.ParseOpen(backends.Builtin(), []string{flag}, "/d", env)
			if err == nil {
				fleet := backends.Open(t.Context(), backends.Builtin(), configs, backends.Env{Clock: clock.System{}, Getenv: env}, backends.Policy{Audit: backends.Unrecorded})
				m := fleet.Members()[0]
				if err = m.Err; err == nil {
					t.Fatalf("%s opens", flag)
				}
				if strings.Contains(m.Location, secret) {
					t.Errorf("the location is %q", m.Location)
				}
			}
			if strings.Contains(err.Error(), strings.TrimSuffix(secret, "=x")) {
				t.Errorf("--open %s: %v", flag, err)
			}
		}
	}
	configs, err := backends.ParseOpen(backends.Builtin(), []string{"remote=GOOD@http://127.0.0.1:1"}, "/d", env)
	if err != nil {
		t.Fatal(err)
	}
	fleet := backends.Open(t.Context(), backends.Builtin(), configs, backends.Env{Clock: clock.System{}, Getenv: env}, backends.Policy{Audit: backends.Unrecorded})
	if m := fleet.Members()[0]; m.Err != nil {
		if strings.Contains(m.Err.Error(), "variable") {
			t.Errorf("a variable that is set: %v", m.Err)
		}
	}
}
