// Package sqlite keeps a hypergraph in one SQLite file: a schema of its own with full-text search, or a
// live recurse database, recognised by its tables, whose schema and journal mode it never changes. It
// writes no agent's log and computes no embedding.
package sqlite
