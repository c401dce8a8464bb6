package backends_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"memdesk/backends"
	"memdesk/backends/backendtest"
	"memdesk/model"
)

// fake is a provider that answers after a delay.
type fake struct {
	wait  time.Duration
	deaf  bool // ignores its context
	hits  []model.RecallSnippet
	acts  int
	until chan struct{}
}

func (f *fake) pause(ctx context.Context) error {
	if f.deaf {
		<-f.until
		return nil
	}
	select {
	case <-time.After(f.wait):
		return nil
	case <-ctx.Done():
		return model.FromContext(ctx, "fake")
	}
}

func (f *fake) Retain(ctx context.Context, _ model.RetainRequest) (model.RetainResult, error) {
	f.acts++
	return model.RetainResult{ID: "x"}, f.pause(ctx)
}
func (f *fake) Forget(ctx context.Context, _ model.ForgetRequest) (model.ForgetResult, error) {
	f.acts++
	return model.ForgetResult{Removed: 1}, f.pause(ctx)
}
func (f *fake) Recall(ctx context.Context, _ model.RecallRequest) (model.RecallResult, error) {
	return model.RecallResult{Hits: f.hits}, f.pause(ctx)
}
func (f *fake) Health(context.Context) model.HealthStatus {
	return model.HealthStatus{OK: true, CheckedAt: time.Now()}
}

