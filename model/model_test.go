package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"memdesk/model"
)

func TestErrorKinds(t *testing.T) {
	err := fmt.Errorf("outer: %w", model.Errorf(model.Locked, "retain", "another writer holds it"))
	if !errors.Is(err, model.Locked) || errors.Is(err, model.NotFound) {
		t.Errorf("errors.Is does not follow the kind of %v", err)
	}
	var e *model.Error
	if !errors.As(err, &e) || !e.Retryable {
		t.Errorf("a locked store is retryable (B5): %+v", e)
	}
	if got := model.KindOf(context.DeadlineExceeded); got != model.Timeout {
		t.Errorf("KindOf(deadline) = %v", got)
	}
	if !model.IsRefusal(model.Refuse("forget", "read-only")) || model.IsRefusal(err) {
		t.Error("IsRefusal does not tell a policy from a failure")
	}
}

func TestSecretNeverPrints(t *testing.T) {
	s := model.NewSecret("hunter2")
	j, err := json.Marshal(struct{ S model.Secret }{s})
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{fmt.Sprint(s), fmt.Sprintf("%s %v %+v %#v %q %x %d", s, s, s, s, s, s, s),
		fmt.Sprintf("%+v", struct{ S model.Secret }{s}), fmt.Sprintf("%+v %#v", struct{ s model.Secret }{s}, struct{ s model.Secret }{s}), string(j), fmt.Sprint(errors.New(s.String()))} {
		if strings.Contains(out, "hunter2") || strings.Contains(out, "68756e") {
			t.Errorf("a secret printed: %s", out)
		}
	}
	if s.Reveal() != "hunter2" {
		t.Error("Reveal lost the value")
	}
}

func TestRefRoundTrip(t *testing.T) {
	for _, id := range []string{"AGENT.md", "daily/2026-05-21.md", "a:b", "100%", "line\nbreak", "\x1b]52;c", "\xff\xfe", "naïve 数据", "\u202e", "%25"} {
		r := model.Ref{Store: "cs-2", ID: id}
		got, err := model.ParseRef(r.String())
		if err != nil || got != r {
			t.Errorf("%q → %q → %+v, %v", id, r.String(), got, err)
		}
		for _, c := range r.String() {
			if c < 0x20 || c == 0x7f || c == '\u202e' || c == 0xfffd {
				t.Errorf("%q prints %q", id, r.String())
			}
		}
	}
	for _, bad := range []string{"", "x", "a:", ":id", "A:id", "a b:id", "s:%", "s:%zz", "s:a%2"} {
		if _, err := model.ParseRef(bad); !errors.Is(err, model.InvalidInput) {
			t.Errorf("ParseRef(%q) = %v, want InvalidInput", bad, err)
		}
	}
}

func FuzzRef(f *testing.F) {
	f.Add("daily/2026\n%\xff")
	f.Fuzz(func(t *testing.T, id string) {
		if id == "" {
			return
		}
		got, err := model.ParseRef(model.Ref{Store: "s", ID: id}.String())
		if err != nil || got.ID != id {
			t.Fatalf("%q came back as %q, %v", id, got.ID, err)
		}
	})
}

