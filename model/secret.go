package model

import "fmt"

// Secret is a configuration value that never prints. Only Reveal returns it. The value is hidden in a
// function, because fmt prints the fields of an unexported struct field without asking its methods.
type Secret struct{ reveal func() string }

// NewSecret wraps a value.
func NewSecret(v string) Secret {
	if v == "" {
		return Secret{}
	}
	return Secret{reveal: func() string { return v }}
}

// Reveal returns the value, for the one place that sends it.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// IsSet reports whether there is a value.
func (s Secret) IsSet() bool { return s.reveal != nil }

// String prints asterisks.
func (s Secret) String() string { return "***" }

// GoString prints asterisks.
func (s Secret) GoString() string { return "***" }

// Format prints asterisks for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("***")) }

// MarshalText encodes as asterisks.
func (s Secret) MarshalText() ([]byte, error) { return []byte("***"), nil }
