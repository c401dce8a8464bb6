package conflict_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/conflict"
	"memdesk/conflict/merge"
	"memdesk/conflict/names"
	"memdesk/internal/gitlog/gitlogtest"
	"memdesk/model"
)

func TestCompareFrontMatter(t *testing.T) {
	got := conflict.CompareFront("---\nslug: a\ntitle: \"One\"\ntags:\n  - x\n---\nb\n", "\ufeff---\r\nslug: a\r\ntitle: Two\r\nnew: 1\r\n---\r\nb\n")
	want := []conflict.FieldPair{
		{Name: "slug", Base: "a", Copy: "a", InBase: true, InCopy: true}, {Name: "title", Base: "One", Copy: "Two", InBase: true, InCopy: true},
		{Name: "tags", Base: "- x", InBase: true}, {Name: "new", Copy: "1", InCopy: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestCompareRepeatedFields: a field's first value counts on both sides.
func TestCompareRepeatedFields(t *testing.T) {
	got := conflict.CompareFront("---\na: 1\n---\n", "---\na: 2\na: 1\nb: 3\nb: 4\n---\n")
	want := []conflict.FieldPair{{Name: "a", Base: "1", Copy: "2", InBase: true, InCopy: true}, {Name: "b", Copy: "3", InCopy: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestABaseOfAnotherNormalForm: a base that differs in its normal form only is nearer than one that differs in
// case (conflict-names.md, Base derivation 4).
func TestABaseOfAnotherNormalForm(t *testing.T) {
	const decomposed, composed, lower = "E\u0301", "\u00c9", "\u00e9"
	for _, tt := range []struct{ copied, base string }{{decomposed, composed}, {composed, decomposed}} {
		copied := tt.copied + " (conflicted copy 2026-05-27 083015).md"
		d := newDesk(t, map[string]string{copied: "a\n", tt.base + ".md": "b\n", lower + ".md": "c\n"})
		if c := d.find(copied); c.BaseID != tt.base+".md" {
			t.Errorf("%+q: the base is %+q", copied, c.BaseID)
		}
	}
}

// TestBasesInTwoOtherSpellings: the name does not say which of them is the base, so only a text that is like it does.
func TestBasesInTwoOtherSpellings(t *testing.T) {
	const copied = "note (Mira Stone's conflicted copy 2026-05-27).md"
	for _, tt := range []struct{ text, base string }{{"1\n2\n3\n4\n", "Note.md"}, {"other\n", ""}} {
		d := newDesk(t, map[string]string{copied: tt.text, "NOTE.md": "a\nb\nc\nd\n", "Note.md": "1\n2\n3\n5\n"})
		for c, err := range conflict.List(t.Context(), d.store, conflict.Options{}) {
			if err != nil {
				t.Fatal(err)
			}
			if c.ID == copied && (c.BaseID != tt.base || c.Confidence == names.Certain && !c.Orphan) {
				t.Errorf("%q: the base is %q, %s, %s", tt.text, c.BaseID, c.Confidence, c.Reason)
			}
		}
	}
}

// TestTheNearestOfBasesInTwoSpellings: both texts are like the copy, and a resolution with the copy must not write over
// the one that is less so.
func TestTheNearestOfBasesInTwoSpellings(t *testing.T) {
	const copied = "note (Mira Stone's conflicted copy 2026-05-27).md"
	const near, far = "1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\n5\n6\n7\nother\n"
	for _, bases := range []map[string]string{{"NOTE.md": far, "Note.md": near}, {"NOTE.md": near, "Note.md": far}} {
		for _, text := range []string{near, near + "9\n"} {
			files, want := map[string]string{copied: text}, ""
			for id, body := range bases {
				if files[id] = body; body == near {
					want = id
				}
			}
			if c := newDesk(t, files).find(copied); c.BaseID != want || c.Redundant != (text == bases[want]) || c.Confidence != names.Possible {
				t.Errorf("%q: the base is %q, redundant %t, %s; want %q", text, c.BaseID, c.Redundant, c.Reason, want)
			}
		}
	}
}

// undated is a history whose only version has a time that the store cannot read.
type undated struct{}

func (undated) Revisions(context.Context, string) (model.Versions, error) {
	return model.Versions{State: model.Recorded, Versions: []model.Version{{ID: "v1", Readable: true}}}, nil
}

func (undated) ReadRevision(context.Context, string, string) (model.Item, error) {
	return model.Item{Body: "2\n"}, nil
}

// TestAVersionWithoutATimeIsNoAncestor: it may be the base itself, and then every change of the base looks
// undone by the copy.
func TestAVersionWithoutATimeIsNoAncestor(t *testing.T) {
	const base, copied = "n.md", "n.sync-conflict-20260527-083015-K3ZQ7AB.md"
	d := newDesk(t, map[string]string{base: "2\n", copied: "3\n"})
	d.store.History = undated{}
	if got, err := conflict.Compare(t.Context(), d.store, d.find(copied)); err != nil || got.Threefold() {
		t.Errorf("%q, %v", got.Origin, err)
	}
}

// TestTheAncestorIsNotFetched: git gets a missing object of a partial clone by a command of the repository's
// own configuration.
func TestTheAncestorIsNotFetched(t *testing.T) {
	const base, copied = "n.md", "n.sync-conflict-20260527-083015-K3ZQ7AB.md"
	d := newDesk(t, map[string]string{base: "1\n"})
	ran := gitlogtest.Partial(t, d.root, "HEAD:"+base)
	write(t, d.root, map[string]string{base: "2\n", copied: "3\n"})
	got, err := conflict.Compare(t.Context(), d.store, d.find(copied))
	if err != nil || got.Threefold() || !strings.Contains(got.Unknown, "cannot be read") {
		t.Errorf("%q (%s), %v", got.Origin, got.Unknown, err)
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a command of the repository's configuration ran")
	}
}

// TestBothSidesOfOneItem: where the markers stand in one item, that item is the base too, as it is now.
func TestBothSidesOfOneItem(t *testing.T) {
	const marked = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n"
	d := newDesk(t, map[string]string{"n.md": marked})
	c := d.find("n.md")
	write(t, d.root, map[string]string{"n.md": "more\n" + marked})
	got, err := conflict.Compare(t.Context(), d.store, c)
	if err != nil || got.BaseText != "more\n"+marked || got.BaseRev == c.BaseRev || got.BaseRev != got.CopyRev || got.Redundant {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestThousandsOfEqualCopies: each must not name all the others.
func TestThousandsOfEqualCopies(t *testing.T) {
	files := map[string]string{"n.md": "base\n"}
	for i := range 60 {
		files[fmt.Sprintf("n.sync-conflict-20260527-0830%02d-K3ZQ7AB.md", i)] = "copy\n"
	}
	d := newDesk(t, files)
	for name := range files {
		if name == "n.md" {
			continue
		}
		c := d.find(name)
		if n := len(c.Twins); n != 20 || slices.Contains(c.Twins, c.ID) {
			t.Errorf("%s has %d twins: %q", name, n, c.Twins)
		}
	}
}

func TestMarkers(t *testing.T) {
	const block = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n"
	for name, c := range map[string]struct {
		id, text string
		want     int
	}{
		"one":           {"n.md", "t\n" + block, 1},
		"two":           {"n.md", block + block, 2},
		"crlf":          {"n.md", strings.ReplaceAll(block, "\n", "\r\n"), 1},
		"diff3":         {"n.md", "<<<<<<< HEAD\na\n||||||| base\no\n=======\nb\n>>>>>>> x\n", 1},
		"heading":       {"n.md", "Title\n=======\n", 0},
		"fenced":        {"n.md", "```\n" + block + "```\n", 0},
		"after a fence": {"n.md", "```\nx\n```\n" + block, 1},
		"half":          {"n.md", "<<<<<<< HEAD\na\n=======\n", 0},
		"order":         {"n.md", ">>>>>>> x\n=======\n<<<<<<< HEAD\n", 0},
		"eight":         {"n.md", "<<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", 0},
		"indented":      {"n.md", " <<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", 0},
		"json lines":    {"n.jsonl", "{}\n=======\n{}\n", 1},
		"json value":    {"n.jsonl", "{\"a\":\"<<<<<<< HEAD\"}\n", 0},
	} {
		if got := conflict.Markers(c.id, c.text); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// Inside must find each side and its name, and refuse a text in which nobody can tell where a side ends.
func TestInside(t *testing.T) {
	const block = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> their work\n"
	for name, c := range map[string]struct {
		id, text          string
		left, right, both string // chosen for all; empty: refused
	}{
		"one":             {"n.md", "t\n" + block + "u\n", "t\na\nu\n", "t\nb\nu\n", "t\na\nb\nu\n"},
		"two":             {"n.md", block + "t\n" + block, "a\nt\na\n", "b\nt\nb\n", "a\nb\nt\na\nb\n"},
		"crlf":            {"n.md", strings.ReplaceAll(block, "\n", "\r\n"), "a\r\n", "b\r\n", "a\r\nb\r\n"},
		"with an older":   {"n.md", "<<<<<<< HEAD\na\n||||||| base\no\n=======\nb\n>>>>>>> x\n", "a\n", "b\n", "a\nb\n"},
		"heading beside":  {"n.md", "Title\n=======\n" + block, "Title\n=======\na\n", "Title\n=======\nb\n", "Title\n=======\na\nb\n"},
		"json lines":      {"n.jsonl", "{}\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> x\n", "{}\n1\n", "{}\n2\n", "{}\n1\n2\n"},
		"nothing":         {"n.md", "a\n", "", "", ""},
		"nested":          {"n.md", "<<<<<<< HEAD\n" + block + "=======\nc\n>>>>>>> y\n", "", "", ""},
		"heading within":  {"n.md", "<<<<<<< HEAD\nTitle\n=======\n=======\nb\n>>>>>>> x\n", "", "", ""},
		"half beside one": {"n.md", block + "<<<<<<< HEAD\na\n", "", "", ""},
		"json stray":      {"n.jsonl", block + "=======\n", "", "", ""},
	} {
		hunks, sides, err := conflict.Inside(c.id, c.text)
		if (err != nil) != (c.both == "") {
			t.Errorf("%s: %v", name, err)
		}
		for side, want := range map[merge.Side]string{merge.TakeLeft: c.left, merge.TakeRight: c.right, merge.TakeBoth: c.both} {
			choices := map[int]merge.Side{}
			for i, s := range sides {
				choices[i] = side
				if s[0] != "HEAD" || s[1] != "x" && s[1] != "their work" {
					t.Errorf("%s: the sides are called %q", name, s)
				}
			}
			if got, open := merge.Text(hunks, choices); got != want || open != 0 {
				t.Errorf("%s, side %d: %q, want %q", name, side, got, want)
			}
		}
		if len(hunks) == 1 && name == "with an older" && !slices.Equal(hunks[0].Ancestor, []string{"o\n"}) {
			t.Errorf("%s: the ancestor is %q", name, hunks[0].Ancestor)
		}
	}
}

func FuzzMarkers(f *testing.F) {
	f.Add("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n")
	f.Fuzz(func(t *testing.T, text string) {
		if n := conflict.Markers("n.md", text); n < 0 || n > strings.Count(text, ">>>>>>>") {
			t.Errorf("%q: %d", text, n)
		}
		conflict.CompareFront(text, text)
		if hunks, _, err := conflict.Inside("n.md", text); err == nil && conflict.Markers("n.md", merge.Marked(hunks, nil, merge.Named("a", "b"))) == 0 {
			t.Errorf("%q: its conflicts are lost", text)
		}
	})
}

// TestTheAncestorIsFoundInGit uses a repository whose configuration would run a program, and names that
// look like options.
func TestTheAncestorIsFoundInGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	const base, copied = "-n.md", "-n.sync-conflict-20260527-083015-K3ZQ7AB.md"
	d := newDesk(t, map[string]string{base: "1\n2\n3\n4\n5\n6\n7\n"})
	trap := filepath.Join(t.TempDir(), "ran")
	run := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir = d.root
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_DATE=2026-05-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-05-01T00:00:00Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %s", args, out)
		}
	}
	run("init", "-q")
	run("add", "--", "./"+base)
	run("-c", "user.name=x", "-c", "user.email=x@example.test", "commit", "-q", "-m", "x")
	for _, key := range []string{"core.fsmonitor", "gpg.program", "core.pager", "diff.external"} {
		run("config", key, "touch "+trap)
	}
	run("config", "log.showSignature", "true")
	write(t, d.root, map[string]string{base: "1\nbase\n3\n4\n5\n6\n7\n", copied: "1\n2\n3\n4\n5\ncopy\n7\n"})
	c := d.find(copied)
	c.BaseTime, c.CopyTime = time.Now(), time.Now()
	got, err := conflict.Compare(t.Context(), d.store, c)
	if err != nil {
		t.Fatal(err)
	}
	if text, open := merge.Text(got.Hunks, nil); !got.Threefold() || open != 0 || text != "1\nbase\n3\n4\n5\ncopy\n7\n" {
		t.Errorf("%q (%s), %d open, merged %q", got.Origin, got.Unknown, open, text)
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("a program of the repository's configuration ran")
	}
}

// TestADeletionByADatedAncestorIsAChoice: a device that was offline has its copy from before the newest version, so a
// line that its copy lacks may be new in the base.
func TestADeletionByADatedAncestorIsAChoice(t *testing.T) {
	const base, copied = "n.md", "n.sync-conflict-20260527-083015-K3ZQ7AB.md"
	d := newDesk(t, map[string]string{base: "1\n2\nnew in v1\n3\n4\nby the base\n", copied: "1\n2\n3\n4\n"})
	d.store.History = dated("1\n2\nnew in v1\n3\n4\n")
	c := d.find(copied)
	c.BaseTime, c.CopyTime = time.Now(), time.Now()
	got, err := conflict.Compare(t.Context(), d.store, c)
	if err != nil || got.Origin != "version v1 of the store, by time" {
		t.Fatalf("%q, %v", got.Origin, err)
	}
	if text, open := merge.Text(got.Hunks, nil); open != 1 || text != "1\n2\n3\n4\nby the base\n" {
		t.Errorf("%d open, %q", open, text)
	}
	if marked := merge.Marked(got.Hunks, nil, merge.Named("base", "copy")); !strings.Contains(marked, "<<<<<<< base\nnew in v1\n|||||||") {
		t.Errorf("an editor gets %q", marked)
	}
}

// TestTheBasesOwnTextDecidesNothing: the newest version is the base itself, so it does not tell an older copy from a
// changed one.
func TestTheBasesOwnTextDecidesNothing(t *testing.T) {
	const base, copied = "n.md", "n.sync-conflict-20260527-083015-K3ZQ7AB.md"
	d := newDesk(t, map[string]string{base: "rent is 900\nkeys: Anna\n", copied: "rent is 850\nkeys: Ben\n"})
	d.store.History = dated("rent is 900\nkeys: Anna\n")
	c := d.find(copied)
	c.BaseTime, c.CopyTime = time.Now(), time.Now()
	got, err := conflict.Compare(t.Context(), d.store, c)
	if err != nil || !got.Threefold() {
		t.Fatalf("%q, %v", got.Origin, err)
	}
	if _, open := merge.Text(got.Hunks, nil); open != 1 {
		t.Errorf("%d open of %+v", open, got.Hunks)
	}
}

// dated is a history of one version, of long ago.
type dated string

func (dated) Revisions(context.Context, string) (model.Versions, error) {
	return model.Versions{State: model.Recorded, Versions: []model.Version{{ID: "v1", Readable: true, At: time.Unix(0, 0)}}}, nil
}

func (d dated) ReadRevision(context.Context, string, string) (model.Item, error) {
	return model.Item{Body: string(d)}, nil
}

// TestTheAncestorOfChangesIsTheNewest: a store that records changes lists the oldest first.
func TestTheAncestorOfChangesIsTheNewest(t *testing.T) {
	const base, copied = "n.md", "n.sync-conflict-20260527-083015-K3ZQ7AB.md"
	d := newDesk(t, map[string]string{base: "by the base\n", copied: "by the copy\n"})
	d.store.History = changes(60)
	c := d.find(copied)
	c.BaseTime, c.CopyTime = time.Unix(58, 0), time.Now()
	got, err := conflict.Compare(t.Context(), d.store, c)
	if err != nil || got.Origin != "version v58 of the store, by time" {
		t.Fatalf("%q, %v", got.Origin, err)
	}
}

// changes is a history of so many changes, one a second.
type changes int

func (n changes) Revisions(context.Context, string) (out model.Versions, err error) {
	out.State = model.Recorded
	for i := range int64(n) {
		out.Versions = append(out.Versions, model.Version{ID: fmt.Sprint("v", i), Readable: true, At: time.Unix(i, 0), Change: &model.Edit{}})
	}
	return out, nil
}

func (changes) ReadRevision(_ context.Context, _, version string) (model.Item, error) {
	return model.Item{Body: version + "\n"}, nil
}
