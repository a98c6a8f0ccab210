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
	if t.json {
		return t.printJSON(v)
	}
	t.printf("%s %s\n", t.name, v.Version)
	if v.Revision != "" {
		changed := ""
		if v.Modified {
			changed = ", with changes"
		}
		t.printf("revision %s of %s%s\n", v.Revision, v.Time, changed)
	}
	t.printf("file format %d, %s, %s\n", v.Format, v.Go, v.Platform)
	return nil
}
