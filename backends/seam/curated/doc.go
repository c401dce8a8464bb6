// Package curated opens the two memory files that an agent curates by hand, MEMORY.md and USER.md, as
// entries, and the proposals that wait for approval beside them. It writes as their own agent does: under
// its lock, within its caps, and never to a file in a foreign format.
package curated
