package gdpr_test

import (
	"fmt"
	"strings"
	"testing"

	"memdesk/gdpr"
	"memdesk/model"
)

// TestRolesInMetadata: the roles in the metadata decide whom an item concerns: a bystander's item must
// lose the subject from its metadata and keep its text.
func TestRolesInMetadata(t *testing.T) {
	tests := []struct {
		name, meta string
		want       gdpr.Action
	}{
		{"reviewer", `{"reviewer":"ID","data_subject_id":"OTHER"}`, gdpr.Redact},
		{"reviewer of nobody's", `{"reviewer":"ID"}`, gdpr.Redact},
		{"one of a list", `{"likes":["ID","OTHER"],"n":1}`, gdpr.Redact},
		{"deep inside", `{"seen":{"by":[{"user":"ID"}]}}`, gdpr.Redact},
		{"in a text", `{"note":"told ID about it"}`, gdpr.Redact},
		{"a key", `{"ID":3}`, gdpr.Redact},
		{"data subject", `{"data_subject_id":"ID"}`, gdpr.Forget},
		{"subject, in another case", `{"Subject":"ID"}`, gdpr.Forget},
		{"one of the subjects", `{"subject":["ID"]}`, gdpr.Forget},
		{"user", `{"user":"ID"}`, gdpr.Forget},
		{"owner", `{"owner":"ID"}`, gdpr.Forget},
		{"owner of another's", `{"owner":"ID","subject":"OTHER"}`, gdpr.Redact},
		{"subject, another owns it", `{"owner":"OTHER","subject":"ID"}`, gdpr.Forget},
		{"a subject that only mentions her", `{"subject":"tea with ID"}`, gdpr.Redact},
	}
	w := newWorld(t)
	key := func(i int) string { return "m" + string(rune('a'+i)) }
	id := func(p gdpr.Plan, i int) *gdpr.Step {
		for _, st := range p.Stores[0].Steps {
			if strings.HasSuffix(st.ID, key(i)) {
				return &st
			}
		}
		return nil
	}
	fill := strings.NewReplacer("ID", ana, "OTHER", other)
	for i, tt := range tests {
		w.put("db", model.RetainRequest{Tier: "longterm", Key: key(i), Content: "the printer is broken", Meta: []model.Field{{Name: "metadata", Value: fill.Replace(tt.meta)}}})
	}
	for i := range 40 {
		w.put("db", model.RetainRequest{Tier: "longterm", Key: fmt.Sprintf("x%d", i), Content: "nothing"})
	}
	r := w.file()
	p := w.plan(r.ID)
	for i, tt := range tests {
		st := id(p, i)
		if st == nil || st.Action != tt.want {
			t.Errorf("%s: %+v; want %s", tt.name, st, tt.want)
			continue
		}
		if st.Action == gdpr.Redact && (st.NewBody != "the printer is broken" || len(st.NewMeta) == 0) {
			t.Errorf("%s: %q, %v", tt.name, st.NewBody, st.NewMeta)
		}
	}
	w.complete(p)
	if left := w.traces(w.dir); len(left) > 0 {
		t.Errorf("traces: %q", left)
	}
	kept := 0
	for _, text := range w.contents() {
		if strings.HasSuffix(text, "the printer is broken") {
			kept++
		}
	}
	if want := 8; kept != want {
		t.Errorf("%d of others' items are left; want %d", kept, want)
	}
}
