package operator

import (
	"cmp"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"memdesk/audit"
	"memdesk/backends"
	"memdesk/backends/backendtest"
	"memdesk/gdpr"
	"memdesk/internal/clock"
	"memdesk/jobs"
	"memdesk/model"
	"memdesk/undo"
)

// acting are the methods that change something, with their acts. Every other exported method must be in
// reading: a method in neither list fails the test.
var acting = map[string][]Act{
	"Session.Forget": {Forget}, "Session.Retain": {Create, Edit, Append}, "Session.Release": {Release}, "Session.Restore": {Restore},
	"Session.Resolve": {Resolve}, "Session.Takeback": {Takeback}, "Session.Repair": {Repair}, "Session.Reindex": {Reindex},
	"Session.Migrate": {Migrate}, "Session.MakeStore": {MakeStore}, "Session.Work": {ChangeWork}, "Session.Acknowledge": {Acknowledge},
	"Session.RotateLogKey": {RotateKey}, "Session.RetireLog": {RetireLog}, "Session.MigrateState": {MigrateState},
	"Writes.Retain": {Create, Edit, Append}, "Writes.Forget": {Forget}, "Writes.Together": {Forget}, "Session.Carry": {Erase}, "Session.Control": {ControlJob}, "Session.Copy": {Copy}, "Session.ExportStore": {ExportStore},
	"Session.SetThreshold": {Calibrate}, "Session.ClearTexts": {Clear}, "Session.KeepScan": {Rescan},
	"Conflicts.Resolve": {Resolve}, "Jobs.Cancel": {ControlJob},
	"Erasures.File": {Request}, "Erasures.Discover": {Plan}, "Erasures.Whole": {Plan}, "Erasures.Hold": {Hold}, "Erasures.Unhold": {Unhold},
	"Erasures.Choose": {Choose}, "Erasures.Extend": {Extend}, "Erasures.StopClock": {Pause}, "Erasures.StartClock": {Resume}, "Erasures.Identify": {Identify},
	"Erasures.Withdraw": {Withdraw}, "Erasures.Attest": {Attest}, "Erasures.SetPolicy": {SetPolicy}, "Erasures.Approve": {Approve}, "Erasures.ApproveHere": {Approve},
	"Erasures.Erase": {Erase}, "Erasures.EraseHere": {Erase}, "Erasures.Pause": {Erase}, "Erasures.Resume": {Erase},
	"Erasures.Verify": {Verify}, "Erasures.Export": {Export}, "Erasures.MarkExport": {Export}, "Erasures.Tell": {Tell}, "Erasures.Sweep": {Sweep}, "Erasures.Retire": {Sweep},
	// Readings that some roles lack.
	"AuditTrail.Events": {ReadLog},
	"Erasures.Requests": {ReadRequests}, "Erasures.Request": {ReadRequests}, "Erasures.Plan": {ReadRequests}, "Erasures.Unapproved": {ReadRequests},
	"Erasures.Report": {ReadRequests}, "Erasures.Receipt": {ReadRequests}, "Erasures.Get": {ReadRequests}, "Erasures.List": {ReadRequests},
	"Erasures.DueWithin": {ReadRequests}, "Erasures.Authorise": {ReadRequests}, "Erasures.StatusReport": {ReadRequests},
	"Erasures.Letter": {ReadRequests}, "Erasures.Register": {ReadRequests}, "Erasures.Propose": {ReadContent}, "Erasures.Others": {ReadRequests},
	"Survey.Requests": {ReadRequests}, "Survey.Due": {ReadRequests},
}

