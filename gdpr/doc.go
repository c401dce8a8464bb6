// Package gdpr carries a request for erasure from its intake to a receipt: it finds, plans, has the plan
// approved, executes it step by step, verifies the result and keeps the subject from coming back. It changes
// memory only through a store's Provider and Maintainer, and knows no backend.
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
