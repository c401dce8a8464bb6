//go:build !unix

package rootdir

import (
	"errors"
	"io/fs"
	"os"

	"memdesk/model"
)

const nonblock = 0

func (*Meta) identify(fs.FileInfo) {}

func owner(fs.FileInfo) (uid, gid int, ok bool) { return 0, 0, false }

// flock has no equivalent here that the stores' own writers would honour, so nothing is written.
func flock(*os.File) (bool, error) {
	return false, model.E(model.Unsupported, "lock", errors.New("this system has no flock; open the store read-only"))
}

func kindOfErrno(error) model.Kind { return model.Internal }
