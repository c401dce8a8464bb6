package paint

import "testing"

func TestGauge(t *testing.T) {
	for _, c := range []struct {
		percent      int64
		want, spoken string
	}{
		{0, "▁▁▁▁▁    0 %", "-----    0 %"},
		{1, "▂▁▁▁▁    1 %", "-----    1 %"},
		{13, "▄▁▁▁▁   13 %", "#----   13 %"},
		{20, "▆▁▁▁▁   20 %", "#----   20 %"},
		{99, "▆▆▆▆▅   99 %", "#####   99 %"},
		{112, "▆▆▆▆▆  112 %", "#####  112 %"},
		{-3, "▁▁▁▁▁   -3 %", "-----   -3 %"},
		{123456, "▆▆▆▆▆ 9999 %", "##### 9999 %"},
	} {
		for ascii, want := range map[bool]string{false: c.want, true: c.spoken} {
			s := New(Looks{Ascii: ascii}, true)
			if got, _ := s.Gauge(c.percent); got.String() != want {
				t.Errorf("%d %%: %q, want %q", c.percent, got, want)
			}
		}
	}
}
