// This file implements the command "oxbow doctor".

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/setup"
	"github.com/oxbow-memory/oxbow/internal/verb/clients"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func doctorCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "doctor",
		Short: "Find problems of the home and the clients, and how to repair them",
		Long: `Doctor checks the memory and its environment: how the home was found, which
homes your MCP clients use, the file system, space, permissions, the lock, the
clock, the version, leftover files, and whether the memory opens and is the
newest state. It changes nothing. The exit status is 1 if there is a problem,
but not if there are only warnings.`,
		Example: `  oxbow doctor
  oxbow doctor --full            # also reads every byte, as oxbow check does
  oxbow doctor --json`,
	}, limitHeapGrowth(maintenance.DiagnoseMemory), func(in *maintenance.DoctorIn, _ *flagSet, _ []string) error {
		in.Clients = mem.newClientInspection()
		return nil
	})
}

// newClientInspection returns an inspection that examines how clients are set up. It returns nil if necessary facts
// about the machine are not known.
func (mem *lazyMemory) newClientInspection() *setup.Inspection {
	var in clients.SetupIn
	place, err := mem.finder.memoryPlace()
	if err != nil || mem.fillSetupInput(&in) != nil {
		return nil
	}
	return in.Inspection(place)
}
