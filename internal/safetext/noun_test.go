package safetext_test

import (
	"testing"

	"memdesk/internal/safetext"
)

func TestNoun(t *testing.T) {
	for noun, want := range map[string]string{"item": "items", "entry": "entries", "key": "keys", "day": "days"} {
		if got := safetext.Noun(2, noun); got != want {
			t.Errorf("2 %s, want %s", got, want)
		}
		if got := safetext.Noun(1, noun); got != noun {
			t.Errorf("1 %s, want %s", got, noun)
		}
	}
}
