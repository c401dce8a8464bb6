package tui_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"
	"golang.org/x/crypto/ssh"
)

// planned files and plans a request from the command line.
func (o *office) planned(args ...string) string {
	o.t.Helper()
	id := o.file(args...)
	if out, code := o.run("gdpr", "plan", id); code != 0 {
		o.t.Fatalf("plan: exit %d: %s", code, out)
	}
	return id
}

// begin answers the question before an erasure with its id.
func (r *robot) begin(id, verb string) *robot {
	r.t.Helper()
	return r.answer("[Cancel]", "tab", id, "tab").see("[" + verb + "]").press("enter")
}

func TestErasureFaults(t *testing.T) {
	t.Parallel()
	t.Run("a store is down, then a reader holds a snapshot", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, "")
		id := o.planned("--subject", "usr_maren", "--alias", "Maren Holt")
		r := o.console(80, 24).see("▌in 31 days", "planned")
		graph := filepath.Join(o.dir, "graph.db")
		hidden := filepath.Join(o.dir, "graph.away")
		for _, end := range []string{"", "-wal", "-shm"} {
			if err := os.Rename(graph+end, hidden+end); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		r.press("E").begin(id, "Erase").see("partial", "r does what is missing", "graph")
		for _, f := range []string{graph, graph + "-wal", graph + "-shm"} {
			if err := os.Remove(f); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		for _, end := range []string{"", "-wal", "-shm"} {
			if err := os.Rename(hidden+end, graph+end); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		r.press("V").see("not clean yet").press("esc").see("partial")
		if _, code := o.run("gdpr", "receipt", id, "--out", filepath.Join(o.dir, "no.json")); code == 0 {
			t.Error("partial work has a receipt")
		}
		// The store is back, with an open reader.
		db, err := sql.Open("sqlite3", "file:"+graph+"?mode=ro")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if err := tx.QueryRow("SELECT count(*) FROM nodes").Scan(&n); err != nil {
			t.Fatal(err)
		}
		r.press("r").answer("Go on with the erasure of usr_maren?").see("Missing: graph: ", "Done already, and not again: ", " redacted.").press("enter").see("cancelled", "partial")
		r.press("r").see("Go on with the erasure").begin(id, "Go on").see("waiting", "r scrubs that layer")
		if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
			t.Fatal(err)
		}
		r.press("r").see("Go on with the erasure").begin(id, "Go on").see("No layer that can be reached holds the person")
	})
	t.Run("a store is away while the plan is made", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, "")
		o.file("--subject", "usr_maren", "--alias", "Maren Holt")
		r := o.console(80, 24).see("· new")
		r.press("enter").see("Erasure › er-", ": new", "p searches every store").press("esc").see("· new") // no plan was made
		vault := filepath.Join(o.dir, "vault")
		if err := os.Rename(vault, vault+".away"); err != nil {
			t.Fatal(err)
		}
		r.press("p").see("The plan of", "6 of 7 stores searched; not searched: notes", "✖ 1 not searched; ", "▲ Not searched: notes. The request stays partial")
		r.press("E").answer("for good?").see("▲ Not searched: notes. Nothing is erased there").press("enter").see("cancelled")
		r.press("esc").see("[6 Erasure", "planned", "▲ Not searched: notes.")
	})
	t.Run("a layer that nothing opens is attested", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, "")
		if err := os.WriteFile(filepath.Join(o.dir, "vault", "map.zst"), []byte("\x28\xb5\x2f\xfdno frame at all\x00\x7f"), 0o600); err != nil {
			t.Fatal(err)
		}
		id := o.file("--subject", "usr_teo")
		if out, code := o.run("gdpr", "plan", id); code != 3 || !strings.Contains(out, "not looked at: item map.zst") {
			t.Fatalf("plan: exit %d: %s", code, out)
		}
		r := o.console(80, 24).see("planned")
		r.press("E").begin(id, "Erase").see("partial", "r does what is missing")
		r.press("V").see("not clean yet").press("/", "map.zst", "enter").see("/map.zst", "▲ not looked at", "1 of 1")
		r.press("t").answer("Attest notes: map.zst?").golden("erasure-attest-80x24")
		r.press("enter").see("cancelled: nothing was changed")
		r.press("t").answer("Attest notes: map.zst?", "tab", "tab", "tab").see("[Attest]").press("enter").answer("▲ not attested: ")
		r.press("tab", "opened by hand", "tab", "tab").see("[Attest]").press("enter").see("attested: map.zst; r looks again")
		r.press("esc").press("esc").see("partial", "r does what is missing")
		r.press("r").see("Go on with the erasure").begin(id, "Go on").see("No layer that can be reached holds the person", "complete")
		if out, code := o.run("gdpr", "status", "usr_teo", "--json"); code != 0 || !strings.Contains(out, `"state":"complete"`) {
			t.Errorf("status: exit %d: %s", code, out)
		}
	})
	t.Run("nobody has approved", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, "[gdpr]\nrequire_approval = true\nmax_share = 0.01\n")
		id := o.planned("--subject", "usr_teo")
		r := o.console(80, 24).see("planned")
		r.press("E").see("Not yet: nobody else has approved this plan", "memdesk gdpr approve "+id, "Any other operator", "esc close").press("enter").gone("Not yet")
		r.press("A").answer("Approve the erasure of", "enter").see("cancelled")
		r.press("r").see("no run has begun")
		r.press("S").answer("Save the status report of "+id, "enter").see("cancelled")
		page := filepath.Join(o.dir, "report.md")
		r.press("S").answer("Save the status report of "+id, "tab", "ctrl+u", page, "tab").see("[Save]").press("enter").see("saved,")
		if b, err := os.ReadFile(page); err != nil || !strings.Contains(string(b), "# Where an erasure stands") || !strings.Contains(string(b), "memdesk gdpr approve "+id) || strings.Contains(string(b), "usr_teo") {
			t.Errorf("the page: %v\n%s", err, b)
		}
		r.press("S").answer("Save the status report of "+id, "tab", "ctrl+u", page, "tab").see("[Save]").press("enter").answer("is there already", "esc").see("cancelled")
		r.press("P").see("no run is under way")
	})
	t.Run("decisions", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, "[gdpr]\nmax_share = 0.01\n")
		id := o.planned("--subject", "usr_teo", "--alias", "Teo Alvarez", "--received", "2026-04-18")
		r := o.console(80, 24).see("3 days overdue", "planned")
		// A wrong form must come back with the error and the typed values.
		r.press("a").form("File a request", "shift+tab", "shift+tab").see("[Go on]").press("enter").form("The person's id is missing", "usr_x").gone("id is missing").press("tab", "Ana X; X-1", "tab", "tab", "a letter").see("a letter").press("tab", "tab").see("[Go on]").press("enter")
		// Closed on any of its pages, the form must be as it was left; another subject starts with an
		// empty one.
		r.answer("Is Ana X this person", "esc").see("nothing was filed; a opens the form as you left it")
		r.press("a").form("File a request").see("usr_x", "Ana X; X-1", "a letter").press("shift+tab", "shift+tab").see("[Clear form]").press("enter").gone("usr_x").form("File a request", "esc").see("cancelled: nothing was filed")
		r.press("a").form("File a request", "usr_y").see("usr_y").press("esc").see("as you left it").press("a").form("File a request").see("usr_y").press("esc").see("as you left it")
		r.press("a").form("File a request", "shift+tab", "shift+tab").see("[Clear form]").press("enter").gone("usr_y").form("File a request", "esc").see("cancelled: nothing was filed")
		r.press("T").answer("The deadline of", "enter").see("cancelled")
		r.press("T").answer("The deadline of", "tab", "tab").see("[Extend by two months]").press("enter").answer("Not changed: refused: the month ended on 2026-05-18", "tab", "2026-05-10", "tab").see("[Extend by two months]").press("enter").see("▌in 58 days")
		r.press("x").answer("Export everything", "tab", "ctrl+u", filepath.Join(o.dir, "e.zip"), "tab").see("[Export]").press("enter").see("exported")
		r.press("x").answer("Export everything", "tab", "ctrl+u", filepath.Join(o.dir, "e.zip"), "tab").see("[Export]").press("enter").answer("is there already", "esc").see("cancelled")
		// A plan over a large part of a store must ask for the number of items.
		r.press("E").answer("the number of items:", "tab", "7", "tab", id, "tab").see("[Erase]").press("enter").answer("the number of items was not typed", "esc").see("cancelled")
		// Holding an item voids the plan, which is made anew.
		r.press("enter").see("The plan of").press("/", "graph forget", "enter").see("/graph forget", "█ forget")
		r.press("H").answer("Keep ", "tab", "tab").see("[Hold]").press("enter").see("not changed: a hold needs its ground")
		r.press("H").answer("Keep ", "tab", "a legal claim", "tab").see("[Hold]").press("enter").see("held for", "a legal claim").press("g").see("1 on hold")
		r.press("c").answer("Forget or redact these 31 items?", "enter").see("cancelled") // everything below the heading except the held item
		// The hold is lifted, from the plan and from the request.
		r.press("/", "graph hold", "enter").see("/graph hold", "▌ hold").press("U").answer("Lift a hold?", "enter").see("cancelled").press("U").answer("Lift a hold?", "tab", "tab").see("[Lift]").press("enter").see("action       forget").press("g").gone("1 on hold")
		r.press("U").see("U: it is not on hold")
		r.press("/", "graph forget", "enter").see("/graph forget", "█ forget").press("H").answer("Keep ", "tab", "a legal claim", "tab").see("[Hold]").press("enter").see("held for", "a legal claim").press("g").see("1 on hold")
		// Another session replans meanwhile: the shown plan must not be carried out.
		if out, code := o.run("gdpr", "hold", id, "--item", "graph:nothing-like-this", "--ground", "x"); code != 4 {
			t.Fatalf("hold of nothing: exit %d: %s", code, out)
		}
		if out, code := o.run("gdpr", "choose", id, "--item", "graph:nothing-like-this", "--action", "forget"); code != 0 {
			t.Fatalf("choose: %s", out)
		}
		r.press("E").see("the plan is void").press("esc").see("[6 Erasure")
		r.press("}", "}", "}").see("a legal claim")
		for range 100 { // the row under the old text may still be read
			r.press("U").until("an answer to U", func(now string) bool {
				return strings.Contains(now, "Lift a hold?") || strings.Contains(now, "nothing is on hold")
			})
			if strings.Contains(r.frame(), "Lift a hold?") {
				break
			}
			r.press("g").gone("nothing is on hold")
		}
		r.answer("Lift a hold?", "tab", "x", "tab").see("[Lift]").press("enter").answer("not lifted", "tab", "backspace", "tab").see("[Lift]").press("enter").see("Plan ready").gone("1 on hold").press("esc").see("[6 Erasure")
		// Closed without an erasure: only with a reason, and then for good.
		r.press("W").see("reason (required):").answer("Withdraw "+id, "enter").see("cancelled")
		r.press("W").answer("Withdraw "+id, "tab", "tab").see("[Withdraw]").press("enter").answer("a withdrawal needs its reason", "tab", "Teo called", "tab").see("[Withdraw]").press("enter").see("withdrawn: " + id)
		r.press("J", "J", "J").see("the names are gone", "Teo called").gone("usr_teo").press("p").see("was withdrawn")
		// In a wide terminal, too, list and detail have the whole id, which has to be typed.
		r.press("K", "K", "K").resize(100, 30).until("the whole id, twice", func(s string) bool {
			return strings.Contains(s, "no names "+id) && strings.Contains(s, " "+id+": withdrawn")
		})
		if out, code := o.run("gdpr", "status", "usr_teo", "--json"); code != 0 || !strings.Contains(out, `"state":"withdrawn"`) {
			t.Errorf("status: exit %d: %s", code, out)
		}
	})
	t.Run("decisions on many", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, "")
		o.planned("--subject", "usr_maren", "--alias", "Maren Holt")
		r := o.console(80, 24).see("planned").press("enter").see("The plan of")
		r.press(" ").see("space: this row stands for those below it")
		// Everything that a filter shows, except its headings; the ground is asked for once, and one plan
		// is made.
		r.press("/", "graph forget", "enter").see("/graph forget", "█ forget").press("*").see("rows marked")
		r.asked("H", "items back from the erasure?").press("enter").see("cancelled").press("H").answer("items back from the erasure?", "tab", "a legal claim", "tab").see("[Hold]", "forget  graph:").press("enter").see("on hold: the plan is made anew").see("1 layer, 11 on hold", "▸ notes")
		// A range is lifted; items not held under this request must not change.
		r.press("/", "graph hold", "enter").see("/graph hold", "▌ hold").see("1 of 11").press(" ", "v").see("2 marked")
		r.asked("U", "Lift the hold on 2 items?").press("enter").see("cancelled").press("U").answer("Lift the hold on 2 items?", "tab").see("[Lift]").press("enter").see("lifted: the plan is made anew").see("█ forget", "▌ hold", "▸ notes")
		// A heading stands for all rows below it.
		r.press("g").see("all stores").press("j").see("▌ ▸ harbor").press("c").answer("Forget or redact these ", "tab").see("3 go, 33 redact", "[Forget all]").press("esc").see("cancelled")
		r.press("H").answer("items back from the erasure?", "tab", "Art. 17(3)(e)", "tab").see("[Hold]").press("enter").see("Plan ready: ", "▌ ▸ harbor")
		// The plan made anew is folded as before, and the cursor is at the same row.
		r.press("F").gone("▸").press("j", "j", "j", "j", "j", "j").see("▌     ▌ hold   AGENT.md").press("U").answer("Lift a hold?", "tab", "tab").see("[Lift]").press("enter").see("▌     ▄ redact AGENT.md", "  ▾ harbor").gone("▸")
	})
	t.Run("a damaged request hides no other", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, "")
		o.file("--subject", "usr_teo")
		if err := os.WriteFile(filepath.Join(o.dir, "state", "memdesk", "gdpr", "requests", "er-20260220-0123abcd.json"), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		o.console(100, 24).see("6 Erasure 0+", "in 31 days", "1 request cannot be read")
	})
	t.Run("read-only", func(t *testing.T) {
		t.Parallel()
		o := newOffice(t, "")
		o.planned("--subject", "usr_teo")
		r := o.console(80, 24, "--read-only").see("planned")
		for _, k := range []string{"a", "p", "E", "x", "T"} {
			r.press(k).see(k + ": this console is read-only").press("down").gone(k + ": this")
		}
		r.press("enter").see("The plan of").press("H").see("H: this console is read-only")
	})
}

