package subject

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"io"
	"runtime"
	"strings"
	"testing"
)

// TestBoundsEnd: data that expands without end must not be searched to its end, and the result must say so.
func TestBoundsEnd(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range []string{"a", "b", "c"} {
		f, err := w.Create(name)
		if err == nil {
			_, err = io.CopyN(f, zeros{}, 4<<20)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		bounds bounds
		want   string
		most   int64
	}{
		"enough":     {usual(), "", 13 << 20},
		"too much":   {bounds{nested: 4, memory: 1 << 20, out: 1 << 20, ratio: 10, most: 1 << 30}, "more comes out of it", 2 << 20},
		"far beyond": {bounds{nested: 4, memory: 1 << 20, out: 1 << 30, ratio: 10, most: 2 << 20}, "more comes out of it", 3 << 20},
		"too large":  {bounds{nested: 4, memory: 1 << 10, out: 1 << 30, ratio: 10, most: 1 << 30}, "opened as a whole", 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			read := int64(0)
			medium := io.Reader(bytes.NewReader(b.Bytes()))
			if name == "too large" {
				medium = io.MultiReader(medium)
			}
			closed, err := each(t.Context(), medium, func(_ string, r io.Reader) error {
				n, _ := io.Copy(io.Discard, r)
				read += n
				return nil
			}, func(string) {}, tt.bounds)
			if got := strings.Join(closed, "; "); err != nil || got != tt.want && (tt.want == "" || !strings.Contains(got, tt.want)) || read > tt.most {
				t.Errorf("%q, %v after %d bytes", got, err, read)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestAStreamOfAPDFIsNotHeld: a small PDF must not fill the memory with one stream that expands to gigabytes.
func TestAStreamOfAPDFIsNotHeld(t *testing.T) {
	const size = 64 << 20
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n1 0 obj << /Filter /FlateDecode >>\nstream\n")
	w := zlib.NewWriter(&b)
	if _, err := io.CopyN(w, zeros{}, size); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	b.WriteString("\nendstream endobj\n")
	var before, after runtime.MemStats
	most := int64(0)
	runtime.ReadMemStats(&before)
	_, err := Each(t.Context(), bytes.NewReader(b.Bytes()), func(_ string, r io.Reader) error {
		n, err := io.Copy(io.Discard, r)
		most = max(most, n)
		return err
	}, func(string) {})
	runtime.ReadMemStats(&after)
	if err != nil || most != size {
		t.Errorf("%d bytes came out, %v; want %d", most, err, size)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > size/4 {
		t.Errorf("%d MiB were allocated for a stream of %d MiB", n>>20, size>>20)
	}
}
