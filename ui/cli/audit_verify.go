package cli

import (
	"context"
	"errors"
	"fmt"
	"memdesk/audit"
	"slices"

	"github.com/spf13/cobra"
)

func (a *app) auditVerifyCommand() *cobra.Command {
	var since, anchors, witnesses []string
	c := &cobra.Command{
		Use: "verify", Short: "Walk the whole chain, compare it with every anchor; exit 7 with the first break",
		Long: "Reads the log from its first record and compares every byte with the chain of hashes, the saved head\n" +
			"and the checkpoints of every anchor that is a file. It changes nothing. Without an anchor it finds what\n" +
			"others changed and what was damaged, not what the owner of the files rewrote. Exit 3 where an anchor proves\n" +
			"nothing, or where the files of the tree are damaged, which `memdesk audit checkpoint` makes again.",
		RunE: a.onLog(func(ctx context.Context, log *audit.Log, _ []string) error {
			return a.auditVerify(ctx, log, slices.Concat(since, anchors), witnesses)
		}),
	}
	c.Flags().StringArrayVar(&since, "since", nil, "check also against the checkpoint in this `FILE` (repeatable)")
	c.Flags().StringArrayVar(&anchors, "anchor", nil, "check also against every checkpoint in this `FILE` (repeatable)")
	c.Flags().StringArrayVar(&witnesses, "witness", nil, "also ask the witness at this `URL`, which an anchor configures (repeatable)")
	return c
}

func (a *app) auditVerify(ctx context.Context, log *audit.Log, files, witnesses []string) error {
	var given []audit.Statement
	for _, name := range files {
		st, err := audit.ReadStatement(a.path(name))
		if err != nil {
			return usage("%s: %v", name, err)
		}
		st.Name = "file " + name
		given = append(given, st)
	}
	rep, err := log.Verify(ctx, given...)
	if err != nil {
		if a.flags.json && ctx.Err() == nil {
			a.emitVerified(rep)
		}
		return err // that the log is broken is in the report
	}
	var unknown error // after the report: an address that no anchor has must not hide what the log is
	for _, url := range witnesses {
		if p, err := a.session.AskWitness(ctx, url); err == nil {
			rep.Add(p)
		} else {
			unknown = errors.Join(unknown, err)
		}
	}
	a.sayVerified(rep)
	// An anchor outside that does not answer, is gone, or holds nothing leaves open whether the log was rewritten.
	// Damaged tiles leave records without a proof.
	silent := func(p audit.Proven) bool {
		return p.Kind != "own" && (p.State == audit.ProvenUnreadable || p.State == audit.ProvenNone)
	}
	if rep.OK && rep.Names.Forged == 0 {
		if unknown == nil && (rep.Tiles != "" || rep.Events > 0 && slices.ContainsFunc(rep.Proven, silent)) {
			return &exitError{code: exitPartial}
		}
		return unknown
	}
	if !rep.OK && !rep.Acknowledged && log.Writable() != nil {
		a.sayf("no change is possible until `memdesk audit acknowledge --reason TEXT`")
	}
	if unknown != nil {
		a.sayf("%v", unknown)
	}
	return &exitError{code: exitTampered}
}

// sayVerified prints the result of a verification.
func (a *app) sayVerified(rep audit.Report) {
	if a.flags.json {
		a.emitVerified(rep)
		return
	}
	word := "intact"
	switch {
	case !rep.OK && rep.Acknowledged:
		word = "BROKEN, as an operator has noted"
	case !rep.OK:
		word = "BROKEN"
	}
	a.linef("the audit log is %s: %s in %s", word, plural(int64(rep.Events), "record"), plural(int64(rep.Segments), "segment"))
	if rep.Retired > 0 {
		a.linef("records 1 to %d were removed after their time, on record", rep.Retired)
	}
	a.linef("head: %s", orDash(rep.Head))
	a.fieldf("%s", rep.Reason)
	a.fieldf("%s", rep.Tiles)
	a.sayProven(rep.Proven)
	a.sayNames(rep.Names)
	for _, r := range rep.OpenIntents {
		a.linef("open intent: record %d, %s in %s at %s: the outcome is not known", r.Seq, r.Action, orDash(r.Store), when(r.TS))
	}
}

