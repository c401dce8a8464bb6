package cli

import (
	"github.com/spf13/pflag"

	"memdesk/operator"
)

// itemFilterFlags are the flags of operator.ItemFilter.
type itemFilterFlags struct {
	operator.ItemFilter
	since, until, archived string
}

func (f *itemFilterFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.Subject, "subject", "", "only what concerns this person (`ID`), by the store's own keys")
	fl.StringVar(&f.Type, "type", "", "only items of this `TYPE` or kind")
	fl.StringVar(&f.since, "since", "", "only what changed at this `TIME` or later (2026-05-21 or 2026-05-21T10:00:00Z)")
	fl.StringVar(&f.until, "until", "", "only what changed before this `TIME`")
	fl.Float64Var(&f.Confidence, "confidence", 0, "only items of this confidence or more, `0..1`")
	fl.StringVar(&f.archived, "archived", "", "`also|only` items that the store's own search skips")
}

// filter reads the flags.
func (f *itemFilterFlags) filter() (out operator.ItemFilter, err error) {
	out = f.ItemFilter
	out.Archived = operator.Archived(f.archived)
	if out.Since, err = parseTime(f.since); err != nil {
		return out, err
	}
	if out.Until, err = parseTime(f.until); err != nil {
		return out, err
	}
	return out, out.Check()
}
