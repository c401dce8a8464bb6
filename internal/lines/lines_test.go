package lines_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"memdesk/internal/lines"
)

// Where standard output and standard error are one file, a diagnostic must be between lines of data and
// never inside one.
func TestLinesStayWhole(t *testing.T) {
	var file bytes.Buffer
	writes := 0
	out, talk := lines.New(writer(func(p []byte) (int, error) {
		if writes++; !bytes.HasSuffix(p, []byte("\n")) {
			t.Errorf("a write ends with %q", p[max(0, len(p)-20):])
		}
		return file.Write(p)
	}), &file)
	line := strings.Repeat("x", 700)
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 200 {
			fmt.Fprintf(talk, "note %d\n", i)
		}
	})
	for range 1000 {
		_, _ = out.WriteString("{" + line)
		_ = out.WriteByte('}')
		_ = out.WriteByte('\n')
	}
	_, _ = out.WriteString("{" + strings.Repeat(line, 300) + "}\n") // longer than the buffer
	wg.Wait()
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if writes < 5 {
		t.Errorf("%d writes: nothing was written on the way", writes)
	}
	data := 0
	for l := range strings.Lines(file.String()) {
		switch {
		case strings.HasPrefix(l, "note ") && strings.Count(l, "note") == 1:
		case strings.HasPrefix(l, "{x") && strings.HasSuffix(l, "x}\n"):
			data++
		default:
			t.Fatalf("a line is %.60q", l)
		}
	}
	if data != 1001 {
		t.Errorf("%d lines of data, want 1001", data)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
