package records

import (
	"strings"

	"memdesk/model"
)

var (
	escape   = strings.NewReplacer(model.Inner, model.Inner+model.Inner, "/", model.Inner+"/")
	unescape = strings.NewReplacer(model.Inner+model.Inner, model.Inner, model.Inner+"/", "/")
)

// Escape writes a key, or a part of one, as a part of an id, in which its slashes divide nothing. The mark of an id
// that the key itself contains is doubled.
func Escape(key string) string { return escape.Replace(key) }

// Unescape reverses Escape; ok is false for a text that Escape cannot make.
func Unescape(id string) (key string, ok bool) {
	key = unescape.Replace(id)
	return key, Escape(key) == id
}
