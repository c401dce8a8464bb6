package cursor

import (
	"encoding/base64"
	"math"
	"strings"
	"testing"

	"memdesk/model"
)

var list = ListOf("list", true)

func refused(t *testing.T, what string, l List, text string) {
	t.Helper()
	if p, err := l.Decode("list", text); model.KindOf(err) != model.InvalidInput {
		t.Errorf("%s: %q became %+v, %v", what, text, p, err)
	}
}

func TestRoundTrip(t *testing.T) {
	const id = "6a1f5b1c-93c8-4d4e-8a55-0a4f1d5b7c02"
	for _, p := range []Place{
		{}, {Before: true, Number: -1, ID: "a/b.md"}, {Number: math.MaxInt64, ID: "\xff\x00"}, {Number: math.MinInt64, Mark: true},
		{Text: "2026-11-16T10:21:38.000Z", ID: id}, {Text: strings.Repeat("é", 300)}, {ID: strings.ToUpper(id)}, {ID: strings.ReplaceAll(id, "-", "")},
		{ID: "sixteen letters!"}, {ID: id[:len(id)-1] + "-"}, {ID: id[9:] + "-" + id[:8]},
	} {
		text := list.Encode(p)
		if got, err := list.Decode("list", text); err != nil || got != p {
			t.Errorf("%+v became %+v, %v", p, got, err)
		}
		refused(t, "another filter", ListOf("list", false), text)
		refused(t, "another sort of list", ListOf("other", true), text)
	}
}

// A border stays where it is while a row beside it does.
func TestBorder(t *testing.T) {
	for _, c := range []struct {
		rows string
		at   Place
		want int
		lost bool
	}{
		{"abcd", Between("b", "c", false), 2, false}, {"bcd", Between("b", "c", false), 1, false}, {"acd", Between("b", "c", false), 1, false},
		{"abd", Between("b", "c", false), 2, false}, {"ad", Between("b", "c", false), 0, true},
		{"abxcd", Between("b", "c", false), 2, false}, {"abxcd", Between("b", "c", true), 3, false}, // a new row is shown
		{"cd", Between("", "a", false), 0, false}, {"ab", Between("d", "", true), 2, false},
	} {
		index := func(id string) int {
			if id == "" {
				return -1
			}
			return strings.Index(c.rows, id)
		}
		got, err := c.at.Border("list", len(c.rows), index)
		if got != c.want || (model.KindOf(err) == model.Conflict) != c.lost {
			t.Errorf("%+v in %s is %d, %v; want %d", c.at, c.rows, got, err, c.want)
		}
	}
}

// A cursor of an earlier version named the number and the first row of its page: to read it as a border would skip a row.
func TestBorderOfAnEarlierVersion(t *testing.T) {
	if at, err := (Place{Number: 3, ID: "b"}).Border("list", 4, func(string) int { return 1 }); model.KindOf(err) != model.KindOf(Foreign("list")) {
		t.Errorf("it is the border %d, %v", at, err)
	}
}

// TestLength counts the characters of the places that lists have.
func TestLength(t *testing.T) {
	for want, p := range map[int]Place{
		7:  {Before: true},
		24: {ID: "decision-0150"},
		28: {ID: "6a1f5b1c-93c8-4d4e-8a55-0a4f1d5b7c02"},
		36: {Number: 1791904898000000000, ID: "decision-0162"},
	} {
		if got := len(list.Encode(p)); got != want {
			t.Errorf("%+v takes %d characters, want %d", p, got, want)
		}
	}
}

// TestForeign: what earlier versions wrote, and what nobody wrote.
func TestForeign(t *testing.T) {
	whole := list.Encode(Place{Number: 7, Text: "at", ID: "x"})
	raw, err := base64.RawURLEncoding.DecodeString(whole)
	if err != nil {
		t.Fatal(err)
	}
	with := func(header byte, rest ...byte) string {
		return base64.RawURLEncoding.EncodeToString(append(append(list[:], header), rest...))
	}
	for what, text := range map[string]string{
		"nothing": "", "no base64": "!", "JSON": "e30", "a line break": whole + "\n", "padding": whole + "=",
		"JSON of a table": "eyJsIjoiM2hoemJicmZuNjdxZiIsInQiOjAsImsiOiJPdmVuIDEifQ",
		"a walked tree's": "vKy4TpXGAIDQ6_70gPrqMXJlbGVhc2VzLm1k",
		"check alone":     base64.RawURLEncoding.EncodeToString(raw[:4]),
		"unknown bit":     with(1 << 5), "a zero number": with(number, 0), "no number": with(number), "an endless number": with(number, 0xff, 0xff),
		"a zero text": with(text, 0), "a short text": with(text, 9, 'x'), "a text's length in two bytes": with(text, 0x81, 0, 'x'),
		"a short UUID": with(uuid, 1, 2, 3), "a long length": with(text, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 'x'),
	} {
		refused(t, what, list, text)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("")
	f.Add("\x04\x0ex")
	f.Add("\x1b\x042026\x6a\x1f\x5b\x1c\x93\xc8\x4d\x4e\x8a\x55\x0a\x4f\x1d\x5b\x7c\x02")
	f.Add("eyJsIjoiM2hoemJicmZuNjdxZiIsInQiOjAsImsiOiJPdmVuIDEifQ")
	f.Fuzz(func(t *testing.T, rest string) {
		behind := base64.RawURLEncoding.EncodeToString(append(list[:], rest...))
		for _, text := range []string{rest, behind} { // behind the check, or as it is
			p, err := list.Decode("list", text)
			switch {
			case err != nil && model.KindOf(err) != model.InvalidInput:
				t.Error(err)
			case err == nil && list.Encode(p) != text:
				t.Errorf("%q: %+v is written %q", text, p, list.Encode(p))
			}
		}
	})
}
