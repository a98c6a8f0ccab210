// This file implements the command "oxbow backup".

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/tree/backup"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func backupCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the memory with its history to a file, while others use it",
		Long: `Backup copies the memory with all its history to a new file, syncs the copy to
disk, and reads it again to check it. Others may write meanwhile: the copy is
the state of a single moment. To look into a copy, name it with --home. To go
back to it, end all programs that use the memory, copy it over memory.oxbow,
and run oxbow recover --accept. --sessions copies the archive of sessions,
which is a separate file.

With --to, the copy is encrypted with age, and only the owner of the key can
read it. age-keygen makes a key. If you lose its secret half, the copy is lost.
The unencrypted text never reaches the disk. Backup checks the memory first,
and reads the file again afterwards. With --identity, it also decrypts the file
and compares it. oxbow recover FILE and oxbow init --from FILE restore the
copy, and age -d decrypts it.`,
		Example: `  oxbow backup ~/backups/memory-20260418.oxbow
  oxbow backup /mnt/stick/memory.oxbow --force    # replaces the copy there
  oxbow --home ~/backups/memory-20260418.oxbow list
  oxbow backup ~/backups/memory.age \
    --to age1cy0su9fwf3gf9mw868g5yut09p6nytfmmnktexz2ya5uqg9vl9sss4euqm
  oxbow backup ~/backups/memory.age --to ~/key.pub --identity ~/key.txt`,
		Args: requireArgCount(1, 1, "the name of the new file"),
	}, maintenance.Backup, func(in *maintenance.BackupIn, _ *flagSet, args []string) (err error) {
		in.File, err = mem.outputPath(args[0])
		if err != nil {
			return err
		}
		for i, to := range in.Recipients {
			if backup.IsEncryptionKey(to) {
				continue
			}
			in.Recipients[i], err = mem.env.absolutePath(to)
			if err != nil {
				return err
			}
		}
		return mem.env.resolveKeyFiles(&in.BackupKeyFiles)
	})
}

// resolveKeyFiles makes the paths of key files absolute.
func (env *environment) resolveKeyFiles(o *maintenance.BackupKeyFiles) (err error) {
	for _, file := range []*string{&o.Identity, &o.Passphrase} {
		if *file != "" && err == nil {
			*file, err = env.absolutePath(*file)
		}
	}
	return err
}
