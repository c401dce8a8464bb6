// Command memdesk is the operator's desk for AI-agent memory.
package main

import (
	"context"
	_ "embed"
	"os"
	"os/signal"
	"syscall"

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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal is the system's own: it ends the program at once
	p := cli.NewProgram(backends.Builtin())
	p.Version, p.Example = version, example
	return p.Run(ctx)
}
