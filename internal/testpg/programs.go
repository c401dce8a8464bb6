package testpg

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// install tells the reader how to install PostgreSQL.
const install = "apt-get install -y postgresql"

// places are where distributions put the server's programs, which are mostly not
// on the PATH.
var places = []string{
	"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin", "/usr/local/pgsql/bin", "/Applications/Postgres.app/Contents/Versions/*/bin",
}

// programs is the directory with initdb and postgres: an installed one, else root installs it now.
func programs() (string, error) {
	if dir := installed(); dir != "" {
		return dir, nil
	}
	why := errors.New("only root can install it")
	if os.Geteuid() == 0 {
		if why = aptInstall(); why == nil {
			if dir := installed(); dir != "" {
				return dir, nil
			}
			why = errors.New("initdb is not where it should be")
		}
	}
	return "", fmt.Errorf("no PostgreSQL is installed (%w): run `%s` as root, or name a server in %s", why, install, Variable)
}

func installed() string {
	var found []string
	for _, pattern := range places {
		dirs, _ := filepath.Glob(pattern) // the patterns are well formed
		found = append(found, dirs...)
	}
	slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) }) // newest first
	if path, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			found = append(found, filepath.Dir(real))
		}
	}
	for _, dir := range found {
		if executable(filepath.Join(dir, "initdb")) && executable(filepath.Join(dir, "postgres")) {
			return dir
		}
	}
	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// version is the first number in a path.
func version(path string) int {
	digits := strings.FieldsFunc(path, func(r rune) bool { return r < '0' || r > '9' })
	if len(digits) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(digits[0])
	return n
}

func aptInstall() error {
	apt, err := exec.LookPath("apt-get")
	if err != nil {
		return errors.New("there is no apt-get")
	}
	for _, args := range [][]string{{"update", "-q"}, {"install", "-y", "-q", "--no-install-recommends", "postgresql"}} {
		cmd := exec.Command(apt, args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			return fmt.Errorf("apt-get %s: %w: %s", args[0], err, lines[len(lines)-1])
		}
	}
	return nil
}
