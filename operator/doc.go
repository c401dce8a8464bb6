// Package operator is the session of one operator: the identity, the rights of the role, the open stores with
// log and undo, and every act as one method that checks, records, acts and returns the result. It draws
// nothing and parses no arguments.
//
// session.go opens it, rules.go, roles.go and policy.go say who may do what. The acts are in acts.go, undos.go, conflicts.go,
// quarantine.go, signals.go, copy.go, erasure.go and erasurerun.go; the lists in walk.go, audit.go, itemfilter.go and query.go;
// log.go has the audit log itself, survey.go and watch.go what an operator must be told.
package operator
