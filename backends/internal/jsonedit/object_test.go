package jsonedit

import "testing"

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

// TestParse must refuse anything but a single object.
func TestParse(t *testing.T) {
	for _, line := range []string{``, `[]`, `{"a":1`, `{"a":01}`, `{"a":1} x`, `{"a":"\x"}`} {
		if _, err := Parse([]byte(line)); err == nil {
			t.Errorf("%s is taken", line)
		}
	}
}
