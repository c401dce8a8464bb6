package safetext_test

import (
	"bytes"
	"encoding/json"
	"sync"
	"testing"

	"memdesk/internal/safetext"
)

func TestMarshalJSON(t *testing.T) {
	type row struct {
		Type string            `json:"type"`
		Text safetext.Text     `json:"text"`
		Meta map[string]string `json:"meta,omitempty"`
		Raw  json.RawMessage   `json:"raw,omitempty"`
	}
	tests := []struct {
		name string
		in   any
		want string
	}{
		{"plain", row{Type: "hit"}, `{"type":"hit","text":""}`},
		{"html is not escaped", row{Type: "<a&b>"}, `{"type":"<a&b>","text":""}`},
		{"controls", row{Type: "\x00\x1b\n\t\x7f\u0085\u009b"}, `{"type":"\u0000\u001b\n\t\u007f\u0085\u009b","text":""}`},
		{"separators", row{Type: "\u2028\u2029"}, `{"type":"\u2028\u2029","text":""}`},
		{"hidden", row{Type: "\u202e\u200b\ufeff\ufe0f\u3164\u2800"}, `{"type":"\u202e\u200b\ufeff\ufe0f\u3164\u2800","text":""}`},
		{"above the basic plane", row{Type: "\U000E0068\U0010FFFD😀"}, `{"type":"\udb40\udc68\udbff\udffd😀","text":""}`},
		{"selector after an emoji", row{Type: "❤\ufe0f"}, `{"type":"❤\ufe0f","text":""}`},
		{"invalid bytes", row{Type: "a\xff\xfeb"}, `{"type":"a\ufffd\ufffdb","text":""}`},
		{"mark on the quote", row{Type: "\u0301e\u0301"}, `{"type":"\u0301é","text":""}`},
		{"forms are not quoted", row{Type: "^G ⟦x⟧ \\x9b"}, `{"type":"^G ⟦x⟧ \\x9b","text":""}`},
		{"text is escaped once", row{Text: safetext.Line("a\x1b\u202e\"")}, `{"type":"","text":"a^[⟦U+202E⟧\""}`},
		{"keys too", row{Meta: map[string]string{"k\u202e": "v"}}, `{"type":"","text":"","meta":{"k\u202e":"v"}}`},
		{"raw messages too", row{Raw: json.RawMessage("{\n \"a\": \"\u202e\u009b\" }")}, `{"type":"","text":"","raw":{"a":"\u202e\u009b"}}`},
		{"text as key", map[safetext.Text]int{safetext.Line("\x1b"): 1}, `{"^[":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := safetext.MarshalJSON(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			if tt.name == "mark on the quote" {
				want = "{\"type\":\"\\u0301e\u0301\",\"text\":\"\"}"
			}
			if tt.name == "invalid bytes" {
				want = `{"type":"a` + `\ufffd\ufffd` + `b","text":""}`
			}
			if string(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestJSONWriterWritesOneObjectPerLine(t *testing.T) {
	var out bytes.Buffer
	w := safetext.NewJSONWriter(&out)
	if err := w.Write(map[string]string{"a": "x\ny\u2028"}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []any{"string", 1, []int{1}, nil, func() {}} {
		if err := w.Write(bad); err == nil {
			t.Errorf("Write(%T) succeeded", bad)
		}
	}
	if want := "{\"a\":\"x\\ny\\u2028\"}\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestJSONWriterFromManyGoroutines(t *testing.T) {
	var out bytes.Buffer
	w := safetext.NewJSONWriter(&out)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if err := w.Write(map[string]string{"k": "value"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if want := repeat("{\"k\":\"value\"}\n", 800); out.String() != want {
		t.Error("lines are mixed")
	}
}
