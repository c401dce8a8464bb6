// Package sshd serves the console over SSH: one console session per channel, public keys only, no shell, no
// command, no file transfer, no forwarding. It knows the operator and the role; it opens no store and changes
// nothing.
package sshd
