package model_test

import (
	"testing"
	"time"

	"memdesk/model"
)

// TestMetaOrigin: a store's own values must be read; unknown ones must stay unknown.
func TestMetaOrigin(t *testing.T) {
	read := model.MetaOrigin(map[string]string{"class": "channel", "kind": "detail", "by": "actor", "at": "at"})
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	meta := func(pairs ...string) model.Item {
		var it model.Item
		for i := 0; i+1 < len(pairs); i += 2 {
			it.Meta = append(it.Meta, model.Field{Name: pairs[i], Value: pairs[i+1]})
		}
		return it
	}
	for name, tt := range map[string]struct {
		it   model.Item
		want model.Origin
		ok   bool
	}{
		"a channel":             {meta("class", "owner", "kind", "cron", "at", "2026-05-01T10:00:00Z"), model.Origin{Channel: "user", Detail: "cron", At: at}, true},
		"another word":          {meta("class", "untrusted"), model.Origin{Detail: "class untrusted"}, true},
		"a name":                {meta("by", "ida"), model.Origin{Actor: "ida"}, true},
		"unknown":               {meta("class", "unknown", "kind", "unknown"), model.Origin{}, false},
		"a time alone":          {meta("at", "2026-05-01T10:00:00Z"), model.Origin{At: at}, false},
		"fields of other sense": {meta("title", "owner"), model.Origin{}, false},
	} {
		if got, ok := read(tt.it); got != tt.want || ok != tt.ok {
			t.Errorf("%s: %+v %v, want %+v %v", name, got, ok, tt.want, tt.ok)
		}
	}
}
