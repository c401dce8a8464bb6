package records_test

import (
	"testing"
	"time"

	"memdesk/backends/records"
)

func TestTimesSince1970(t *testing.T) {
	want := time.Date(2023, 11, 14, 22, 13, 20, 0, time.UTC)
	for _, s := range []string{"1700000000", "1700000000000", "1700000000000000", "1700000000000000000", "2023-11-14T22:13:20Z", "2023-11-15 00:13:20+02"} {
		if got := records.Time(s); !got.Equal(want) {
			t.Errorf("%s is %s", s, got)
		}
	}
}
