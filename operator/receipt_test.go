package operator

import (
	"os"
	"path/filepath"
	"testing"

	"memdesk/gdpr"
	"memdesk/model"
)

// TestAReceiptThatMayNotLast: a file whose directory cannot be flushed is written, and a second try would find it.
func TestAReceiptThatMayNotLast(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	dir := filepath.Join(t.TempDir(), "unreadable")
	if err := os.Mkdir(dir, 0o300); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	e, err := newSession(t, func(*Options) {}).Erasures(nil, Away{})
	if err != nil {
		t.Fatal(err)
	}
	due, err := e.File(t.Context(), gdpr.Intake{Subject: "usr_ida9931", Received: "2026-01-05", Ground: "asked"}, "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "report.md")
	n, err := e.SaveReceipt(t.Context(), due.ID, path)
	if info, gone := os.Stat(path); gone != nil || info.Size() != n || !model.IsPartial(err) {
		t.Errorf("%d bytes, %v, file %v", n, err, gone)
	}
}
