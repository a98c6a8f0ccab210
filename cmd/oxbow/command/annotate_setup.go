// This file holds the commands that make git merge annotations: setup, and the
// merge driver that git runs.

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/annotate"
	"github.com/oxbow-memory/oxbow/vfs"
)

// setupOut is what setup did, as JSON.
type setupOut struct {
	DryRun     bool         `json:"dry_run,omitempty"`
	Attributes setupLineOut `json:"attributes"`
	Driver     struct {
		Installed  bool              `json:"installed"`
		Config     map[string]string `json:"config"`
		Attributes setupLineOut      `json:"attributes"`
	} `json:"driver"`
}

// setupLineOut is a line of a file of attributes.
type setupLineOut struct {
	File  string `json:"file"`
	Line  string `json:"line"`
	There bool   `json:"there"` // before
}

func (a *app) annotateSetupCommand() *cobra.Command {
	var install, dry bool
	c := &cobra.Command{
		Use:   "setup",
		Short: "Have git merge the annotations of two branches",
		Long: `Setup adds a line to .gitattributes, by which git joins the annotations that two
branches made of one file. Commit it. It also says how to make oxbow itself the
merge driver of this clone, which takes out what stands twice and sets damaged
lines aside; --install does that. Nothing else of the repository is changed.`,
		Example: `  oxbow annotate setup --dry-run
  oxbow annotate setup
  oxbow annotate setup --install`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withBook(cmd.Context(), func(ctx context.Context, b *annotate.Store) error {
				s, err := b.Setup(ctx, a.driverCommand(), install, dry)
				switch {
				case errors.Is(err, oxbow.ErrUnsupported):
					return &hinted{err, "run it inside a git repository; without git there is nothing to set up"}
				case errors.Is(err, oxbow.ErrInvalid):
					return &hinted{err, "nothing was written to that file"}
				case err != nil:
					return err
				}
				if a.json {
					out := setupOut{DryRun: dry, Attributes: setupLineOut(s.Attributes)}
					out.Driver.Installed = s.Local.There || install && !dry
					out.Driver.Attributes = setupLineOut(s.Local)
					out.Driver.Config = map[string]string{}
					for _, kv := range s.Config {
						out.Driver.Config[kv[0]] = kv[1]
					}
					return a.printJSON(out)
				}
				a.showSetup(s, install, dry)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&install, "install", false, "also make oxbow the merge driver of this clone")
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would be written, and change nothing")
	return c
}

// driverCommand is how a shell that git starts runs the merge driver. A percent
// sign is git's own.
func (a *app) driverCommand() string {
	program := "oxbow"
	if _, err := exec.LookPath(program); err != nil && a.env.Executable != "" {
		program = "'" + strings.ReplaceAll(filepath.ToSlash(a.env.Executable), "'", `'\''`) + "'"
	}
	return strings.ReplaceAll(program, "%", "%%") + " annotate merge-driver"
}

func (a *app) showSetup(s annotate.Setup, install, dry bool) {
	line := func(l annotate.AttributeLine) {
		word := "added to"
		switch {
		case l.There:
			a.printf("%s has git merge annotations already\n", oneLine(l.File))
			return
		case dry:
			word = "would be added to"
		}
		a.printf("%s %s:\n  %s\n", word, oneLine(l.File), l.Line)
	}
	line(s.Attributes)
	if install {
		line(s.Local)
		word := "set in"
		if dry {
			word = "would be set in"
		}
		a.printf("%s the config of this clone:\n", word)
		for _, kv := range s.Config {
			a.printf("  %s = %s\n", kv[0], kv[1])
		}
		return
	}
	if a.quiet || s.Local.There {
		return
	}
	a.printf("to make oxbow the merge driver of this clone: oxbow annotate setup --install, or\n")
	for _, kv := range s.Config {
		a.printf("  git config %s %s\n", kv[0], quote(kv[1]))
	}
	a.printf("  echo %s >> %s\n", quote(s.Local.Line), quote(s.Local.File))
}

func (a *app) mergeDriverCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "merge-driver BASE OURS THEIRS [NAME]",
		Short: "Merge three versions of a sidecar (git runs this)",
		Long: `Merge-driver joins the annotations of OURS and THEIRS, which both come from
BASE, and writes them to OURS, as git wants of a merge driver (%O %A %B %P).
Lines that cannot be read are kept beside NAME, the path of the sidecar, in
NAME.damaged; without a NAME, at the end of OURS.`,
		Example: `  git config merge.oxbow.driver 'oxbow annotate merge-driver %O %A %B %P'`,
		Args:    args(3, 4, "BASE, OURS and THEIRS, and may be the NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			name := ""
			if len(args) == 4 {
				name = args[3]
			}
			return a.mergeDriver(args[0], args[1], args[2], name)
		},
	}
}

// maxMerged bounds each of the versions, in bytes.
const maxMerged = 256 << 20

func (a *app) mergeDriver(base, ours, theirs, name string) error {
	var texts [3][]byte
	for i, file := range []string{base, ours, theirs} {
		path, err := a.abs(file)
		if err != nil {
			return err
		}
		dir, err := vfs.Dir(filepath.Dir(path))
		if err != nil {
			return fmt.Errorf("merging annotations: %w", err)
		}
		texts[i], err = vfs.ReadFile(dir, filepath.Base(path), maxMerged)
		if err = errors.Join(err, dir.Close()); err != nil {
			return fmt.Errorf("merging annotations: %w", err)
		}
	}
	m := annotate.Merge(texts[0], texts[1], texts[2])
	if len(m.Unreadable) > 0 && name == "" {
		m.Data = append(m.Data, m.Unreadable...)
	} else if len(m.Unreadable) > 0 {
		if err := a.setAside(name, m.Unreadable); err != nil {
			return fmt.Errorf("merging annotations: keeping damaged lines: %w", err)
		}
	}
	path, err := a.abs(ours)
	if err != nil {
		return err
	}
	dir, err := vfs.Dir(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("merging annotations: %w", err)
	}
	if err := errors.Join(vfs.WriteFile(dir, filepath.Base(path), m.Data, 0o644), dir.Close()); err != nil {
		return fmt.Errorf("merging annotations: %w", err)
	}
	return nil
}

// setAside adds the damaged lines to the file NAME.damaged, below the working
// directory, which git makes the root of the tree.
func (a *app) setAside(name string, lines []byte) (err error) {
	if err := annotate.CheckFile(filepath.ToSlash(name)); err != nil {
		return err
	}
	name = filepath.ToSlash(name) + ".damaged"
	wd, err := a.env.Getwd()
	if err != nil {
		return err
	}
	dir, err := vfs.Dir(wd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	old, err := vfs.ReadFile(dir, name, maxMerged)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	have := map[string]bool{}
	for l := range strings.Lines(string(old)) {
		have[l] = true
	}
	n := 0
	for l := range strings.Lines(string(lines)) {
		if !have[l] {
			old = append(old, l...)
		}
		n++
	}
	if err := vfs.WriteFile(dir, name, old, 0o644); err != nil {
		return err
	}
	a.warn("%s of %s cannot be read: kept in %s", count(n, "line", "lines"), clean(strings.TrimSuffix(name, ".damaged")), clean(name))
	return nil
}
