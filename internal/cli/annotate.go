// This file implements the command "oxbow annotate", and its subcommands that maintain annotations: setup,
// merge-driver, gc, stats and recover.

package cli

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
)

// acceptReasonArgument changes the command c, so that a second argument is accepted as the reason. The argument is
// stored in *reason and is removed from the arguments before c runs. If the flag --why is also set, c returns a usage
// error.
func acceptReasonArgument(c *cobra.Command, reason *string) {
	annotateLines := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 2 {
			if cmd.Flags().Changed("why") {
				return usageErrorf(
					"leave one of them out",
					"the reasoning is given twice, as an argument and with --why",
				)
			}
			*reason, args = args[1], args[:1]
		}
		return annotateLines(cmd, args)
	}
}

func annotateCommand(mem *lazyMemory) *cobra.Command {
	var why, model string
	var rejected []string
	var from annotations.AnnotateTranscriptsIn
	c := &cobra.Command{
		Use:   "annotate FILE:A-B TEXT",
		Short: "Store the reason for lines of code",
		Long: `Annotate stores the reason for the lines A to B of a file, as they are now. The
annotation is stored next to the code, in .oxbow/annotations of the repository,
or in .cr/annotations if the home has the layout coderhapsody. Commit it with
the code. oxbow why finds the annotation even after the lines were moved or
edited, or the file was renamed.

With --from-transcript, annotate reads a transcript, and stores the text that
an agent wrote before each edit as the reason for the edited lines. Claude Code
keeps transcripts in ~/.claude/projects, Codex in ~/.codex/sessions, Gemini CLI
in ~/.gemini/tmp, Copilot CLI in ~/.copilot/session-state, Qwen Code in
~/.qwen/projects. If you read a transcript again, only new annotations are
added. The agent's texts then become a part of the repository, so look at them
first with --dry-run.`,
		Example: `  oxbow annotate pool.go:42-60 "The proxy drops idle connections."
  oxbow annotate pool.go:42 --why "So that a leak shows." --rejected "a context"
  oxbow annotate --from-transcript ~/.claude/projects/-home-ada-pool --dry-run`,
		Args: requireArgCount(0, 2, "one FILE:A-B and one TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch byHand := why != "" || model != "" || len(rejected) > 0; {
			case len(from.Transcripts) > 0 && (len(args) > 0 || byHand):
				return usageErrorf(
					"usage: oxbow annotate --from-transcript FILE",
					"--from-transcript says itself what is annotated, and why",
				)
			case len(from.Transcripts) > 0:
				return mem.annotateTranscripts(cmd.Context(), from)
			case from.DryRun || from.FormerTreeDir != "":
				return usageErrorf(
					"say which with --from-transcript FILE",
					"--dry-run and --moved-from are about transcripts",
				)
			case len(args) == 0:
				return usageErrorf("usage: "+cmd.UseLine(), "annotate needs one FILE:A-B, or --from-transcript")
			case strings.TrimSpace(why) == "":
				return usageErrorf("usage: "+cmd.UseLine(), "it is not said why")
			}
			out, err := runVerbOnFile(
				cmd.Context(),
				mem,
				args[0],
				annotations.Annotate,
				func(at codeLocation) (annotations.AnnotateIn, error) {
					if at.span.Len() == 0 {
						return annotations.AnnotateIn{}, usageErrorf(
							"write FILE:42 or FILE:42-60; lines count from 1",
							"it is not said which lines are meant",
						)
					}
					return annotations.AnnotateIn{
						File:                 at.file,
						StartLine:            at.span.First,
						EndLine:              &at.span.Last,
						Reason:               why,
						Model:                model,
						RejectedAlternatives: rejected,
					}, nil
				},
			)
			if err != nil {
				return err
			}
			return printResult(mem, out, answerPrinter[annotations.AnnotateOut](mem))
		},
	}
	c.Flags().StringVar(&why, "why", "", "give the reason as `TEXT` of this flag, instead of as an argument")
	acceptReasonArgument(c, &why)
	c.Flags().StringArrayVar(
		&rejected,
		"rejected",
		nil,
		"an alternative that was rejected, and why, as `TEXT`; you can name several",
	)
	c.Flags().StringVar(&model, "model", "", "the `NAME` of the model that wrote the lines")
	c.Flags().StringArrayVar(
		&from.Transcripts,
		"from-transcript",
		nil,
		"read a `FILE`, - for standard input, or the transcripts in a directory; you can name several",
	)
	c.Flags().StringVar(
		&from.FormerTreeDir,
		"moved-from",
		"",
		"the `DIR` in which the working tree was when the transcript was written",
	)
	c.Flags().BoolVar(&from.DryRun, "dry-run", false, "show what a transcript would add, and add nothing")
	c.AddCommand(annotateSetupCommand(mem), mergeDriverCommand(mem), annotateGCCommand(mem), annotateStatsCommand(mem),
		annotateRecoverCommand(mem), annotateExportCommand(mem), annotateImportCommand(mem))
	return c
}

