package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"syscall"
	"time"

	"memdesk/internal/atomicfile"
	"memdesk/model"
)

// Mode says which of Beaver's two memories is on.
type Mode string

// The modes (provider-contract.md G1).
const (
	Curated       Mode = "curated" // MEMORY.md and USER.md; no HTTP at all
	MemoryGateway Mode = "memory_gateway"
)

// beaverLimit is the largest accepted configuration, in bytes.
const beaverLimit = 1 << 20

// ReadBeaver reads the memory block of Beaver's .beaver/config.json. In curated mode Config is empty. A file
// with a user key must not be readable by others. InvalidInput names the wrong key of the file; no error
// contains the user key (G5).
func ReadBeaver(path string) (Mode, Config, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not block
	if err != nil {
		return "", Config{}, unreadBeaver(err)
	}
	defer f.Close() // opened for reading: closing loses nothing
	info, err := f.Stat()
	if err != nil {
		return "", Config{}, unreadBeaver(err)
	}
	if !info.Mode().IsRegular() {
		return "", Config{}, model.Errorf(model.InvalidInput, "open", "Beaver's config.json is no regular file: give the path of .beaver/config.json")
	}
	data, err := io.ReadAll(io.LimitReader(f, beaverLimit+1))
	if err != nil {
		return "", Config{}, unreadBeaver(err)
	}
	if len(data) > beaverLimit {
		return "", Config{}, model.Errorf(model.InvalidInput, "open", "Beaver's config.json is larger than %d bytes", beaverLimit)
	}
	mode, cfg, err := ParseBeaver(data)
	if err != nil {
		return "", Config{}, err
	}
	if cfg.UserKey.IsSet() && info.Mode().Perm()&0o077 != 0 {
		return "", Config{}, model.Errorf(model.PermissionDenied, "open",
			"Beaver's config.json holds gateway.userKey and others may read it (mode %04o): chmod 600 it", info.Mode().Perm())
	}
	return mode, cfg, nil
}

func unreadBeaver(err error) error {
	kind := model.Unavailable
	switch {
	case errors.Is(err, fs.ErrNotExist):
		kind = model.NotFound
	case errors.Is(err, fs.ErrPermission):
		kind = model.PermissionDenied
	}
	return model.Errorf(kind, "open", "Beaver's config.json: %w", atomicfile.Pathless(err))
}

// ParseBeaver applies the rules of the memory block (G1 to G4). It ignores keys that it does not know. The
// block of the gateway is checked only in gateway mode, where it is used.
func ParseBeaver(data []byte) (Mode, Config, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var top any
	if err := json.Unmarshal(data, &top); err != nil {
		return "", Config{}, badBeaver("is no JSON%s", where(data, err))
	}
	file, ok := top.(map[string]any)
	if !ok {
		return "", Config{}, badBeaver("is no JSON object")
	}
	memory, err := object(file, "memory", "memory")
	if err != nil {
		return "", Config{}, err
	}
	mode := Curated
	if v, there := memory["mode"]; there {
		s, _ := v.(string)
		switch mode = Mode(s); mode {
		case Curated, MemoryGateway:
		default:
			return "", Config{}, badBeaver("memory.mode must be curated or memory_gateway")
		}
	}
	if mode == Curated {
		return mode, Config{}, nil
	}
	block, err := object(memory, "gateway", "memory.gateway")
	if err != nil {
		return "", Config{}, err
	}
	cfg, err := gatewayBlock(block)
	return mode, cfg, err
}

func badBeaver(format string, args ...any) error {
	return model.Errorf(model.InvalidInput, "open", "Beaver's config.json: %s", fmt.Sprintf(format, args...))
}

// where is the line of a syntax error; the decoder's own words quote the file.
func where(data []byte, err error) string {
	var se *json.SyntaxError
	if !errors.As(err, &se) || se.Offset > int64(len(data)) {
		return ""
	}
	return fmt.Sprintf(": see line %d", 1+bytes.Count(data[:se.Offset], []byte("\n")))
}

func object(in map[string]any, key, name string) (map[string]any, error) {
	v, there := in[key]
	if !there || v == nil {
		return nil, nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, badBeaver("%s must be an object", name)
	}
	return m, nil
}

// beaverKeys are the file's names of the keys that Config.Check names.
var beaverKeys = map[string]string{
	"base_url": "baseUrl", "user_id": "userId", "user_key": "userKey", "app_id": "appId", "project_id": "projectId",
	"scope": "scope", "top_k": "topK", "timeout": "timeoutSeconds",
}

func gatewayBlock(block map[string]any) (Config, error) {
	var c Config
	var key string
	for _, f := range []struct {
		name string
		into *string
	}{{"baseUrl", &c.BaseURL}, {"userId", &c.UserID}, {"userKey", &key}, {"appId", &c.AppID}, {"projectId", &c.ProjectID}} {
		v, there := block[f.name]
		if !there {
			continue
		}
		s, ok := v.(string)
		if !ok {
			return Config{}, badBeaver("memory.gateway.%s must be a text", f.name)
		}
		if strings.TrimSpace(s) == "" {
			return Config{}, badBeaver("memory.gateway.%s must not be empty", f.name)
		}
		*f.into = s
	}
	c.UserKey = model.NewSecret(key)
	if err := beaverNumbers(block, &c); err != nil {
		return Config{}, err
	}
	err := c.Check()
	if err == nil {
		err = checkKey(c.UserKey)
	}
	if err != nil {
		return Config{}, badBeaver("memory.gateway.%s %s", beaverKeys[err.Key], err.Reason)
	}
	return c, nil
}

// longestTimeout keeps a number of seconds within a Duration.
const longestTimeout = 24 * time.Hour

func beaverNumbers(block map[string]any, c *Config) error {
	list, ok := block["scope"].([]any)
	if v, there := block["scope"]; there && !ok && v != nil {
		return badBeaver("memory.gateway.scope must be a list")
	}
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return badBeaver("memory.gateway.scope must hold texts only")
		}
		c.Scope = append(c.Scope, s)
	}
	if v, there := block["topK"]; there {
		n, ok := v.(float64)
		if !ok || n != math.Trunc(n) || n < 1 || n > MaxTopK {
			return badBeaver("memory.gateway.topK must be a whole number, 1 to %d", MaxTopK)
		}
		c.TopK = int(n)
	}
	if v, there := block["timeoutSeconds"]; there {
		n, ok := v.(float64)
		if !ok || n <= 0 {
			return badBeaver("memory.gateway.timeoutSeconds must be a number of seconds, more than 0")
		}
		c.Timeout = max(time.Nanosecond, time.Duration(min(n, longestTimeout.Seconds())*float64(time.Second)))
	}
	return nil
}

// Uses reports whether a file in the place of Beaver's configuration configures a gateway. An unreadable one
// counts as such, so that opening it reports the problem.
func Uses(path string) bool {
	mode, _, err := ReadBeaver(path)
	return err != nil || mode == MemoryGateway
}