func kindOf(t *testing.T, stores map[string]*fake) *backends.Registry {
	t.Helper()
	reg := &backends.Registry{}
	err := reg.Register(backends.Kind{Name: "fake", Open: func(_ context.Context, c backends.StoreConfig, _ backends.Env) (model.Store, error) {
		f, ok := stores[c.Name]
		if !ok {
			return model.Store{}, model.Errorf(model.Unavailable, "open", "nothing there")
		}
		return model.Store{Provider: f, Tiers: []model.TierSpec{{Name: "t", Writable: true}}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

func configs(names ...string) []backends.StoreConfig {
	var out []backends.StoreConfig
	for _, n := range names {
		out = append(out, backends.StoreConfig{Name: n, Kind: "fake"})
	}
	return out
}

func TestRegistry(t *testing.T) {
	reg := testRegistry(t)
	open := func(context.Context, backends.StoreConfig, backends.Env) (model.Store, error) {
		return model.Store{}, nil
	}
	for name, tt := range map[string]struct {
		kind backends.Kind
		want model.Kind
	}{
		"empty name": {backends.Kind{Open: open}, model.InvalidInput},
		"no backend": {backends.Kind{Name: "x"}, model.InvalidInput},
		"duplicate":  {backends.Kind{Name: "tree", Open: open}, model.AlreadyExists},
	} {
		if err := reg.Register(tt.kind); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	if _, ok := reg.Kind("unknown"); ok {
		t.Error("an unknown kind is there")
	}
	got := backends.Builtin().Names()
	if !slices.IsSorted(got) {
		t.Errorf("kinds = %v, not sorted", got)
	}
	for _, kind := range []string{"crewship", "gateway", "inmem", "sqlite"} {
		if !slices.Contains(got, kind) {
			t.Errorf("kinds = %v without %s", got, kind)
		}
	}
}

func TestParseOpen(t *testing.T) {
	got, err := backends.ParseOpen(testRegistry(t), []string{"tree=a", "tree=/b", "tree=~/c"}, "/wd", func(string) string { return "/home/x" })
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range got {
		names = append(names, c.Name+" "+c.Path)
	}
	if !cmp.Equal(names, []string{"tree /wd/a", "tree-2 /b", "tree-3 /home/x/c"}) {
		t.Errorf("= %v", names)
	}
}

func TestOneSlowStoreDoesNotHoldTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := &fake{deaf: true, until: make(chan struct{})}
		stores := map[string]*fake{"quick": {wait: time.Millisecond}, "slow": {wait: time.Hour}, "deaf": deaf}
		fleet := backends.Open(t.Context(), kindOf(t, stores), configs("quick", "slow", "deaf", "broken"), backends.Env{},
			backends.Policy{Audit: backends.Unrecorded, Timeout: time.Second})
		start := time.Now()
		took := map[string]time.Duration{}
		for a := range fleet.Recall(t.Context(), model.RecallRequest{Query: "q"}) {
			took[a.Store] = time.Since(start)
			if wantErr := a.Store != "quick"; (a.Err != nil) != wantErr {
				t.Errorf("%s: %v", a.Store, a.Err)
			}
			if (a.Store == "slow" || a.Store == "deaf") && !errors.Is(a.Err, model.Timeout) {
				t.Errorf("%s: %v, want a timeout", a.Store, a.Err)
			}
		}
		want := map[string]time.Duration{"broken": 0, "quick": time.Millisecond, "slow": time.Second, "deaf": time.Second}
		if diff := cmp.Diff(want, took); diff != "" {
			t.Error(diff)
		}
		close(deaf.until)
	})
}

// TestWhyAStoreDidNotOpenInTime: the store's own reason must be said where it comes soon after the deadline.
func TestWhyAStoreDidNotOpenInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := &backends.Registry{}
		err := reg.Register(backends.Kind{Name: "fake", Open: func(ctx context.Context, c backends.StoreConfig, _ backends.Env) (model.Store, error) {
			<-ctx.Done()
			if c.Name == "locked" {
				time.Sleep(100 * time.Millisecond)
				return model.Store{}, model.Errorf(model.Locked, "open", "another program holds it")
			}
			return model.Store{}, model.FromContext(ctx, "open")
		}})
		if err != nil {
			t.Fatal(err)
		}
		fleet := backends.Open(t.Context(), reg, configs("locked", "silent"), backends.Env{}, backends.Policy{Timeout: time.Second})
		for name, want := range map[string]model.Kind{"locked": model.Locked, "silent": model.Timeout} {
			if _, err := fleet.Store(name); !errors.Is(err, want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestAChangeIsNeverAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{deaf: true, until: make(chan struct{})}
		fleet := backends.Open(t.Context(), kindOf(t, map[string]*fake{"a": f}), configs("a"), backends.Env{}, backends.Policy{Audit: backends.Unrecorded, Timeout: time.Second})
		s, err := fleet.Store("a")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(time.Minute)
			close(f.until)
		}()
		start := time.Now()
		if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "x"}); err != nil || time.Since(start) < time.Minute {
			t.Errorf("came back after %v with %v: nobody knows whether it was done", time.Since(start), err)
		}
	})
}

// TestAPanicIsAnError: a panic in one backend must not end the console.
func TestAPanicIsAnError(t *testing.T) {
	panics := func(context.Context, *model.Call, func(context.Context) error) error { panic("holds content") }
	fleet := backends.Open(t.Context(), kindOf(t, map[string]*fake{"a": {}}), configs("a"), backends.Env{}, backends.Policy{Audit: backends.Unrecorded})
	s, err := fleet.Store("a")
	if err != nil {
		t.Fatal(err)
	}
	s = s.Wrap(backends.Deadline(time.Second), panics)
	_, err = s.Provider.Recall(t.Context(), model.RecallRequest{Query: "q"})
	if !errors.Is(err, model.Internal) || strings.Contains(err.Error(), "holds content") || !strings.Contains(err.Error(), "TestAPanic") {
		t.Errorf("err = %v", err)
	}
	reg := &backends.Registry{}
	if err := reg.Register(backends.Kind{Name: "fake", Open: func(context.Context, backends.StoreConfig, backends.Env) (model.Store, error) {
		panic("holds content")
	}}); err != nil {
		t.Fatal(err)
	}
	if _, err := backends.Open(t.Context(), reg, configs("a"), backends.Env{}, backends.Policy{Audit: backends.Unrecorded}).Store("a"); !errors.Is(err, model.Internal) {
		t.Errorf("open: %v", err)
	}
}

