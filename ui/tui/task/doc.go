// Package task shows long work: each item with its outcome while it runs, and the jobs of all
// sessions.
package task
