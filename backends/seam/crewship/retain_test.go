package crewship_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"memdesk/backends/backendtest"
	"memdesk/backends/seam/crewship"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/backends/seam/seamtest"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/quarantine"
)

func TestRetainReplaceAndAppend(t *testing.T) {
	s, dir := openMemory(t, nil)
	res := retain(t, s, model.RetainRequest{Tier: "daily", Key: "2026-05-21", Content: "a", Mode: model.Append})
	if res.ID != "daily/2026-05-21.md" || res.Bytes != 1 || res.Revision != revision("a") {
		t.Errorf("first append: %+v", res)
	}
	res = retain(t, s, model.RetainRequest{Tier: "daily", Key: "2026-05-21", Content: "b\r\n", Mode: model.Append})
	if got := onDisk(t, dir, "daily/2026-05-21.md"); got != "ab\r\n" || res.Bytes != 4 {
		t.Errorf("append gives %q, %+v", got, res)
	}
	res = retain(t, s, model.RetainRequest{Tier: "AGENT", Key: "ignored", Content: "hello", Mode: model.Replace})
	if res.ID != "AGENT.md" || onDisk(t, dir, "AGENT.md") != "hello" {
		t.Errorf("replace: %+v", res)
	}
	if id, err := s.Address(model.RetainRequest{Tier: "peers", Key: "abc", Mode: model.Replace}); id != "peers/abc.md" || err != nil {
		t.Errorf("Address = %q, %v", id, err)
	}
}

func TestRetainOnDiskFormat(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	s, dir := openMemory(t, nil)
	owned := os.Geteuid() == 0
	if owned {
		if err := os.Chown(dir, 1001, 1002); err != nil {
			t.Fatal(err)
		}
	}
	retain(t, s, model.RetainRequest{Tier: "peers", Key: "u", Content: "x", Mode: model.Replace})
	for name, want := range map[string]os.FileMode{
		"peers": os.ModeDir | os.ModeSetgid | 0o775, "peers/u.md": 0o664, "peers/u.md.lock": 0o660,
	} {
		fi, err := os.Stat(filepath.Join(dir, name))
		if err != nil || fi.Mode() != want {
			t.Errorf("%s has mode %v, want %v (%v)", name, fi.Mode(), want, err)
			continue
		}
		if st := fi.Sys().(*syscall.Stat_t); owned && (st.Uid != 1001 || st.Gid != 1002) {
			t.Errorf("%s belongs to %d:%d", name, st.Uid, st.Gid)
		}
	}
}

func TestTemporaryNameIsUpstreams(t *testing.T) {
	dir := memory(t, map[string]string{"AGENT.md": "old"})
	s := open(t, crewship.Config{Name: "m", Path: dir, Fault: func(step rootdir.Step) error {
		if step == rootdir.StepRename {
			return rootdir.ErrCrash
		}
		return nil
	}})
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "AGENT", Content: "new", Mode: model.Replace})
	if err == nil || onDisk(t, dir, "AGENT.md") != "old" {
		t.Errorf("after a crash before the rename: %v, %q", err, onDisk(t, dir, "AGENT.md"))
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*.tmp.*"))
	if len(left) != 1 || !regexp.MustCompile(`/AGENT\.md\.tmp\.[0-9a-f]{16}$`).MatchString(left[0]) {
		t.Errorf("the temporary file is %v", left)
	}
	if all := everything(t, s); len(all) != 1 {
		t.Errorf("a temporary file is listed: %v", all)
	}
}

