// Package operator is the session of one operator: the identity, the rights of the role, the open stores with
// log and undo, and every act as one method that checks, records, acts and returns the result. It draws
// nothing and parses no arguments.
package operator
