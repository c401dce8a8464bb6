package rootdir

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// accessList is the attribute with the users and groups beyond the mode who may use a file (acl(5)); the group's bits of the
// mode are then the most that they have.
const accessList = "system.posix_acl_access"

// carry gives a new file the access list of an old one and its attributes of the user namespace (xattr(7)). An attribute that
// the file system refuses stays out; an access list that it refuses is an error.
func carry(from, to *os.File) error {
	in, out := int(from.Fd()), int(to.Fd())
	buf := make([]byte, 64<<10) // the bound of Linux for names, and for a value
	n, err := unix.Flistxattr(in, buf)
	if err != nil && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	names := strings.Split(string(buf[:max(n, 0)]), "\x00")
	listed := false
	for _, name := range names {
		if listed = listed || name == accessList; name != accessList && !strings.HasPrefix(name, "user.") {
			continue
		}
		n, err := unix.Fgetxattr(in, name, buf)
		if err == nil {
			err = unix.Fsetxattr(out, name, buf[:n], 0)
		}
		if err != nil && name == accessList {
			return err
		}
	}
	if !listed {
		_ = unix.Fremovexattr(out, accessList) // one of the directory's default
	}
	return nil
}
