// This file holds "oxbow version".

package command

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/wal"
)

// versionInfo says what this program was built from.
type versionInfo struct {
	Version  string `json:"version"`            // of the module, or (devel)
	Revision string `json:"revision,omitempty"` // of the version control system
	Time     string `json:"time,omitempty"`     // of the revision, RFC 3339
	Modified bool   `json:"modified,omitempty"` // built with changes that no revision has
	Format   int    `json:"format"`             // version of the file format it writes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func readVersion() versionInfo {
	v := versionInfo{Version: "(devel)", Format: wal.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
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

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which version this is",
		Example: `  oxbow version
  oxbow version --json`,
		Args: args(0, 0, "no arguments"),
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
