// Package programs holds no code: its tests run the programs whose stores memdesk opens, from npm
// with pinned versions, and memdesk beside them on the same store. Each writes what the other
// reads, and both write at once. Where npm cannot install a program its test is skipped with the
// reason, or fails on CI.
package programs