// Where approvals are required and the session has no key, the form takes the key's file: the request
// is filed with its fingerprint, and only another key can approve it.
func TestTheRequesterNamesAKey(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "[gdpr]\nrequire_approval = true\n")
	private, _ := pair(t)
	other, _ := pair(t)
	mine, theirs := keyFile(t, private), keyFile(t, other)
	r := o.console(80, 24).resize(60, 15).see("[6 Erase]")
	r.press("a").form("File a request", "usr_teo", "tab", "tab", "tab", "a letter", "tab", "tab").see("your private key FILE:").press(filepath.Join(o.dir, "none"), "tab").see("[Go on]")
	r.press("enter").answer("File this request?", "tab").see("[File it]").press("enter").form("the key file cannot be read")
	r.press("tab", "tab", "tab", "tab", "tab", "ctrl+u").press(mine, "tab").see("[Go on]").press("enter").answer("File this request?", "tab").see("[File it]").press("enter").see("filed er-")
	id := o.only()
	out, _ := o.run("gdpr", "plan", id, "--json")
	hash := regexp.MustCompile(`"plan_hash":"([0-9a-f]{64})"`).FindStringSubmatch(out)
	if hash == nil {
		t.Fatal(out)
	}
	if out, code := o.run("gdpr", "approve", id, "--plan-hash", hash[1], "--key", mine); code != 6 || !strings.Contains(out, "the requester's own") {
		t.Errorf("approved by the requester: exit %d: %s", code, out)
	}
	// The second operator signs while reading the plan; the requester's key must be refused there too.
	r.press("ctrl+r").see("▸ A approve")
	r.press("A").answer("Approve the erasure of", "tab").press(mine, "tab").see("[Approve]").press("enter").see("not approved: refused")
	r.press("A").answer("Approve the erasure of", "tab").press(theirs, "tab").see("[Approve]").press("enter").see("approved " + id)
	r.press("ctrl+r").see("● approved").press("A").see("the plan is approved: E carries")
	// Another plan has no approval, so p asks first.
	r.press("p").answer("Make the plan of "+id+" anew?", "enter").see("cancelled", "● approved")
	r.press("p").answer("Make the plan of "+id+" anew?", "tab").see("[Plan]").press("enter").see("The plan of " + id)
}

