package records

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"memdesk/backends/internal/jsonedit"
	"memdesk/internal/testcpu"
	"memdesk/model"
)

func TestSetFields(t *testing.T) {
	const line = `{"a": 1, "data": "x", "b": "old", "c": {"d": 2}, "a": 3, "fixed": 7}`
	for name, c := range map[string]struct {
		want []model.Field
		line string
	}{
		"nothing": {[]model.Field{{Name: "a", Value: "3"}, {Name: "b", Value: "old"}, {Name: "c", Value: `{"d": 2}`}}, line},
		"values":  {[]model.Field{{Name: "a", Value: "4"}, {Name: "b", Value: "5"}, {Name: "c", Value: "six"}}, `{"a": 1, "data": "x", "b": "5", "c": "six", "a": 4, "fixed": 7}`},
		"removed": {[]model.Field{{Name: "b", Value: "old"}}, `{"data": "x", "b": "old", "fixed": 7}`},
		"renamed": {[]model.Field{{Name: "e", Value: "3"}, {Name: "b", Value: "old"}, {Name: "d", Value: `{"d": 2}`}},
			`{"data": "x", "b": "old", "fixed": 7, "e": 3, "d": {"d": 2}}`},
		"added": {[]model.Field{{Name: "a", Value: "3"}, {Name: "y", Value: "1"}, {Name: "c", Value: `{"d": 2}`}, {Name: "z", Value: `"`}},
			`{"a": 1, "data": "x", "c": {"d": 2}, "a": 3, "fixed": 7, "y": "1", "z": "\""}`},
	} {
		o, err := jsonedit.Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if SetFields(o, Fields(o, []string{"fixed"}, "data"), c.want); string(o.Line) != c.line {
			t.Errorf("%s: %s, want %s", name, o.Line, c.line)
		}
	}
}

// TestManyFields: one row with many keys must not take the store away.
func TestManyFields(t *testing.T) {
	const many = 50_000
	var line strings.Builder
	for i := range many {
		fmt.Fprintf(&line, `,"k%06d":1`, i)
	}
	o, err := jsonedit.Parse([]byte("{" + line.String()[1:] + "}"))
	if err != nil {
		t.Fatal(err)
	}
	took := testcpu.Spent(func() {
		old := Fields(o, nil)
		want := append([]model.Field{}, old[many/2:]...)
		for i := range want {
			want[i].Value = "2"
		}
		for i := range many / 4 {
			want = append(want, model.Field{Name: fmt.Sprint("more", i), Value: "3"})
		}
		SetFields(o, old, want)
	})
	if took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
	if len(o.Members) != many*3/4 || string(o.Raw("k030000")) != "2" || string(o.Raw("more9")) != `"3"` {
		t.Errorf("%d members", len(o.Members))
	}
}
