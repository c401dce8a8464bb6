package backends

import (
	"errors"
	"fmt"
	"strings"

	"memdesk/internal/atomicfile"
	"memdesk/internal/privatefile"
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
		v := e.lookup()(env)
		if v == "" { // its name is not repeated: it may be the secret itself, given in the wrong place
			return model.Secret{}, model.Errorf(model.InvalidInput, "open", "%s_env: the environment variable that it names is not set; it takes the name of a variable, never the secret", name)
		}
		return model.NewSecret(v), nil
	}
	data, err := privatefile.Read(file, privatefile.Unreadable, secretLimit)
	v := strings.TrimRight(string(data), "\r\n")
	switch {
	case errors.Is(err, privatefile.ErrShared):
		return model.Secret{}, model.E(model.PermissionDenied, "open", fmt.Errorf("%s_file: %w", name, err))
	case err != nil:
		return model.Secret{}, model.Errorf(model.InvalidInput, "open", "%s_file cannot be read: %v", name, atomicfile.Pathless(err))
	case v == "":
		return model.Secret{}, model.Errorf(model.InvalidInput, "open", "%s_file is empty", name)
	}
	return model.NewSecret(v), nil
}
