package tracker

// The values of FOOLERY_BACKEND (B9).
const (
	BackendAuto  = "auto"
	BackendCLI   = "cli"
	BackendStub  = "stub"
	BackendBeads = "beads"
	BackendKnots = "knots"
)

// EnvBackend is the variable that forces one.
const EnvBackend = "FOOLERY_BACKEND"
