// Package audit is the pane that reads the audit log.
package audit
