package privatefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"memdesk/internal/privatefile"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // regardless of the umask
			t.Fatal(err)
		}
		return path
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := write("foreign", 0o644)
	if os.Geteuid() == 0 {
		if err := os.Chown(foreign, 4321, 4321); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(write("target", 0o644), link); err != nil {
		t.Fatal(err)
	}
	// As systemd passes a credential to a service. Only root can make such a file.
	credential, rootOwns := write("credential", 0o440), os.Geteuid() == 0 && os.Getegid() == 0
	foreignCredential := write("foreign credential", 0o440)
	if os.Geteuid() == 0 {
		if err := os.Chown(foreignCredential, 0, 4321); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		path   string
		others privatefile.Others
		limit  int64
		ok     bool
		shared bool
	}{
		"a secret":             {write("600", 0o600), privatefile.Unreadable, 10, true, false},
		"a secret others read": {write("640", 0o640), privatefile.Unreadable, 10, false, true},
		"a credential":         {credential, privatefile.Unreadable, 10, rootOwns, !rootOwns},
		"a group's credential": {foreignCredential, privatefile.Unreadable, 10, false, true},
		"settings":             {write("644", 0o644), privatefile.Unwritable, 10, true, false},
		"settings all write":   {write("666", 0o666), privatefile.Unwritable, 10, false, true},
		"settings group write": {write("664", 0o664), privatefile.Unwritable, 10, false, true},
		"settings of another":  {foreign, privatefile.Unwritable, 10, os.Geteuid() != 0, os.Geteuid() == 0},
		"a link":               {link, privatefile.Unwritable, 10, true, false},
		"a link unfollowed":    {link, privatefile.Unlinked, 10, false, false},
		"a pipe":               {pipe, privatefile.Unreadable, 10, false, false},
		"a directory":          {dir, privatefile.Unwritable, 10, false, false},
		"too large":            {write("large", 0o600), privatefile.Unreadable, 9, false, false},
	} {
		data, err := privatefile.Read(tt.path, tt.others, tt.limit)
		if (err == nil) != tt.ok || errors.Is(err, privatefile.ErrShared) != tt.shared || tt.ok && string(data) != "0123456789" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if _, err := privatefile.Read(filepath.Join(dir, "absent"), privatefile.Unreadable, 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an absent file: %v", err)
	}
}
