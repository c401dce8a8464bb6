// Package operator is the session of one operator: who it is, what the role permits, the open
// stores with log and undo, and every act as one method that checks, records, acts and says
// what became of it. It draws nothing and parses no arguments.
package operator