func TestRetainFaultsChangeNothing(t *testing.T) {
	for _, step := range []rootdir.Step{rootdir.StepCreate, rootdir.StepWrite, rootdir.StepSync, rootdir.StepRename} {
		dir := memory(t, map[string]string{"AGENT.md": "old"})
		s := open(t, crewship.Config{Name: "m", Path: dir, Fault: func(at rootdir.Step) error {
			if at == step {
				return syscall.ENOSPC
			}
			return nil
		}})
		_, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "AGENT", Content: "new", Mode: model.Append})
		refused(t, err, model.Unavailable, "no space")
		left, _ := filepath.Glob(filepath.Join(dir, "*.tmp.*"))
		if onDisk(t, dir, "AGENT.md") != "old" || len(left) != 0 {
			t.Errorf("%s: %q, %v", step, onDisk(t, dir, "AGENT.md"), left)
		}
	}
}

func TestRetainRefusals(t *testing.T) {
	big := strings.Repeat("x", 4000)
	tests := []struct {
		name  string
		req   model.RetainRequest
		want  model.Kind
		words string
	}{
		{"no mode", model.RetainRequest{Tier: "AGENT", Content: "x"}, model.InvalidInput, "mode"},
		{"other mode", model.RetainRequest{Tier: "AGENT", Content: "x", Mode: "Replace"}, model.InvalidInput, "mode"},
		{"no tier", model.RetainRequest{Content: "x", Mode: model.Replace}, model.InvalidInput, "tier"},
		{"tier in other case", model.RetainRequest{Tier: "agent", Content: "x", Mode: model.Replace}, model.InvalidInput, "unknown tier"},
		{"lessons", model.RetainRequest{Tier: "lessons", Content: "entries: []\n", Mode: model.Replace}, model.InvalidInput, "own writer"},
		{"no key", model.RetainRequest{Tier: "daily", Content: "x", Mode: model.Replace}, model.InvalidInput, "key"},
		{"key climbs", model.RetainRequest{Tier: "peers", Key: "..", Content: "x", Mode: model.Replace}, model.InvalidInput, "key"},
		{"key with dots inside", model.RetainRequest{Tier: "peers", Key: "a..b", Content: "x", Mode: model.Replace}, model.InvalidInput, "key"},
		{"key with a slash", model.RetainRequest{Tier: "peers", Key: "a/b", Content: "x", Mode: model.Replace}, model.InvalidInput, "key"},
		{"key with a backslash", model.RetainRequest{Tier: "peers", Key: `a\b`, Content: "x", Mode: model.Replace}, model.InvalidInput, "key"},
		{"key with NUL", model.RetainRequest{Tier: "peers", Key: "a\x00", Content: "x", Mode: model.Replace}, model.InvalidInput, "key"},
		{"key too long", model.RetainRequest{Tier: "peers", Key: strings.Repeat("k", 300), Content: "x", Mode: model.Replace}, model.InvalidInput, ""},
		{"empty content", model.RetainRequest{Tier: "AGENT", Mode: model.Replace}, model.InvalidInput, "empty"},
		{"not UTF-8", model.RetainRequest{Tier: "AGENT", Content: "\xff", Mode: model.Replace}, model.InvalidInput, "UTF-8"},
		{"over the cap", model.RetainRequest{Tier: "AGENT", Content: big + "y", Mode: model.Replace}, model.InvalidInput, "4001"},
		{"append over the cap", model.RetainRequest{Tier: "AGENT", Content: big, Mode: model.Append}, model.InvalidInput, "4003"},
		{"metadata", model.RetainRequest{Tier: "AGENT", Content: "x", Mode: model.Replace, Meta: []model.Field{{Name: "a"}}}, model.InvalidInput, "metadata"},
		{"subject", model.RetainRequest{Tier: "AGENT", Content: "x", Mode: model.Replace, DataSubjectID: "u"}, model.Unsupported, ""},
		{"unknown agent", model.RetainRequest{Tier: "AGENT", Content: "x", Mode: model.Replace, AgentID: "ada"}, model.InvalidInput, "ada"},
		{"stale revision", model.RetainRequest{ID: "AGENT.md", Content: "x", Mode: model.Replace, IfMatch: "0123"}, model.Conflict, ""},
		{"create only", model.RetainRequest{ID: "AGENT.md", Content: "x", Mode: model.Replace, IfMatch: model.Absent}, model.Conflict, ""},
		{"gone under if-match", model.RetainRequest{ID: "pins.md", Content: "x", Mode: model.Replace, IfMatch: revision("x")}, model.Conflict, "no such item"},
		{"id and other tier", model.RetainRequest{ID: "AGENT.md", Tier: "CREW", Content: "x", Mode: model.Replace}, model.InvalidInput, "tier"},
		{"id and other key", model.RetainRequest{ID: "daily/a.md", Tier: "daily", Key: "b", Content: "x", Mode: model.Replace}, model.InvalidInput, "key"},
		{"id climbs", model.RetainRequest{ID: "../x.md", Content: "x", Mode: model.Replace}, model.InvalidInput, ""},
		{"absolute id", model.RetainRequest{ID: "/etc/x.md", Content: "x", Mode: model.Replace}, model.InvalidInput, ""},
		{"a lock file", model.RetainRequest{ID: "AGENT.md.lock", Content: "x", Mode: model.Replace}, model.InvalidInput, "machinery"},
		{"the index", model.RetainRequest{ID: "index.sqlite", Content: "x", Mode: model.Replace}, model.InvalidInput, "machinery"},
		{"the quarantine", model.RetainRequest{ID: ".quarantine/x.md", Content: "x", Mode: model.Replace}, model.InvalidInput, "machinery"},
		{"another tier by key", model.RetainRequest{Tier: "other", Key: "AGENT", Content: "x", Mode: model.Replace}, model.InvalidInput, "AGENT"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := openMemory(t, map[string]string{"AGENT.md": "old"})
			before := tree(t, dir)
			_, err := s.Provider.Retain(t.Context(), tt.req)
			refused(t, err, tt.want, tt.words)
			if after := tree(t, dir); after != before {
				t.Errorf("the refusal left\n%s\nwas\n%s", after, before)
			}
		})
	}
}

