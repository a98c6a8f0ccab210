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
		RunE: func(*cobra.Command, []string) error { return env.sayVersion() },
	}
}

func (env *environment) sayVersion() error {
	v := readVersion()
	return env.print(v, func() { env.showReport(v.Report()) })
}
