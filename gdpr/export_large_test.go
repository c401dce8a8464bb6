package gdpr_test

import (
	"archive/zip"
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memdesk/backends"
)

// heapPeak runs do and returns the largest growth of the heap in use.
func heapPeak(do func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // collect garbage early
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapInuse
	var peak atomic.Uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), m.HeapInuse))
			}
		}
	}()
	do()
	close(stop)
	<-done
	return max(peak.Load(), before) - before
}

// TestALargeExportIsNotHeldInMemory: the export of a store of many megabytes must contain every
// document without growing the heap with it. MEMDESK_SOAK=1 uses 200 MB.
func TestALargeExportIsNotHeldInMemory(t *testing.T) {
	notes, backup := 24, 24<<20
	if os.Getenv("MEMDESK_SOAK") == "1" {
		notes, backup = 100, 100<<20
	}
	w := newWorld(t)
	line := "a quiet line about tides and piers and boats that says nothing of anybody else\n"
	plain := strings.Repeat(line, (1<<20)/len(line))
	plant(t, w.dir, map[string]string{"vault/memory/idea/x.md": "# X\n\nrain\n", "w/.beads/issues.jsonl": `{"id":"x-1","title":"tea","status":"open","issue_type":"task"}` + "\n"})
	for i := range notes {
		plant(t, w.dir, map[string]string{fmt.Sprintf("vault/memory/idea/n%03d.md", i): fmt.Sprintf("# Note %d\n\nof %s c%03d\n", i, name, i) + plain})
	}
	f, err := os.Create(filepath.Join(w.dir, "w/.beads/interactions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	b := bufio.NewWriter(f)
	named := 0
	for n := 0; n < backup; n += len(plain) {
		named++
		_, _ = b.WriteString(plain)
		fmt.Fprintf(b, "here is %s b%03d\nmet Ana\nZxribeiro twice b%03d\n", name, named, named)
	}
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	w.more = []backends.StoreConfig{{Name: "notes", Kind: "vault", Path: filepath.Join(w.dir, "vault")}, {Name: "work", Kind: "beads", Path: filepath.Join(w.dir, "w")}}
	w.open()
	r := w.file()
	out := filepath.Join(t.TempDir(), "export.zip")
	var missing []string
	peak := heapPeak(func() { _, missing, err = w.desk.Export(t.Context(), r.ID, out, w.fleet) })
	if err != nil || len(missing) > 0 {
		t.Fatalf("Export: %q %v", missing, err)
	}
	total := notes<<20 + backup
	t.Logf("%d MB, the heap grew by %d MB", total>>20, peak>>20)
	if peak > 40<<20 { // 18 MB, and as much at 200 MB
		t.Errorf("the heap grew by %d MB for an export of %d MB", peak>>20, total>>20)
	}
	z, err := zip.OpenReader(out)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var e exported
	texts := map[string]string{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(f.Name, err)
		}
		if f.Name == "export.json" {
			if err := json.Unmarshal(b, &e); err != nil {
				t.Fatal(err)
			}
		}
		texts[f.Name] = string(b)
		if f.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v", f.Name, f.Mode())
		}
	}
	if len(e.Items) != notes+1 {
		t.Errorf("%d items", len(e.Items))
	}
	for _, it := range e.Items {
		text := texts[it.Document]
		if it.Store == "work" {
			for i := range named {
				if want := fmt.Sprintf("here is %s b%03d\nmet Ana\nZxribeiro twice b%03d\n", name, i+1, i+1); strings.Count(text, want) != 1 {
					t.Fatalf("%d times in it: %q", strings.Count(text, want), want)
				}
			}
			if strings.Contains(text, "quiet") || !it.Partial {
				t.Error("the backup gives lines that do not name her, or does not say that it is a part")
			}
		} else if !strings.Contains(text, "of "+name) {
			t.Errorf("%s: %d bytes without her", it.ID, len(text))
		}
	}
}