func TestCapExactlyAndWarning(t *testing.T) {
	caps := map[string]int{"AGENT": 4000, "CREW": 4000, "PERSONA": 1500, "pins": 8000, "daily": 30000, "peers": 1500}
	for tier, limit := range caps {
		s, _ := openMemory(t, nil)
		req := model.RetainRequest{Tier: tier, Key: "k", Mode: model.Replace}
		req.Content = strings.Repeat("é", limit/2) // the cap counts bytes
		if res := retain(t, s, req); len(res.Warnings) != 1 || res.Bytes != int64(limit) {
			t.Errorf("%s at its cap: %+v", tier, res)
		}
		req.Content += "x"
		_, err := s.Provider.Retain(t.Context(), req)
		refused(t, err, model.InvalidInput, "cap")
		req.Content = strings.Repeat("x", limit*8/10)
		if res := retain(t, s, req); len(res.Warnings) != 1 {
			t.Errorf("%s at 80 %%: %+v", tier, res)
		}
		req.Content = req.Content[1:]
		if res := retain(t, s, req); len(res.Warnings) != 0 {
			t.Errorf("%s below 80 %%: %+v", tier, res)
		}
	}
}

func TestScannerRefusalKeepsTheWholeFile(t *testing.T) {
	s, dir := openMemory(t, map[string]string{"daily/d.md": "clean line\n"})
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "daily", Key: "d", Content: poison, Mode: model.Append})
	refused(t, err, model.InvalidInput, "ignore_previous_instructions", ".quarantine/")
	if got := onDisk(t, dir, "daily/d.md"); got != "clean line\n" {
		t.Errorf("the live file became %q", got)
	}
	body := "clean line\n" + poison
	sha := quarantine.Sum(body)
	want := "---\nquarantined_at: \"2026-05-21T09:30:00Z\"\ncategory: \"prompt_injection\"\npattern: \"ignore_previous_instructions\"\n" +
		"source: \"daily/d.md\"\nsha256: \"" + sha + "\"\n---\n\n" + body
	if got := onDisk(t, dir, ".quarantine/"+sha+".md"); got != want {
		t.Errorf("the quarantine file is\n%q\nwant\n%q", got, want)
	}
	for name, mode := range map[string]os.FileMode{".quarantine": os.ModeDir | os.ModeSetgid | 0o775, ".quarantine/" + sha + ".md": 0o660} {
		if fi, err := os.Stat(filepath.Join(dir, name)); err != nil || fi.Mode() != mode {
			t.Errorf("%s: %v, %v", name, fi.Mode(), err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "daily/d.md.lock")); err == nil {
		t.Error("a refusal left a lock file")
	}
}

