// Package quarantine is the pane of what scanners have set aside, and of the stories in it.
package quarantine
