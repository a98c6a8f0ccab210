// This file implements the command "oxbow version".

package cli

import (
	"github.com/spf13/cobra"
)

func (t *terminal) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which version this is",
		Example: `  oxbow version
  oxbow version --json`,
		RunE: func(*cobra.Command, []string) error { return t.sayVersion() },
	}
}

func (t *terminal) sayVersion() error {
	v := readVersion()
	return t.print(v, func() { t.showReport(v.Report()) })
}
