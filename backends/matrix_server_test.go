package backends_test

import (
	"testing"

	"memdesk/backends"
)

// serverKinds are the kinds that need a server of their own.
func serverKinds(*testing.T) []backends.StoreConfig { return nil }
