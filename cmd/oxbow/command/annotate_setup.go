// oxbow annotate setup, oxbow annotate merge-driver.

package command

import (
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) annotateSetupCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "setup",
		Short: "Have git merge the annotations of two branches",
		Long: `Setup adds a line to .gitattributes, by which git joins the annotations that two
branches made of one file. Commit it. It also says how to make oxbow itself the
merge driver of this clone, which takes out what stands twice and sets damaged
lines aside; --install does that. Nothing else of the repository is changed.`,
		Example: `  oxbow annotate setup --dry-run
  oxbow annotate setup
  oxbow annotate setup --install`,
	}, tool.SetupAnnotations, func(in *tool.SetupAnnotationsIn, _ *flagSet, _ []string) error {
		in.Command = a.driverCommand()
		return nil
	}, a.showSetup)
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

func (a *app) showSetup(out tool.SetupAnnotationsOut) {
	line := func(l tool.AttributeLine) {
		word := "added to"
		switch {
		case l.There:
			a.printf("%s has git merge annotations already\n", oneLine(l.File))
			return
		case out.DryRun:
			word = "would be added to"
		}
		a.printf("%s %s:\n  %s\n", word, oneLine(l.File), l.Line)
	}
	line(out.Attributes)
	local := out.Driver.Attributes
	if out.Install {
		line(local)
		word := "set in"
		if out.DryRun {
			word = "would be set in"
		}
		a.printf("%s the config of this clone:\n", word)
		for _, kv := range out.Driver.Settings {
			a.printf("  %s = %s\n", kv[0], kv[1])
		}
		return
	}
	if a.quiet || local.There {
		return
	}
	a.printf("to make oxbow the merge driver of this clone: oxbow annotate setup --install, or\n")
	for _, kv := range out.Driver.Settings {
		a.printf("  git config %s %s\n", kv[0], quote(kv[1]))
	}
	a.printf("  echo %s >> %s\n", quote(local.Line), quote(local.File))
}

func (a *app) mergeDriverCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "merge-driver BASE OURS THEIRS [NAME]",
		Short: "Merge three versions of a sidecar (git runs this)",
		Long: `Merge-driver joins the annotations of OURS and THEIRS, which both come from
BASE, and writes them to OURS, as git wants of a merge driver (%O %A %B %P).
Lines that cannot be read are kept beside NAME, the path of the sidecar, in
NAME.damaged; without a NAME, at the end of OURS.`,
		Example: `  git config merge.oxbow.driver 'oxbow annotate merge-driver %O %A %B %P'`,
		Args:    args(3, 4, "BASE, OURS and THEIRS, and may be the NAME"),
	}
	c.RunE = func(cmd *cobra.Command, args []string) (err error) {
		var in tool.MergeSidecarsIn
		for i, to := range []*string{&in.Base, &in.Ours, &in.Theirs} {
			if *to, err = a.abs(args[i]); err != nil {
				return err
			}
		}
		if _, err := a.outputPath(in.Ours); err != nil {
			return err
		}
		if in.Dir, err = a.env.Getwd(); err != nil { // git makes it the root of the tree
			return err
		}
		if len(args) == 4 {
			in.Name = args[3]
		}
		out, err := tool.MergeSidecars(cmd.Context(), nil, in)
		if err == nil && out.KeptIn != "" {
			a.warn("%s of %s cannot be read: kept in %s", count(out.Unreadable, "line", "lines"),
				clean(strings.TrimSuffix(out.KeptIn, ".damaged")), clean(out.KeptIn))
		}
		return err
	}
	return c
}
