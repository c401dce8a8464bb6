//go:build linux

package soak

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// wish is one write of an agent in the crowd, and its answer.
type wish struct {
	ref, mode, text string
	answer          row
}

// crowd lets three agents at their own doors, an editor, and ana at her shell work concurrently: each
// on its own items, and the agents also append to one shared note. Every acknowledged write must exist.
func (y *year) crowd() {
	shared := "notes:memory/idea/" + y.name() + ".md"
	y.write(shared, "# Together\n\n"+y.text(), "replace")
	const agents, writes = 3, 3
	doors, wishes := make([]*door, agents), make([][]wish, agents)
	for i := range agents { // the dice are thrown here, because they are not safe for concurrent use
		doors[i] = y.openDoor()
		for range writes {
			own := pick(y, []string{"graph:" + y.name(), "notes:memory/idea/" + y.name() + ".md", "work:" + y.name(), "assistant:" + y.name(), "device:memory/idea/" + y.name() + ".md"})
			wishes[i] = append(wishes[i], wish{ref: own, mode: "replace", text: y.text()}, wish{ref: shared, mode: "append", text: "- " + y.name() + " was here\n"})
		}
	}
	var all sync.WaitGroup
	gone := make([]bool, agents)
	for i, d := range doors {
		all.Go(func() {
			for k := range wishes[i] {
				w := &wishes[i][k]
				out, ok := d.ask("memory_retain", row{"ref": w.ref, "mode": w.mode, "content": w.text})
				if w.answer = out; !ok {
					gone[i] = true
					return
				}
			}
		})
	}
	for range writes {
		ref, text := "notes:memory/idea/editor-"+y.name()+".md", "# Meanwhile\n\n"+y.text()
		y.must(os.WriteFile(y.file(ref)+"~", []byte(text), 0o644))
		y.must(os.Rename(y.file(ref)+"~", y.file(ref)))
		y.ledger.expect(ref, text)
		ref, text = "graph:"+y.name(), y.text()
		if y.want(y.run("ana", text, "retain", ref, "--mode", "replace", "--yes", "-"), 0).code == 0 {
			y.ledger.expect(ref, text)
		}
	}
	all.Wait()
	together := read(y.t, y.ben.Fleet, shared)
	for i, d := range doors {
		if gone[i] {
			y.t.Fatalf("day %d: a door ended by itself: %s", y.day, d.errs.String())
		}
		d.leave()
		for _, w := range wishes[i] {
			switch said := w.answer.str("status"); {
			case said != "retained":
				y.t.Errorf("day %d: beside others, %s: %v", y.day, w.ref, w.answer)
				y.ledger.doubt(w.ref, w.text)
			case w.ref == shared:
				if n := strings.Count(together+"\n", w.text); n != 1 {
					y.t.Errorf("day %d: %q stands %d times in %s", y.day, w.text, n, shared)
				}
			default:
				y.ledger.expect(w.ref, w.text)
			}
		}
	}
	y.ledger.expect(shared, together)
	y.did.Crowds++
	y.ledger.check(y.t, y.ben.Fleet)
	if left, _ := filepath.Glob(filepath.Join(y.dir, "stores", "vault", "memory", "idea", ".*")); len(left) > 0 {
		y.t.Errorf("day %d: files of writers are left: %v", y.day, left)
	}
}

// leave ends a server as its client does, by closing its input.
func (d *door) leave() {
	d.m.t.Helper()
	_ = d.in.Close()
	for d.lines.Scan() {
	}
	if err := d.cmd.Wait(); err != nil {
		d.m.t.Errorf("the door left with %v: %s", err, d.errs.String())
	}
}
