// This file implements the command "oxbow folder", with the subcommands add, list, remove and sync.

package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/folders"
)

func folderCommand(mem *lazyMemory) *cobra.Command {
	c := setUpCommandGroup(&cobra.Command{
		Use:   "folder",
		Short: "Follow directories of Markdown files that you keep editing",
		Long: `A folder is a directory of notes, such as an Obsidian vault, that you register
once. Whenever the memory is opened, oxbow compares its files. The next recall
then finds edits, renames, new and deleted files, and the conflict copies of
sync programs. Nothing runs in the background.

A note has the label folder:NAME. If you delete its file, the note is
forgotten, unless it was edited in the memory. If the whole directory is
missing or empty, or if most files are missing, oxbow keeps the notes until you
run oxbow folder sync --prune.`,
		Example: `  oxbow folder add ~/vault
  oxbow recall boats folder:vault
  oxbow folder list`,
	})
	c.AddCommand(folderAddCommand(mem), folderListCommand(mem), folderRemoveCommand(mem), folderSyncCommand(mem))
	return c
}

func folderAddCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "add DIR",
		Short: "Follow a directory of Markdown files",
		Long: `Add imports the notes in DIR, like oxbow import, and follows them from then on.
Without --write, oxbow never changes a file.

With --write, oxbow also writes changes of these notes into the files, whether
you or your agents made them, and a new note with the tag NAME becomes a file.
If the file was edited as well, its text stays, and the memory's text becomes a
separate note. If a note is forgotten, its file stays. To change this setting,
add the folder again. oxbow folder remove NAME --forget takes everything back.`,
		Example: `  oxbow folder add ~/vault
  oxbow folder add notes --write
  oxbow folder add ~/vault --dry-run`,
		Args: requireArgCount(1, 1, "one directory"),
	}, folders.Add, func(in *folders.AddIn, _ *flagSet, args []string) (err error) {
		mem.skipFolderSyncCheckAtOpen()
		in.Dir = args[0]
		in.DirPath, err = mem.env.resolveTreeDir(in.Dir)
		if err != nil {
			return err
		}
		if real, lerr := filepath.EvalSymlinks(in.DirPath); lerr == nil {
			in.DirPath = real
		}
		return nil
	})
}

func folderListCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "list",
		Short: "List the folders, and the files that could not be read",
		Example: `  oxbow folder list
  oxbow folder list --json`,
		Args: requireArgCount(0, 0, ""),
	}, folders.List, func(*folders.ListIn, *flagSet, []string) error { mem.skipFolderSyncCheckAtOpen(); return nil })
}

func folderRemoveCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "remove FOLDER",
		Short: "Stop following a folder",
		Long: `Remove stops following FOLDER, which is a name or a directory. It does not
change the files, and the notes stay in the memory. With --forget, it forgets
the notes, except for notes that were edited in the memory. oxbow undo brings
them back.`,
		Example: `  oxbow folder remove vault
  oxbow folder remove vault --forget --dry-run`,
		Args: requireArgCount(1, 1, "one folder"),
	}, folders.Remove, func(in *folders.RemoveIn, _ *flagSet, args []string) error {
		mem.skipFolderSyncCheckAtOpen()
		in.Folder, in.FolderPath = args[0], mem.env.existingFolderPath(args[0])
		return nil
	})
}

func folderSyncCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "sync [FOLDER]",
		Short: "Compare a folder now, or confirm that missing files were deleted",
		Long: `Sync compares FOLDER, or all folders, and prints the changes. This also happens
whenever the memory is opened. With --prune, the notes of all missing files are
forgotten, even if most files are missing or the directory is empty. oxbow undo
brings them back.`,
		Example: `  oxbow folder sync --dry-run
  oxbow folder sync vault --prune`,
		Args: requireArgCount(0, 1, "one folder"),
	}, folders.Sync, func(in *folders.SyncIn, _ *flagSet, args []string) error {
		mem.skipFolderSyncCheckAtOpen()
		if len(args) > 0 {
			in.Folder, in.FolderPath = args[0], mem.env.existingFolderPath(args[0])
		}
		return nil
	})
}

// skipFolderSyncCheckAtOpen makes this run open the memory without comparing the registered folders with it first. It
// is for the commands about folders, which compare the folders themselves if this is necessary.
func (mem *lazyMemory) skipFolderSyncCheckAtOpen() {
	mem.folderState.mu.Lock()
	defer mem.folderState.mu.Unlock()
	mem.folderState.areFoldersCompared = true
}

// existingFolderPath returns the absolute path of a folder. If the directory exists, the path contains no symbolic
// links. It returns "" if the path cannot be made absolute.
func (env *environment) existingFolderPath(name string) string {
	path, err := env.absolutePath(name)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
