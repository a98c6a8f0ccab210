// This file implements the commands "oxbow annotate export" and "oxbow annotate import".

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
)

func annotateExportCommand(mem *lazyMemory) *cobra.Command {
	c := &cobra.Command{
		Use:   "export [FILE]...",
		Short: "Write annotations in the format Agent Trace",
		Long: `Export writes the annotations of the repository, or only of the given files, as
Agent Trace 0.1. Each line is a record with the annotated lines, their author
and the revision. The format has no field for the reason, so the reason is in
the metadata, where oxbow annotate import finds it. Export reports on standard
error what the format cannot store.`,
		Example: "  oxbow annotate export --output mine.jsonl",
	}
	return setUpReportCommand(
		mem,
		c,
		annotations.ExportAnnotations,
		func(in *annotations.ExportAnnotationsIn, _ *flagSet, args []string) (err error) {
			if mem.env.wantsJSON && in.Output == "" {
				return usageErrorf(
					"name a file with --output; the report is then printed as JSON",
					"export prints records, which are JSON already",
				)
			}
			in.Files, err = mem.finder.resolveAnnotationFileNames(c.Context(), args)
			if err != nil {
				return err
			}
			in.Stdout = mem.env.Stdout
			if in.Output != "" {
				in.OutputPath, err = mem.outputPath(in.Output)
			}
			return err
		},
	)
}

// resolveAnnotationFileNames returns the names of files as annotations store them.
func (finder *homeFinder) resolveAnnotationFileNames(ctx context.Context, names []string) (files []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	b, err := finder.openWorkingDirAnnotations(ctx)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	for _, n := range names {
		at, err := finder.env.parseCodeLocation(b, n)
		if err != nil {
			return nil, err
		}
		if at.span.Len() > 0 {
			return nil, usageErrorf("leave out the lines", "%q names lines; export takes whole files", n)
		}
		files = append(files, at.file)
	}
	return files, nil
}

func annotateImportCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "import [FILE]",
		Short: "Read annotations from Agent Trace or Git AI",
		Long: `Import turns the Agent Trace records in FILE (- for standard input) into
annotations. With --format git-ai, it reads the notes of Git AI in this
repository, under refs/notes/ai. Both formats say who wrote which lines at
which revision, but seldom why, and the annotations say so. If the repository
has the revision, import reads the text of the lines from it. If you import the
same records again, nothing is added. Import reports on standard error what it
left out.`,
		Example: `  oxbow annotate import traces.jsonl --dry-run
  oxbow annotate import --format git-ai`,
		Args: requireArgCount(0, 1, "one FILE"),
	}, annotations.ImportAnnotations, func(in *annotations.ImportAnnotationsIn, _ *flagSet, args []string) (err error) {
		switch {
		case in.Format == annotations.FormatGitAI && len(args) > 0:
			return usageErrorf("leave out "+args[0], "the notes of Git AI are in the repository, not in a file")
		case in.Format == annotations.FormatAgentTrace && len(args) == 0:
			return usageErrorf("name a file, or - for standard input", "import needs a FILE of Agent Trace records")
		case len(args) == 0 || args[0] == "-":
			in.File, in.Stdin = "-", mem.env.Stdin
			return nil
		}
		if err := verb.CheckText("FILE", args[0]); err != nil {
			return asUsageError(err)
		}
		in.File, err = mem.env.absolutePath(args[0])
		return err
	})
}
