// This file exports the command tree. The release command makes manual pages and completions from it.

package cli

import (
	"bytes"
	"os"
	"runtime"

	"github.com/spf13/cobra"
)

// Commands returns all commands with their help, for manual pages. The returned commands must not be run.
func Commands() *cobra.Command {
	return newLazyMemory(Env{GOOS: runtime.GOOS, Getenv: os.Getenv, Getwd: os.Getwd}).rootCommand(Run)
}

// CompletionScript returns the script that "oxbow completion" prints for a shell.
func CompletionScript(shell string) ([]byte, error) {
	var script bytes.Buffer
	err := writeCompletionScript(Commands(), shell, &script)
	return script.Bytes(), err
}
