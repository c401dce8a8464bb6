package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"memdesk/audit"
	"memdesk/internal/atomicfile"
	"memdesk/model"
	"memdesk/operator"
)

func (a *app) auditCheckpointCommand() *cobra.Command {
	return outlives(&cobra.Command{
		Use: "checkpoint", Short: "Sign the log's head and print it: keep it elsewhere",
		Long: "Prints the signed head of the log (c2sp.org/tlog-checkpoint) and gives it to every anchor. A copy of it\n" +
			"proves later that nothing before it was changed: audit verify --since FILE. Damaged files of the tree over\n" +
			"the log (audit/tree/tile) are made again from the records first. All this is written, so --read-only refuses it.",
		RunE: a.onLog(func(ctx context.Context, log *audit.Log, _ []string) error {
			if a.flags.readOnly {
				return model.Refuse("checkpoint", "--read-only was given")
			}
			done, err := log.Regrow(ctx)
			if err != nil {
				return err
			}
			if done {
				a.sayf("the files of the tree over the log were damaged, and are made again from the records")
			}
			signed, err := log.Checkpoint(ctx)
			if err != nil {
				return err
			}
			missing := log.Push(ctx, true)
			signed = log.Cosigned(signed)
			if a.flags.json {
				a.emit("checkpoint", checkpointRow{string(signed)})
			} else if _, err := a.out.Write(signed); err != nil {
				return err
			}
			if missing == nil {
				return nil
			}
			return &exitError{exitPartial, fmt.Errorf("not every anchor has it: %s", strings.ReplaceAll(missing.Error(), "\n", "; "))}
		}),
	})
}

type checkpointRow struct {
	Checkpoint string `json:"checkpoint"`
}

type proofRow struct {
	Seq   uint64 `json:"seq"`
	Bytes int    `json:"bytes"`
}

func (a *app) auditProveCommand() *cobra.Command {
	out := ""
	c := &cobra.Command{
		Use: "prove SEQ --out FILE", Short: "Write the proof that a record stands in the log",
		Long: "Writes the record, its path in the tree and the signed checkpoint (c2sp.org/tlog-proof). Whoever has the\n" +
			"log's verifier key (audit key) checks it offline: memdesk-verify FILE --key KEYFILE.",
		RunE: a.onLog(func(ctx context.Context, log *audit.Log, args []string) error {
			seq, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil || seq == 0 || out == "" {
				return usage("give a record's sequence and --out FILE")
			}
			if _, err := log.Checkpoint(ctx); err != nil {
				return err
			}
			_ = log.Push(ctx, false) // a failure is reported at the end of the program
			p, err := log.Prove(ctx, seq)
			if err != nil {
				return err
			}
			p.Checkpoint = log.Cosigned(p.Checkpoint)
			file := p.Bytes()
			if err := atomicfile.Write(a.path(out), file, 0o644); err != nil {
				return err
			}
			a.emit("proof", proofRow{seq, len(file)})
			return nil
		}),
	}
	c.Flags().StringVar(&out, "out", "", "`FILE` for the proof (required)")
	return c
}

// keyRow is the log's verifier key. The earlier ones, the newest first, check what was signed before a rotation.
type keyRow struct {
	Key     string   `json:"key"`
	Earlier []string `json:"earlier"`
}

func (a *app) auditKeyCommand() *cobra.Command {
	rotate := false
	c := &cobra.Command{
		Use: "key", Short: "Print the log's verifier key; --rotate begins with another on record",
		Long: "Prints the key that checks the log's checkpoints, as name+hash+key, and below it the keys of before, for proofs\n" +
			"and receipts of their time. With --rotate the log goes on with another key: a record names it, and the next\n" +
			"checkpoint carries the signatures of both.",
		RunE: a.onLog(func(ctx context.Context, log *audit.Log, _ []string) error {
			if rotate {
				if err := a.agree(ctx, operator.RotateKey, "", "sign checkpoints with another key from now on?"); err != nil {
					return err
				}
				if err := a.session.RotateLogKey(ctx); err != nil {
					return err
				}
			}
			keys, err := log.VerifierKeys()
			if errors.Is(err, audit.ErrNoCheckpoint) {
				if _, err = log.Checkpoint(ctx); err == nil {
					keys, err = log.VerifierKeys()
				}
			}
			if err != nil {
				return err
			}
			slices.Reverse(keys)
			a.result("key", keyRow{keys[0], keys[1:]}, "%s", keys[0])
			for _, earlier := range keys[1:] {
				if !a.flags.json {
					a.linef("%s", earlier)
				}
			}
			return nil
		}),
	}
	c.Flags().BoolVar(&rotate, "rotate", false, "make another key")
	return a.asks(c)
}

// retiredRow counts the records that went after their retention.
type retiredRow struct {
	Records int64 `json:"records"`
	Before  stamp `json:"before"`
}

func (a *app) auditRetireCommand() *cobra.Command {
	before := ""
	c := &cobra.Command{
		Use: "retire --before DATE", Short: "Remove old segments of the log after their retention time, on record",
		Long: "Removes the sealed segments whose records are all older than DATE, and the clear names of those records. A record\n" +
			"says which; the hashes of the tree stay, so that every proof and every anchored checkpoint of before still holds.\n" +
			"Every anchor must have the newest checkpoint first. An act without an outcome stays, and so does all from\n" +
			"the day on which the oldest open erasure request was filed; the policy of erasures is recorded anew.",
		RunE: a.onLog(func(ctx context.Context, _ *audit.Log, _ []string) error {
			if before == "" {
				return usage("give --before DATE: what is older goes")
			}
			at, err := operator.ParseTime("before", before, a.Clock.Now())
			if err != nil {
				return usage("%v", err)
			}
			if at.After(a.Clock.Now()) {
				return usage("--before %s is still to come: records of today stay", before)
			}
			if err := a.agree(ctx, operator.RetireLog, "", "remove the log's segments from before "+before+"? They cannot be put back."); err != nil {
				return err
			}
			n, upTo, err := a.session.RetireLog(ctx, at, a.flags.reason)
			if err != nil {
				return err
			}
			if upTo.Before(at) {
				a.sayf("records from %s on stay: the erasure request that was filed then is still open", upTo.UTC().Format(time.RFC3339Nano))
			}
			a.result("retired", retiredRow{n, stamp(upTo)}, "removed %s", plural(n, "record"))
			return nil
		}),
	}
	c.Flags().StringVar(&before, "before", "", "the `DATE` up to which records go (required)")
	c.Flags().StringVar(&a.flags.reason, "reason", "", "a `TEXT` for the audit log: why")
	return a.asks(c)
}
