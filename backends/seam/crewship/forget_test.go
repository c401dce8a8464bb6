package crewship_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"memdesk/backends/seam/crewship"
	"memdesk/backends/seam/internal/rootdir"
	"memdesk/internal/clock"
	"memdesk/model"
	"memdesk/quarantine"
)

func forget(t *testing.T, s model.Store, req model.ForgetRequest, want int64) {
	t.Helper()
	if res, err := s.Provider.Forget(t.Context(), req); err != nil || res.Removed != want {
		t.Errorf("Forget(%+v) = %+v, %v; want %d removed", req, res, err, want)
	}
}

func TestForgetTakesFileAndSentinel(t *testing.T) {
	s, dir := openMemory(t, map[string]string{"daily/d.md": "x", "daily/d.md.lock": "", "daily/e.md": "y", "daily/e.md.lock": ""})
	forget(t, s, model.ForgetRequest{ID: "daily/d.md"}, 1)
	forget(t, s, model.ForgetRequest{ID: "daily/d.md"}, 0)
	forget(t, s, model.ForgetRequest{ID: "peers/none.md"}, 0)
	left, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	if len(left) != 2 || filepath.Base(left[0]) != "e.md" {
		t.Errorf("left: %v", left)
	}
	if res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "x"}); err != nil || len(res.Hits) != 0 {
		t.Errorf("recall after forget: %+v, %v", res, err)
	}
}

func TestForgetRefusals(t *testing.T) {
	tests := []struct {
		name  string
		req   model.ForgetRequest
		want  model.Kind
		words string
	}{
		{"no selector", model.ForgetRequest{}, model.InvalidInput, "must set exactly one"},
		{"both", model.ForgetRequest{ID: "AGENT.md", DataSubjectID: "u"}, model.InvalidInput, "must set exactly one"},
		{"cascade", model.ForgetRequest{DataSubjectID: "u"}, model.Unsupported, "cascade not implemented here, use the GDPR endpoint"},
		{"changed", model.ForgetRequest{ID: "AGENT.md", IfMatch: "00"}, model.Conflict, "changed"},
		{"climbing", model.ForgetRequest{ID: "daily/../AGENT.md"}, model.InvalidInput, ""},
		{"absolute", model.ForgetRequest{ID: "/AGENT.md"}, model.InvalidInput, ""},
		{"a lock file", model.ForgetRequest{ID: "AGENT.md.lock"}, model.InvalidInput, "machinery"},
		{"the index", model.ForgetRequest{ID: "index.sqlite"}, model.InvalidInput, "machinery"},
		{"a snapshot", model.ForgetRequest{ID: ".snapshots/1/AGENT.md"}, model.InvalidInput, "machinery"},
		{"a bad quarantine name", model.ForgetRequest{ID: ".quarantine/x.md"}, model.InvalidInput, "machinery"},
		{"a directory", model.ForgetRequest{ID: "daily"}, model.InvalidInput, "directory"},
		{"another agent", model.ForgetRequest{ID: "AGENT.md", AgentID: "eve"}, model.InvalidInput, "eve"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, dir := openMemory(t, map[string]string{"AGENT.md": "a", "AGENT.md.lock": "", "index.sqlite": "", "daily/d.md": "x", ".snapshots/1/AGENT.md": "s"})
			before := tree(t, dir)
			_, err := s.Provider.Forget(t.Context(), tt.req)
			refused(t, err, tt.want, tt.words)
			if tree(t, dir) != before {
				t.Error("a refusal changed the disk")
			}
		})
	}
}

func TestForgetUnderAnExpectation(t *testing.T) {
	s, dir := openMemory(t, map[string]string{"AGENT.md": "now"})
	forget(t, s, model.ForgetRequest{ID: "pins.md", IfMatch: "00"}, 0)
	forget(t, s, model.ForgetRequest{ID: "AGENT.md", IfMatch: revision("now")}, 1)
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestForgetAQuarantineEntry(t *testing.T) {
	f := quarantine.File{QuarantinedAt: now, Category: "prompt_injection", Pattern: "x", Source: "AGENT.md", Body: poison}
	sha := quarantine.Sum(poison)
	id := ".quarantine/" + sha + ".md"
	s, dir := openMemory(t, map[string]string{id: string(f.Encode()), "AGENT.md": "live"})
	it, err := s.Browser.Read(t.Context(), id)
	if err != nil || it.Body != string(f.Encode()) {
		t.Fatalf("Read: %+v, %v", it, err)
	}
	_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id, IfMatch: "00"})
	refused(t, err, model.Conflict)
	forget(t, s, model.ForgetRequest{ID: id, IfMatch: it.Revision}, 1)
	forget(t, s, model.ForgetRequest{ID: id}, 0)
	left, _ := os.ReadDir(filepath.Join(dir, ".quarantine"))
	if len(left) != 0 || onDisk(t, dir, "AGENT.md") != "live" {
		t.Errorf("left: %v", left)
	}
}