func TestDocumentRoundTrip(t *testing.T) {
	docs := []model.Document{
		{Meta: []model.Field{}, Body: "just text\n"},
		{Meta: []model.Field{{Name: "type", Value: "fact"}, {Name: "note", Value: ""}, {Name: "q", Value: `"x" # y: z`}}, Body: "---\nnot front matter\n"},
		{Meta: []model.Field{{Name: "odd", Value: " lead\ntail \x1b"}, {Name: "at", Value: "2026-01-02", ReadOnly: true}}, Body: ""},
		{Meta: []model.Field{{Name: "json", Value: `{"a":"b"}`}}, Body: "no newline"},
		{Meta: []model.Field{{Name: "favourite tea", Value: "oolong"}, {Name: "a:b", Value: "c"}, {Name: "#x", Value: "y"}, {Name: "", Value: "z"}, {Name: `q"`, Value: "w"},
			{Name: "x\n---\nbody", Value: "v"}}, Body: "text"},
		{Meta: []model.Field{{Name: "bytes", Value: "caf\xe9\n"}, {Name: "word", Value: "!!binary Y2Fm"}}, Body: "text"},
	}
	for _, d := range docs {
		text := d.Encode(model.Structured)
		got, err := model.DecodeDocument(model.Structured, text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if diff := cmp.Diff(d, got); diff != "" {
			t.Errorf("%s\n%s", diff, text)
		}
	}
	opaque := model.Document{Body: "---\nkind: x\n---\nbody"}
	if got, _ := model.DecodeDocument(model.Opaque, opaque.Encode(model.Opaque)); !cmp.Equal(got, opaque) {
		t.Errorf("opaque text was interpreted: %+v", got)
	}
}

func TestDocumentErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"never closed", "---\ntype: fact\n", "line 3"},
		{"CRLF", "---\r\ntype: fact\r\n---\r\nbody\r\n", "line 1"},
		{"no colon", "---\ntype\n---\n", "line 2"},
		{"space in a name", "---\na b: c\n---\n", "line 2"},
		{"twice", "---\na: 1\na: 2\n---\n", `line 3: field "a" stands twice`},
		{"broken name", "---\n\"a: x\n---\n", "line 2"},
		{"no colon after a name", "---\n\"a\" x\n---\n", "line 2"},
		{"broken bytes", "---\na: !!binary *\n---\n", "line 2"},
		{"broken quote", "---\na: \"x\n---\n", "line 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := model.DecodeDocument(model.Structured, tt.text)
			if !errors.Is(err, model.InvalidInput) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzDocument(f *testing.F) {
	f.Add("k", "v", "body")
	f.Add("k", "\n\x00\"", "---\nx: y\n---\n")
	f.Add("a b", "\xff", "body")
	f.Fuzz(func(t *testing.T, name, value, body string) {
		if strings.ToValidUTF8(name, "") != name {
			return
		}
		d := model.Document{Meta: []model.Field{{Name: name, Value: value}}, Body: body}
		got, err := model.DecodeDocument(model.Structured, d.Encode(model.Structured))
		if err != nil || !cmp.Equal(d, got) {
			t.Fatalf("%+v came back as %+v, %v", d, got, err)
		}
	})
}

func TestMergeMeta(t *testing.T) {
	have := []model.Field{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}, {Name: "ro", Value: "x", ReadOnly: true}}
	tests := []struct {
		name string
		want []model.Field
		out  []model.Field
		err  bool
	}{
		{"nil keeps all", nil, have, false},
		{"the whole set", []model.Field{{Name: "b", Value: "3"}, {Name: "c", Value: "4"}},
			[]model.Field{{Name: "b", Value: "3"}, {Name: "ro", Value: "x", ReadOnly: true}, {Name: "c", Value: "4"}}, false},
		{"same read-only", []model.Field{{Name: "ro", Value: "x"}}, []model.Field{{Name: "ro", Value: "x", ReadOnly: true}}, false},
		{"changed read-only", []model.Field{{Name: "ro", Value: "y"}}, nil, true},
		{"twice", []model.Field{{Name: "a", Value: "1"}, {Name: "a", Value: "2"}}, nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := model.MergeMeta("retain", have, tt.want)
			if (err != nil) != tt.err || !cmp.Equal(got, tt.out) {
				t.Errorf("= %+v, %v", got, err)
			}
		})
	}
}

