// This file holds "oxbow dump" and "oxbow load": the memory as a tree of
// Markdown files.

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/mdtree"
	"github.com/oxbow-memory/oxbow/vfs"
)

// dumpOut is what a dump did, as JSON.
type dumpOut struct {
	Dir       string `json:"dir"`
	Entries   int    `json:"entries"`
	Written   int    `json:"written"`
	Unchanged int    `json:"unchanged"`
	Removed   int    `json:"removed"`
}

// loadOut is what a load did, as JSON.
type loadOut struct {
	Dir      string   `json:"dir"`
	Mode     string   `json:"mode"` // merge or replace
	DryRun   bool     `json:"dry_run,omitempty"`
	Added    []string `json:"added"`
	Changed  []string `json:"changed"`
	Removed  []string `json:"removed"`
	Same     int      `json:"same"`
	Warnings []string `json:"warnings,omitempty"`
}

func (a *app) dumpCommand() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "dump DIR",
		Short: "Write all entries as Markdown files",
		Long: `Dump writes each entry as a Markdown file below DIR, and a table of contents:
an mdbook that people read and edit, and git keeps. Files that are right already
are not touched. What you change there, load brings back.`,
		Example: `  oxbow dump brain
  git -C brain diff`,
		Args: args(1, 1, "one directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.with(cmd.Context(), look, func(ctx context.Context, m *oxbow.Memory) error {
				return a.dump(ctx, m, args[0], force)
			})
		},
		ValidArgsFunction: completeDir,
	}
	c.Flags().BoolVar(&force, "force", false, "dump into a directory that was not made by a dump, or over changes that were not loaded")
	return c
}

func (a *app) loadCommand() *cobra.Command {
	var merge, replace, dry, prune bool
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
		Args: args(1, 1, "one directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case merge && replace:
				return misusef("give one of them", "--merge and --replace contradict each other")
			case prune && !replace:
				return misusef("add --replace", "--prune means something with --replace only")
			}
			o := &mdtree.PlanOptions{Mode: mdtree.Merge, Prune: prune}
			if replace {
				o.Mode = mdtree.Replace
			}
			return a.with(cmd.Context(), unlessDry(build, dry), func(ctx context.Context, m *oxbow.Memory) error {
				return a.load(ctx, m, args[0], o, dry)
			})
		},
		ValidArgsFunction: completeDir,
	}
	c.Flags().BoolVar(&merge, "merge", false, "keep entries that have no file (the default)")
	c.Flags().BoolVar(&replace, "replace", false, "forget entries that have no file")
	c.Flags().BoolVar(&prune, "prune", false, "with --replace: forget entries whose files were deleted since the dump, too")
	c.Flags().BoolVar(&dry, "dry-run", false, "show what would be changed and change nothing")
	return c
}

func completeDir(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// treeAt opens the directory above a tree and returns the tree's name in it.
func (a *app) treeAt(dir string) (*vfs.OS, string, error) {
	abs, err := a.abs(dir)
	if err != nil {
		return nil, "", err
	}
	parent, name := filepath.Dir(abs), filepath.Base(abs)
	if parent == abs {
		return nil, "", misusef("name a directory in it", "%s is the root of a file system", abs)
	}
	fsys, err := vfs.Dir(parent)
	if err != nil {
		return nil, "", err
	}
	return fsys, name, nil
}

func (a *app) dump(ctx context.Context, m *oxbow.Memory, dir string, force bool) (err error) {
	abs, err := a.abs(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o755); err != nil {
		return fmt.Errorf("dumping to %s: %w", dir, err)
	}
	fsys, name, err := a.treeAt(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fsys.Close()) }()
	p := a.progress("dumping")
	r, err := mdtree.Dump(ctx, m, fsys, name, &mdtree.DumpOptions{Force: force, Progress: p.set})
	p.end()
	switch {
	case errors.Is(err, mdtree.ErrForeign):
		return &hinted{err, "choose another directory; or, if what is in it may be mixed with the dump, add --force"}
	case errors.Is(err, mdtree.ErrEdited):
		return &hinted{err, "to keep the edits: oxbow load " + quote(dir) + "; to lose them, add --force"}
	case err != nil:
		return err
	}
	if a.json {
		return a.printJSON(dumpOut{dir, r.Entries, r.Written, r.Unchanged, r.Removed})
	}
	a.printf("dumped %s to %s: %d written, %d unchanged, %d removed\n",
		count(r.Entries, "entry", "entries"), dir, r.Written, r.Unchanged, r.Removed)
	if r.Recovered {
		a.note("an earlier dump that was interrupted was finished first")
	}
	return nil
}

func (a *app) load(ctx context.Context, m *oxbow.Memory, dir string, o *mdtree.PlanOptions, dry bool) (err error) {
	fsys, name, err := a.treeAt(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fsys.Close()) }()
	p := a.progress("reading")
	tree, err := mdtree.Read(fsys, name, &mdtree.ReadOptions{Progress: p.set})
	p.end()
	if errors.Is(err, mdtree.ErrNoTree) {
		h := "oxbow dump makes such a directory; for other Markdown files: oxbow import " + quote(dir)
		if errors.Is(err, fs.ErrNotExist) {
			h = "check the path; oxbow dump makes such a directory"
		}
		return &hinted{err, h}
	}
	if err != nil {
		return err
	}
	plan, err := tree.Plan(ctx, m, o)
	if errors.Is(err, mdtree.ErrMissing) {
		return &hinted{err, "if they were deleted on purpose, add --prune; else dump again, or copy the tree anew"}
	}
	if err != nil {
		return err
	}
	if !dry && len(plan.Ops) > 0 {
		if err := m.Apply(oxbow.WithNote(ctx, "load from "+dir), plan.Ops...); err != nil {
			return fmt.Errorf("loading %s: %w", dir, err)
		}
		defer a.index(ctx, m, len(plan.Ops))
	}
	out := loadOut{Dir: dir, Mode: "merge", DryRun: dry, Same: len(plan.Same),
		Added: orEmpty(plan.Added), Changed: orEmpty(plan.Changed), Removed: orEmpty(plan.Removed)}
	if o.Mode == mdtree.Replace {
		out.Mode = "replace"
	}
	for _, w := range tree.Warnings {
		out.Warnings = append(out.Warnings, w.String())
	}
	if a.json {
		return a.printJSON(out)
	}
	a.showLoaded(&out)
	return nil
}

func (a *app) showLoaded(out *loadOut) {
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

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