// An open plan must not say that nobody has approved it when somebody has meanwhile, and name who did.
func TestAPlanHearsOfItsApproval(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "[gdpr]\nrequire_approval = true\n")
	mine, _ := pair(t)
	theirs, known := pair(t)
	id := o.file("--subject", "usr_teo", "--key", keyFile(t, mine))
	out, _ := o.run("gdpr", "plan", id, "--json")
	hash := regexp.MustCompile(`"plan_hash":"([0-9a-f]{64})"`).FindStringSubmatch(out)
	if hash == nil {
		t.Fatal(out)
	}
	r := o.console(120, 40).press("enter").see("A comes first", "nobody else has approved this plan")
	if out, code := o.run("gdpr", "approve", id, "--plan-hash", hash[1], "--key", keyFile(t, theirs)); code != 0 {
		t.Fatalf("approve: exit %d: %s", code, out)
	}
	r.see("E carries the plan out", ssh.FingerprintSHA256(known)[:19]).gone("nobody else has approved this plan").gone("A comes first")
	r.press("esc").see("● approved", "signature", "2026-05-28") // the key decides where the lines break
}

// Where the policy allows it, the second operator approves by being logged in: no key is typed, and the
// question shows the plan's numbers and hash.
func TestApprovalByTheSession(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "[gdpr]\nrequire_approval = true\napproval = \"session\"\n")
	mine := ""
	login := func() ssh.PublicKey {
		private, key := pair(t)
		mine = keyFile(t, private)
		o.auth = filepath.Join(o.dir, "auth")
		if err := os.WriteFile(o.auth, append([]byte("publickey "), ssh.MarshalAuthorizedKey(key)...), 0o600); err != nil {
			t.Fatal(err)
		}
		return key
	}
	login()
	id := o.file("--subject", "usr_teo", "--key", mine)
	if out, code := o.run("gdpr", "plan", id, "--json"); code != 0 && code != 3 {
		t.Fatalf("plan: exit %d: %s", code, out)
	}
	// The requester's own login must be told how to approve, without a question.
	r := o.console(80, 24).see("planned").press("A").answer("your private SSH key file", "esc").see("cancelled")
	r.press("E").see("They log in with that key, open 6 and press A.").gone("memdesk gdpr approve").press("esc").gone("They log in").press("q")
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
	key := login()
	r = o.console(120, 40).see("[6 Erasure 1 to approve]", "▸ A approve", "A approves")
	r.press("enter").see("The plan of", " A approve  E erase").press("esc").see("[6 Erasure").press("A").answer("with your own key?", "tab").see("person       usr_teo", "filed by ", "go, ").see("The hash of the plan", "[Approve]").press("enter").see("approved "+id, "● approved")
	if out, _ := o.run("audit", "list", "--json", "--action", "gdpr-approve"); !strings.Contains(out, ssh.FingerprintSHA256(key)) {
		t.Errorf("the log does not name the key of the login: %s", out)
	}
	r.press("E").begin(id, "Erase").see("No layer that can be reached holds the person").resize(80, 24).press("enter").see("of a session that this key authenticated")
}

