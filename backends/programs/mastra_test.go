package programs_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"memdesk/backends"
)

type said struct{ ID, Text, Title string }

// TestMastra: Mastra's libSQL storage and memdesk must work on one file.
func TestMastra(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mastra.db")
	p := start(t, "mastra", []string{"@mastra/libsql@1.23.1", "@mastra/core@1.71.0"}, file)
	for _, who := range []string{"ada", "brin"} {
		do[any](t, p, "thread", map[string]any{"id": "t-" + who, "resource": who, "title": "About " + who})
		do[any](t, p, "message", map[string]any{"id": "m-" + who, "thread": "t-" + who, "resource": who, "text": "Hello " + who})
		do[any](t, p, "remember", map[string]any{"resource": who, "text": "# " + who})
	}
	s := open(t, backends.StoreConfig{Kind: "mastra", Path: file}, nil)
	for id, want := range map[string]string{"thread/t-ada": "About ada", "message/m-ada": "Hello ada", "resource/ada": "# ada"} {
		if got := text(t, s, id); got != want {
			t.Errorf("%s reads %q, want %q", id, got, want)
		}
	}
	must(t, write(t, s, "message/m-ada", "Hi, Ada"))
	must(t, write(t, s, "thread/t-ada", "Boats"))
	must(t, write(t, s, "resource/ada", "# edited"))
	if got := do[[]said](t, p, "messages", map[string]any{"thread": "t-ada"}); len(got) != 1 || got[0].Text != "Hi, Ada" {
		t.Errorf("the program reads %+v", got)
	}
	if got := do[[]said](t, p, "threads", map[string]any{"resource": "ada"}); len(got) != 1 || got[0].Title != "Boats" {
		t.Errorf("the program lists %+v", got)
	}
	if got := do[string](t, p, "remembered", map[string]any{"resource": "ada"}); got != "# edited" {
		t.Errorf("the program remembers %q", got)
	}
	const n = 30
	atOnce(t, n, func(i int) error {
		return p.call("message", map[string]any{"id": fmt.Sprintf("n%d", i), "thread": "t-brin", "resource": "brin", "text": "x"}, nil)
	}, func(i int) error { return write(t, s, "message/m-ada", fmt.Sprintf("Hi %d", i)) })
	if got := do[[]said](t, p, "messages", map[string]any{"thread": "t-brin"}); len(got) != n+1 {
		t.Errorf("%d messages of %d stand after both wrote at once", len(got), n+1)
	}
	if got := do[[]said](t, p, "messages", map[string]any{"thread": "t-ada"}); got[0].Text != fmt.Sprintf("Hi %d", n-1) {
		t.Errorf("memdesk's last write reads %q", got[0].Text)
	}
	forget(t, s, "thread/t-ada")
	if got := do[[]said](t, p, "threads", map[string]any{"resource": "ada"}); len(got) != 0 {
		t.Errorf("the program still lists %+v", got)
	}
	do[any](t, p, "forget", map[string]any{"thread": "t-brin"})
	if page, err := s.Browser.List(t.Context(), listOf("thread")); err != nil || len(page.Items) != 0 {
		t.Errorf("%d threads after the program's delete, %v", len(page.Items), err)
	}
}
