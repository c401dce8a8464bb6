package audit

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// metered counts what is read.
type metered struct {
	io.ReaderAt
	bytes int64
}

func (c *metered) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.bytes += int64(n)
	return n, err
}

// TestNamesOfAPage: a page must read the side table once, not once for each row, and the rows between far records not at all.
func TestNamesOfAPage(t *testing.T) {
	const last = 50_000
	var table bytes.Buffer
	for seq := 1; seq <= last; seq++ {
		if seq%3 == 0 {
			continue // a record without a name
		}
		fmt.Fprintf(&table, `{"seq":%d,"target":"hmac:k:0123456789abcdef","name":"a name of %d, and some more of it"}`+"\n", seq, seq)
		switch {
		case seq%1000 == 1:
			fmt.Fprintf(&table, `{"seq":%d,"name":"another"}`+"\n", seq)
		case seq%1000 == 2:
			table.WriteString("damaged\n")
		}
	}
	size := int64(table.Len())
	page := func(from, to, step uint64) (out []uint64) {
		for seq := from; seq <= to; seq += step {
			out = append(out, seq)
		}
		return out
	}
	for what, tt := range map[string]struct {
		wanted []uint64
		most   int64
	}{
		"none": {nil, 0}, "the newest": {page(last-1000, last+10, 1), 2 << 20}, "two far ones": {[]uint64{7, last - 7}, 3 << 20},
		"all": {page(1, last, 1), size + 2<<20}, "sparse": {page(1, last, 5000), 15 << 20},
	} {
		f := &metered{ReaderAt: bytes.NewReader(table.Bytes())}
		got, err := namesOf(f, size, tt.wanted)
		if err != nil || f.bytes > tt.most {
			t.Errorf("%s: %v, %d bytes of %d were read, %d are enough", what, err, f.bytes, size, tt.most)
		}
		for _, seq := range tt.wanted {
			want := 1
			switch {
			case seq%3 == 0 || seq > last:
				want = 0
			case seq%1000 == 1:
				want = 2
			}
			if len(got[seq]) != want {
				t.Fatalf("%s: %d rows of record %d, want %d", what, len(got[seq]), seq, want)
			}
		}
	}
}
