package quarantine

import (
	"slices"
	"strings"
	"testing"
)

func hermesNames(text string) []string {
	var out []string
	for _, f := range allHermes(text) {
		out = append(out, f.Pattern)
	}
	return out
}

// TestHermesGaps: the long gaps must have Hermes' limits.
func TestHermesGaps(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, tt := range map[string]struct {
		text string
		want string
	}{
		"curl, the widest gap":          {"curl " + x(2048) + "$KEY", "exfil_curl"},
		"curl, one too wide":            {"curl " + x(2049) + "$KEY", ""},
		"curl, a line break":            {"curl a\n$KEY", ""},
		"curl, a line break at once":    {"curl \n $KEY", "exfil_curl"},
		"curl, a later one":             {"curl\ncurl $KEY", "exfil_curl"},
		"curl, no space":                {"curl$KEY", ""},
		"curl, characters not bytes":    {"curl " + strings.Repeat("é", 2048) + "$KEY", "exfil_curl"},
		"curl, a name goes on":          {"curl $KEYRING", ""},
		"send, one space":               {"send to http://a", ""},
		"send, two spaces":              {"send  to http://a", "send_to_url"},
		"translate, into twice":         {"into translate  into a and run", "translate_execute"},
		"send, the second one":          {"send me send to http://a", "send_to_url"},
		"a div, the widest gap":         {`<div style="` + x(2048) + "display:none", "hidden_div"},
		"a div, one too wide":           {`<div style="` + x(2049) + "display:none", ""},
		"a div, closed before":          {`<div style="a">display:none`, ""},
		"a div over lines":              {"<div style='a\ndisplay : none", "hidden_div"},
		"a comment, the widest gap":     {"<!--" + strings.Repeat(" ", 512) + "secret" + strings.Repeat(" ", 512) + "-->", "html_comment_injection"},
		"a comment, one too wide":       {"<!--" + strings.Repeat(" ", 513) + "secret-->", ""},
		"a comment, the second word":    {"<!-- secrets, secret -->", "html_comment_injection"},
		"a comment, the second comment": {"<!-- a --> <!-- system -->", "html_comment_injection"},
		"eight words":                   {"ignore a b c d e f g h all instructions", "prompt_injection"},
		"nine words":                    {"ignore a b c d e f g h i all instructions", ""},
		"a vertical tab":                {"authorized_keys\x0b", "ssh_backdoor"},
		"an i without its dot":          {"ıgnore all instructıons", "prompt_injection"},
		"a capital I with a dot":        {"OPENAİ: unset OPENAİ_KEY", "env_var_unset_agent"},
		"an i in a comment":             {"<!-- hıdden -->", "html_comment_injection"},
		"behind what is scanned":        {x(65536) + "authorized_keys", ""},
	} {
		var want []string
		if tt.want != "" {
			want = []string{tt.want}
		}
		if got := hermesNames(tt.text); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestHermesLoads(t *testing.T) {
	for _, text := range []string{"[BLOCKED: authorized_keys]", "fine", strings.Repeat("é", 65536)} {
		if v, hit := loadHermes(text); hit {
			t.Errorf("%.40q is not loaded: %v", text, v)
		}
	}
	for _, text := range []string{"authorized_keys", " [BLOCKED: authorized_keys]", strings.Repeat("é", 65537)} {
		if _, hit := loadHermes(text); !hit {
			t.Errorf("%.40q is loaded", text)
		}
	}
	if _, hit := scanHermes("[BLOCKED: authorized_keys]"); !hit {
		t.Error("a placeholder is written unscanned")
	}
}

// TestHermesPlaces: a finding in the folded text must have its position in the original.
func TestHermesPlaces(t *testing.T) {
	text := "Größe, ﬁrst\nｓｅｅ ａuthorized_keys now"
	found := allHermes(text)
	if len(found) != 1 || text[found[0].Start:found[0].End] != "ａuthorized_keys" || found[0].Line != 2 || found[0].Decoded != "authorized_keys" {
		t.Errorf("%+v", found)
	}
}

// TestHermesAdded: an edit that removes one of two hits must add none.
func TestHermesAdded(t *testing.T) {
	if got := addedHermes("authorized_keys, the c2 server, authorized_keys2", "authorized_keys2"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if got := addedHermes("authorized_keys", "authorized_keys and the c2 server"); len(got) != 1 || got[0].Pattern != "c2_explicit" {
		t.Errorf("%+v", got)
	}
}

// TestHermesComments: the work must grow with the length of a text, however many comments end alike. Where each
// comment reads up to the same end again, this test takes more than a minute.
func TestHermesComments(t *testing.T) {
	for _, part := range []string{"<!--", "<!-- a secrets ", "<!-- secret" + strings.Repeat("x", 600)} {
		if got := hermesNames(strings.Repeat(part, hermesLimit/len(part)-1) + "-->"); len(got) != 0 {
			t.Errorf("%.20q again and again has %q", part, got)
		}
	}
	if got := hermesNames(strings.Repeat("<!--", 1000) + "secret-->"); !slices.Equal(got, []string{"html_comment_injection"}) {
		t.Errorf("the innermost comment has %q", got)
	}
}
