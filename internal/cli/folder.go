// This file implements the command "oxbow folder", with the subcommands add, list, remove and sync.

package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/folders"
)

func folderCommand(mem *openMemory) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "folder",
		Short: "Follow directories of Markdown files that you go on editing",
		Long: `A folder is a directory of notes, such as a vault of Obsidian, which you
register once. Its files are compared whenever the memory is opened: edits,
renames, new and deleted files, and the copies that sync programs make in a
conflict are in the next recall. Nothing runs in the background.

A note has the label folder:NAME. If its file is deleted, the note is forgotten,
unless it was edited in the memory. If the whole directory is missing or empty,
or most files are gone, no note is forgotten before you say so with sync.`,
		Example: `  oxbow folder add ~/vault
  oxbow recall boats folder:vault
  oxbow folder list`,
	})
	c.AddCommand(folderAddCommand(mem), folderListCommand(mem), folderRemoveCommand(mem), folderSyncCommand(mem))
	return c
}

func folderAddCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "add DIR",
		Short: "Follow a directory of Markdown files",
		Long: `Add brings the notes in DIR into the memory, as oxbow import does, and follows
them from then on. Without --write, no file is ever changed.

With --write, what you or your agents change in the text of these notes is
written into the files, and a new note with the tag NAME becomes a file. If the
file was edited, too, its text stays, and the memory's text becomes a note of
its own. A note that is forgotten keeps its file. Add the folder again to change
your mind. oxbow folder remove NAME --forget takes all back.`,
		Example: `  oxbow folder add ~/vault
  oxbow folder add notes --write
  oxbow folder add ~/vault --dry-run`,
		Args: argCount(1, 1, "one directory"),
	}, folders.Add, func(in *folders.AddIn, _ *flagSet, args []string) (err error) {
		mem.leaveFolders()
		in.Dir = args[0]
		in.Path, err = mem.env.treePath(in.Dir)
		if err != nil {
			return err
		}
		if real, lerr := filepath.EvalSymlinks(in.Path); lerr == nil {
			in.Path = real
		}
		return nil
	})
}

func folderListCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "list",
		Short: "List the folders, and the files that could not be read",
		Example: `  oxbow folder list
  oxbow folder list --json`,
		Args: argCount(0, 0, ""),
	}, folders.List, func(*folders.ListIn, *flagSet, []string) error { mem.leaveFolders(); return nil })
}

func folderRemoveCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "remove FOLDER",
		Short: "Follow a folder no longer",
		Long: `Remove ends that the memory follows FOLDER, which is a name or a directory. The
files are not changed. The notes stay in the memory. With --forget they are
forgotten, except those that were edited in the memory; oxbow undo brings them
back.`,
		Example: `  oxbow folder remove vault
  oxbow folder remove vault --forget --dry-run`,
		Args: argCount(1, 1, "one folder"),
	}, folders.Remove, func(in *folders.RemoveIn, _ *flagSet, args []string) error {
		mem.leaveFolders()
		in.Folder, in.Path = args[0], mem.env.folderPath(args[0])
		return nil
	})
}

func folderSyncCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "sync [FOLDER]",
		Short: "Compare a folder now, or say that missing files were deleted",
		Long: `Sync compares FOLDER, or all folders, as each opening of the memory does, and
says what has changed. With --prune, the notes of all missing files are
forgotten, also if most files are gone or the directory is empty. oxbow undo
brings them back.`,
		Example: `  oxbow folder sync --dry-run
  oxbow folder sync vault --prune`,
		Args: argCount(0, 1, "one folder"),
	}, folders.Compare, func(in *folders.CompareIn, _ *flagSet, args []string) error {
		mem.leaveFolders()
		if len(args) > 0 {
			in.Folder, in.Path = args[0], mem.env.folderPath(args[0])
		}
		return nil
	})
}

// leaveFolders prevents that opening the memory compares the folders, because the command does this itself.
func (mem *openMemory) leaveFolders() {
	mem.folders.mu.Lock()
	defer mem.folders.mu.Unlock()
	mem.folders.isDone = true
}

// folderPath returns the path that a name refers to if it is a directory.
func (env *environment) folderPath(name string) string {
	path, err := env.absolutePath(name)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
