//go:build !unix

package vitals

import "memdesk/model"

// Disk cannot be asked here.
func Disk(string) []model.HealthFinding { return nil }

// Unwritable cannot be asked here.
func Unwritable(string) string { return "" }