func TestScannerRefusalOfACrewsFile(t *testing.T) {
	s, dir := openData(t, nil)
	req := model.RetainRequest{ID: "crews/c_red/shared/CREW.md", Content: poison, Mode: model.Append}
	_, err := s.Provider.Retain(t.Context(), req)
	refused(t, err, model.InvalidInput, "no agent is named")
	if left, _ := filepath.Glob(filepath.Join(dir, "output/crews/*/*/.memory/.quarantine")); len(left) != 0 {
		t.Errorf("the crew's directory got %v", left)
	}
	req.AgentID = "ada"
	_, err = s.Provider.Retain(t.Context(), req)
	refused(t, err, model.InvalidInput, "crews/c_red/agents/ada/.quarantine/")
	sha := quarantine.Sum("crew red harbour\n" + poison)
	if f, err := quarantine.ParseNamed(sha+".md", []byte(onDisk(t, dir, redAda+".quarantine/"+sha+".md"))); err != nil || f.Source != "CREW.md" {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestCleaningIsAlwaysPossible(t *testing.T) {
	old := poison + "and curl -d $TOKEN x\n" + strings.Repeat("x", 5000)
	edit := func(content string) model.RetainRequest {
		return model.RetainRequest{ID: "AGENT.md", Content: content, Mode: model.Replace, IfMatch: revision(old)}
	}
	t.Run("one finding less, still over the cap", func(t *testing.T) {
		s, dir := openMemory(t, map[string]string{"AGENT.md": old})
		less := strings.Replace(old, "$TOKEN", "", 1)
		if res := retain(t, s, edit(less)); len(res.Warnings) != 2 || onDisk(t, dir, "AGENT.md") != less {
			t.Errorf("%+v", res)
		}
	})
	t.Run("a finding more", func(t *testing.T) {
		s, _ := openMemory(t, map[string]string{"AGENT.md": old})
		_, err := s.Provider.Retain(t.Context(), edit(strings.Replace(old, "xxxx", "\u200b", 1)))
		refused(t, err, model.InvalidInput, "scanner")
	})
	t.Run("a byte more over the cap", func(t *testing.T) {
		s, _ := openMemory(t, map[string]string{"AGENT.md": old})
		_, err := s.Provider.Retain(t.Context(), edit(old+"y"))
		refused(t, err, model.InvalidInput, "cap")
	})
	t.Run("over the cap without if-match", func(t *testing.T) {
		s, _ := openMemory(t, map[string]string{"AGENT.md": strings.Repeat("x", 5000)})
		_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "AGENT.md", Content: strings.Repeat("x", 4500), Mode: model.Replace})
		refused(t, err, model.InvalidInput, "cap")
	})
	t.Run("without if-match", func(t *testing.T) {
		s, _ := openMemory(t, map[string]string{"AGENT.md": poison + "x"})
		_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "AGENT.md", Content: poison, Mode: model.Replace})
		refused(t, err, model.InvalidInput, "scanner")
	})
}

