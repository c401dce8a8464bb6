package backends

import (
	"fmt"
	"io"
	"os"
	"strings"

	"memdesk/model"
)

// secretLimit is the largest secret file, in bytes.
const secretLimit = 64 << 10

// checkSecret wants exactly one of NAME_env and NAME_file in a block.
func checkSecret(name, env, file string) (key string, err error) {
	switch {
	case env == "" && file == "":
		return "kind", fmt.Errorf("the block needs %s_env or %s_file", name, name)
	case env != "" && file != "":
		return name + "_env", fmt.Errorf("give %s_env or %s_file, not both", name, name)
	}
	return "", nil
}

// readSecret reads a secret from the variable or the file that a block names. A
// file that others may read is refused. No error holds the secret or the file's
// whole path.
func readSecret(e Env, name, env, file string) (model.Secret, error) {
	if _, err := checkSecret(name, env, file); err != nil {
		return model.Secret{}, model.E(model.InvalidInput, "open", err)
	}
	if env != "" {
		get := e.Getenv
		if get == nil {
			get = os.Getenv
		}
		v := get(env)
		if v == "" {
			return model.Secret{}, model.Errorf(model.InvalidInput, "open", "%s_env: the variable %s is not set", name, env)
		}
		return model.NewSecret(v), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return model.Secret{}, model.Errorf(model.InvalidInput, "open", "%s_file cannot be read: %s", name, reason(err))
	}
	defer f.Close() // opened for reading: closing loses nothing
	info, err := f.Stat()
	switch {
	case err != nil:
		return model.Secret{}, model.Errorf(model.InvalidInput, "open", "%s_file cannot be read: %s", name, reason(err))
	case !info.Mode().IsRegular():
		return model.Secret{}, model.Errorf(model.InvalidInput, "open", "%s_file is no regular file", name)
	case info.Mode().Perm()&0o077 != 0:
		return model.Secret{}, model.Errorf(model.PermissionDenied, "open", "%s_file may be read by others (mode %04o): chmod 600 it", name, info.Mode().Perm())
	}
	data, err := io.ReadAll(io.LimitReader(f, secretLimit+1))
	v := strings.TrimRight(string(data), "\r\n")
	switch {
	case err != nil:
		return model.Secret{}, model.Errorf(model.InvalidInput, "open", "%s_file cannot be read: %s", name, reason(err))
	case len(data) > secretLimit:
		return model.Secret{}, model.Errorf(model.InvalidInput, "open", "%s_file is larger than %d bytes", name, secretLimit)
	case v == "":
		return model.Secret{}, model.Errorf(model.InvalidInput, "open", "%s_file is empty", name)
	}
	return model.NewSecret(v), nil
}