// reading are the methods that change nothing, or only open and close the session's own resources.
var reading = []string{
	"Session.Open", "Session.Close", "Session.May", "Session.Allow", "Session.Look", "Session.Role", "Session.Unwritable", "Session.Writer",
	"Session.Refused", "Session.Writes", "Writes.Provider", "Session.AuditTrail", "Session.Quarantine", "Session.Conflicts", "Session.Erasures", "Session.Journal",
	"Session.Jobs", "Session.Notices", "Session.DueSoon", "Session.ConflictOptions", "Session.Redundant", "Session.Preview",
	"Session.Undos", "Session.PlanTakeback", "Session.WriterOf", "Session.WriterOfItem", "Session.Told", "Session.Calibration", "Session.Difference", "Session.Family", "Session.Flagged", "Session.HeldScore",
	"Session.Planted", "Session.Stories", "Session.Withheld", "Session.Survey", "Session.Explain", "Session.Anchoring",
	"Session.OriginsOf", "Session.Watch", "Session.AskWitness",
	"Session.TryCopy",      // a dry run
	"Session.Replay",       // into a scratch store
	"Session.CloseOrphans", // only records that the outcome of another process's act is unknown
	"Survey.Health", "Survey.Tiers", "Survey.Quarantined", "Survey.Conflicts", "Survey.Unlogged",
	"Conflicts.Conflicts", "Conflicts.Compare", "Conflicts.Part", "Conflicts.Returned", "Conflicts.Redundant",
	"Jobs.Run", "Jobs.List", "Jobs.Tied", // a job's changes are acts of their own
	"Quarantine.Entries", "Quarantine.Entry", "AuditTrail.Stamp",
	"Erasures.Rules", "Erasures.Backups", "Erasures.Tied", "Erasures.SaveReceipt", "Erasures.FreeBytes", // Get reads the saved receipt
	"Erasures.PolicyNow", "Erasures.PublicKey", "Erasures.Unattested", "Erasures.BySession", "Erasures.EraseCommand",
}

// who are the roles, by their source.
var who = []visitor{
	{"operator", func(*Options) {}, func(Act) bool { return true }},
	{"reader by the configuration", func(o *Options) { o.Config.Operator.Readers = []string{"ana"} }, rulesFor(func(r rule) bool { return r.readers })},
	{"reader with a name beyond ASCII", func(o *Options) {
		o.Who, o.Config.Operator.Names = audit.Actor{ID: "SHA256:j", Authenticated: true, Key: "SHA256:j"}, map[string]string{"SHA256:j": "Jörg"}
		o.Config.Operator.Readers = []string{"Jörg"}
	}, rulesFor(func(r rule) bool { return r.readers })},
	{"auditor with a name beyond ASCII", func(o *Options) {
		o.Who, o.Config.Operator.Names = audit.Actor{ID: "SHA256:j", Authenticated: true, Key: "SHA256:j"}, map[string]string{"SHA256:j": "Jörg"}
		o.Config.Operator.Roles = []backends.RoleConfig{{Name: "Jörg", Role: "auditor"}}
	}, inTable("auditor")},
	{"key that may only look", func(o *Options) { o.Looker, o.Door = true, Visit }, rulesFor(func(r rule) bool { return r.readers })},
	{"--read-only", func(o *Options) { o.ReadOnly = true }, rulesFor(func(r rule) bool { return r.readers })},
	{"agent", func(o *Options) { o.Door = Agents }, rulesFor(func(r rule) bool { return r.agents })},
	{"agent of a reader", func(o *Options) { o.Door, o.Config.Operator.Readers = Agents, []string{"ana"} },
		rulesFor(func(r rule) bool { return r.agents && r.readers })},
	byKey("viewer"), byKey("reviewer"), byKey("approver"), byKey("auditor"), byKey("privacy officer"),
}

// byKey is a visitor whose key has a role, behind the machine's own sshd.
func byKey(role string) visitor {
	return visitor{role + " by a key", func(o *Options) {
		o.Who, o.Config.Operator.Roles = audit.Actor{ID: "SHA256:a", Authenticated: true, Key: "SHA256:a"}, blocks(role)
	}, inTable(role)}
}

