package conflict

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"memdesk/internal/gitlog"
)

// The bounds of a question to git.
const (
	gitTime  = 3 * time.Second
	gitBytes = 32 << 20
)

// gitVersion asks git for a file's newest committed text from before a moment. An id is never read as an
// option.
func gitVersion(ctx context.Context, root, id string, before time.Time) (text, origin, why string) {
	const unknown = "the history of git is unknown: "
	if !filepath.IsAbs(root) || strings.HasPrefix(filepath.Clean(id), "..") || strings.ContainsAny(id, "\x00\n") {
		return "", "", unknown + "the store is no folder"
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return "", "", unknown + "the store is no folder"
	}
	if _, err := exec.LookPath("git"); err != nil {
		return "", "", unknown + "git is not installed"
	}
	if _, ok := gitlog.Root(root); !ok {
		return "", "", "the folder is in no git repository"
	}
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	args := []string{"log", "-n", "1", "--format=%H"}
	if !before.IsZero() {
		args = append(args, "--before=@"+strconv.FormatInt(before.Unix(), 10))
	}
	commit, err := git(ctx, root, append(args, "--", "./"+id)...)
	hash := strings.TrimSpace(string(commit))
	switch {
	case err != nil:
		return "", "", unknown + "git did not answer"
	case len(hash) < 40 || strings.Trim(hash, "0123456789abcdef") != "":
		return "", "", "git has no version from before both"
	}
	blob, err := git(ctx, root, "cat-file", "blob", hash+":./"+id)
	if err != nil || !utf8.Valid(blob) {
		return "", "", unknown + "the committed text cannot be read"
	}
	return string(blob), "git commit " + hash[:12] + ", by time", ""
}

func git(ctx context.Context, root string, args ...string) ([]byte, error) {
	cmd := gitlog.Command(ctx, root, args...)
	out := &bounded{left: gitBytes}
	cmd.Stdout = out
	err := cmd.Run()
	return out.Bytes(), err
}

// bounded keeps a limited number of bytes; more is an error of the writer.
type bounded struct {
	bytes.Buffer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, bytes.ErrTooLarge
	}
	return b.Buffer.Write(p)
}
