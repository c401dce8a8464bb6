package records

import (
	"strings"

	"memdesk/model"
)

// Escape writes a key, or a part of one, as a part of an id, in which its slashes divide nothing.
func Escape(key string) string { return strings.ReplaceAll(key, "/", model.Inner+"/") }

// Unescape reverses Escape; ok is false for a text that Escape cannot make.
func Unescape(id string) (key string, ok bool) {
	key = strings.ReplaceAll(id, model.Inner, "")
	return key, Escape(key) == id
}
