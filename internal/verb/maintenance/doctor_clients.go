// This file checks the configuration of the agents' clients, for the verb doctor.

package maintenance

import (
	"context"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/setup"
)

// checkClients adds findings about the clients that are set up to the diagnosis. The argument in is the inspection of
// the clients. If it is nil, checkClients uses an inspection that starts no servers. If the user's home directory is
// unknown, checkClients adds nothing.
func (d *diagnosis) checkClients(ctx context.Context, in *setup.Inspection) {
	if in == nil {
		in = d.clientInspection()
	}
	if in.Machine.UserHomeDir == "" {
		return
	}
	for _, f := range in.Findings(ctx) {
		d.addFinding(f.Level, "clients", f.Mend, "%s", f.Message)
	}
}

// clientInspection returns an inspection of the AI clients' setup. The inspection does not start the oxbow servers that
// the clients are configured to start, because the field Start is not set.
func (d *diagnosis) clientInspection() *setup.Inspection {
	host := d.workspace.Host
	user := host.Getenv("HOME")
	if host.GOOS == "windows" {
		user = host.Getenv("USERPROFILE")
	}
	return &setup.Inspection{
		Machine: setup.Machine{Getenv: host.Getenv, GOOS: host.GOOS, UserHomeDir: user, ProjectDir: d.workspace.Dir,
			StateDir: filepath.Join(host.TrustList.Dir, "setup")},
		Options:          setup.Options{Executable: host.Executable, Home: d.memoryPlace.ClientHome},
		Home:             d.memoryPlace.Home,
		HomeChoiceReason: d.memoryPlace.HomeChoiceReason,
	}
}
