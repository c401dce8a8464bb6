package quarantine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/quarantine"
)

const (
	sampleBody = "first\n---\nkey: \"value\"\n---\n\nlast\x00\xff"
	sampleFile = "---\n" +
		"quarantined_at: \"2026-11-21T02:50:20Z\"\n" +
		"category: \"invisible_unicode\"\n" +
		"pattern: \"U+200B\"\n" +
		"source: \"daily/a\\\"\\n\\u200b\\x00.md\"\n" +
		"sha256: \"SUM\"\n" +
		"---\n" +
		"\n"
)

func sample() quarantine.File {
	return quarantine.File{
		QuarantinedAt: time.Date(2026, 11, 21, 2, 50, 20, 0, time.UTC),
		Category:      "invisible_unicode", Pattern: "U+200B", Source: "daily/a\"\n\u200b\x00.md",
		SHA256: quarantine.Sum(sampleBody), Body: sampleBody,
	}
}

func sampleBytes() string {
	return strings.Replace(sampleFile, "SUM", quarantine.Sum(sampleBody), 1) + sampleBody
}

func TestFileRoundTrip(t *testing.T) {
	f := sample()
	f.QuarantinedAt = f.QuarantinedAt.Add(400 * time.Millisecond).In(time.FixedZone("CEST", 7200))
	f.SHA256 = ""
	if diff := cmp.Diff(sampleBytes(), string(f.Encode())); diff != "" {
		t.Errorf("Encode (-want +got):\n%s", diff)
	}
	got, err := quarantine.ParseNamed(quarantine.FileName(quarantine.Sum(sampleBody)), []byte(sampleBytes()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), got); diff != "" {
		t.Errorf("ParseNamed (-want +got):\n%s", diff)
	}
}

func TestParseFileErrors(t *testing.T) {
	replace := func(from, to string) string { return strings.Replace(sampleBytes(), from, to, 1) }
	for _, tt := range []struct {
		name, data          string
		malformed, mismatch bool
		source, body        string
	}{
		{"empty", "", true, false, "", ""},
		{"no header", "plain\ntext", true, false, "", "plain\ntext"},
		{"no end", "---\ncategory: \"x\"\n", true, false, "", "---\ncategory: \"x\"\n"},
		{"empty header", "---\n---\n\nbody", true, false, "", "body"},
		{"changed body", sampleBytes() + "!", false, true, sample().Source, sampleBody + "!"},
		{"changed hash", replace("sha256: \""+quarantine.Sum(sampleBody)[:1], "sha256: \"e"), false, true, sample().Source, sampleBody},
		{"short hash", replace(quarantine.Sum(sampleBody), "abc"), true, true, sample().Source, sampleBody},
		{"missing hash", replace("sha256: \""+quarantine.Sum(sampleBody)+"\"\n", ""), true, false, sample().Source, sampleBody},
		{"no blank line", replace("\"\n---\n\n", "\"\n---\n"), true, false, sample().Source, sampleBody},
		{"bad time", replace("02:50:20Z", "noon"), true, false, sample().Source, sampleBody},
		{"bad escape", replace(`\x00`, `\q`), true, false, "", sampleBody},
		{"backquotes", replace(`"U+200B"`, "`U+200B`"), true, false, sample().Source, sampleBody},
		{"bare value", replace(`"U+200B"`, "U+200B"), true, false, sample().Source, sampleBody},
		{"extra line", replace("sha256:", "note: \"x\"\nsha256:"), true, false, sample().Source, sampleBody},
		{"extra last line", replace("\"\n---\n\n", "\"\nnote: \"x\"\n---\n\n"), true, false, sample().Source, sampleBody},
		{"carriage returns", strings.ReplaceAll(sampleBytes(), "\n", "\r\n"), true, false, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := quarantine.ParseFile([]byte(tt.data))
			if got := errors.Is(err, quarantine.ErrMalformed); got != tt.malformed {
				t.Errorf("error %v, malformed %v", err, tt.malformed)
			}
			if got := errors.Is(err, quarantine.ErrHashMismatch); got != tt.mismatch {
				t.Errorf("error %v, mismatch %v", err, tt.mismatch)
			}
			if tt.name == "carriage returns" {
				return
			}
			if f.Source != tt.source || f.Body != tt.body {
				t.Errorf("parsed source %q body %q", f.Source, f.Body)
			}
		})
	}
}

func TestParseNamed(t *testing.T) {
	for _, tt := range []struct {
		name string
		want error
	}{
		{quarantine.FileName(quarantine.Sum("other")), quarantine.ErrHashMismatch},
		{"note.md", quarantine.ErrMalformed},
		{strings.ToUpper(quarantine.Sum(sampleBody)) + ".md", quarantine.ErrMalformed},
	} {
		if f, err := quarantine.ParseNamed(tt.name, []byte(sampleBytes())); !errors.Is(err, tt.want) || f.Body != sampleBody {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.want)
		}
	}
}

func TestFileNames(t *testing.T) {
	sha := quarantine.Sum("x")
	if got, ok := quarantine.HashOfName(quarantine.FileName(sha)); got != sha || !ok {
		t.Errorf("HashOfName = %q %v", got, ok)
	}
	for name, want := range map[string]bool{
		sha + ".md.tmp.0123456789abcdef":  true,
		sha + ".md.tmp.0123456789abcde":   false,
		sha + ".md.tmp.0123456789abcdeg":  false,
		sha + ".md":                       false,
		"short.md.tmp.0123456789abcdef":   false,
		sha + ".tmp.0123456789abcdef":     false,
		sha + ".md.tmp.0123456789abcdef.": false,
	} {
		if quarantine.IsTempName(name) != want {
			t.Errorf("IsTempName(%q) = %v", name, !want)
		}
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte(sampleBytes()))
	f.Add([]byte("---\n---\n\n"))
	f.Add([]byte("---\nquarantined_at: \"\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := quarantine.ParseFile(data)
		if !strings.HasSuffix(string(data), file.Body) {
			t.Fatalf("body %q is not the end of %q", file.Body, data)
		}
		if err != nil {
			return
		}
		again, err := quarantine.ParseFile(file.Encode())
		if err != nil || again != file {
			t.Fatalf("%q comes back as %+v, %v; want %+v", data, again, err, file)
		}
	})
}