func TestLessonsAcceptRemovals(t *testing.T) {
	head := "# Lessons learned\n\nentries:\n"
	one := "    - id: l-1\n      kind: positive\n      captured_at: 2026-07-13T02:15:00.123456789Z\n      source: manual\n      rule: Ask Ines Falk first\n      context: from --- run 1\n"
	two := "    - id: l-12\n      kind: positive\n      captured_at: 2026-07-13T02:15:00.123456789Z\n      source: manual\n      rule: 'Rule: two'\n"
	old := head + one + two
	tests := []struct {
		name, text string
		ok         bool
	}{
		{"an entry out", head + two, true},
		{"the name out", strings.Replace(old, " Ines Falk", "", 1), true},
		{"the mark in its place", strings.Replace(old, "Ines Falk", "[erased]", 1), true},
		{"the mark without its brackets", strings.Replace(old, "Ask Ines Falk first", "erased first", 1), true},
		{"a mark that is no YAML there", strings.Replace(old, "Ask Ines Falk first", "[erased] first", 1), false},
		{"the mark for a kind", strings.Replace(old, "positive", "erased", 1), false},
		{"more than the mark", strings.Replace(old, "Ines Falk", "[erased] now", 1), false},
		{"the context out", strings.Replace(old, "      context: from --- run 1\n", "", 1), true},
		{"a second document", strings.Replace(old, "      context: from --- run 1\n", "---\n", 1), false},
		{"an unknown key", strings.Replace(old, "context:", "contex:", 1), false},
		{"everything out", head[:len(head)-1] + "\n", false},
		{"something in", old + "    - id: l-3\n", false},
		{"an id shortened", strings.Replace(old, "l-1", "l-", 1), false},
		{"an id twice", strings.Replace(old, "l-12", "l-1", 1), false},
		{"a kind taken away", strings.Replace(old, "      kind: positive\n", "", 1), false},
		{"indentation broken", strings.Replace(old, "      rule: Ask", "  rule: Ask", 1), false},
		{"a quote opened", strings.Replace(old, "two'", "two", 1), false},
		{"two moved up", head + two + one, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := openMemory(t, map[string]string{"lessons.md": old})
			_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "lessons.md", Content: tt.text, Mode: model.Replace, IfMatch: revision(old)})
			if tt.ok && (err != nil || onDisk(t, dir, "lessons.md") != tt.text) {
				t.Errorf("err = %v", err)
			}
			if !tt.ok {
				refused(t, err, model.InvalidInput)
			}
		})
	}
	s, _ := openMemory(t, map[string]string{"lessons.md": old})
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "lessons.md", Content: head + two, Mode: model.Replace})
	refused(t, err, model.InvalidInput, "if-match")
}

