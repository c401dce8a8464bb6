// Package quarantine is the pane of quarantine entries and of their stories.
package quarantine