// elsewhere are the same roles at other doors, and visitors without a proof of their role.
var elsewhere = func() []visitor {
	out := []visitor{
		{"somebody over SSH whom no block names", func(o *Options) {
			o.Who, o.Config.Operator.Roles = audit.Actor{ID: "SHA256:b", Authenticated: true, Key: "SHA256:b"}, blocks("auditor")
		}, inTable("viewer")},
		{"a shell of the account", func(o *Options) { o.Config.Operator.Roles = blocks("auditor") }, func(Act) bool { return true }},
		{"a key that is not authenticated", func(o *Options) {
			o.Door, o.Who, o.Config.Operator.Roles = Visit, audit.Actor{ID: "SHA256:a", Key: "SHA256:a"}, blocks("operator")
		}, inTable("viewer")},
		{"a principal of another authority", func(o *Options) {
			o.Who, o.Config.Operator.Roles = audit.Actor{ID: "cert", Authenticated: true, Key: "SHA256:c", CA: "SHA256:other", Principals: []string{"desk"}}, blocks("operator")
		}, inTable("viewer")},
		{"auditor and approver", func(o *Options) {
			o.Who, o.Config.Operator.Roles = audit.Actor{ID: "SHA256:a", Authenticated: true, Key: "SHA256:a"}, slices.Concat(blocks("auditor"), blocks("approver"))
		}, func(a Act) bool { return inTable("auditor")(a) || inTable("approver")(a) }},
		{"auditor with --read-only", func(o *Options) {
			o.ReadOnly, o.Who, o.Config.Operator.Roles = true, audit.Actor{ID: "SHA256:a", Authenticated: true, Key: "SHA256:a"}, blocks("auditor")
		}, func(a Act) bool { return inTable("auditor")(a) && rules[a].readers }},
		{"agent whose token no block names", func(o *Options) {
			o.Door, o.Who, o.Config.Operator.Roles = Agents, Agent("other"), blocks("viewer")
		}, rulesFor(func(r rule) bool { return r.agents })},
		{"the same at a server that was started over SSH", func(o *Options) {
			env := o.Env
			o.Env = func(k string) string { return cmp.Or(env(k), map[string]string{"SSH_CONNECTION": "::1 1 ::1 22"}[k]) }
			o.Door, o.Who, o.Config.Operator.Roles = Agents, Agent("other"), blocks("viewer")
		}, rulesFor(func(r rule) bool { return r.agents })},
	}
	for _, role := range backends.RoleNames {
		out = append(out,
			visitor{role + " by a key over the own SSH server", func(o *Options) {
				o.Door, o.Who, o.Config.Operator.Roles = Visit, audit.Actor{ID: "SHA256:a", Authenticated: true, Key: "SHA256:a"}, blocks(role)
			}, inTable(role)},
			visitor{role + " by a principal", func(o *Options) {
				o.Who, o.Config.Operator.Roles = audit.Actor{ID: "cert", Authenticated: true, Key: "SHA256:c", CA: "SHA256:ca", Principals: []string{"x", "desk"}}, blocks(role)
			}, inTable(role)},
			visitor{role + " by a token", func(o *Options) {
				o.Door, o.Who, o.Config.Operator.Roles = Agents, Agent("ci"), blocks(role)
			}, func(a Act) bool { return rules[a].agents && inTable(role)(a) }})
	}
	return out
}()

type visitor struct {
	name string
	set  func(*Options)
	// may reports which acts the visitor may do.
	may func(Act) bool
}

// blocks give a role to a key, a principal and a token.
func blocks(role string) []backends.RoleConfig {
	return []backends.RoleConfig{{Key: "SHA256:a", Role: role}, {Key: "SHA256:ca", Principal: "desk", Role: role}, {Token: "ci", Role: role}}
}

// table repeats by hand, independently of rules, what each role except the operator may do.
var table = map[string][]Act{
	"viewer":   {},
	"reviewer": {ReadContent},
	"approver": {ReadContent, ReadRequests, Approve},
	"auditor":  {ReadLog, ReadRequests, Verify},
	"privacy officer": {ReadContent, ReadLog, ReadRequests, Request, Plan, Hold, Unhold, Choose, Extend, Pause, Resume, Identify, Withdraw,
		Attest, SetPolicy, Approve, Erase, Verify, Export, ExportStore, Tell, Sweep, ControlJob},
}

func inTable(role string) func(Act) bool {
	if role == "operator" {
		return func(Act) bool { return true }
	}
	return func(a Act) bool { return slices.Contains(table[role], a) }
}

func rulesFor(has func(rule) bool) func(Act) bool { return func(a Act) bool { return has(rules[a]) } }

