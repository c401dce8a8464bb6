package records

import (
	"testing"

	"memdesk/model"
)

// TestRealNumbersAreWrittenOut: a number with an exponent would hide a telephone number from an erasure.
func TestRealNumbersAreWrittenOut(t *testing.T) {
	const phone = "491511234567"
	if got := (Row{Cells: []any{491511234567.0}}).Text(0); got != phone {
		t.Errorf("as text it is %s", got)
	}
	c := cellOf("phone", 491511234567.0)
	if v, err := value(c); c.Type != model.CellReal || c.Value != phone || v != 491511234567.0 || err != nil {
		t.Errorf("kept as %+v, put back as %v, %v", c, v, err)
	}
}