func TestForgetInADataDirectory(t *testing.T) {
	s, dir := openData(t, nil)
	forget(t, s, model.ForgetRequest{ID: "crews/c_red/agents/eve/AGENT.md"}, 0)
	forget(t, s, model.ForgetRequest{ID: "crews/c_blue/agents/new/AGENT.md"}, 0)
	_, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "AGENT.md"})
	refused(t, err, model.InvalidInput)
	_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "crews/c_red/agents/ada/AGENT.md", WorkspaceID: "w2"})
	refused(t, err, model.InvalidInput, "outside")
	forget(t, s, model.ForgetRequest{ID: "crews/c_red/agents/ada/AGENT.md", WorkspaceID: "w1", AgentID: "a1"}, 1)
	if onDisk(t, dir, blueAda+"AGENT.md") != "ada blue harbour\n" {
		t.Error("the namesake was touched")
	}
}

func TestForgetFaults(t *testing.T) {
	dir := memory(t, map[string]string{"AGENT.md": "a"})
	s := open(t, crewship.Config{Name: "m", Path: dir, Fault: func(at rootdir.Step) error {
		if at == rootdir.StepRemove {
			return syscall.EIO
		}
		return nil
	}})
	_, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "AGENT.md"})
	refused(t, err, model.Unavailable)
	if onDisk(t, dir, "AGENT.md") != "a" {
		t.Error("the file is gone")
	}
}

func TestOddNamesAreListedReadAndRemoved(t *testing.T) {
	long := strings.Repeat("n", 250) + ".md"
	odd := []string{"new\nline.md", "esc\x1b[2J.md", "bad\xff.md", `back\slash.md`, "a..b.md", "\u202ertl.md", long, "daily/no extension", "deep/er/x.md", ".dot.md"}
	content := map[string]string{}
	for _, n := range odd {
		content[n] = "odd harbour\n"
	}
	s, dir := openMemory(t, content)
	all := everything(t, s)
	for _, n := range odd {
		if h, ok := all[n]; !ok || h.Bytes != 12 {
			t.Errorf("%q is not listed", n)
			continue
		}
		ref, err := model.ParseRef(model.Ref{Store: "m", ID: n}.String())
		if err != nil || ref.ID != n {
			t.Errorf("%q cannot be typed: %v", n, err)
		}
		it, err := s.Browser.Read(t.Context(), n)
		if err != nil || it.Body != "odd harbour\n" {
			t.Errorf("%q: read %q, %v", n, it.Body, err)
		}
		forget(t, s, model.ForgetRequest{ID: n, IfMatch: it.Revision}, 1)
		if _, err := os.Lstat(filepath.Join(dir, n)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q is still there", n)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.lock")); len(left) != 0 {
		t.Errorf("lock files are left: %q", left)
	}
}

func TestForgetRefusesUnknownShapes(t *testing.T) {
	agent := filepath.Join(t.TempDir(), "crews", "c1", "agents", "ada", ".memory")
	files(t, agent, map[string]string{"AGENT.md": "x\n", "Makefile": "x\n"})
	s := open(t, crewship.Config{Name: "m", Path: agent, Clock: clock.Fixed(now)})
	for _, id := range []string{"no-such-id", "mv_0123456789ab", "CREW.md", "daily/2026-05-21", "row 7"} {
		_, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id})
		if refused(t, err, model.InvalidInput); err == nil {
			t.Errorf("forget of %q is accepted", id)
		}
	}
	for id, want := range map[string]int64{"AGENT.md": 1, "pins.md": 0, "daily/2026-05-21.md": 0, "odd.md": 0, "Makefile": 1} {
		res, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: id, WorkspaceID: "w9"})
		if err != nil || res.Removed != want {
			t.Errorf("forget of %q: %d, %v; want %d", id, res.Removed, err, want)
		}
	}
}

// TestAnUnboundDirectoryTakesEveryWorkspace: the contract's requests name one, which must be accepted.
func TestAnUnboundDirectoryTakesEveryWorkspace(t *testing.T) {
	s, _ := openMemory(t, map[string]string{"AGENT.md": "harbour\n"})
	if res := recall(t, s, model.RecallRequest{Query: "harbour", WorkspaceID: "w9"}); len(res.Hits) != 1 {
		t.Errorf("%+v", res)
	}
	retain(t, s, model.RetainRequest{Tier: "pins", Mode: model.Replace, Content: "x", WorkspaceID: "w9"})
	s = open(t, crewship.Config{Name: "m", Path: memory(t, nil), Workspace: "w1"})
	_, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "harbour", WorkspaceID: "w9"})
	refused(t, err, model.InvalidInput)
}
