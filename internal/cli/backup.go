// This file implements the command "oxbow backup".

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/tree/backup"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func backupCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the memory to a file, while others use it",
		Long: `Backup copies the memory as it is at one moment to a new file, with all its
history, makes the copy durable, and reads it again to check it. Others may go
on writing. To look into a copy, give it as the home. To go back to it, end
the programs that have the memory open, copy it over memory.oxbow, and run
oxbow recover --accept. The archive of sessions is a file of its own, which
--sessions copies.

With --to the copy is a file of age, which only the owner of that key can read:
age-keygen makes a key, and keeps its secret half, without which the copy is
lost. It is encrypted as it is read, so that its text is never on the disk. The
memory is checked before, and the file is read again; --identity opens it to
compare, too. oxbow recover FILE and oxbow init --from FILE bring it back, and
age -d decrypts it.`,
		Example: `  oxbow backup ~/backups/memory-20260418.oxbow
  oxbow backup /mnt/stick/memory.oxbow --force    # replaces the copy there
  oxbow --home ~/backups/memory-20260418.oxbow list
  oxbow backup ~/backups/memory.age \
    --to age1cy0su9fwf3gf9mw868g5yut09p6nytfmmnktexz2ya5uqg9vl9sss4euqm
  oxbow backup ~/backups/memory.age --to ~/key.pub --identity ~/key.txt`,
		Args: argCount(1, 1, "the name of the new file"),
	}, maintenance.Backup, func(in *maintenance.BackupIn, _ *flagSet, args []string) (err error) {
		in.File, err = mem.outputPath(args[0])
		if err != nil {
			return err
		}
		for i, to := range in.To {
			if backup.IsKey(to) {
				continue
			}
			in.To[i], err = mem.env.absolutePath(to)
			if err != nil {
				return err
			}
		}
		return mem.env.keyFiles(&in.KeyFiles)
	})
}

// keyFiles makes the paths of key files absolute.
func (env *environment) keyFiles(o *maintenance.KeyFiles) (err error) {
	for _, file := range []*string{&o.Identity, &o.Passphrase} {
		if *file != "" && err == nil {
			*file, err = env.absolutePath(*file)
		}
	}
	return err
}
