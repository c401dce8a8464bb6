package notes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"memdesk/internal/gitlog"
	"memdesk/model"
)

// gitWait bounds the question to git.
const gitWait = 20 * time.Second

// gitHistory counts the commits that hold the removed notes. Their text cannot be removed from here;
// without a git program nothing is known.
func gitHistory(ctx context.Context, at, root, layer string, removed []string) model.LayerResult {
	r := model.LayerResult{Layer: layer, Method: "git log asked", Verdict: model.VerdictOutOfScope}
	var paths []string
	for _, id := range removed {
		if rel, err := filepath.Rel(at, id); err == nil && !strings.HasPrefix(rel, "..") {
			paths = append(paths, filepath.ToSlash(rel))
		}
	}
	if len(paths) == 0 {
		r.Method, r.Verdict, r.Reason = "not looked at", model.VerdictUnaudited, "git's history may hold the text; no removed note is known to look for"
		return r
	}
	n, err := commits(ctx, filepath.Join(root, filepath.FromSlash(at)), paths)
	switch {
	case err != nil:
		r.Method, r.Verdict = "not looked at", model.VerdictUnaudited
		r.Reason = "unknown: " + err.Error()
	case n == 0:
		r.Reason = "no commit of any ref touches the removed notes; reflog, stash and clones were not looked at"
	default:
		r.Rows = n
		r.Reason = fmt.Sprintf("%d commits hold the text; rewrite every ref, expire the reflog, prune, repack, force-push, and tell whoever has a clone", n)
	}
	return r
}

// commits counts the commits of all refs that touch the paths.
func commits(ctx context.Context, dir string, paths []string) (int64, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return 0, errors.New("no git program is installed")
	}
	ctx, cancel := context.WithTimeout(ctx, gitWait)
	defer cancel()
	out, err := gitlog.Command(ctx, dir, append([]string{"log", "--all", "--no-ext-diff", "--no-textconv", "--format=%H", "--"}, paths...)...).Output()
	if err != nil {
		return 0, errors.New("git could not read the history")
	}
	return int64(bytes.Count(out, []byte("\n"))), nil
}
