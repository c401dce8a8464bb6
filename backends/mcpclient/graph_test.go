package mcpclient_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memdesk/backends/backendtest"
	"memdesk/backends/mcpclient"
	"memdesk/internal/testnpm"
	"memdesk/model"
)

// memoryServer is the official memory server over a file, from npm.
func memoryServer(t *testing.T) mcpclient.Config {
	t.Helper()
	node, dir := testnpm.Require(t, "@modelcontextprotocol/server-memory@2026.8.31")
	return mcpclient.Config{Command: "/usr/bin/env", Args: []string{"MEMORY_FILE_PATH=" + filepath.Join(t.TempDir(), "memory.jsonl"), node,
		filepath.Join(dir, "node_modules/@modelcontextprotocol/server-memory/dist/index.js")}}
}

// TestOfficialMemoryServer writes, edits, finds and removes through the real server.
func TestOfficialMemoryServer(t *testing.T) {
	s := opened(t, memoryServer(t))
	defer s.Close()
	write := func(mode model.Mode, key, text string, match model.Revision) (model.RetainResult, error) {
		return s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "entity", Key: key, Content: text, Mode: mode, IfMatch: match})
	}
	first, err := write(model.Append, "Heron", "- leaves at six\n- is grey", model.Absent)
	if err != nil || first.ID != "Heron" {
		t.Fatalf("%+v, %v", first, err)
	}
	for _, text := range []string{"- is grey\n- leaves at seven", "- a\n- is grey\n- b", "- is grey", "- two\n  lines\n- is grey"} {
		res, err := write(model.Replace, "Heron", text, "")
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		it, err := s.Browser.Read(t.Context(), "Heron")
		if err != nil || it.Body != text || it.Revision != res.Revision || it.Bytes != int64(len(text)) {
			t.Errorf("%q reads %+v, %v", text, it, err)
		}
	}
	if _, err := write(model.Replace, "Heron", "- x", first.Revision); !errors.Is(err, model.Conflict) {
		t.Errorf("a stale revision: %v", err)
	}
	if _, err := write(model.Replace, "Heron", "no list", ""); !errors.Is(err, model.InvalidInput) {
		t.Errorf("no list: %v", err)
	}
	if _, err := write(model.Append, "Heron", "- "+poison, ""); !errors.Is(err, model.InvalidInput) {
		t.Errorf("poison: %v", err)
	}
	if _, err := write(model.Append, "Pond", "- is cold", ""); err != nil {
		t.Fatal(err)
	}
	rel := model.RetainRequest{ID: "edge/Heron/fishes in/Pond", Content: "-", Mode: model.Append}
	if _, err := s.Provider.Retain(t.Context(), rel); err != nil {
		t.Fatal(err)
	}
	res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "GREY"})
	if err != nil || len(res.Hits) != 1 || res.Hits[0].ID != "Heron" || res.Hits[0].Line != 3 {
		t.Errorf("recall: %+v, %v", res, err)
	}
	page, err := s.Browser.List(t.Context(), model.PageRequest{})
	var ids []string
	for _, h := range page.Items {
		ids = append(ids, h.ID)
	}
	if err != nil || !slices.Equal(ids, []string{"Heron", "Pond", "edge/Heron/fishes in/Pond"}) {
		t.Errorf("list: %v, %v", ids, err)
	}
	falls, err := s.Falls(t.Context(), []string{"Pond"})
	if err != nil || len(falls) != 1 || falls[0].ID != ids[2] || falls[0].Left != 1 {
		t.Errorf("falls: %+v, %v", falls, err)
	}
	if st := backendtest.Examined(t, s); !st.OK {
		t.Errorf("health: %+v", st)
	}
	for _, want := range []int64{2, 0} { // with its relation
		if res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "Heron"}); err != nil || res.Removed != want {
			t.Errorf("forget: %+v, %v, want %d", res, err, want)
		}
	}
	if _, err := s.Browser.Read(t.Context(), ids[2]); !errors.Is(err, model.NotFound) {
		t.Errorf("the relation stays: %v", err)
	}
}

// TestSeesWhatOthersWrite: another program's write to the real server's file must be read at once, and
// a file that the server cannot read must make the store down.
func TestSeesWhatOthersWrite(t *testing.T) {
	c := memoryServer(t)
	file := strings.TrimPrefix(c.Args[0], "MEMORY_FILE_PATH=")
	s := opened(t, c)
	defer s.Close()
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "entity", Key: "A", Content: "- one", Mode: model.Append}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"type":"entity","name":"A","entityType":"note","observations":["other"]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	it, err := s.Browser.Read(t.Context(), "A")
	if err != nil || it.Body != "- other" {
		t.Errorf("%+v, %v", it, err)
	}
	if err := os.WriteFile(file, []byte("not JSON\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if st := backendtest.Examined(t, s); st.OK {
		t.Error("a server that fails on every call is called healthy")
	}
	if _, err := s.Browser.List(t.Context(), model.PageRequest{}); err == nil {
		t.Error("a list of a broken memory is no error")
	}
}