func TestPolicyOrder(t *testing.T) {
	var order []string
	layer := func(name string) model.Middleware {
		return func(ctx context.Context, c *model.Call, next func(context.Context) error) error {
			order = append(order, name)
			return next(ctx)
		}
	}
	f := &fake{}
	policy := backends.Policy{Audit: layer("audit"), Gate: layer("gate")}
	fleet := backends.Open(t.Context(), kindOf(t, map[string]*fake{"a": f}), configs("a"), backends.Env{}, policy)
	s, err := fleet.Store("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "x"}); err != nil || !cmp.Equal(order, []string{"audit", "gate"}) {
		t.Errorf("order = %v, %v", order, err)
	}

	order, policy.ReadOnly = nil, "the log cannot be written"
	fleet = backends.Open(t.Context(), kindOf(t, map[string]*fake{"a": f}), configs("a"), backends.Env{}, policy)
	if s, err = fleet.Store("a"); err != nil {
		t.Fatal(err)
	}
	f.acts = 0
	_, err = s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "x"})
	if !model.IsRefusal(err) || !strings.Contains(err.Error(), "the log cannot be written") || f.acts != 0 {
		t.Errorf("err = %v, %d acts", err, f.acts)
	}
	if !cmp.Equal(order, []string{"audit"}) {
		t.Errorf("a refusal is seen by %v, want the audit alone", order)
	}
	if s.Capabilities()["retain"] {
		t.Error("a read-only store claims that it can be written")
	}
	if _, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "q"}); err != nil {
		t.Errorf("reading a read-only store: %v", err)
	}
}

