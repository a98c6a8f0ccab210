// This file reads the version and the build information of this program.

package cli

import (
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// programVersion returns the program's version. The build information is decoded only once, because a server needs the
// version for each request.
var programVersion = sync.OnceValue(versionFromBuildInfo)

func versionFromBuildInfo() verb.Version {
	v := verb.Version{
		Version: "(devel)", FileFormat: wal.FormatVersion, GoVersion: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
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

// moduleVersion returns the version of oxbow's module, or "(devel)" if it is not known.
func moduleVersion() string { return programVersion().Version }
