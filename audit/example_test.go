package audit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"memdesk/audit"
)

// Write an act and its outcome, then check the whole log from its stored bytes.
func ExampleVerify() {
	dir, err := os.MkdirTemp("", "memdesk-example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	dir = filepath.Join(dir, "audit")
	ctx := context.Background()
	log, err := audit.Open(audit.Options{Dir: dir, Actor: audit.Actor{ID: "ana"}, Tool: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := log.Note(ctx, audit.Entry{Action: "retain", Store: "notes"}, audit.Result{Verdict: audit.Refused}); err != nil {
		fmt.Println(err)
		return
	}

	rep, err := audit.Verify(ctx, dir)
	fmt.Println(rep.OK, rep.Events, err)

	segment := filepath.Join(dir, "log-000001.jsonl")
	b, err := os.ReadFile(segment)
	if err == nil {
		err = os.WriteFile(segment, append([]byte("#"), b[1:]...), 0o600)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	rep, err = audit.Verify(ctx, dir)
	fmt.Println(rep.OK, rep.FirstBad, err)
	// Output:
	// true 2 <nil>
	// false 1 <nil>
}
