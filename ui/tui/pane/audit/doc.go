// Package audit is the pane that reads the operator log.
package audit
