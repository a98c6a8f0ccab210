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

func loadCommand(mem *openMemory) *cobra.Command {
	return setUpArguments(&cobra.Command{
		Use:   "load DIR",
		Short: "Read a dump, with your edits, back in",
		Long: `Load brings what you changed in the files below DIR into the memory, all in one
change. The dump that wrote them is the base: files that nobody edited change
nothing, and what only the memory changed or forgot since stays. Where both
changed the same entry, nothing is loaded and the files are named; --files-win
takes theirs. A directory without the manifest of a dump of this memory has no
base: there, every file wins over what the memory says. To take all files of an
old dump so, remove its .oxbow-manifest.json first.

With --merge, the default, entries whose file is gone stay; with --replace they
are forgotten, if --prune says that they were deleted on purpose. Nothing is
changed when any file is wrong: a file that lost all its text, or that has git's
conflict markers, is. oxbow undo takes a load back; where the layout keeps no
history, what it replaces is written to before-load-DATE.jsonl in the home
first.`,
		Example: `  oxbow load brain --dry-run
  oxbow load brain
  oxbow load brain --replace --prune`,
		Args: argCount(1, 1, "one directory"),
	}, func(ctx context.Context, in transfer.LoadIn, args []string) (err error) {
		in.Dir = args[0]
		switch {
		case in.Merge && in.Replace:
			return misusef("give one of them", "--merge and --replace contradict each other")
		case in.Prune && !in.Replace:
			return misusef("add --replace", "--prune means something with --replace only")
		}
		in.Path, err = mem.env.treePath(in.Dir)
		if err != nil {
			return err
		}
		out, err := attempt(ctx, mem, transfer.Load, in)
		switch {
		case errors.Is(err, mdtree.ErrNoTree) && errors.Is(err, fs.ErrNotExist):
			return &hintedError{err, "check the path; oxbow dump DIR makes such a directory"}
		case errors.Is(err, mdtree.ErrNoTree):
			return &hintedError{err, "oxbow dump DIR makes such a directory; for other Markdown files: oxbow import " +
				quote(in.Dir)}
		case errors.Is(err, mdtree.ErrDiverged):
			return &hintedError{
				err,
				"nothing was changed; compare them with oxbow get NAME, and make the files say what shall count; or " +
					"add --files-win to take what they say",
			}
		case errors.Is(err, mdtree.ErrMissing):
			return &hintedError{
				err,
				"if they were deleted on purpose, add --prune; else dump again, or copy the tree again",
			}
		case err != nil:
			return err
		}
		return answer(mem, out, show[transfer.LoadOut](mem))
	})
}