func newSession(t *testing.T, set func(*Options)) *Session {
	t.Helper()
	state := t.TempDir()
	o := Options{Kinds: backends.Builtin(), Clock: clock.System{}, Who: audit.Actor{ID: "ana"}, Door: CommandLine, Dir: state,
		Env: func(k string) string { return map[string]string{"XDG_STATE_HOME": filepath.Join(state, "state")}[k] }}
	set(&o)
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Open(t.Context(), []backends.StoreConfig{{Name: "inmem", Kind: "inmem"}}, time.Second)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// parts are a session and the parts through which it acts.
func parts(t *testing.T, s *Session) map[string]reflect.Value {
	t.Helper()
	r, err := s.Jobs()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(context.WithoutCancel(t.Context())) })
	e, err := s.Erasures(r, Away{Tied: "a test"})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]reflect.Value{"Session": reflect.ValueOf(s), "Writes": reflect.ValueOf(s.Writes()), "Conflicts": reflect.ValueOf(s.Conflicts(NewChanges(t.Context()))),
		"Jobs": reflect.ValueOf(s.Journal(t.Context(), r)), "Erasures": reflect.ValueOf(e),
		"Quarantine": reflect.ValueOf(s.Quarantine()), "Survey": reflect.ValueOf(s.Survey(t.Context())), "AuditTrail": reflect.ValueOf(s.AuditTrail())}
}

// TestEveryMethodIsAnActOrAReading: a new method must be classified.
func TestEveryMethodIsAnActOrAReading(t *testing.T) {
	seen := 0
	for name, v := range parts(t, newSession(t, func(*Options) {})) {
		for i := range v.NumMethod() {
			m := name + "." + v.Type().Method(i).Name
			_, acts := acting[m]
			if acts == slices.Contains(reading, m) {
				t.Errorf("%s: list it once, as acting or as reading", m)
			}
			seen++
		}
	}
	if want := len(acting) + len(reading); seen != want {
		t.Errorf("%d methods, %d listed", seen, want)
	}
}

// TestTheWordOfAnExport: an erasure asks the log for exports by this word.
func TestTheWordOfAnExport(t *testing.T) {
	if ExportStore != gdpr.ActExport {
		t.Errorf("the log has exports as %q, and an erasure looks for %q", ExportStore, gdpr.ActExport)
	}
}

// TestEveryActHasARule: an act without a rule is permitted to no role, and an act without a method is unused.
func TestEveryActHasARule(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "rules.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[Act]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Act" {
				word, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				declared[Act(word)] = true
			}
		}
		return true
	})
	if len(declared) < 30 {
		t.Fatalf("only %d acts were read: the test looks at the wrong thing", len(declared))
	}
	used := map[Act]bool{}
	for _, acts := range acting {
		for _, a := range acts {
			used[a] = true
		}
	}
	for a := range declared {
		if _, ok := rules[a]; !ok || !used[a] {
			t.Errorf("%s: rule %v, method %v", a, ok, used[a])
		}
	}
	if len(rules) != len(declared) {
		t.Errorf("%d rules for %d acts", len(rules), len(declared))
	}
	s := newSession(t, func(*Options) {})
	if err := s.May("paint"); !model.IsRefusal(err) {
		t.Errorf("an act without a rule: %v", err)
	}
}

// TestActsByRole calls every act in every role: a forbidden act must be refused and the refusal logged;
// a permitted one must not be refused.
func TestActsByRole(t *testing.T) {
	for _, w := range who {
		t.Run(w.name, func(t *testing.T) {
			s := newSession(t, w.set)
			of := parts(t, s)
			for m, acts := range acting {
				for _, act := range acts {
					of := of
					if m == "Session.Carry" { // it closes its session
						of = parts(t, newSession(t, w.set))
					}
					before := newest(t, s, act)
					refused := call(t, of, m, act)
					may := w.may(act)
					if may == refused {
						t.Errorf("%s as %s: may %v, refused %v", m, act, may, refused)
					}
					if !may && recorded(act, before) && m != "Session.Carry" && newest(t, s, act) == before {
						t.Errorf("%s as %s: the refusal is not in the log", m, act)
					}
				}
			}
		})
	}
}

// TestRulesByDoor checks the rule of every act at every door.
func TestRulesByDoor(t *testing.T) {
	for _, w := range slices.Concat(who, elsewhere) {
		s := newSession(t, w.set)
		for act := range rules {
			if err := s.May(act); w.may(act) != (err == nil) {
				t.Errorf("%s as %s: may %v, but %v", act, w.name, w.may(act), err)
			}
		}
	}
}

