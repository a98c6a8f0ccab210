// This file implements the command "oxbow load".

package cli

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/internal/verb/transfer"
)

func loadCommand(mem *lazyMemory) *cobra.Command {
	return setUpFlagsAndArgs(&cobra.Command{
		Use:   "load DIR",
		Short: "Read your edits of a dump",
		Long: `Load brings your edits of the files below DIR into the memory, in one change.
It compares the files with the dump that wrote them. Files that nobody edited
change nothing, and entries that only the memory changed or forgot stay as they
are in the memory. If both sides changed an entry, load merges their changes
line by line. If they changed the same lines, load changes nothing and names the
files. With --files-win, the files win. If a directory has no manifest of a dump
of this memory, every file wins. To load all files of an old dump in this way,
first remove its .oxbow-manifest.json.

By default (--merge), entries without a file stay. With --replace they are
forgotten, but entries whose files were deleted since the dump only with
--prune. If any file is wrong, load changes nothing: for example, a file that
lost all its text, or that contains git's conflict markers. If a file has text
in its block of data that cannot be loaded, load names that text, loads the
rest, and ends with exit status 1. oxbow undo takes a load back. If the layout
has no history, load first saves the old texts in before-load-DATE.jsonl.`,
		Example: `  oxbow load brain --dry-run
  oxbow load brain
  oxbow load brain --replace --prune`,
		Args: requireArgCount(1, 1, "one directory"),
	}, func(ctx context.Context, in transfer.LoadIn, args []string) (err error) {
		in.Dir = args[0]
		switch {
		case in.Merge && in.ReplaceMemory:
			return usageErrorf("give one of them", "--merge and --replace contradict each other")
		case in.ForgetDeleted && !in.ReplaceMemory:
			return usageErrorf("add --replace", "--prune means something with --replace only")
		}
		in.AbsoluteDir, err = mem.env.resolveTreeDir(in.Dir)
		if err != nil {
			return err
		}
		out, err := callVerbRawError(ctx, mem, transfer.LoadFiles, in)
		switch {
		case errors.Is(err, mdtree.ErrNoTree) && errors.Is(err, fs.ErrNotExist):
			return &hintedError{err, "check the path; oxbow dump DIR makes such a directory"}
		case errors.Is(err, mdtree.ErrNoTree):
			return &hintedError{err, "oxbow dump DIR makes such a directory; for other Markdown files: oxbow import " +
				shellQuote(in.Dir)}
		case errors.Is(err, mdtree.ErrDiverged):
			return &hintedError{
				err,
				"nothing was changed; compare them with oxbow get NAME, and make the files say what shall count; or " +
					"add --files-win to take what they say",
			}
		case errors.Is(err, mdtree.ErrFilesMissing):
			return &hintedError{
				err,
				"if they were deleted on purpose, add --prune; else dump again, or copy the tree again",
			}
		case err != nil:
			return err
		}
		return printResult(mem, out, answerPrinter[transfer.LoadOut](mem))
	})
}
