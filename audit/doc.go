// Package audit is the tamper-evident audit log: the intent of every change
// is durable in it before the change, the outcome after. It decides nothing
// about who may act, holds no name, path or reason in clear in its records, and
// cannot be written twice at once.
//
// # Files
//
// Under <state>/audit (0700, every file 0600), made in one step with the first
// record; reading and probing create nothing:
//
//	log-000001.jsonl   a segment: one record per line, appended with one write
//	head.json          device, inode, size, sequence and hash of the last record
//	key                the HMAC key with its id
//	names.jsonl        clear names and reasons by sequence; erasable, outside the chain; a name is shown
//	                   only where its keyed hash is the record's
//	known.json         sealed segments that were found whole, so that they are not read before each act
//	lock               held exclusively by an append, shared by a reader's snapshot
//
// Beside the directory, audit.begun says that there is a log: without one there, nothing may be
// changed until somebody acknowledges that it is gone.
//
// # Record
//
// A line is a JSON object in canonical form: every field of the schema, keys
// sorted by code point, no insignificant whitespace, integers only, strings of
// printable ASCII without quote and backslash (anything else is written as %XX
// of its UTF-8), so that no encoder has an escape to choose. Any JSON library
// that sorts keys reproduces it.
//
//	hash = hex SHA-256("memdesk-audit-record-v1" NUL prev line')
//
// where prev is the 64 hex digits of the previous record's hash (zeros for the
// first) and line' is the stored line without its newline and without the bytes
// `"hash":"<64 hex>",`. A verifier cuts those bytes out and never re-encodes.
//
// # Segments
//
// A segment after the first begins with a record of phase note that seals the
// one before: `segment` names it, counts.bytes is its sealed size, counts.seq
// its last sequence, prev its last hash. Bytes behind the sealed size, left by an
// append cut short, stay where they are: counts.torn is their number and `seal`
// their SHA-256. Nothing in a segment is ever rewritten.
//
// Before the first act of a process, and once a minute, the whole chain is walked: over a break that
// nobody has acknowledged nothing is appended. An acknowledgement covers as many breaks as stood before it
// then (counts.breaks).
//
// The log is evidence against change by others and against accidents. An owner
// of the files who rewrites all of them consistently is found only by a copy of
// the head kept elsewhere.
package audit