// recorded reports whether a refusal must add a record: of refused reads, only a session's first does.
func recorded(act Act, before uint64) bool {
	if strings.HasPrefix(string(act), "read-") {
		return before == 0
	}
	return !rules[act].unlogged
}

// call calls a method without arguments, and reports whether it was refused. Any other failure, even
// for lack of arguments, has passed the rules.
func call(t *testing.T, of map[string]reflect.Value, method string, act Act) (refused bool) {
	t.Helper()
	var part, name string
	for i := range method {
		if method[i] == '.' {
			part, name = method[:i], method[i+1:]
		}
	}
	m := of[part].MethodByName(name)
	var args []reflect.Value
	for i := range m.Type().NumIn() {
		typ := m.Type().In(i)
		if m.Type().IsVariadic() && i == m.Type().NumIn()-1 {
			break
		}
		arg := reflect.Zero(typ)
		switch v := reflect.New(typ).Interface().(type) {
		case *context.Context:
			arg = reflect.ValueOf(t.Context())
		case *model.RetainRequest:
			v.Mode = map[Act]model.Mode{Append: model.Append}[act]
			v.IfMatch = map[Act]model.Revision{Create: model.Absent}[act]
			arg = reflect.ValueOf(*v)
		case *[]undo.Change:
			arg = reflect.ValueOf([]undo.Change{{Forget: &model.ForgetRequest{}}})
		case **jobs.Runner:
			arg = reflect.ValueOf(of["Jobs"].Interface().(*Jobs).runner)
		}
		args = append(args, arg)
	}
	defer func() {
		if recover() != nil {
			refused = false
		}
	}()
	out := m.Call(args)
	err, _ := out[len(out)-1].Interface().(error)
	var r *model.Refusal
	return errors.As(err, &r)
}

// newest is the number of the last refusal of an act in the log; 0 where there is none.
func newest(t *testing.T, s *Session, act Act) uint64 {
	t.Helper()
	got, err := s.Log.List(t.Context(), audit.Filter{Action: string(act), Result: audit.Refused}, 1, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Rows) == 0 {
		return 0
	}
	return got.Rows[0].Seq
}

// TestStoresByRole: a call that reaches a store without an act, such as one of a served provider, must
// be refused by the same rules, in the stores' own layers.
func TestStoresByRole(t *testing.T) {
	for _, w := range slices.Concat(who, elsewhere) {
		s := newSession(t, w.set)
		st, err := s.Fleet.Store("inmem")
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what string, act Act, err error) {
			t.Helper()
			if w.may(act) == model.IsRefusal(err) {
				t.Errorf("%s: %s: %v", w.name, what, err)
			}
		}
		_, err = st.Provider.Retain(t.Context(), model.RetainRequest{Tier: "session", Key: "k", Mode: model.Append, Content: "tea"})
		refused("retain", Append, err)
		_, err = st.Provider.Forget(t.Context(), model.ForgetRequest{ID: "k"})
		refused("forget", Forget, err)
		_, err = st.Provider.Recall(t.Context(), model.RecallRequest{Query: "tea"})
		refused("recall", ReadContent, err)
		_, err = st.Browser.Read(t.Context(), "k")
		refused("read", ReadContent, err)
		_, err = st.Browser.List(t.Context(), model.PageRequest{Tier: "session", Query: "tea", Limit: 1})
		refused("list by words", ReadContent, err)
		if _, err = st.Browser.List(t.Context(), model.PageRequest{Tier: "session", Limit: 1}); err != nil {
			t.Errorf("%s: list: %v", w.name, err)
		}
		if h := backendtest.Health(t, st); !h.OK {
			t.Errorf("%s: health: %+v", w.name, h)
		}
		if s.Door == Agents && st.Quarantine != nil {
			if held, err := st.Quarantine.Quarantined(t.Context()); err == nil && len(held) > 0 {
				t.Errorf("%s sees what is held", w.name)
			}
		}
	}
}

