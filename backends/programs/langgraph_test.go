package programs_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"memdesk/backends"
	"memdesk/internal/testpg"
)

// TestLangGraph: LangGraph's store and checkpoints must work with memdesk in one database.
func TestLangGraph(t *testing.T) {
	t.Parallel()
	dsn := testpg.DSN(t)
	cfg, err := pgx.ParseConfig(dsn)
	must(t, err)
	connection, err := json.Marshal(map[string]any{"host": cfg.Host, "port": cfg.Port, "user": cfg.User, "password": cfg.Password, "database": cfg.Database})
	must(t, err)
	p := start(t, "langgraph", []string{"@langchain/langgraph-checkpoint-postgres@1.0.5", "@langchain/langgraph-checkpoint@1.2.2", "@langchain/core@1.4.0"}, string(connection))
	put := func(key, words string) error {
		return p.call("put", map[string]any{"namespace": []string{"users", "ada"}, "key": key, "value": map[string]any{"text": words}}, nil)
	}
	get := func(key string) map[string]any {
		t.Helper()
		got := do[struct{ Value map[string]any }](t, p, "get", map[string]any{"namespace": []string{"users", "ada"}, "key": key})
		return got.Value
	}
	must(t, put("k", "likes rye"))
	must(t, put("desk", "0"))
	for _, thread := range []string{"t-ada", "t-brin"} {
		do[any](t, p, "checkpoint", map[string]any{"thread": thread, "id": "1f0", "text": "Hello " + thread, "user": thread[2:]})
	}
	s := open(t, backends.StoreConfig{Kind: "langgraph", DSNEnv: "DSN"}, func(string) string { return dsn })
	if got := text(t, s, "users/ada/k"); got != "{\n  \"text\": \"likes rye\"\n}" {
		t.Errorf("the program's value reads %q", got)
	}
	if got := text(t, s, "thread/t-ada"); !strings.Contains(got, "Hello t-ada") {
		t.Errorf("the program's thread reads %q", got)
	}
	must(t, write(t, s, "users/ada/k", `{"text":"likes bread"}`))
	if got := get("k"); got["text"] != "likes bread" {
		t.Errorf("the program reads %v", got)
	}
	must(t, put("k", "likes soup"))
	if got := text(t, s, "users/ada/k"); !strings.Contains(got, "soup") {
		t.Errorf("after the program's write it reads %q", got)
	}
	const n = 30
	atOnce(t, n, func(i int) error { return put(fmt.Sprintf("n%d", i), "x") }, func(i int) error { return write(t, s, "users/ada/desk", fmt.Sprintf(`{"text":"%d"}`, i)) })
	if got := do[[]any](t, p, "search", map[string]any{"namespace": []string{"users", "ada"}}); len(got) != n+2 {
		t.Errorf("%d rows of %d stand after both wrote at once", len(got), n+2)
	}
	if got := get("desk"); got["text"] != fmt.Sprint(n-1) {
		t.Errorf("memdesk's last write reads %v", got)
	}
	forget(t, s, "thread/t-ada")
	if got := do[[]string](t, p, "latest", map[string]any{"thread": "t-ada"}); got != nil {
		t.Errorf("the program still reads %q", got)
	}
	if got := do[[]string](t, p, "latest", map[string]any{"thread": "t-brin"}); len(got) != 1 {
		t.Errorf("the other thread reads %q", got)
	}
	forget(t, s, "users/ada/k")
	if got := get("k"); got != nil {
		t.Errorf("the program still reads %v", got)
	}
	do[any](t, p, "remove", map[string]any{"namespace": []string{"users", "ada"}, "key": "desk"})
	do[any](t, p, "forget", map[string]any{"thread": "t-brin"})
	if page, err := s.Browser.List(t.Context(), listOf("thread")); err != nil || len(page.Items) != 0 {
		t.Errorf("%d threads after the program's delete, %v", len(page.Items), err)
	}
}
