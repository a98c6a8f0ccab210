// This file gives the command that builds releases what it needs for manual pages and completions.

package cli

import (
	"bytes"
	"os"
	"runtime"

	"github.com/spf13/cobra"
)

// Commands returns all commands with their help, so that manual pages can be made of them. They are not to be run.
func Commands() *cobra.Command {
	return newApp(Env{GOOS: runtime.GOOS, Getenv: os.Getenv, Getwd: os.Getwd}).root(Run)
}

// CompletionScript returns the script that "oxbow completion" prints for a shell.
func CompletionScript(shell string) ([]byte, error) {
	var script bytes.Buffer
	err := completionScript(Commands(), shell, &script)
	return script.Bytes(), err
}