// TestPolicyOnRecord: the policy's version must precede the first act under other roles, every record
// must name the policy, and returning to none must be a version of its own.
func TestPolicyOnRecord(t *testing.T) {
	state := t.TempDir()
	act := func(roles []backends.RoleConfig) (policies []audit.Row, newest audit.Row) {
		t.Helper()
		s := newSession(t, func(o *Options) {
			o.Config.Operator.Roles = roles
			o.Env = func(k string) string { return map[string]string{"XDG_STATE_HOME": state}[k] }
		})
		for range 2 {
			if err := s.Allow(t.Context(), Calibrate, "", ""); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Forget(t.Context(), "inmem", model.ForgetRequest{ID: "k"}, ""); err != nil {
				t.Fatal(err)
			}
		}
		all, err := s.Log.List(t.Context(), audit.Filter{Action: policyAction}, 10, "")
		if err != nil {
			t.Fatal(err)
		}
		last, err := s.Log.List(t.Context(), audit.Filter{}, 1, "")
		if err != nil {
			t.Fatal(err)
		}
		return all.Rows, last.Rows[0]
	}
	none := []backends.RoleConfig(nil)
	if got, last := act(none); len(got) != 0 || strings.Contains(last.Tool, "policy") {
		t.Fatalf("without roles: %d policies, %q", len(got), last.Tool)
	}
	for i, roles := range [][]backends.RoleConfig{blocks("viewer"), blocks("auditor"), none, blocks("auditor")} {
		if i == 1 {
			if err := os.Remove(filepath.Join(state, "memdesk", "policy.json")); err != nil { // the log still has the version
				t.Fatal(err)
			}
		}
		for range 2 {
			got, last := act(roles)
			if len(got) != i+1 || got[0].Counts["version"] != int64(i+1) || got[0].Plan != policyHash(backends.OperatorConfig{Roles: roles}) {
				t.Fatalf("change %d: %d policies, the newest %+v", i, len(got), got[0])
			}
			if roles != nil && !strings.HasSuffix(last.Tool, "policy "+got[0].Plan[:12]) {
				t.Errorf("change %d: the record has the tool %q", i, last.Tool)
			}
		}
	}
}

// TestExplainKeepsToTheRole: only a role that may read the log may be told what the log says of a missing item.
func TestExplainKeepsToTheRole(t *testing.T) {
	s := newSession(t, func(*Options) {})
	st, err := s.Fleet.Store("inmem")
	if err != nil {
		t.Fatal(err)
	}
	done, err := s.Retain(t.Context(), "inmem", model.RetainRequest{Tier: "task", Content: "tides", Mode: model.Replace}, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Forget(t.Context(), "inmem", model.ForgetRequest{ID: done.Item}, "a private reason"); err != nil {
		t.Fatal(err)
	}
	for role, may := range map[Role]bool{RoleOperator: true, RoleOfficer: true, RoleReviewer: false, RoleApprover: false} {
		s.roles = []Role{role}
		e, err := s.Explain(t.Context(), st, done.Item, model.RecallRequest{Query: "tides", Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(e.Checks, func(c RecallCheck) bool { return c.Rule == "log" })
		if i < 0 {
			t.Fatalf("%s: nothing is said of the log: %+v", role, e.Checks)
		}
		if told := strings.Contains(e.Checks[i].Why, "a private reason"); told != may || !may && e.Checks[i].Verdict != NotKnown {
			t.Errorf("%s: %+v", role, e.Checks[i])
		}
	}
}

// TestTitlesAreContent: the title of a short text is the whole text, so a list shows it only to a role that may read content.
func TestTitlesAreContent(t *testing.T) {
	s := newSession(t, func(*Options) {})
	if _, err := s.Retain(t.Context(), "inmem", model.RetainRequest{Tier: "task", Content: "Inga wants rye", Mode: model.Replace}, ""); err != nil {
		t.Fatal(err)
	}
	st, err := s.Fleet.Store("inmem")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		role Role
		want string
	}{{RoleViewer, ""}, {RoleAuditor, ""}, {RoleReviewer, "Inga wants rye"}, {RoleOperator, "Inga wants rye"}} {
		s.roles = []Role{c.role}
		page, err := st.Browser.List(t.Context(), model.PageRequest{Limit: 5})
		if err != nil || len(page.Items) != 1 || page.Items[0].ID == "" || page.Items[0].Title != c.want {
			t.Errorf("%s: %+v, %v; want the title %q", c.role, page.Items, err, c.want)
		}
	}
}
