// This file implements the command "oxbow version".

package cli

import (
	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which version this is",
		Example: `  oxbow version
  oxbow version --json`,
		RunE: func(*cobra.Command, []string) error { return a.sayVersion() },
	}
}

func (a *app) sayVersion() error {
	v := readVersion()
	if a.json {
		return a.printJSON(v)
	}
	a.printf("%s %s\n", a.name, v.Version)
	if v.Revision != "" {
		changed := ""
		if v.Modified {
			changed = ", with changes"
		}
		a.printf("revision %s of %s%s\n", v.Revision, v.Time, changed)
	}
	a.printf("file format %d, %s, %s\n", v.Format, v.Go, v.Platform)
	return nil
}
