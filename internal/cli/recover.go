// This file implements the command "oxbow recover".

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func recoverCommand(mem *lazyMemory) *cobra.Command {
	var accept bool
	c := &cobra.Command{
		Use:   "recover [FILE]",
		Short: "Save the readable part of a damaged memory",
		Long: `Recover saves everything that can be read of a damaged memory in a new file,
and lists what was lost. It does not change the damaged file. With --replace,
the new file then takes the place of the damaged file, which is kept under
another name.

With a FILE, recover reads this backup instead of the memory. --identity names
the key of an encrypted backup. With --replace, the backup takes the place of
the memory, even if the memory is undamaged, and the memory is kept under
another name.

--accept is for a memory that went back to an earlier state, for example
because you restored a backup on purpose. The memory then continues from this
state.`,
		Example: `  oxbow recover
  oxbow --home .oxbow/memory.oxbow.recovered list    # look at what was saved
  oxbow recover --replace
  oxbow recover ~/backups/memory.age --identity ~/key.txt --out restored.oxbow
  oxbow recover --accept`,
		Args: requireArgCount(0, 1, "the backup to read; say --out FILE for another place"),
	}
	recoverStore := limitHeapGrowth(maintenance.Recover)
	setUpReportCommand(mem, c, recoverStore, func(in *maintenance.RecoverIn, _ *flagSet, args []string) (err error) {
		if err := mem.env.setBackupPaths(in, args); err != nil {
			return err
		}
		if in.Replace && in.Out != "" {
			return usageErrorf(
				"--replace puts the new file in the place of the damaged one",
				"give --out or --replace, not both",
			)
		}
		if in.Out != "" {
			in.Out, err = mem.outputPath(in.Out)
		}
		return err
	})
	c.Flags().BoolVar(&accept, "accept", false, "accept an older copy of the memory as the present memory")
	recover := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case !accept:
			return recover(cmd, args)
		case len(args) > 0, cmd.Flags().Changed("replace"), cmd.Flags().Changed("out"):
			return usageErrorf("recover first, then look whether there is something to accept", "--accept stands alone")
		}
		return callAndReport(cmd.Context(), mem, maintenance.AcceptRollback, maintenance.AcceptRollbackIn{})
	}
	return c
}

// setBackupPaths sets the paths of the backup and its key files from the arguments.
func (env *environment) setBackupPaths(in *maintenance.RecoverIn, args []string) (err error) {
	if len(args) == 0 {
		isAboutBackup := in.SessionArchiveOnly || in.Identity != "" || in.Passphrase != ""
		if isAboutBackup {
			return usageErrorf(
				"oxbow recover FILE names it",
				"--identity, --passphrase-file and --sessions are about a backup",
			)
		}
		return nil
	}
	in.File, err = env.absolutePath(args[0])
	if err != nil {
		return err
	}
	return env.resolveKeyFiles(&in.BackupKeyFiles)
}
