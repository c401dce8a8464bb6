package demodata_test

import (
	"path/filepath"
	"testing"
	"time"

	"memdesk/backends"
	"memdesk/backends/backendtest"
	"memdesk/backends/demodata"
	"memdesk/internal/clock"
	"memdesk/model"
)

func TestSeedOpens(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	now := time.Date(2026, 5, 21, 15, 4, 5, 0, time.UTC)
	if err := demodata.Seed(t.Context(), dir, now); err != nil {
		t.Fatal(err)
	}
	reg := backends.Builtin()
	cfg, err := backends.LoadConfig(reg, filepath.Join(dir, demodata.ConfigFile), true, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	fleet := backends.Open(t.Context(), reg, cfg.Stores, backends.Env{Clock: clock.Fixed(now)}, backends.Policy{Audit: backends.Unrecorded})
	defer fleet.Close()
	for _, m := range fleet.Members() {
		if m.Err != nil {
			t.Errorf("%s: %v", m.Name, m.Err)
			continue
		}
		st := backendtest.Health(t, m.Store)
		if !st.OK {
			t.Errorf("%s: %s", m.Name, st.Message)
		}
		if m.Name == "assistant" || m.Name == "chats" || m.Name == "shop" || m.Name == "coder" || m.Name == "project" || m.Name == "claw" {
			for _, f := range st.Findings {
				t.Errorf("%s: %s", m.Name, f.Message)
			}
		}
	}
	for name, least := range map[string]int64{"notes": 18, "device": 3, "desk": 7, "work": 8, "assistant": 4, "chats": 10, "shop": 4, "coder": 4, "project": 3, "claw": 5} {
		s, err := fleet.Store(name)
		if err != nil {
			t.Fatal(err)
		}
		page, err := s.Browser.List(t.Context(), model.PageRequest{Hidden: true})
		if err != nil || page.Total.N < least || len(page.Problems) > 0 {
			t.Errorf("%s holds %+v, %v, problems %v; want at least %d items", name, page.Total, err, page.Problems, least)
		}
	}
	for name, least := range map[string]int64{"harbor": 250, "graph": 90} {
		s, err := fleet.Store(name)
		if err != nil {
			t.Fatal(err)
		}
		page, err := s.Browser.List(t.Context(), model.PageRequest{Hidden: true})
		if err != nil || page.Total.N < least {
			t.Errorf("%s holds %+v, %v; want at least %d items", name, page.Total, err, least)
		}
		for _, who := range []string{"Maren", "Teo"} {
			res, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: who})
			if err != nil || len(res.Hits) == 0 {
				t.Errorf("%s does not know %s: %v", name, who, err)
			}
		}
	}
}

func TestSeedRefusesAFullDirectory(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	if err := demodata.Seed(t.Context(), dir, now); err != nil {
		t.Fatal(err)
	}
	if err := demodata.Seed(t.Context(), dir, now); model.KindOf(err) != model.AlreadyExists {
		t.Errorf("err = %v, want AlreadyExists", err)
	}
}