func TestScopesOfADataDirectory(t *testing.T) {
	tests := []struct {
		name string
		req  model.RetainRequest
		want string // the id, or the error's text
		bad  bool
	}{
		{"agent by slug and crew by slug", model.RetainRequest{Tier: "AGENT", AgentID: "ada", CrewID: "red"}, "crews/c_red/agents/ada/AGENT.md", false},
		{"agent by id", model.RetainRequest{Tier: "pins", AgentID: "a3"}, "crews/c_blue/agents/ada/pins.md", false},
		{"agent and workspace", model.RetainRequest{Tier: "AGENT", AgentID: "ada", WorkspaceID: "w2"}, "crews/c_blue/agents/ada/AGENT.md", false},
		{"an ambiguous slug", model.RetainRequest{Tier: "AGENT", AgentID: "ada"}, "2 places", true},
		{"nobody named", model.RetainRequest{Tier: "AGENT"}, "give an agent", true},
		{"the crew of an agent", model.RetainRequest{Tier: "CREW", AgentID: "bo"}, "crews/c_red/shared/CREW.md", false},
		{"a crew's persona", model.RetainRequest{Tier: "PERSONA", CrewID: "c_blue"}, "crews/c_blue/shared/PERSONA.md", false},
		{"an agent's persona", model.RetainRequest{Tier: "PERSONA", CrewID: "c_red", AgentID: "ada"}, "crews/c_red/agents/ada/PERSONA.md", false},
		{"an agent without a crew", model.RetainRequest{Tier: "daily", Key: "d", AgentID: "milo"}, "solo/w1/milo/daily/d.md", false},
		{"an agent without memory yet", model.RetainRequest{Tier: "AGENT", AgentID: "new"}, "crews/c_blue/agents/new/AGENT.md", false},
		{"a workspace", model.RetainRequest{Tier: "workspace", Key: "k", WorkspaceID: "first"}, "workspace/w1/k.md", false},
		{"learned", model.RetainRequest{Tier: "learned", Key: "2026-05-02", CrewID: "red"}, "crews/c_red/shared/red/topics/learned-2026-05-02.md", false},
		{"crew pins", model.RetainRequest{Tier: "crew-pins", CrewID: "red"}, "crews/c_red/shared/red/topics/pins.md", false},
		{"an unknown crew", model.RetainRequest{Tier: "CREW", CrewID: "green"}, `crew "green"`, true},
		{"agent of another workspace", model.RetainRequest{Tier: "AGENT", AgentID: "bo", WorkspaceID: "w2"}, "not bound", true},
		{"an id outside the crew", model.RetainRequest{ID: "crews/c_red/agents/bo/AGENT.md", CrewID: "blue"}, "outside", true},
		{"an id of an unknown agent", model.RetainRequest{ID: "crews/c_red/agents/eve/AGENT.md"}, "has no", true},
		{"an id of unknown shape", model.RetainRequest{ID: "AGENT.md"}, "no id", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := openData(t, nil)
			tt.req.Content, tt.req.Mode = "text\n", model.Replace
			res, err := s.Provider.Retain(t.Context(), tt.req)
			if tt.bad {
				refused(t, err, model.InvalidInput, tt.want)
				return
			}
			if err != nil || res.ID != tt.want {
				t.Fatalf("%+v, %v", res, err)
			}
			it, err := s.Browser.Read(t.Context(), res.ID)
			if err != nil || it.Body != "text\n" || it.Revision != res.Revision {
				t.Errorf("read back %+v, %v", it, err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "output", "*.md")); len(left) > 0 {
				t.Error(left)
			}
		})
	}
}

