//go:build !sqlite_fts5 && !fts5

package sqlite

// The driver is compiled without FTS5 unless the tag is given, and a store would fail only at run time.
// So a build without the tag fails here.
const _ int = "build memdesk with -tags sqlite_fts5: its SQLite stores need the full-text index FTS5"