// annotateTranscripts makes annotations from transcripts, and prints the result.
func (mem *lazyMemory) annotateTranscripts(ctx context.Context, in annotations.AnnotateTranscriptsIn) (err error) {
	in.Stdin = mem.env.Stdin
	for i, name := range in.Transcripts {
		if err := verb.CheckText("--from-transcript", name); err != nil {
			return asUsageError(err)
		}
		if name == "-" {
			continue
		}
		in.Transcripts[i], err = mem.env.absolutePath(name)
		if err != nil {
			return err
		}
	}
	if err := verb.CheckText("--moved-from", in.FormerTreeDir); err != nil {
		return asUsageError(err)
	}
	return callAndReport(ctx, mem, annotations.AnnotateTranscripts, in)
}

func annotateSetupCommand(mem *lazyMemory) *cobra.Command {
	return setUpVerbCommand(mem, &cobra.Command{
		Use:   "setup",
		Short: "Let git commit annotations and merge those of two branches",
		Long: `If hooks began the annotations, they are private: git ignores them until you
run setup. After that, you can commit them with the code. Setup also adds a
line to .gitattributes, which makes git combine the annotations that two
branches added to the same file. Commit this file as well. Setup prints the
commands that make oxbow the merge driver of this clone. The merge driver also
removes duplicates and moves damaged lines aside. With --install, setup runs
these commands. It changes nothing else in the repository.`,
		Example: `  oxbow annotate setup --dry-run
  oxbow annotate setup
  oxbow annotate setup --install`,
	}, annotations.SetupAnnotations, func(in *annotations.SetupAnnotationsIn, _ *flagSet, _ []string) error {
		in.Command = mem.env.mergeDriverCommandLine()
		return nil
	}, mem.showSetup)
}

// mergeDriverCommandLine returns the command line with which git runs the merge driver.
func (env *environment) mergeDriverCommandLine() string {
	return env.gitDriverProgram() + " annotate merge-driver"
}

// gitDriverProgram returns the command with which git starts oxbow in a shell. If oxbow is in PATH, this is only the
// name, so that git also finds a later version in another directory. Percent signs are doubled, because git interprets
// them.
func (env *environment) gitDriverProgram() string {
	program := "oxbow"
	if _, err := exec.LookPath(program); err != nil && env.Executable != "" {
		program = "'" + strings.ReplaceAll(filepath.ToSlash(env.Executable), "'", `'\''`) + "'"
	}
	return strings.ReplaceAll(program, "%", "%%")
}

// showSetup prints how git's configuration was changed. It prints the commands for git on one line each, because a
// wrapped command could not be pasted into a shell.
func (mem *lazyMemory) showSetup(out annotations.SetupAnnotationsOut) {
	line := func(l annotations.AttributeLine) {
		word := "added to"
		switch {
		case l.AlreadyExists:
			mem.env.printf("%s has git merge annotations already\n", toPrintableLine(l.File))
			return
		case out.DryRun:
			word = "would be added to"
		}
		mem.env.printf("%s %s:\n  %s\n", word, toPrintableLine(l.File), l.Line)
	}
	if out.WasIgnoredByGit {
		mem.env.printf(
			"%s\n",
			chooseDryRunWording(out.DryRun, "git no longer ignores the annotations: commit them with the code",
				"git would no longer ignore the annotations"),
		)
	}
	line(out.Attributes)
	local := out.Driver.Attributes
	if out.IsInstallRequested {
		line(local)
		word := chooseDryRunWording(out.DryRun, "set in", "would be set in")
		mem.env.printf("%s the config of this clone:\n", word)
		for _, kv := range out.Driver.ConfigSettings {
			mem.env.printf("  %s = %s\n", kv[0], kv[1])
		}
		return
	}
	if mem.env.isQuiet || local.AlreadyExists {
		return
	}
	mem.env.printf(
		"to make oxbow the merge driver of this clone: %s, or\n",
		mem.rewriteCommands("oxbow annotate setup --install"),
	)
	for _, kv := range out.Driver.ConfigSettings {
		mem.env.printf("  git config %s %s\n", kv[0], shellQuote(kv[1]))
	}
	mem.env.printf("  echo %s >> %s\n", shellQuote(local.Line), shellQuote(local.File))
}

