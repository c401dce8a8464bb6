package model_test

import (
	"testing"

	"memdesk/model"
)

// TestWrapSaysOneVerb: the operator knows which act was asked for, and not which step of a backend refused.
func TestWrapSaysOneVerb(t *testing.T) {
	err := model.Wrap("retain", model.Errorf(model.InvalidInput, "update", "tier %q is unknown", "foo"))
	if got := err.Error(); got != `retain: tier "foo" is unknown` || model.KindOf(err) != model.InvalidInput {
		t.Error(got)
	}
}
