package model

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// HealthState says how well a store serves.
type HealthState string

// The states. A store that is ok or degraded can retain and recall.
const (
	HealthOK       HealthState = "ok"
	HealthDegraded HealthState = "degraded" // it serves, and a finding needs attention
	HealthDown     HealthState = "down"     // it cannot retain or cannot recall
	HealthUnknown  HealthState = "unknown"  // it did not answer in time, or was not asked
)

// Serves reports whether a store in this state can retain and recall.
func (s HealthState) Serves() bool { return s == HealthOK || s == HealthDegraded }

// rank orders states: the worst of its findings is the store's.
func (s HealthState) rank() int {
	return slices.Index([]HealthState{HealthOK, HealthDegraded, HealthUnknown, HealthDown}, s)
}

// Kinds of findings that more than one family reports; a family may have others.
const (
	FindingUnreachable = "unreachable" // the medium or the server does not answer
	FindingTimeout     = "timeout"     // no answer within the deadline
	FindingSchema      = "schema"      // tables, columns or a version that this program does not know
	FindingIndex       = "index"       // a search index is missing or out of step
	FindingPage        = "page"        // a part of the medium cannot be read
	FindingDisk        = "disk"        // full, or not writable
	FindingLock        = "lock"        // another process has held a lock for minutes
	FindingEmbedder    = "embedder"    // queries cannot be embedded
	FindingCounters    = "counters"    // a stored count differs from the rows
	FindingUnread      = "unread"      // parts that are not looked at
)

// HealthFinding is one problem of a store.
type HealthFinding struct {
	Kind string
	// Ref is the item, file, table or line concerned, relative to the store; empty
	// for the whole store.
	Ref string
	// Message says what is wrong and what to do; it holds no absolute path (R15).
	Message string
	// CheckedAt is when the problem was seen: a deep probe's finding is older than the status.
	CheckedAt time.Time
	// State is the store's state if this were the only finding. Empty means down.
	State HealthState
	// Line is the line concerned, from 1, Lines the number of lines of what is too long, and Target what a
	// line leads to (claude.md, Health findings); zero or empty where that says nothing.
	Line, Lines int
	Target      string
}

// HealthStatus is one observation. OK means that the store can retain and recall, and
// Message is then empty; not OK means it says what is wrong in words (R36). CheckedAt is UTC
// and fresh (R37).
type HealthStatus struct {
	OK        bool
	Message   string
	CheckedAt time.Time
	State     HealthState
	Findings  []HealthFinding
	// DeepCheckedAt is when the slow probes last ended; zero where the store has none or they have not ended
	// yet.
	DeepCheckedAt time.Time
	// Probing says that the slow probes run and have never ended: the findings are not all that there are.
	Probing bool
}

// NewHealth makes a status from findings: its state is the worst of theirs.
func NewHealth(at time.Time, findings ...HealthFinding) HealthStatus {
	at = at.UTC()
	st := HealthStatus{CheckedAt: at, State: HealthOK}
	var why []string
	for _, f := range findings {
		f.State = cmp.Or(f.State, HealthDown)
		if f.CheckedAt.IsZero() {
			f.CheckedAt = at
		}
		st.Findings = append(st.Findings, f)
		if f.State.rank() > st.State.rank() {
			st.State = f.State
		}
		if !f.State.Serves() {
			why = append(why, cmp.Or(f.Message, f.Kind))
		}
	}
	st.OK, st.Message = st.State.Serves(), strings.Join(why, "; ")
	return st
}

// Whole is the status with every field set: a provider of only the four verbs fills OK, Message and
// CheckedAt. Its own values are unchanged, except a state that nobody knows.
func (h HealthStatus) Whole() HealthStatus {
	if h.State == "" || h.State.rank() < 0 || h.State.Serves() != h.OK {
		h.State = HealthDown
		if h.OK {
			h.State = HealthOK
		}
	}
	for i, f := range h.Findings {
		if f.State != "" && f.State.rank() < 0 {
			h.Findings = slices.Clone(h.Findings)
			h.Findings[i].State = HealthUnknown
		}
	}
	if !h.OK && !slices.ContainsFunc(h.Findings, func(f HealthFinding) bool { return !f.State.Serves() }) {
		h.Findings = append(slices.Clone(h.Findings), HealthFinding{
			Kind: FindingUnreachable, Message: h.Message, CheckedAt: h.CheckedAt, State: h.State})
	}
	return h
}
