package operator_test

import (
	"fmt"
	"testing"

	"memdesk/model"
	"memdesk/operator"
)

// TestARunThatEndedEarlyIsRetryable: its words say to call it again, and so must its fields.
func TestARunThatEndedEarlyIsRetryable(t *testing.T) {
	err := fmt.Errorf("%w: %w", operator.ErrEndedEarly, fmt.Errorf("job was cancelled"))
	if !model.IsRetryable(err) || model.KindOf(err) != model.Timeout {
		t.Errorf("%v is %s, retryable %v", err, model.KindOf(err), model.IsRetryable(err))
	}
}
