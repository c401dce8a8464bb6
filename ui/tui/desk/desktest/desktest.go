// Package desktest makes desks for tests.
package desktest

import (
	"context"
	"time"

	"memdesk/backends"
	"memdesk/internal/clock"
	"memdesk/internal/safetext"
	"memdesk/ui/tui/desk"
	"memdesk/ui/tui/kit/loop"
	"memdesk/ui/tui/kit/paint"
	"memdesk/ui/tui/kit/prose"
)

// New is a desk over some stores, without a screen; its clock is fixed.
func New(members ...backends.Member) *desk.Desk {
	return desk.New(loop.Loop{Ctx: context.Background(), St: paint.New(paint.Looks{}, true), Time: prose.Clock{Clock: clock.Fixed(time.Unix(0, 0))}, Say: func(paint.Tone, safetext.Text) {}, Later: loop.Ticking},
		backends.NewFleet(members, nil), nil, false)
}
