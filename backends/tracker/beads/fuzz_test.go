package beads

import (
	"bytes"
	"encoding/json"
	"memdesk/backends/internal/jsonedit"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzMembers compares the scanner with encoding/json: both must accept the same lines as objects and
// read the same strings, and an edit must leave every other member unchanged.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, ` { "a" : [1,2,{"b":null}] , "c":"x\u00e9\ud83d\ude00\"" } `, `{"a":1,"a":2}`, `["a"]`, `{"a":01}`, `{"a":-0.5e+3}`, `{"a":"` + "\x01" + `"}`,
		`{"a":"\ud800"}`, `{"a":tru}`, `{"a":1,}`, `{"id":"x","title":"cut off`, "{\"a\":\"\xff\"}", `{"\u0061":"long enough to be read eight bytes at a time \\ \n"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		o, err := jsonedit.Parse(line)
		valid := json.Valid(line) && strings.HasPrefix(strings.TrimLeft(string(line), " \t\r\n"), "{")
		if (err == nil) != valid {
			t.Fatalf("scanner says %v, encoding/json %v", err, valid)
		}
		if err != nil {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		for _, m := range o.Members {
			if !utf8.ValidString(m.Name) {
				return // encoding/json replaces the bytes, this scanner keeps them
			}
		}
		for name, raw := range want {
			got := o.Raw(name)
			if !bytes.Equal(got, raw) {
				t.Fatalf("member %q is %q, want %q", name, got, raw)
			}
			var s string
			if raw[0] == '"' && utf8.Valid(raw) && json.Unmarshal(raw, &s) == nil {
				text, _ := o.Text(name)
				if text != s || jsonedit.UnquotedLen(raw[1:len(raw)-1]) != int64(len(s)) {
					t.Fatalf("string %q reads %q (%d), want %q", raw, text, jsonedit.UnquotedLen(raw[1:len(raw)-1]), s)
				}
			}
		}
		o.Set(jsonedit.Quote("new \" \\ \n text"), "memdesk")
		if !json.Valid(o.Line) {
			t.Fatalf("after set: %q", o.Line)
		}
		o.Remove("memdesk")
		if _, had := want["memdesk"]; !had && !sameMembers(t, o.Line, want) {
			t.Fatalf("set and remove changed %q to %q", line, o.Line)
		}
	})
}

func sameMembers(t *testing.T, line []byte, want map[string]json.RawMessage) bool {
	t.Helper()
	var got map[string]json.RawMessage
	if err := json.Unmarshal(line, &got); err != nil || len(got) != len(want) {
		return false
	}
	for k, v := range want {
		if !bytes.Equal(got[k], v) {
			return false
		}
	}
	return true
}
