// Package gdpr carries a person's request to be forgotten from its intake to a
// receipt: what is found, planned, approved, executed step by step, verified and
// kept from coming back. It changes memory only through a store's Provider and
// Maintainer, and knows no backend.
//
// # Files
//
// Under <state>/gdpr (0700, every file 0600):
//
//	requests/<id>.json   a request; identifiers stand in it until the last store is done, or it is withdrawn
//	plans/<id>.json      the newest plan: clear names and edited texts, gone at the end
//	runs/<id>.jsonl      which steps of which plan are done: numbers, no names
//	receipts/<id>.json   signed, the person as a pseudonym only
//	keys/                the pseudonym key and the receipt key
//	suppressed.json      keyed pseudonyms of who must not come back
package gdpr
