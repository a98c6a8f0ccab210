// oxbow load.

package command

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/mdtree"
	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) loadCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "load DIR",
		Short: "Read a dump, with your edits, back in",
		Long: `Load makes the memory say what the files below DIR say, all in one change.
With --merge, the default, entries that have no file stay; with --replace they
are forgotten. Nothing is changed when any file is wrong. A load can be undone.`,
		Example: `  oxbow load brain --dry-run
  oxbow load brain
  oxbow load brain --replace --prune
  oxbow undo                     takes it back`,
		Args:              args(1, 1, "one directory"),
		ValidArgsFunction: completeDir,
	}
	flags := newFlags[tool.LoadIn](c)
	c.RunE = func(cmd *cobra.Command, args []string) (err error) {
		in := tool.LoadIn{Dir: args[0]}
		if err := flags.fill(&in); err != nil {
			return err
		}
		switch {
		case in.Merge && in.Replace:
			return misusef("give one of them", "--merge and --replace contradict each other")
		case in.Prune && !in.Replace:
			return misusef("add --replace", "--prune means something with --replace only")
		}
		if in.Path, err = a.treePath(in.Dir); err != nil {
			return err
		}
		p := a.progress("reading")
		in.Progress = p.set
		out, err := attempt(cmd.Context(), a, tool.Load, in)
		p.end()
		switch {
		case errors.Is(err, mdtree.ErrNoTree) && errors.Is(err, fs.ErrNotExist):
			return &hinted{err, "check the path; oxbow dump makes such a directory"}
		case errors.Is(err, mdtree.ErrNoTree):
			return &hinted{err, "oxbow dump makes such a directory; for other Markdown files: oxbow import " + quote(in.Dir)}
		case errors.Is(err, mdtree.ErrMissing):
			return &hinted{err, "if they were deleted on purpose, add --prune; else dump again, or copy the tree anew"}
		case err != nil:
			return err
		}
		return answer(a, out, a.showLoaded)
	}
	return c
}

func (a *app) showLoaded(out tool.LoadOut) {
	for _, w := range out.Warnings {
		a.note("%s", clean(w))
	}
	did := "loaded"
	if out.DryRun {
		did = "would load"
		for _, l := range []struct {
			mark  string
			names []string
		}{{"+", out.Added}, {"~", out.Changed}, {"-", out.Removed}} {
			for _, name := range l.names {
				a.printf("%s %s\n", l.mark, name)
			}
		}
	}
	a.printf("%s %s: %d added, %d changed, %d removed, %d the same\n",
		did, out.Dir, len(out.Added), len(out.Changed), len(out.Removed), out.Same)
	switch {
	case out.DryRun:
		a.note("dry run: nothing was changed")
	case len(out.Added)+len(out.Changed)+len(out.Removed) > 0:
		a.note("undo it with: oxbow undo")
	}
}
