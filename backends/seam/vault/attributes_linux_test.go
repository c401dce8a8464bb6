package vault_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"memdesk/backends/seam/vault"
	"memdesk/model"
)

// TestAttributes: an extended attribute of a note that names the person is residue, one
// that names somebody else is nothing.
func TestAttributes(t *testing.T) {
	cfg, _ := withHome(t, vault.Config{Path: t.TempDir()})
	dir := filepath.Join(cfg.Path, "memory", "idea")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, author := range map[string]string{"tea.md": "by Maren Voss", "sea.md": "by Otto", "bare.md": ""} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("---\nkind: idea\n---\nprefers tea\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if author == "" {
			continue
		}
		switch err := unix.Setxattr(path, "user.author", []byte(author), 0); {
		case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EPERM):
			t.Skip("the file system of the temporary directory keeps no extended attributes of users")
		case err != nil:
			t.Fatal(err)
		}
	}
	res, err := open(t, cfg).Maintainer.Scrub(t.Context(), model.ScrubRequest{
		Concerns: func(b []byte) bool { return bytes.Contains(b, []byte("Maren")) },
		Redact:   func(b []byte) []byte { return b },
	})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, l := range res {
		if strings.Contains(l.Method, "attributes") {
			told = append(told, l.Layer+" "+string(l.Verdict))
		}
		if strings.Contains(l.Reason, "Maren") {
			t.Errorf("the reason names the person: %q", l.Reason)
		}
	}
	if len(told) != 1 || told[0] != "memory/idea/tea.md "+string(model.VerdictResidue) {
		t.Errorf("%q", told)
	}
}
