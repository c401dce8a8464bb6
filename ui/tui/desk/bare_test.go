package desk

import (
	"context"
	"time"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/internal/safetext"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

func testDesk(members ...backends.Member) *Desk {
	return New(loop.Loop{Ctx: context.Background(), St: paint.New(paint.Looks{}, true), Time: prose.Clock{Clock: clock.Fixed(time.Unix(0, 0))}, Say: func(paint.Tone, safetext.Text) {}, Later: loop.Ticking},
		backends.NewFleet(members, nil), nil, false)
}
