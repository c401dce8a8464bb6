package erasure

import (
	"os"
	"path/filepath"
	"testing"

	"memdesk/backends/seam/internal/rootdir"
	"memdesk/model"
)

// A link that nobody permits stays, with a result; Link takes no file for a link.
func TestLink(t *testing.T) {
	root := t.TempDir()
	link, file := filepath.Join(root, "link"), filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	dir, err := rootdir.Open(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	may := false
	run := Run{Req: model.ScrubRequest{May: func(string, []byte) bool { return may }}}
	for _, want := range []model.Verdict{model.VerdictResidue, model.VerdictClean} {
		run.Link(dir, "link", "link")
		_, err := os.Lstat(link)
		if last := run.Out[len(run.Out)-1]; last.Verdict != want || (err == nil) == may {
			t.Errorf("may: %v: %+v; the link: %v", may, last, err)
		}
		may = true
	}
	if err := dir.Unlink("file"); err == nil {
		t.Error("a file was removed as a link")
	}
}
