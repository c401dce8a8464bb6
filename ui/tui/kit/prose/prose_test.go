package prose_test

import (
	"testing"
	"time"

	"memdesk/ui/tui/kit/prose"
)

// TestBytes: the exact number must appear only beside a rounded one.
func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 51: "51 B", 999: "999 B", 1000: "1.0 KB (1,000 bytes)", 4012: "4.0 KB (4,012 bytes)"} {
		if got := prose.Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

// TestLatency: an answer within a millisecond must not be shown as taking none.
func TestLatency(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ms", 40 * time.Microsecond: "<0.1 ms", 340 * time.Microsecond: "0.3 ms", time.Millisecond: "1 ms", 52_900 * time.Microsecond: "52 ms",
		960 * time.Microsecond: "1.0 ms",
	} {
		if got := prose.Latency(d); got != want {
			t.Errorf("Latency(%v) = %q, want %q", d, got, want)
		}
	}
}
