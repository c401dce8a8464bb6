package cli_test

import (
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// A served console has no editor of the machine: texts are edited, created and appended to in the console itself, with the
// same comparison and question, and a reader edits nothing.
func TestServeSSHEdits(t *testing.T) {
	d := newDesk(t)
	ana, ben := signer(t), signer(t)
	addr := d.server(string(ssh.MarshalAuthorizedKey(ana.PublicKey())) + `environment="MEMDESK_ROLE=readonly" ` + string(ssh.MarshalAuthorizedKey(ben.PublicKey())))
	before := d.read("daily/2026-05-21.md")
	g := newGuest(t, addr, ana, 80, 24)
	g.see("[2 Tiers]", "daily", "SHA256:").press("G").see("journal of a day").press("\r").see("1 of 1").press("e").see("── Edit ›", "line 1 of ", "esc done")
	g.press("A heron at six.\r").see("A heron at six.", "line 2 of ").press("\x1b").see("Save daily/2026-05-21.md?", "+A heron at six.", "enter cancel").press("y").see("saved daily/2026-05-21.md; z undoes")
	if got := d.read("daily/2026-05-21.md"); got != "A heron at six.\n"+before {
		t.Errorf("the file is %q, it was %q", got, before)
	}
	g.press("A").see("── Edit ›").press("\x1b[200~pasted\r\nlines\x1b[201~").see("pasted", "lines").press("\x13").see("Append to daily/2026-05-21.md?", "enter cancel").press("y").see("appended to")
	if got := d.read("daily/2026-05-21.md"); !strings.Contains(got, "pasted\nlines") {
		t.Errorf("the file is %q", got)
	}
	reader := newGuest(t, addr, ben, 100, 30)
	reader.see("[2 Tiers]", "daily").press("G").see("journal of a day").press("\r").see("1 of 1").press("e").see("this console is read-only")
}
