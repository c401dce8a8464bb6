// Package gdpr carries a request for erasure from its intake to a receipt: it finds, plans, has the plan
// approved, executes it step by step, verifies the result and keeps the subject from coming back. It changes
// memory only through a store's Provider and Maintainer, and knows no backend.
//
// # The way of a request
//
//	intake     request.go, deadline.go, proposals.go, opendsr.go, withdraw.go: identifiers, ground, the clock that runs
//	search     find.go, sift.go, recalled.go, tag.go, searching.go: one search looks at every item of one store
//	decide     decide.go, redact.go, index.go, falls.go, order.go: the policy gives each found item its step
//	plan       planning.go, planlayers.go, plan.go, share.go: the steps of all stores and layers, under one hash
//	hold       holds.go, onhold.go, paths.go: what stays, in every store that shows it
//	approve    approve.go, policy.go: a second operator signs the hash
//	erase      erase.go, step.go, scrub.go, part.go, runlog.go: each step once, also after a crash
//	own files  own.go, ownscan.go, otherrequests.go: what memdesk itself keeps of the subject
//	verify     verify.go, layers.go, history.go, handles_linux.go, away.go: read all again; a row for each layer
//	finish     finish.go, freetext.go, receipt/: judge, sign, empty the request
//	report     report.go, tally.go, attest.go, backups.go, recipients.go, officer.go: what is left, and by whom
//	afterwards gate.go, suppress/, sweep.go, sweepstore.go, reverify.go, retire.go: nobody comes back
//	export     export.go, export_parts.go: what is kept about the subject, for the subject
//
// Desk (desk.go) has the acts of an operator; each is recorded between intent and outcome. A run is one erasure at work, a
// part is one store's share of its plan. Whatever the run cannot do becomes a problem or a row, never an omission.
//
// # Files
//
// Under <state>/gdpr (0700, every file 0600):
//
//	requests/<id>.json   a request; it keeps its identifiers until the last store is done, or it is withdrawn
//	plans/<id>.json      the newest plan: clear names and edited texts, removed at the end
//	requests.lock        held while a request's file is read, changed and written
//	runs/<id>.jsonl      which steps of which plan are done: numbers, no names; its lock is that of the request
//	runs/<id>.status.json  the report of the last run
//	receipts/<id>.json   signed, the subject only as a pseudonym
//	keys/                the pseudonym key and the receipt key
//	letters/*.md         the desk's own wording of its letters, if a person wrote one
//	suppressed.json      keyed pseudonyms of the subjects who must not come back
//	suppressed.json.lock held while that list is read, changed and written
package gdpr