func TestRevision(t *testing.T) {
	base := model.Document{Meta: []model.Field{{Name: "a", Value: "1"}, {Name: "n", Value: "9", ReadOnly: true}}, Body: "b"}
	counted := model.Document{Meta: []model.Field{{Name: "a", Value: "1"}, {Name: "n", Value: "10", ReadOnly: true}}, Body: "b"}
	if model.RevisionOf(base) != model.RevisionOf(counted) {
		t.Error("a read-only field changes the revision")
	}
	for _, d := range []model.Document{
		{Meta: []model.Field{{Name: "a", Value: "2"}}, Body: "b"},
		{Meta: []model.Field{{Name: "a", Value: "1"}}, Body: "c"},
		{Meta: []model.Field{{Name: "a1", Value: ""}}, Body: "b"},
		{Body: "a1b"},
	} {
		if model.RevisionOf(base) == model.RevisionOf(d) {
			t.Errorf("%+v has the revision of %+v", d, base)
		}
	}
	tests := []struct {
		want   model.Revision
		exists bool
		now    model.Revision
		ok     bool
	}{
		{"", true, "r", true}, {"", false, "", true}, {"r", true, "r", true}, {"r", true, "s", false},
		{"r", false, "", false}, {model.Absent, false, "", true}, {model.Absent, true, "r", false},
	}
	for _, tt := range tests {
		if err := model.CheckMatch("retain", tt.want, tt.exists, tt.now); (err == nil) != tt.ok || err != nil && !errors.Is(err, model.Conflict) {
			t.Errorf("CheckMatch(%q, %v, %q) = %v", tt.want, tt.exists, tt.now, err)
		}
	}
}

func TestSoftCap(t *testing.T) {
	spec := model.TierSpec{Cap: 4000}
	for size, want := range map[int64]model.Flag{3199: "", 3200: model.FlagNearCap, 4000: model.FlagNearCap, 4001: model.FlagOverCap} {
		if got := spec.CapFlag(size); got != want {
			t.Errorf("CapFlag(%d) = %q, want %q", size, got, want)
		}
	}
}

// TestWrapCoversEveryFacet calls every method of every interface field of a wrapped Store and checks
// that the middleware saw each: a new facet that is not wrapped fails here.
func TestWrapCoversEveryFacet(t *testing.T) {
	s := model.Store{Name: "s", Provider: stub{}, Browser: stub{}, History: stub{}, Quarantine: stub{},
		Conflicts: stub{}, Subjects: stub{}, Names: stub{}, Texts: stub{}, Graph: stub{}, Work: stub{}, Events: stub{},
		Watcher: stub{}, Maintainer: stub{}, Reindexer: stub{}, Repairer: stub{}, Migrator: stub{}}
	seen := 0
	wrapped := s.Wrap(func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
		seen++
		if c.Store == nil || c.Op == "" {
			t.Errorf("call without store or operation: %+v", c)
		}
		return next(ctx)
	})
	v := reflect.ValueOf(wrapped)
	facets := 0
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() != reflect.Interface {
			continue
		}
		facets++
		name := v.Type().Field(i).Name
		if f.IsNil() {
			t.Errorf("field %s is not set by this test: add it to the stub", name)
			continue
		}
		for m := range f.Type().NumMethod() {
			before := seen
			method := f.Method(m)
			args := []reflect.Value{reflect.ValueOf(t.Context())}
			for a := 1; a < method.Type().NumIn(); a++ {
				args = append(args, reflect.Zero(method.Type().In(a)))
			}
			method.Call(args)
			if seen != before+1 {
				t.Errorf("%s.%s passed the middleware %d times, want once", name, f.Type().Method(m).Name, seen-before)
			}
		}
	}
	if facets == 0 {
		t.Fatal("no facet was found: the test looks at the wrong thing")
	}
}