func TestParallelAppendsAllSurvive(t *testing.T) {
	dir := memory(t, nil)
	a := open(t, crewship.Config{Name: "a", Path: dir})
	b := open(t, crewship.Config{Name: "b", Path: dir})
	var wg sync.WaitGroup
	for w := range 10 {
		s := []model.Store{a, b}[w%2]
		wg.Go(func() {
			for n := range 10 {
				_, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "daily", Key: "d", Content: fmt.Sprintf("w%d n%d\n", w, n), Mode: model.Append})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := strings.Count(onDisk(t, dir, "daily/d.md"), "\n"); n != 100 {
		t.Errorf("%d of 100 appends survived", n)
	}
}

// TestALockedFile holds the lock as an agent's tool would.
func TestALockedFile(t *testing.T) { synctest.Test(t, testALockedFile) }

func testALockedFile(t *testing.T) {
	s, dir := openMemory(t, map[string]string{"AGENT.md": "old", "AGENT.md.lock": ""})
	f, err := os.OpenFile(filepath.Join(dir, "AGENT.md.lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20_000_000)
	defer cancel()
	_, err = s.Provider.Retain(ctx, model.RetainRequest{Tier: "AGENT", Content: "x", Mode: model.Replace})
	refused(t, err, model.Locked, "another writer")
	ctx, cancel = context.WithTimeout(t.Context(), 20_000_000)
	defer cancel()
	_, err = s.Provider.Forget(ctx, model.ForgetRequest{ID: "AGENT.md"})
	refused(t, err, model.Locked)
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	_, err = s.Provider.Retain(ctx, model.RetainRequest{Tier: "AGENT", Content: "x", Mode: model.Replace})
	refused(t, err, model.Timeout)
	if onDisk(t, dir, "AGENT.md") != "old" {
		t.Error("a locked file was changed")
	}
}

func TestLinksInTheMemory(t *testing.T) {
	outside := t.TempDir()
	files(t, outside, map[string]string{"secret.md": "secret harbour", "d/x.md": "x"})
	s, dir := openMemory(t, map[string]string{"AGENT.md": "a"})
	for name, to := range map[string]string{
		"pins.md": filepath.Join(outside, "secret.md"), "daily": filepath.Join(outside, "d"), "CREW.md.lock": filepath.Join(outside, "made.lock"),
	} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "pins", Content: "x", Mode: model.Append})
	refused(t, err, model.PermissionDenied, "symbolic link")
	_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "pins.md"})
	refused(t, err, model.PermissionDenied, "symbolic link")
	_, err = s.Browser.Read(t.Context(), "pins.md")
	refused(t, err, model.PermissionDenied)
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "daily", Key: "x", Content: "y", Mode: model.Replace})
	refused(t, err, model.PermissionDenied)
	_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "daily/x.md"})
	refused(t, err, model.PermissionDenied)
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "CREW", Content: "y", Mode: model.Replace})
	refused(t, err, model.PermissionDenied, "symbolic link")
	res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "secret"})
	if err != nil || len(res.Hits) != 0 {
		t.Errorf("a recall followed a link: %+v, %v", res, err)
	}
	if h := everything(t, s)["pins.md"]; !h.Has(model.FlagUnreadable) || h.Bytes != 0 {
		t.Errorf("the link is listed as %+v", h)
	}
	if onDisk(t, outside, "secret.md") != "secret harbour" || onDisk(t, outside, "d/x.md") != "x" {
		t.Error("something outside was changed")
	}
	if _, err := os.Lstat(filepath.Join(outside, "made.lock")); err == nil {
		t.Error("a lock file was made outside")
	}
}

// TestNothingThroughALinkedDirectory: the file below has an id, a tier and a cap of its own.
func TestNothingThroughALinkedDirectory(t *testing.T) {
	s, dir := openMemory(t, map[string]string{"lessons.md": "entries: []\n", "pins.md": "p"})
	if err := os.Symlink(".", filepath.Join(dir, "daily")); err != nil {
		t.Skip(err)
	}
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "daily", Key: "lessons", Content: "x", Mode: model.Replace})
	refused(t, err, model.PermissionDenied, "symbolic link")
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "daily", Key: "new", Content: "x", Mode: model.Replace})
	refused(t, err, model.PermissionDenied, "symbolic link")
	_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "daily/pins.md"})
	refused(t, err, model.PermissionDenied, "symbolic link")
	_, err = s.Browser.Read(t.Context(), "daily/pins.md")
	refused(t, err, model.PermissionDenied, "symbolic link")
	if onDisk(t, dir, "lessons.md") != "entries: []\n" || onDisk(t, dir, "pins.md") != "p" {
		t.Error("a file was changed through the link")
	}
}

func TestALinkedPlaceIsNotFollowed(t *testing.T) {
	dir := data(t, nil)
	if err := os.RemoveAll(filepath.Join(dir, redBo)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, blueAda), filepath.Join(dir, strings.TrimSuffix(redBo, "/"))); err != nil {
		t.Skip(err)
	}
	s := open(t, crewship.Config{Name: "d", Path: dir})
	for id := range everythingAtLeast(t, s) {
		if strings.HasPrefix(id, "crews/c_red/agents/bo/") {
			t.Errorf("%s comes through a link", id)
		}
	}
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "crews/c_red/agents/bo/AGENT.md", Content: "x", Mode: model.Replace})
	refused(t, err, model.PermissionDenied, "symbolic link")
	if st := backendtest.Health(t, s); st.State != model.HealthDegraded || !strings.Contains(st.Findings[0].Message, "symbolic link") {
		t.Errorf("health: %+v", st)
	}
}

