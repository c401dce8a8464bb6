package edit

import (
	"path/filepath"
	"testing"

	"charm.land/bubbles/v2/textarea"

	"memdesk/internal/clock"
	"memdesk/internal/drafts"
)

func newDraft(t *testing.T, text string) (*drafts.Folder, *drafts.Draft) {
	t.Helper()
	f := drafts.New(filepath.Join(t.TempDir(), "edit"), clock.System{}, func() error { return nil })
	d, err := f.Open("a.md", text)
	if err != nil {
		t.Fatal(err)
	}
	return f, d
}

// TestTheLastWordsStay: two saves of one draft may run in any order; the later text must stay.
func TestTheLastWordsStay(t *testing.T) {
	_, draft := newDraft(t, "")
	c := &Composer{e: &Edit{Draft: draft}}
	for n, text := range map[int]string{2: "all of it", 1: "all"} {
		if err := c.write(2, "all of it"); err != nil {
			t.Fatal(err)
		}
		if err := c.write(n, text); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := draft.Read(); got != "all of it" || err != nil {
		t.Errorf("the draft holds %q, %v", got, err)
	}
}

// TestTheEndOfASessionKeepsTheLastWords: what was typed since the last save must be in the draft.
func TestTheEndOfASessionKeepsTheLastWords(t *testing.T) {
	_, draft := newDraft(t, "")
	ed := &Edits{}
	ed.Flush() // nothing is open
	ed.Page = &Composer{ed: ed, e: &Edit{Draft: draft}, area: textarea.New()}
	ed.Page.area.SetValue("all of it")
	ed.Flush()
	if got, err := draft.Read(); got != "all of it" || err != nil {
		t.Errorf("the draft holds %q, %v", got, err)
	}
}
