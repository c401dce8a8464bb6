//go:build !linux

package walk

import "errors"

// queue is empty: this system's reports are not ordered with a walk.
type queue struct{}

func newQueue(string) (queue, error) { return queue{}, errors.ErrUnsupported }

func (*queue) close() error { return nil }

func (*queue) watch(string) (bool, error) { return false, errors.ErrUnsupported }

func (*queue) each(func(dir, name string, isDir, made bool)) error { return nil }