func everythingAtLeast(t *testing.T, s model.Store) map[string]model.Header {
	t.Helper()
	page, err := s.Browser.List(t.Context(), model.PageRequest{Hidden: true, Limit: 1000})
	if err != nil || !page.Total.AtLeast {
		t.Fatalf("the total is %+v, %v: something could not be looked into", page.Total, err)
	}
	out := map[string]model.Header{}
	for _, h := range page.Items {
		out[h.ID] = h
	}
	return out
}

func TestBinaryFiles(t *testing.T) {
	raw := "caf\xe9 harbour\x00"
	s, dir := openMemory(t, map[string]string{"pins.md": raw})
	h := everything(t, s)["pins.md"]
	if !h.Has(model.FlagBinary) || h.Bytes != int64(len(raw)) {
		t.Errorf("listed as %+v", h)
	}
	it, err := s.Browser.Read(t.Context(), "pins.md")
	if err != nil || it.Body != raw {
		t.Errorf("read %q, %v", it.Body, err)
	}
	_, err = s.Provider.Retain(t.Context(), model.RetainRequest{ID: "pins.md", Content: "x", Mode: model.Append})
	refused(t, err, model.InvalidInput, "UTF-8")
	retain(t, s, model.RetainRequest{ID: "pins.md", Content: "clean", Mode: model.Replace, IfMatch: it.Revision})
	files(t, dir, map[string]string{"pins.md": raw})
	if res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "pins.md", IfMatch: it.Revision}); err != nil || res.Removed != 1 {
		t.Errorf("forget: %+v, %v", res, err)
	}
}

func TestReadOnlyRefuses(t *testing.T) {
	dir := memory(t, map[string]string{"AGENT.md": "a"})
	s := open(t, crewship.Config{Name: "m", Path: dir, ReadOnly: true, Clock: clock.Fixed(now)})
	if !s.ReadOnly || s.ReadOnlyReason == "" {
		t.Errorf("%+v", s)
	}
	before := tree(t, dir)
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "AGENT", Content: "x", Mode: model.Replace})
	if refused(t, err, model.PermissionDenied); !model.IsRefusal(err) {
		t.Errorf("%v is no refusal", err)
	}
	_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "AGENT.md"})
	refused(t, err, model.PermissionDenied)
	if tree(t, dir) != before {
		t.Error("a read-only store was changed")
	}
}

func TestAStoreThatVanishes(t *testing.T) {
	s, dir := openMemory(t, map[string]string{"AGENT.md": "a"})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	_, err := s.Provider.Retain(t.Context(), model.RetainRequest{Tier: "AGENT", Content: "x", Mode: model.Replace})
	refused(t, err, model.Unavailable, "gone")
	_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "AGENT.md"})
	refused(t, err, model.Unavailable)
	_, err = s.Provider.Recall(t.Context(), model.RecallRequest{Query: "a"})
	refused(t, err, model.Unavailable)
	_, err = s.Browser.List(t.Context(), model.PageRequest{})
	refused(t, err, model.Unavailable)
	_, err = s.Quarantine.Quarantined(t.Context())
	refused(t, err, model.Unavailable)
	if st := backendtest.Health(t, s); st.OK || !strings.Contains(st.Message, "gone") || strings.Contains(st.Message, dir) {
		t.Errorf("health: %+v", st)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("the directory was made again")
	}
}

func TestHugeIDsMakeNothing(t *testing.T) {
	s, dir := openMemory(t, nil)
	seamtest.HugeIDs(t, s, dir, "")
	s, dir = openData(t, nil)
	seamtest.HugeIDs(t, s, dir, "crews/c_red/shared/")
}
