// Package task shows long work: each item with its outcome, and the jobs of all sessions.
package task
