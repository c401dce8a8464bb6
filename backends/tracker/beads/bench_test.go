package beads

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"memdesk/model"
)

// benchBytes is the size of the generated file: MEMDESK_BENCH_MB, else 8 MB.
func benchBytes() int {
	if n, err := strconv.Atoi(os.Getenv("MEMDESK_BENCH_MB")); err == nil && n > 0 {
		return n << 20
	}
	return 8 << 20
}

// generated writes work items of a realistic size, about 1,600 bytes.
func generated(b *testing.B) (dir string, size int64) {
	b.Helper()
	dir = b.TempDir()
	var out bytes.Buffer
	text := strings.Repeat("A line of a description, with \\\"quotes\\\" and an end.\\n", 22)
	for i := 0; out.Len() < benchBytes(); i++ {
		fmt.Fprintf(&out, `{"id":"bd-%d","title":"Item number %d","description":"%s","status":"%s","priority":%d,"issue_type":"task","owner":"someone","created_at":"2026-03-01T10:00:00Z","updated_at":"2026-03-%02dT10:00:00Z","dependencies":[{"issue_id":"bd-%d","depends_on_id":"bd-%d","type":"blocks"}],"dependency_count":1,"dependent_count":0}`+"\n",
			i, i, text, []string{"open", "closed"}[i%2], i%5, 1+i%28, i, i/2)
	}
	if err := os.WriteFile(filepath.Join(dir, issuesName), out.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
	return dir, int64(out.Len())
}

// BenchmarkNewlines is the peer of BenchmarkFirstPage: it reads the file and counts its lines.
func BenchmarkNewlines(b *testing.B) {
	dir, size := generated(b)
	b.SetBytes(size)
	buf := make([]byte, 1<<20)
	for b.Loop() {
		f, err := os.Open(filepath.Join(dir, issuesName))
		if err != nil {
			b.Fatal(err)
		}
		lines := 0
		for {
			n, err := f.Read(buf)
			lines += bytes.Count(buf[:n], []byte("\n"))
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		if err := f.Close(); err != nil || lines == 0 {
			b.Fatal(lines, err)
		}
	}
}

// BenchmarkFirstPage opens the store and shows a hundred items.
func BenchmarkFirstPage(b *testing.B) {
	dir, size := generated(b)
	b.SetBytes(size)
	for b.Loop() {
		s, err := Open(b.Context(), Config{Path: dir})
		if err != nil {
			b.Fatal(err)
		}
		p, err := s.Browser.List(b.Context(), model.PageRequest{})
		if err != nil || len(p.Items) != model.DefaultPage {
			b.Fatal(len(p.Items), err)
		}
	}
}

// BenchmarkParse scans and validates every member of every line.
func BenchmarkParse(b *testing.B) {
	dir, size := generated(b)
	data, err := os.ReadFile(filepath.Join(dir, issuesName))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	for b.Loop() {
		if s := parse(data, nil); s.Len() == 0 {
			b.Fatal("nothing parsed")
		}
	}
}

// BenchmarkEncodingJSON is the peer of BenchmarkParse; it decodes the parts of a header.
func BenchmarkEncodingJSON(b *testing.B) {
	dir, size := generated(b)
	data, err := os.ReadFile(filepath.Join(dir, issuesName))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	for b.Loop() {
		for line := range bytes.Lines(data) {
			var v struct {
				ID, Title, Description, Status string
				Updated                        string `json:"updated_at"`
			}
			if err := json.Unmarshal(line, &v); err != nil {
				b.Fatal(err)
			}
		}
	}
}