// chainRow says whether the log is unchanged.
type chainRow struct {
	OK             bool        `json:"ok"`
	Events         uint64      `json:"events"`
	Head           string      `json:"head"`
	Reason         string      `json:"reason"`
	FirstBad       uint64      `json:"first_bad"`
	Segments       int         `json:"segments"`
	Retired        uint64      `json:"retired"`
	OpenIntents    int         `json:"open_intents"`
	Acknowledged   bool        `json:"acknowledged"`
	TornBytes      int64       `json:"torn_bytes"`
	NamesOK        int64       `json:"names_ok"`
	NamesAbsent    int64       `json:"names_absent"`
	NamesForged    int64       `json:"names_forged"`
	NamesUnchecked int64       `json:"names_unchecked"`
	Tiles          string      `json:"tiles"`
	Anchors        []provenRow `json:"anchors"`
}

// provenRow is what a checkpoint outside the records proves.
type provenRow struct {
	By    string            `json:"by"`
	Kind  string            `json:"kind"`
	State audit.ProvenState `json:"state"`
	Seq   uint64            `json:"seq"`
	TS    stamp             `json:"ts"`
	Why   string            `json:"why"`
}

// emitVerified prints the report as one object.
func (a *app) emitVerified(rep audit.Report) {
	reason := rep.Reason
	if rep.OK && rep.Names.Forged > 0 {
		reason = forgedWords(rep.Names)
	}
	anchors := mapped(rep.Proven, func(p audit.Proven) provenRow { return provenRow{p.By, p.Kind, p.State, p.Seq, stamp(p.At), p.Why} })
	a.emit("verify", chainRow{OK: rep.OK && rep.Names.Forged == 0, Events: rep.Events, Head: rep.Head, Reason: reason, FirstBad: rep.FirstBad,
		Segments: rep.Segments, Retired: rep.Retired, OpenIntents: len(rep.OpenIntents), Acknowledged: rep.Acknowledged, TornBytes: rep.Torn,
		NamesOK: rep.Names.OK, NamesAbsent: rep.Names.Absent, NamesForged: rep.Names.Forged, NamesUnchecked: rep.Names.Unchecked, Tiles: rep.Tiles, Anchors: anchors})
}

// sayNames reports on the clear names, which the chain of hashes does not cover.
func (a *app) sayNames(n audit.Names) {
	if n.Forged > 0 {
		a.linef("NAMES ALTERED: %s; they are not shown", forgedWords(n))
	}
	have := func(n int64) string {
		if n == 1 {
			return "1 record has"
		}
		return plural(n, "record") + " have"
	}
	if n.Absent > 0 {
		a.linef("%s no clear name: erased with a person, never kept, or taken away", have(n.Absent))
	}
	if n.Unchecked > 0 {
		a.linef("%s a name that cannot be checked: the key of its time is gone", have(n.Unchecked))
	}
}

// forgedWords say which clear names were altered.
func forgedWords(n audit.Names) string {
	return fmt.Sprintf("of %s beside the log the record has another, first at record %d", plural(n.Forged, "name"), n.FirstForged)
}

// sayProven prints what each anchor proves.
func (a *app) sayProven(all []audit.Proven) {
	outside, silent := false, false
	for _, c := range a.session.Config.Audit.Anchors {
		name := audit.Anchor(c).Name()
		if c.Kind == "witness" && !slices.ContainsFunc(all, func(p audit.Proven) bool { return p.By == name }) {
			a.linef("%s: not asked; --witness %s asks it", name, c.URL)
			silent = true
		}
	}
	for _, p := range all {
		outside = outside || p.Kind != "own" && p.Seq > 0
		switch p.State {
		case audit.ProvenHolds:
			a.linef("%s: records 1 to %d are as they were on %s", p.By, p.Seq, when(p.At))
		case audit.ProvenBroken:
			a.linef("%s: BROKEN: %s", p.By, p.Why)
			if p.Seq > 0 {
				a.linef("%s: records 1 to %d are as they were", p.By, p.Seq)
			}
		default:
			a.linef("%s: proves nothing: %s", p.By, p.Why)
		}
	}
	if !outside && !silent {
		a.linef("no anchor outside vouches for the log: whoever owns the files can rewrite it")
	}
}
