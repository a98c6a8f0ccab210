// This file implements the command "oxbow version".

package cli

import (
	"github.com/spf13/cobra"
)

func versionCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Example: `  oxbow version
  oxbow version --json`,
		RunE: func(*cobra.Command, []string) error { return env.printVersion() },
	}
}

func (env *environment) printVersion() error {
	v := programVersion()
	return env.printOutput(v, func() { env.showReport(v.Report()) })
}