func mergeDriverCommand(mem *lazyMemory) *cobra.Command {
	c := &cobra.Command{
		Use:   "merge-driver BASE OURS THEIRS [NAME]",
		Short: "Merge three versions of a sidecar (git runs this)",
		Long: `Merge-driver merges the annotations of OURS and THEIRS, which both come from
BASE, and writes the result to OURS, as git expects of a merge driver (%O %A %B
%P). Unreadable lines are stored in NAME.damaged, next to NAME, the path of the
sidecar. Without NAME, they are appended to OURS.`,
		Example: `  git config merge.oxbow.driver 'oxbow annotate merge-driver %O %A %B %P'`,
		Args:    requireArgCount(3, 4, "BASE, OURS and THEIRS, and may be the NAME"),
	}
	c.RunE = func(cmd *cobra.Command, args []string) (err error) {
		var in annotations.MergeSidecarsIn
		if err := mem.resolveMergePaths(args, &in.BasePath, &in.OurPath, &in.TheirPath); err != nil {
			return err
		}
		in.Dir, err = mem.env.Getwd()
		// The working directory is the root of the working tree, because git runs a merge driver there.
		if err != nil {
			return err
		}
		if len(args) == 4 {
			in.FilePath = args[3]
		}
		out, err := annotations.MergeSidecars(cmd.Context(), nil, in)
		if err == nil && out.UnreadableLinesFile != "" {
			mem.env.printWarning(
				"%s of %s cannot be read: kept in %s",
				formatCount(out.UnreadableLineCount, "line", "lines"),
				replaceHarmfulChars(
					strings.TrimSuffix(out.UnreadableLinesFile, ".damaged"),
				),
				replaceHarmfulChars(out.UnreadableLinesFile),
			)
		}
		return err
	}
	return c
}

// resolveMergePaths makes the three paths in args absolute, and stores them in *base, *ours and *theirs, in this order.
// git passes these paths to a merge driver. resolveMergePaths returns an error if the driver must not write to the file
// *ours, for example because the memory is at this path.
func (mem *lazyMemory) resolveMergePaths(args []string, base, ours, theirs *string) error {
	for i, to := range []*string{base, ours, theirs} {
		var err error
		*to, err = mem.env.absolutePath(args[i])
		if err != nil {
			return err
		}
	}
	_, err := mem.outputPath(*ours)
	return err
}

func annotateGCCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "gc",
		Short: "Archive annotations whose lines were deleted",
		Long: `Gc archives annotations whose lines exist neither in HEAD nor in the working
tree, and restores archived annotations whose lines exist again. It deletes
nothing: why --search still finds archived annotations. --undo takes the last
gc back.`,
		Example: `  oxbow annotate gc --dry-run
  oxbow annotate gc
  oxbow annotate gc --undo`,
	}, annotations.GCAnnotations, setPositionalArgs)
}

func annotateStatsCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "stats",
		Short: "Count the annotations and the states of their lines",
		Example: `  oxbow annotate stats
  oxbow annotate stats --json`,
	}, annotations.AnnotationStats, setPositionalArgs)
}

func annotateRecoverCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "recover",
		Short: "Repair annotation files with damaged lines",
		Long: `Recover moves the unreadable lines of sidecars into new files that end in
.damaged, byte for byte. If such a line contains a complete annotation, for
example because two lines were joined, recover restores this annotation. oxbow
check lists the unreadable lines.`,
		Example: `  oxbow annotate recover --dry-run
  oxbow annotate recover`,
	}, annotations.RecoverAnnotations, setPositionalArgs)
}