// TestAMissingPath: every kind says alike that a path is not there. The official memory server makes its file itself.
func TestAMissingPath(t *testing.T) {
	reg := backends.Builtin()
	for _, name := range reg.Names() {
		k, _ := reg.Kind(name)
		if !k.NeedsPath || name == "mcpgraph" {
			continue
		}
		c := backends.StoreConfig{Name: "s", Kind: name, Path: filepath.Join(t.TempDir(), "gone")}
		fleet := backends.Open(t.Context(), reg, []backends.StoreConfig{c}, backends.Env{}, backends.Policy{})
		if _, err := fleet.Store("s"); !errors.Is(err, model.NotFound) || !strings.Contains(err.Error(), `path "gone" does not exist; check it`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReopen(t *testing.T) {
	stores := map[string]*fake{}
	fleet := backends.Open(t.Context(), kindOf(t, stores), configs("late"), backends.Env{}, backends.Policy{Audit: backends.Unrecorded})
	if _, err := fleet.Store("late"); !errors.Is(err, model.Unavailable) {
		t.Fatalf("err = %v", err)
	}
	if _, err := fleet.Store("nobody"); !errors.Is(err, model.NotFound) || !strings.Contains(err.Error(), "late") {
		t.Errorf("err = %v", err)
	}
	for r := range fleet.Health(t.Context()) {
		if r.Status.OK || !strings.Contains(r.Status.Message, "nothing there") {
			t.Errorf("%+v", r)
		}
	}
	if fleet.Reopen(t.Context(), "late") {
		t.Error("reopened what is not there")
	}
	stores["late"] = &fake{}
	if !fleet.Reopen(t.Context(), "late") {
		t.Error("not reopened")
	}
	if _, err := fleet.Store("late"); err != nil {
		t.Error(err)
	}
}

// TestReopenTwiceAtOnce: neither call may close the store that the other one gave to its caller.
func TestReopenTwiceAtOnce(t *testing.T) {
	var both, done sync.WaitGroup
	var calls atomic.Int32
	var closed [3]atomic.Bool
	both.Add(2)
	first, taken := make(chan struct{}), sync.Once{}
	fleet := backends.NewFleet([]backends.Member{{Name: "a", Err: model.Unavailable}}, func(context.Context, string) backends.Member {
		n := calls.Add(1)
		both.Done()
		both.Wait()
		if n == 2 {
			<-first
		}
		return backends.Member{Name: "a", Store: model.Store{Provider: &fake{acts: int(n)}, Closer: func() error { closed[n].Store(true); return nil }}}
	})
	var seen [2]int
	for i := range seen {
		done.Go(func() {
			well := fleet.Reopen(t.Context(), "a")
			s, err := fleet.Store("a")
			if !well || err != nil {
				t.Errorf("%v, %v", well, err)
				return
			}
			seen[i] = s.Provider.(*fake).acts
			taken.Do(func() { close(first) })
		})
	}
	done.Wait()
	for _, n := range seen {
		if closed[n].Load() {
			t.Errorf("store %d is closed under its caller", n)
		}
	}
	if closed[1].Load() == closed[2].Load() {
		t.Error("no store was closed, or both")
	}
}

// TestAPlaceThatHangs: each further try would leave a thread in its system call, of which a program may have so many.
func TestAPlaceThatHangs(t *testing.T) { synctest.Test(t, testAPlaceThatHangs) }

func testAPlaceThatHangs(t *testing.T) {
	hung := make(chan struct{})
	var opens atomic.Int32
	reg := &backends.Registry{}
	if err := reg.Register(backends.Kind{Name: "mount", Open: func(context.Context, backends.StoreConfig, backends.Env) (model.Store, error) {
		opens.Add(1)
		<-hung
		return model.Store{Provider: &fake{}}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	fleet := backends.Open(t.Context(), reg, []backends.StoreConfig{{Name: "m", Kind: "mount"}}, backends.Env{}, backends.Policy{Audit: backends.Unrecorded, Timeout: time.Millisecond})
	for range 3 {
		if fleet.Reopen(t.Context(), "m") || !errors.Is(fleet.Members()[0].Err, model.Timeout) {
			t.Error(fleet.Members()[0].Err)
		}
	}
	if opens.Load() != 1 {
		t.Errorf("opened %d times", opens.Load())
	}
	close(hung)
	for end := time.Now().Add(10 * time.Second); !fleet.Reopen(t.Context(), "m"); {
		if time.Now().After(end) {
			t.Fatal("it answers again and is not opened")
		}
	}

	l := &late{until: make(chan struct{})}
	var asked atomic.Int32
	s := model.Store{Name: "s", Provider: l}.Wrap(backends.Deadline(time.Millisecond), func(ctx context.Context, _ *model.Call, next func(context.Context) error) error {
		asked.Add(1)
		return next(ctx)
	})
	for range 100 {
		if st := s.Provider.Health(t.Context()); st.OK {
			t.Errorf("%+v", st)
		}
	}
	if n := asked.Load(); n > 50 {
		t.Errorf("%d reads hang", n)
	}
	close(l.until)
	for end := time.Now().Add(10 * time.Second); !s.Provider.Health(t.Context()).OK; {
		if time.Now().After(end) {
			t.Fatal("it answers again and is not read")
		}
	}
}

// TestAnOpenThatIsGivenUp: the caller's end must not be told as a place that does not answer.
func TestAnOpenThatIsGivenUp(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	reg := &backends.Registry{}
	err := reg.Register(backends.Kind{Name: "slow", Open: func(ctx context.Context, _ backends.StoreConfig, _ backends.Env) (model.Store, error) {
		cancel()
		<-ctx.Done()
		return model.Store{}, model.FromContext(ctx, "open")
	}})
	if err != nil {
		t.Fatal(err)
	}
	fleet := backends.Open(ended, reg, []backends.StoreConfig{{Name: "slow", Kind: "slow"}}, backends.Env{}, backends.Policy{Audit: backends.Unrecorded})
	defer fleet.Close()
	if err := fleet.Members()[0].Err; !errors.Is(err, model.Timeout) || strings.Contains(err.Error(), "did not answer") {
		t.Errorf("told as %v", err)
	}
}

// TestAFailedCreateLeavesNoFile: an empty file would refuse the next try.
func TestAFailedCreateLeavesNoFile(t *testing.T) {
	kind, _ := backends.Builtin().Kind("sqlite")
	c := backends.StoreConfig{Kind: "sqlite", Path: filepath.Join(t.TempDir(), "new.db")}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := kind.Create(ended, c, backends.Env{}); err == nil {
		t.Fatal("a store was made after the context had ended")
	}
	if err := kind.Create(t.Context(), c, backends.Env{}); err != nil {
		t.Error(err)
	}
}

// TestClosedStoresAreTriedSideBySide: one that does not answer must not delay the others, or what follows.
func TestClosedStoresAreTriedSideBySide(t *testing.T) {
	down := errors.New("down")
	var all sync.WaitGroup
	all.Add(3)
	fleet := backends.NewFleet([]backends.Member{{Name: "a", Err: down}, {Name: "b", Err: down}, {Name: "c", Err: down}}, func(ctx context.Context, name string) backends.Member {
		all.Done()
		met := make(chan bool)
		go func() {
			all.Wait()
			close(met)
		}()
		select {
		case <-met:
		case <-ctx.Done():
			t.Errorf("%s waits for another", name)
		}
		return backends.Member{Name: name, Err: down}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	fleet.ReopenClosed(ctx)
}

// TestASlowStoreIsTriedOnceAtATime: each further try would open it once more, and each call wait for it.
func TestASlowStoreIsTriedOnceAtATime(t *testing.T) {
	tries, opened, closed := make(chan struct{}, 2), make(chan struct{}), make(chan struct{})
	fleet := backends.NewFleet([]backends.Member{{Name: "a", Err: model.Unavailable}}, func(context.Context, string) backends.Member {
		tries <- struct{}{}
		<-opened
		return backends.Member{Name: "a", Store: model.Store{Provider: &fake{}, Closer: func() error { close(closed); return nil }}}
	})
	fleet.ReopenSoon(0)
	fleet.ReopenSoon(0)
	<-tries
	if len(tries) > 0 {
		t.Error("two tries at once")
	}
	if err := fleet.Close(); err != nil {
		t.Error(err)
	}
	close(opened)
	select {
	case <-closed:
	case <-time.After(10 * time.Second):
		t.Error("a store that opened after Close stays open")
	}
	if len(fleet.Open()) > 0 {
		t.Error("a store was placed after Close")
	}
}

// TestALateStoreIsNotReplaced: the calls that it is busy with would fail.
func TestALateStoreIsNotReplaced(t *testing.T) {
	status := model.NewHealth(time.Now(), model.HealthFinding{Kind: model.FindingTimeout, State: model.HealthUnknown})
	member := backends.Member{Name: "busy", Store: model.Store{Provider: ill{&fake{}, &status}}}
	opened := 0
	fleet := backends.NewFleet([]backends.Member{member}, func(context.Context, string) backends.Member {
		opened++
		return member
	})
	if fleet.Reopen(t.Context(), "busy") || opened > 0 {
		t.Errorf("a late store was opened %d times again", opened)
	}
	status = model.NewHealth(time.Now(), model.HealthFinding{Kind: model.FindingUnreachable})
	if fleet.Reopen(t.Context(), "busy") || opened != 1 {
		t.Errorf("a store that is down was opened %d times", opened)
	}
}

// ill is a store of another health.
type ill struct {
	*fake
	status *model.HealthStatus
}

func (i ill) Health(context.Context) model.HealthStatus { return *i.status }

// TestReopenAfterTheFileCameBack: a replaced database is another file.
func TestReopenAfterTheFileCameBack(t *testing.T) {
	reg := backends.Builtin()
	kind, _ := reg.Kind("sqlite")
	c := backends.StoreConfig{Name: "db", Kind: "sqlite", Path: filepath.Join(t.TempDir(), "s.db")}
	env := backends.Env{}
	if err := kind.Create(t.Context(), c, env); err != nil {
		t.Fatal(err)
	}
	fleet := backends.Open(t.Context(), reg, []backends.StoreConfig{c}, env, backends.Policy{Audit: backends.Unrecorded})
	defer fleet.Close()
	if !fleet.Reopen(t.Context(), "db") {
		t.Fatal("a store that is well is not reopened")
	}
	if err := os.Rename(c.Path, c.Path+".old"); err != nil {
		t.Fatal(err)
	}
	if fleet.Reopen(t.Context(), "db") {
		t.Error("open and well though the file is gone")
	}
	if err := kind.Create(t.Context(), c, env); err != nil {
		t.Fatal(err)
	}
	if !fleet.Reopen(t.Context(), "db") {
		t.Error("the file is back and the store is not")
	}
	s, err := fleet.Store("db")
	if err != nil || !backendtest.Health(t, s).OK {
		t.Errorf("%v", err)
	}
}

func TestFuseComparesRanksNotScores(t *testing.T) {
	hit := func(id string, score float64) model.RecallSnippet { return model.RecallSnippet{ID: id, Score: score} }
	fused := backends.Fuse([]backends.Answer{
		{Store: "b", Result: model.RecallResult{Hits: []model.RecallSnippet{hit("b1", 0.1), hit("b2", 0.05)}}},
		{Store: "a", Result: model.RecallResult{Hits: []model.RecallSnippet{hit("a1", 1), hit("a2", 1), hit("a3", 1)}}},
		{Store: "c", Err: errors.New("gone")},
	})
	var got []string
	for _, f := range fused {
		got = append(got, f.ID)
	}
	if !cmp.Equal(got, []string{"a1", "b1", "a2", "b2", "a3"}) {
		t.Errorf("= %v", got)
	}
}

func TestDiscover(t *testing.T) {
	type want = []string
	tests := []struct {
		name string
		make []string // directories below the root
		env  map[string]string
		want want // kind and path below the root
	}{
		{"nothing", nil, nil, nil},
		{"crewship at home", []string{"home/.crewship"}, nil, want{"crewship home/.crewship"}},
		{"named by the environment", []string{"home/.crewship"}, map[string]string{"CREWSHIP_DATA_DIR": "/data"}, want{"crewship /data"}},
		{"recurse above", []string{"work/.recurse", "work/a/b"}, nil, want{"sqlite work/.recurse"}},
		{"the closest recurse", []string{"work/.recurse", "work/a/.recurse", "work/a/b"}, nil, want{"sqlite work/a/.recurse"}},
		{"knots before beads", []string{"work/a/b/.beads", "work/a/b/.knots"}, nil, want{"knots work/a/b/.knots"}},
		{"beads when forced", []string{"work/a/b/.beads", "work/a/b/.knots"}, map[string]string{"FOOLERY_BACKEND": "beads"}, want{"beads work/a/b/.beads"}},
		{"several", []string{"home/.hermes/memories", "work/a/b/.beads", "home/.agentm/memory"}, map[string]string{"MEMORY_VAULT_PATH": "/v"},
			want{"vault /v", "devicelocal home/.agentm/memory", "curated home/.hermes/memories", "beads work/a/b/.beads"}},
		{"agentm's prefix", []string{"home/.claude/.agentm-config.json", "work/pre/.agentm-config.json"}, map[string]string{"AGENTM_INSTALL_PREFIX": "../../pre"}, want{"vault work/pre/.agentm-config.json"}},
		{"agentm's prefix without a configuration", []string{"home/.claude/.agentm-config.json"}, map[string]string{"AGENTM_INSTALL_PREFIX": "/none"}, nil},
		{"agentm without a prefix", []string{"home/.claude/.agentm-config.json"}, nil, want{"vault home/.claude/.agentm-config.json"}},
		{"agentm by its variable", nil, map[string]string{"AGENTM_DEVICE_LOCAL_ROOT": "/mem"}, want{"devicelocal /mem"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for _, d := range append(tt.make, "home", "work/a/b") {
				if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			env := func(k string) string {
				if k == "HOME" {
					return filepath.Join(root, "home")
				}
				return tt.env[k]
			}
			var got want
			for _, c := range backends.Discover(filepath.Join(root, "work/a/b"), env) {
				if c.Origin == "" {
					t.Errorf("%s: no reason given", c.Kind)
				}
				got = append(got, c.Kind+" "+strings.TrimPrefix(c.Path, root+"/"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDiscoverAgents: the homes of coding agents must be found by their content, each under its own
// name, and opened read-only.
func TestDiscoverAgents(t *testing.T) {
	home := t.TempDir()
	for name, text := range map[string]string{
		".claude/projects/-srv-mill/memory/MEMORY.md": "# Mill\n", ".claude/projects/-srv-mill/s.jsonl": "{}\n", ".codex/memories/memory_summary.md": "v1\n",
		".gemini/GEMINI.md": "likes tea\n", ".openclaw/openclaw.json": "{}", ".openclaw/workspace/MEMORY.md": "weir\n",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found := backends.Discover(home, func(k string) string { return map[string]string{"HOME": home}[k] })
	fleet := backends.Open(t.Context(), backends.Builtin(), found, backends.Env{}, backends.Policy{Audit: backends.Unrecorded})
	defer fleet.Close()
	var got []string
	for _, m := range fleet.Members() {
		got = append(got, m.Name+" "+m.Kind)
		if m.Err != nil || !m.Store.ReadOnly || !strings.Contains(m.Store.ReadOnlyReason, "not configured") {
			t.Errorf("%s: %v, read-only %q", m.Name, m.Err, m.Store.ReadOnlyReason)
		}
	}
	if want := []string{"claude claude", "codex claude", "gemini claude", "openclaw openclaw"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestDiscoverBeaver: the file alone does not prove that a gateway is in use.
func TestDiscoverBeaver(t *testing.T) {
	for text, want := range map[string]int{
		`{"memory":{"mode":"memory_gateway","gateway":{"baseUrl":"http://127.0.0.1:1","userId":"u","userKey":"k","scope":["resources"]}}}`: 1,
		`{"memory":{"mode":"curated"}}`: 0,
		`{}`:                            0,
		`{"memory":{"mode":"both"}}`:    1, // opening it reports the error
		`{`:                             1,
	} {
		home := t.TempDir()
		path := filepath.Join(home, ".beaver", "config.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		found := backends.Discover(filepath.Join(home, "work"), func(k string) string { return map[string]string{"HOME": home}[k] })
		if len(found) != want {
			t.Errorf("%s: found %+v", text, found)
		}
		if want == 0 {
			continue
		}
		fleet := backends.Open(t.Context(), backends.Builtin(), found, backends.Env{}, backends.Policy{Audit: backends.Unrecorded})
		m := fleet.Members()[0]
		if good := strings.Contains(text, "userKey"); (m.Err == nil) != good {
			t.Errorf("%s: %v", text, m.Err)
		}
		if err := fleet.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestSecretFiles: a file that others may read must be refused.
func TestSecretFiles(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		mode       os.FileMode
		want       string // text of the error; empty: it opens
	}{
		{"private", "k3y\n", 0o600, ""},
		{"stricter", "k3y", 0o400, ""},
		{"readable by the group", "k3y", 0o640, "chmod 600"},
		{"readable by all", "k3y", 0o604, "chmod 600"},
		{"empty", "\n", 0o600, "is empty"},
		{"too large", strings.Repeat("k3y", 30_000), 0o600, "larger"},
	} {
		path := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(path, []byte(tt.text), tt.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, tt.mode); err != nil {
			t.Fatal(err)
		}
		c := backends.StoreConfig{Name: "gw", Kind: "gateway", BaseURL: "http://127.0.0.1:1", UserID: "u", UserKeyFile: path, Scope: []string{"resources"}}
		fleet := backends.Open(t.Context(), backends.Builtin(), []backends.StoreConfig{c}, backends.Env{}, backends.Policy{Audit: backends.Unrecorded})
		err := fleet.Members()[0].Err
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "k3y") || strings.Contains(err.Error(), path)) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err := fleet.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDiscoverVaults must read AgentM's configuration, which may select another store.
func TestDiscoverVaults(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"above", map[string]string{"work/.agentm-config.json": `{"storage.backend": "vault", "vault_path": "/v"}`}, []string{"vault work/.agentm-config.json"}},
		{"at home", map[string]string{"home/.claude/.agentm-config.json": `{"storage.backend": "vault"}`}, []string{"vault home/.claude/.agentm-config.json"}},
		{"the nearer one", map[string]string{"work/.agentm-config.json": `{"vault_path": "/v"}`, "home/.claude/.agentm-config.json": `{"storage.backend": "vault"}`},
			[]string{"vault work/.agentm-config.json"}},
		{"device-local", map[string]string{"work/.agentm-config.json": `{"storage.backend": "device-local"}`}, nil},
		{"an unknown backend is loud", map[string]string{"work/.agentm-config.json": `{"storage.backend": "foo"}`}, []string{"vault work/.agentm-config.json"}},
		{"fresh", map[string]string{"work/.agentm-config.json": `{"schema_version": 2}`}, nil},
		{"broken is loud", map[string]string{"work/.agentm-config.json": `{`}, []string{"vault work/.agentm-config.json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range tt.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, c := range backends.Discover(filepath.Join(root, "work"), func(k string) string {
				return map[string]string{"HOME": filepath.Join(root, "home")}[k]
			}) {
				got = append(got, c.Kind+" "+strings.TrimPrefix(c.Path, root+"/"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestNoRecordNoAct: stores opened without an audit log must be readable, say that they are read-only
// and why, and refuse every change.
func TestNoRecordNoAct(t *testing.T) {
	f := &fake{}
	fleet := backends.Open(t.Context(), kindOf(t, map[string]*fake{"a": f}), configs("a"), backends.Env{}, backends.Policy{})
	defer fleet.Close()
	s, err := fleet.Store("a")
	if err != nil || !s.ReadOnly || !strings.Contains(s.ReadOnlyReason, "no audit log") || s.Capabilities()["retain"] || s.Capabilities()["forget"] {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := s.Provider.Retain(t.Context(), model.RetainRequest{ID: "x", Mode: model.Replace, Content: "x"}); !model.IsRefusal(err) {
		t.Errorf("retain: %v", err)
	}
	if _, err := s.Provider.Forget(t.Context(), model.ForgetRequest{ID: "x"}); !model.IsRefusal(err) {
		t.Errorf("forget: %v", err)
	}
	if _, err := s.Provider.Recall(t.Context(), model.RecallRequest{Query: "x"}); model.IsRefusal(err) {
		t.Errorf("recall: %v", err)
	}
}

// late is a store whose health takes as long as its channel stays open.
type late struct {
	fake
	until chan struct{}
}

func (l *late) Health(context.Context) model.HealthStatus {
	<-l.until
	return model.HealthStatus{OK: true, CheckedAt: time.Now()}
}

// TestALateHealth: the status of a store that does not answer in time is unknown and fresh (R35, R37).
func TestALateHealth(t *testing.T) {
	l := &late{until: make(chan struct{})}
	defer close(l.until)
	s := model.Store{Name: "s", Provider: l}.Wrap(backends.Deadline(time.Millisecond))
	if st := s.Provider.Health(t.Context()); st.OK || st.State != model.HealthUnknown || st.Message != "health check timeout" || st.CheckedAt.IsZero() {
		t.Errorf("%+v", st)
	}
}
