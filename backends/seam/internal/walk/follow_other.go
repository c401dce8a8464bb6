//go:build !linux

package walk

import "errors"

// queue is empty: what this system tells of changes comes in no order with a walk.
type queue struct{}

func newQueue(string) (queue, error) { return queue{}, errors.ErrUnsupported }

func (*queue) close() error { return nil }

func (*queue) watch(string) (bool, error) { return false, errors.ErrUnsupported }

func (*queue) each(func(dir, name string, isDir, made bool)) error { return nil }
