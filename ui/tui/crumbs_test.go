package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/paint"
)

// Breadcrumbs must not move when a loading message appears, at any width.
func TestBreadcrumbsDoNotMoveForLoading(t *testing.T) {
	a := New(Options{})
	all := []safetext.Text{
		safetext.Const("Tiers"), safetext.Const("crewship"), safetext.Const("crews/eng/agents/bo"), safetext.Const("daily"),
		safetext.Const("crews/eng/agents/bo/daily/2026-05-21.md"),
	}
	for width := paint.MinWidth; width < 200; width++ {
		a.width = width
		for n := 1; n <= len(all); n++ {
			for _, at := range []string{"", "1 of 2", "all of 4 lines", "line 12,345 of 10,000,000"} {
				still := ansi.Strip(a.crumbLine(all[:n], safetext.Const(at), false))
				busy := ansi.Strip(a.crumbLine(all[:n], safetext.Const(at), true))
				crumbs := strings.TrimRight(strings.TrimSuffix(strings.TrimRight(still, " ─"), at), " ─")
				if !strings.HasPrefix(busy, crumbs) || !strings.Contains(busy, "loading") {
					t.Fatalf("%d columns:\n%s|\n%s|", width, still, busy)
				}
				if w := ansi.WcWidth.StringWidth(busy); w != width {
					t.Fatalf("%d columns are %d:\n%s|", width, w, busy)
				}
			}
		}
	}
}
