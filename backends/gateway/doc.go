// Package gateway opens a Memory Gateway, which remembers over HTTP: search, add
// and flush, and nothing else. It keeps the two operations around an agent's run
// (Turn) beside the Provider, behind one adapter of the wire. It never retries a
// write and never shows the user key.
package gateway
