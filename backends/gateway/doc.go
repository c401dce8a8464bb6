// Package gateway opens a Memory Gateway, which remembers over HTTP: search, add and flush, and nothing else.
// Beside the Provider it has the two operations around an agent's run (Turn), on the same adapter of the
// wire. It never retries a write and never shows the user key.
package gateway
