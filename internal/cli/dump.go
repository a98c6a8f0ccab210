// This file implements the command "oxbow dump".

package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/internal/verb/transfer"
)

func dumpCommand(mem *lazyMemory) *cobra.Command {
	return setUpFlagsAndArgs(&cobra.Command{
		Use:   "dump DIR",
		Short: "Write all entries as Markdown files, which you can edit",
		Long: `Dump writes each entry as a Markdown file below DIR, with a table of contents.
The result is an mdbook, which people can read and edit and which you can keep
in git. Files that are up to date are not written again. After you have edited
files, load brings the edits into the memory. Only you can read the files. To
let others read them, use chmod: later dumps keep the mode.`,
		Example: `  oxbow dump brain
  git -C brain diff`,
		Args: requireArgCount(1, 1, "one directory"),
	}, func(ctx context.Context, in transfer.DumpIn, args []string) (err error) {
		in.Dir = args[0]
		in.AbsoluteDir, err = mem.outputPath(in.Dir)
		if err == nil {
			in.AbsoluteDir, err = mem.env.resolveTreeDir(in.Dir)
		}
		if err != nil {
			return err
		}
		out, err := callVerbRawError(ctx, mem, transfer.DumpEntries, in)
		switch {
		case errors.Is(err, mdtree.ErrNotDumpDir):
			return &hintedError{
				err,
				"choose another directory; or, if what is in it may be mixed with the dump, add --force",
			}
		case errors.Is(err, mdtree.ErrFilesEdited):
			return &hintedError{err, "to keep the edits: oxbow load " + shellQuote(in.Dir) +
				"; to replace the files, and keep a copy of each, add --force"}
		case err != nil:
			return err
		}
		return printResult(mem, out, answerPrinter[transfer.DumpOut](mem))
	})
}

// resolveTreeDir returns the absolute path of the directory for a file tree. It returns an error if the path is empty,
// a root directory, or a file.
func (env *environment) resolveTreeDir(dir string) (string, error) {
	if dir == "" {
		return "", usageErrorf(
			"a script's variable may be unset; . is the working directory",
			"the path of the directory is empty",
		)
	}
	path, err := env.absolutePath(dir)
	if err != nil {
		return "", err
	}
	if filepath.Dir(path) == path {
		return "", usageErrorf("name a directory in it", "%s is the root of a file system", path)
	}
	if fi, err := os.Stat(path); err == nil && !fi.IsDir() {
		return "", usageErrorf(
			"name a directory; for a file: oxbow import FILE, oxbow export FILE",
			"%s is not a directory",
			dir,
		)
	}
	return path, nil
}