func TestWrapOrderAndRefusal(t *testing.T) {
	var order []string
	layer := func(name string, refuse bool) model.Middleware {
		return func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
			order = append(order, name)
			if refuse {
				return model.Refuse(string(c.Op), name)
			}
			return next(ctx)
		}
	}
	s := model.Store{Provider: stub{}}.Wrap(layer("outer", false), layer("inner", true))
	if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "x"}); !model.IsRefusal(err) {
		t.Errorf("err = %v, want a refusal", err)
	}
	if st := s.Provider.Health(t.Context()); st.OK || st.Message == "" {
		t.Errorf("a refused health check says %+v", st)
	}
	if !cmp.Equal(order, []string{"outer", "inner", "outer", "inner"}) {
		t.Errorf("order = %v", order)
	}
}

// stub answers everything.
type stub struct{}

func (stub) Broken(context.Context) ([]string, error)           { return nil, nil }
func (stub) SetAside(context.Context, []string) (string, error) { return "", nil }
func (stub) Retain(context.Context, model.RetainRequest) (model.RetainResult, error) {
	return model.RetainResult{ID: "x"}, nil
}
func (stub) Recall(context.Context, model.RecallRequest) (model.RecallResult, error) {
	return model.RecallResult{}, nil
}
func (stub) Forget(context.Context, model.ForgetRequest) (model.ForgetResult, error) {
	return model.ForgetResult{Removed: 1}, nil
}
func (stub) Health(context.Context) model.HealthStatus { return model.HealthStatus{OK: true} }
func (stub) List(context.Context, model.PageRequest) (model.Page, error) {
	return model.Page{}, nil
}
func (stub) Read(context.Context, string) (model.Item, error) { return model.Item{}, nil }
func (stub) Tiers(context.Context) ([]model.TierCount, error) { return nil, nil }
func (stub) Revisions(context.Context, string) (model.Versions, error) {
	return model.Versions{}, nil
}
func (stub) ReadRevision(context.Context, string, string) (model.Item, error) {
	return model.Item{}, nil
}
func (stub) Quarantined(context.Context) ([]model.Quarantined, error) { return nil, nil }
func (stub) ReadQuarantined(context.Context, string) (model.Quarantined, error) {
	return model.Quarantined{}, nil
}
func (stub) StoreConflicts(context.Context) ([]model.StoreConflict, error) { return nil, nil }
func (stub) Concerning(context.Context, []string, func(model.SubjectHit) bool) error {
	return nil
}
func (stub) Names(context.Context, func(string) bool) ([]string, error) { return nil, nil }
func (stub) Neighbours(context.Context, string, model.GraphRequest) ([]model.Header, error) {
	return nil, nil
}
func (stub) EachText(context.Context, func(model.Text, error) bool) ([]string, error) {
	return nil, nil
}
func (stub) Subgraph(context.Context, []string, int) ([]model.Header, []model.Link, error) {
	return nil, nil, nil
}
func (stub) Similar(context.Context, string, int) (model.RecallResult, error) {
	return model.RecallResult{}, nil
}
func (stub) WorkItems(context.Context, model.WorkRequest) (model.WorkResult, error) {
	return model.WorkResult{}, nil
}
func (stub) Dependencies(context.Context, string) ([]model.Dependency, error) { return nil, nil }
func (stub) StoreEvents(context.Context, int) ([]model.StoreEvent, error)     { return nil, nil }
func (stub) Watch(context.Context) (<-chan model.Change, error)               { return nil, nil }
func (stub) Layers(context.Context) ([]model.Layer, error)                    { return nil, nil }
func (stub) OpenLayer(context.Context, string) (io.ReadCloser, error)         { return nil, nil }
func (stub) Scrub(context.Context, model.ScrubRequest) ([]model.LayerResult, error) {
	return nil, nil
}
func (stub) Reindex(context.Context, string) (int64, error) { return 0, nil }
func (stub) ChangedSince(context.Context, float64, func(string) bool) error {
	return nil
}
func (stub) Schema(context.Context) (model.SchemaState, error) { return model.SchemaState{}, nil }
func (stub) Migrate(context.Context, int) (model.SchemaState, error) {
	return model.SchemaState{}, nil
}