func TestErasureKeepsTheClearNameOffTheScreen(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "")
	id := o.planned("--subject", "usr_teo", "--alias", "Teo Alvarez")
	r := o.console(200, 50).see("usr_teo")
	r.press("E").begin(id, "Erase").see("No layer that can be reached holds the person").press("esc").see("answered")
	r.gone("usr_teo").press("enter").see("● verified: every").gone("usr_teo").press("esc").gone("● verified: every")
	r.press("v").answer("Type the person's id", "tab", "usr_maren", "tab", "tab").see("[Look again]").press("enter").see("type the person's id instead")
	// Other names are asked for too: one that was not erased must be refused, and without any the layers
	// must say so.
	r.press("esc").press("v").answer("Type the person's id", "tab", "usr_teo", "tab", "Nobody Such", "tab").see("[Look again]").press("enter").see("none that was erased")
	r.press("esc").press("v").answer("Type the person's id", "tab", "usr_teo", "tab", "Teo Alvarez", "tab").see("[Look again]").press("enter").see("Layers of "+id, "looked at now").press("esc")
	r.press("esc").press("q")
	if _, err := r.left(); err != nil {
		t.Fatal(err)
	}
	if out, code := o.run("gdpr", "status", "usr_teo"); code != 0 || !strings.Contains(out, id) {
		t.Errorf("by the typed id: exit %d: %s", code, out)
	}
}
