//go:build !linux

package walk

import (
	"errors"
	"sync"
)

// queue is empty: this system's reports are not ordered with a walk.
type queue struct{ mu sync.Mutex }

type anchor struct{}

func anchored(string) (anchor, error) { return anchor{}, errors.ErrUnsupported }

func (*anchor) same() bool { return false }

func (*queue) open() error { return errors.ErrUnsupported }

func (*queue) leave(*Follower) error { return nil }

func (*queue) watch(*Follower, string) (bool, error) { return false, errors.ErrUnsupported }

func (*queue) read() {}
