package identifier_test

import (
	"strings"
	"testing"

	"memdesk/gdpr/identifier"
	"memdesk/gdpr/subject"
)

// The sentence of a name must not promise a spelling that the search leaves out.
func TestSentence(t *testing.T) {
	for id, want := range map[string]string{"Olav": "begins with a capital", "zoë": "as it is given", "Olav Berg": "any case", "Lindström": "any case", "usr_1": "exact token"} {
		if got := identifier.Sentence(id); !strings.Contains(got, want) {
			t.Errorf("Sentence(%q) = %q; want %q", id, got, want)
		}
	}
}

func TestKindsAndWarnings(t *testing.T) {
	for id, tt := range map[string]struct {
		kind subject.Kind
		warn string // empty: none
	}{
		"usr_8812xk":            {subject.ID, ""},
		"usr_1":                 {subject.ID, "this case only"},
		"1234567":               {subject.ID, ""},
		"ida.f+n@mail.example":  {subject.Address, ""},
		"+49 30 5550 1234":      {subject.Telephone, ""},
		"030 5550 1234":         {subject.Telephone, "without its country"},
		"+49 111 1111 1111 11":  {subject.Telephone, "no country has"},
		"Théa Lindström":        {subject.Name, ""},
		"Lindström":             {subject.Name, "one word"},
		"Ann":                   {subject.Name, "capital only"},
		"May":                   {subject.Name, "month"},
		"0049 30 5550 1234":     {subject.Telephone, ""},
		"Dr. Théa Lindström":    {subject.Name, "title"},
		"mailto:ida@mail.test":  {subject.Address, "title"},
		"Théa L. <t@mail.test>": {subject.ID, "an identifier each"},
		"Théa Lind (Sales)":     {subject.ID, "an identifier each"},
		"Mark":                  {subject.Name, "common word"},
		"Will Grace":            {subject.Name, "common word"},
		"Li Ke":                 {subject.Name, "short or a common word"},
		"Will Graceson":         {subject.Name, ""},
		"王明":                    {subject.Name, "one or two characters"},
		"王小明":                   {subject.Name, "one word"},
		"Иван Петров":           {subject.Name, "cases of Russian"},
		"anna-lena":             {subject.ID, ""},
		"Anna-Lena":             {subject.Name, "one word"},
	} {
		if got := subject.KindOf(id); got != tt.kind {
			t.Errorf("KindOf(%q) = %s; want %s", id, got, tt.kind)
		}
		got := strings.Join(identifier.Warnings(id), "; ")
		if tt.warn == "" && got != "" || !strings.Contains(got, tt.warn) {
			t.Errorf("Warnings(%q) = %q; want %q", id, got, tt.warn)
		}
		if strings.Contains(got, id) {
			t.Errorf("the warning repeats %q", id)
		}
	}
}
