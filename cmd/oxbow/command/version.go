// oxbow version: what this program was built from.

package command

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/tool"
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
	a.printf("oxbow %s\n", v.Version)
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

func readVersion() tool.Version {
	v := tool.Version{Version: "(devel)", Format: wal.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	bi, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if bi.Main.Version != "" {
		v.Version = bi.Main.Version
	}
	for _, s := range bi.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// moduleVersion returns the version of this module, or (devel).
func moduleVersion() string { return readVersion().Version }
