package records

import (
	"strings"

	"memdesk/model"
)

// Escape writes a key, or one part of it, as a part of an id: its slashes divide nothing.
func Escape(key string) string { return strings.ReplaceAll(key, "/", model.Inner+"/") }

// Unescape is Escape's inverse; ok is false for what Escape does not make.
func Unescape(id string) (key string, ok bool) {
	key = strings.ReplaceAll(id, model.Inner, "")
	return key, Escape(key) == id
}
