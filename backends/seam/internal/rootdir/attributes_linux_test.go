package rootdir_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"memdesk/backends/seam/internal/rootdir"
)

// TestAWriteKeepsTheAccessList: a write must give nobody rights that the file's access list kept back, and take none that it
// gave, nor drop what an editor keeps beside the text.
func TestAWriteKeepsTheAccessList(t *testing.T) {
	path := t.TempDir()
	file := filepath.Join(path, "a.md")
	if err := os.WriteFile(file, []byte("x"), 0o660); err != nil {
		t.Fatal(err)
	}
	const none = 0xffffffff
	list := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{1, 6, none}, {2, 6, 65534}, {4, 0, none}, {16, 6, none}, {32, 0, none}} { // user, user 65534, group, mask, others
		list = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(list, e.tag), e.perm)
		list = binary.LittleEndian.AppendUint32(list, e.id)
	}
	const acl, tag = "system.posix_acl_access", "user.tag"
	if err := unix.Setxattr(file, acl, list, 0); err != nil {
		t.Skip("the file system has no access lists: ", err)
	}
	tagged := unix.Setxattr(file, tag, []byte("blue"), 0) == nil
	d, err := rootdir.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Write("a.md", []byte("y"), rootdir.New{Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	if n, err := unix.Getxattr(file, acl, buf); err != nil || !bytes.Equal(buf[:n], list) {
		t.Errorf("the access list is %x, %v", buf[:max(n, 0)], err)
	}
	if n, err := unix.Getxattr(file, tag, buf); tagged && (err != nil || string(buf[:n]) != "blue") {
		t.Errorf("the attribute is %q, %v", buf[:max(n, 0)], err)
	}
}
