package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"memdesk/gdpr"
	"memdesk/gdpr/receipt"
	"memdesk/internal/atomicfile"
	"memdesk/model"
	"memdesk/operator"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) gdprVerifyCommand() *cobra.Command {
	key, aliases, all := "", []string(nil), false
	c := &cobra.Command{
		Use: "verify REQUEST|FILE [--alias A]...", Short: "Check a receipt offline, or look again at every layer",
		Long: "With a FILE (it exists, or holds a /) checks that the receipt is exactly as it was signed, and by whom; nothing\n" +
			"is opened. The key must be this desk's own, or the one of --key, which `gdpr receipt` names where the receipt\n" +
			"was made: anybody can sign with a key of their own. Exit 3 where the signature fits and nobody vouches for the key.\n" +
			"With a REQUEST looks again at every store and layer. The names of a complete one are gone: give the person's id\n" +
			"instead, and --alias for each other name. Items and texts are looked through by keyed hashes for those that are not\n" +
			"given too; the bytes of databases and their indexes are searched for those that are. Exit 7 for a changed receipt, a wrong key or residue.",
		RunE: func(cmd *cobra.Command, args []string) error {
			path := a.path(args[0])
			_, err := os.Stat(path)
			if strings.Contains(args[0], "/") || err == nil {
				if len(aliases) > 0 {
					return usage("--alias looks at stores, not at a receipt's file")
				}
				return a.verifyReceipt(cmd.Context(), path, key, all)
			}
			if key != "" {
				return usage("--key checks a receipt's file")
			}
			return a.verifyRequest(cmd.Context(), args[0], aliases, all)
		},
	}
	c.Flags().StringArrayVar(&aliases, "alias", nil, "another `NAME`, address or number of the person of a complete request (repeatable)")
	c.Flags().BoolVar(&all, "all", false, allLayers)
	c.Flags().StringVar(&key, "key", "", "the public key, or key id, that must have signed the receipt, in `HEX`")
	return c
}

func (a *app) verifyReceipt(ctx context.Context, path, pin string, all bool) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return model.Errorf(model.NotFound, "verify", "there is no such file")
	}
	text, err := a.readInput(ctx, path)
	if err != nil {
		return err
	}
	d := &gdpr.Desk{Clock: a.Clock}
	if s, err := a.base(); err == nil { // without one there is no key of its own
		d.State = s.State
	}
	rec, signer, err := d.CheckReceipt([]byte(text), pin)
	if errors.Is(err, receipt.ErrTampered) {
		a.emit("verify", badReceiptRow{Reason: err.Error()})
	}
	if err != nil {
		return err
	}
	a.printLayers(rec.Layers, all)
	a.emit("verify", signedRow{OK: signer.Known != "", Signature: "valid", Key: cmp.Or(signer.Known, "unknown"), Request: rec.Request, KeyID: signer.KeyID,
		PublicKey: signer.PublicKey, Subject: rec.Subject, PlanHash: rec.Plan, Begun: rec.Begun, Finished: rec.Finished,
		Forgotten: rec.Forgotten, Redacted: rec.Redacted, Held: receipt.Items(rec.Held), Status: rec.Status})
	switch signer.Known {
	case receipt.OwnKey:
		a.tellf("%s: as it was signed, with this desk's own key %s; finished %s", rec.Request, signer.KeyID, rec.Finished)
	case receipt.PinnedKey:
		a.tellf("%s: as it was signed, with the key that was asked for, %s; finished %s", rec.Request, signer.KeyID, rec.Finished)
	default:
		a.tellf("%s: as it was signed, but whose key %s is nobody here can say; finished %s", rec.Request, signer.KeyID, rec.Finished)
		return &exitError{exitPartial, errors.New("the receipt is not proven: this desk has no key of its own; give the key that must have signed it with --key")}
	}
	return nil
}

func (a *app) verifyRequest(ctx context.Context, id string, aliases []string, all bool) error {
	d, r, err := a.request(ctx, "", id)
	if err != nil {
		return err
	}
	if _, err := a.stores(ctx); err != nil {
		return err
	}
	typed := ""
	if id != r.ID {
		typed = id
	}
	out, err := d.Verify(ctx, r.ID, typed, aliases...)
	if err != nil {
		return err
	}
	a.printLayers(out, all)
	return verified(out)
}

// verified is the exit code of the layers that a verification found: partial where one is left open, or is out of
// scope and known to hold the person.
func verified(layers []receipt.Layer) error {
	open := false
	for _, l := range layers {
		if l.Verdict == model.VerdictResidue {
			return &exitError{code: exitTampered}
		}
		open = open || !receipt.Passes(l.Verdict) || l.HoldsPerson()
	}
	return partialIf(open)
}

func (a *app) gdprReceiptCommand() *cobra.Command {
	out, all := "", false
	c := &cobra.Command{
		Use: "receipt REQUEST --out FILE", Short: "The signed receipt of an erasure; as a page when FILE ends in .md",
		RunE: a.onRequest("", func(ctx context.Context, d *operator.Erasures, r gdpr.Due) error {
			if out == "" {
				return usage("--out is missing: where should the receipt go")
			}
			file, rec, key, err := d.Receipt(ctx, r.ID)
			if err != nil {
				return err
			}
			if strings.HasSuffix(strings.ToLower(out), ".md") {
				file = []byte(rec.Markdown(key, all))
			}
			if err := atomicfile.Write(a.path(out), file, 0o600); err != nil {
				return model.Errorf(model.Unavailable, "receipt", "%s cannot be written", filepath.Base(out))
			}
			a.result("receipt", receiptRow{r.ID, key, nilIfEmpty(d.PublicKey()), len(file)}, "%s: receipt written", r.ID)
			a.hintf("where nobody knows this desk: memdesk gdpr verify FILE --key %s (its key id)", key)
			return nil
		}),
	}
	c.Flags().StringVar(&out, "out", "", "the `FILE` to write")
	c.Flags().BoolVar(&all, "all", false, "on a page: "+allLayers)
	return c
}

// badReceiptRow is a receipt that is not as it was signed.
type badReceiptRow struct {
	OK     bool   `json:"ok"` // false
	Reason string `json:"reason"`
}

// signedRow is a receipt that is as it was signed.
type signedRow struct {
	OK        bool          `json:"ok"`        // somebody vouches for the key
	Signature string        `json:"signature"` // valid
	Key       receipt.Vouch `json:"key"`
	Request   string        `json:"request"`
	KeyID     string        `json:"key_id"`
	PublicKey string        `json:"public_key"`
	Subject   string        `json:"subject"` // pseudonym
	PlanHash  string        `json:"plan_hash"`
	Begun     string        `json:"begun"`
	Finished  string        `json:"finished"`
	Forgotten int64         `json:"forgotten"`
	Redacted  int64         `json:"redacted"`
	Held      int64         `json:"held"`
	Status    string        `json:"status"`
}

type receiptRow struct {
	Request   string  `json:"request"`
	KeyID     string  `json:"key_id"`
	PublicKey *string `json:"public_key"`
	Bytes     int     `json:"bytes"`
}
