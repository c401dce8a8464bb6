// Package model is the vocabulary of memdesk: the Provider contract that agents and operators share, the
// Store that holds it together with a backend's read-only facets, and the items, documents, references and
// errors that pass between them. It holds no I/O and imports only the standard library.
package model
