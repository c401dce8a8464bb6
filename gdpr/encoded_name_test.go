package gdpr_test

import (
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends"
)

// TestANoteWhoseNameDecodesToTheId must stay, under another name and without the subject.
func TestANoteWhoseNameDecodesToTheId(t *testing.T) {
	w := newWorld(t)
	vault := filepath.Join(w.dir, "vault")
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: vault}}
	plant(t, vault, map[string]string{
		"memory/idea/" + hex.EncodeToString([]byte(ana)) + ".md": "# Tides\n\nhigh at noon\n",
		"memory/idea/" + ana + ".md":                             "# Tides\n\nlow at noon\n",
	})
	w.open()
	w.complete(w.plan(w.file().ID))
	var left []string
	for name, body := range tree(t, vault) {
		if strings.HasPrefix(name, "memory/idea/") && body != "" {
			left = append(left, body)
			if strings.Contains(name, ana) || strings.Contains(name, hex.EncodeToString([]byte(ana))) {
				t.Errorf("%s still names the subject", name)
			}
		}
	}
	if !slices.Equal(left, []string{"# Tides\n\nhigh at noon\n"}) {
		t.Errorf("left: %q; want the note whose name was encoded, and no other", left)
	}
}
