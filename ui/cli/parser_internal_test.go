package cli

import (
	"testing"
	"time"

	"github.com/spf13/pflag"

	"memdesk/internal/clock"
)

// TestAFlagsTimeIsTheClocks: a duration counts back from the program's clock.
func TestAFlagsTimeIsTheClocks(t *testing.T) {
	now := time.Date(2026, 5, 21, 9, 0, 0, 0, time.UTC)
	fl, since := pflag.NewFlagSet("list", pflag.ContinueOnError), time.Time{}
	(&app{Program: Program{Clock: clock.NewFake(now)}}).timeVar(fl, &since, "since", "")
	if err := fl.Parse([]string{"--since", "36h"}); err != nil || !since.Equal(now.Add(-36*time.Hour)) {
		t.Errorf("%v, %v", since, err)
	}
}
