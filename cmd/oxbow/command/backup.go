// oxbow backup.

package command

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) backupCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the memory to a file, while others use it",
		Long: `Backup copies the memory as it is at one moment to a new file, with all its
history, makes the copy durable, and reads it again to check it. Others may go
on writing. To look into a copy, give it as the home. To go back to it, end
the programs that have the memory open, copy it over memory.oxbow, and run
oxbow recover --accept. The archive of sessions is a file of its own, which
--sessions copies.`,
		Example: `  oxbow backup ~/backups/memory-20260418.oxbow
  oxbow backup /mnt/stick/memory.oxbow --force    # replaces the copy there
  oxbow --home ~/backups/memory-20260418.oxbow list`,
		Args: args(1, 1, "the name of the new file"),
	}, tool.Backup, func(in *tool.BackupIn, _ *flagSet, args []string) (err error) {
		in.File, err = a.outputPath(args[0])
		return err
	}, func(out tool.BackupOut) {
		a.printf("copied %s to %s: %s, change %d, %s\n", out.Store, out.File, count(out.Entries, "entry", "entries"), out.Last, bytesText(out.Bytes))
		a.printf("head %s\n", out.Head)
		a.note("to look into it: oxbow --home %s list", quote(out.File))
		if out.Left != "" {
			a.note("past sessions are not in it, but in %s: oxbow backup --sessions FILE copies them", out.Left)
		}
		if len(out.Problems) > 0 {
			a.printf("the copy has %s:\n", count(len(out.Problems), "problem", "problems"))
			a.showProblems(out.Problems)
		}
	})
}
