package jsonedit

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"
)

// TestSet must change one value and keep order, number spelling, blanks and duplicates.
func TestSet(t *testing.T) {
	for _, c := range []struct{ line, name, value, want string }{
		{`{"a": 1.50, "b":"x"}`, "b", `"y"`, `{"a": 1.50, "b":"y"}`},
		{`{"a":1,"a":2}`, "a", `3`, `{"a":1,"a":3}`},
		{`{"a": 1}`, "b", `2`, `{"a": 1,"b": 2}`},
		{`{}`, "b", `[1]`, `{"b":[1]}`},
	} {
		o, err := Parse([]byte(c.line))
		if err != nil {
			t.Fatal(err)
		}
		if o.Set([]byte(c.value), c.name); string(o.Line) != c.want {
			t.Errorf("%s with %s set: %s, want %s", c.line, c.name, o.Line, c.want)
		}
	}
}

// TestRemove must remove every duplicate, with its comma.
func TestRemove(t *testing.T) {
	for line, want := range map[string]string{
		`{"a":1,"x":2,"b":3}`: `{"a":1,"b":3}`, `{"x":2,"b":3}`: `{"b":3}`, `{"x":2}`: `{}`, `{"x":1,"x":2,"b":3}`: `{"b":3}`, `{"b":3}`: `{"b":3}`,
		`{"a": 1, "x": {"y": [1, "]"]}}`: `{"a": 1}`, `{ "a": 1, "x": 2, "x": 3 }`: `{ "a": 1 }`, `{"\u0078": 1, "a": 2}`: `{"a": 2}`, `{ }`: `{ }`,
		"{\n \"x\": {},\n \"b\": {\"x\": 1}\n}": "{\n \"b\": {\"x\": 1}\n}",
	} {
		o, err := Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if o.Remove("x"); string(o.Line) != want {
			t.Errorf("%s without x: %s, want %s", line, o.Line, want)
		}
	}
}

func FuzzWithout(f *testing.F) {
	f.Add(`{"a": 1, "gone": [{"gone": 2}], "b": {"gone": "x", "c": null}}`)
	f.Fuzz(func(t *testing.T, text string) {
		drop := func(k string) bool { return strings.HasPrefix(k, "g") }
		got, n, err := Without([]byte(text), drop)
		var before, after map[string]any
		if bad := json.Unmarshal([]byte(text), &before); err != nil || bad != nil {
			if err == nil || bad == nil && before != nil {
				t.Fatalf("%q: %v, and JSON's own %v", text, err, bad)
			}
			return
		}
		if err := json.Unmarshal(got, &after); err != nil {
			t.Fatalf("%q becomes %q: %v", text, got, err)
		}
		maps.DeleteFunc(before, func(k string, _ any) bool { return drop(k) })
		if !reflect.DeepEqual(before, after) || n == 0 && string(got) != text {
			t.Fatalf("%q becomes %q, %d cut", text, got, n)
		}
	})
}

// TestParse must refuse anything but a single object.
func TestParse(t *testing.T) {
	for _, line := range []string{``, `[]`, `{"a":1`, `{"a":01}`, `{"a":1} x`, `{"a":"\x"}`} {
		if _, err := Parse([]byte(line)); err == nil {
			t.Errorf("%s is taken", line)
		}
	}
}

// TestWithoutTexts: only a list of texts changes, and only where it holds one that goes.
func TestWithoutTexts(t *testing.T) {
	for list, want := range map[string]struct {
		rest    string
		emptied bool
	}{
		`["a", "x", "b"]`: {`["a","b"]`, false}, `["x", "x"]`: {`[]`, true}, `[ "a" ]`: {`[ "a" ]`, false}, `[]`: {`[]`, false},
		`["x", 1]`: {`["x", 1]`, false}, `["x"`: {`["x"`, false}, `x`: {`x`, false}, ``: {``, false}, `["x","<` + "\xff" + `"]`: {`["<` + "\xff" + `"]`, false}, `["x"] y`: {`["x"] y`, false},
	} {
		if rest, emptied := WithoutTexts(list, func(text string) bool { return text == "x" }); rest != want.rest || emptied != want.emptied {
			t.Errorf("%s: %s, emptied %v", list, rest, emptied)
		}
	}
}
