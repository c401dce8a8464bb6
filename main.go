// Command memdesk is the operator's desk for AI-agent memory.
package main

import (
	_ "embed"
	"os"

	"memdesk/backends"
	"memdesk/ui/cli"
)

// version is set by the linker for a release.
var version = "0.1.0-dev"

//go:embed config.toml.example
var example string

func main() {
	os.Exit(run())
}

func run() int {
	p := cli.NewProgram(backends.Builtin())
	p.Version, p.Example = version, example
	return p.RunProcess()
}
