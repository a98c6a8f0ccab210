// oxbow annotate.

package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) annotateCommand() *cobra.Command {
	var why, model string
	var rejected []string
	var from tool.AnnotateTranscriptsIn
	c := &cobra.Command{
		Use:   "annotate FILE:A-B --why TEXT",
		Short: "Keep why lines of code are as they are",
		Long: `Annotate ties a reasoning to the lines A to B of a file, as they stand now. It
is kept beside the code, in .oxbow/annotations of the repository, or in
.cr/annotations when the home is laid out as coderhapsody: commit that with the
code. oxbow why finds it again, also after the lines have moved, were edited, or
the file has another name.

With --from-transcript it reads what an agent said before each edit instead,
and ties that to the lines of the edit. Claude Code keeps transcripts in
~/.claude/projects, Codex in ~/.codex/sessions. A transcript that is read again
adds only what is new. What the agent said is then part of the repository: look
at it with --dry-run first.`,
		Example: `  oxbow annotate pool.go:42-60 --why "The proxy drops idle connections."
  oxbow annotate pool.go:42 --why "So that a leak shows." --rejected "a context"
  oxbow annotate --from-transcript ~/.claude/projects/-home-ada-pool --dry-run`,
		Args: args(0, 1, "one FILE:A-B"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch byHand := why != "" || model != "" || len(rejected) > 0; {
			case len(from.From) > 0 && (len(args) > 0 || byHand):
				return misusef("usage: oxbow annotate --from-transcript FILE", "--from-transcript says itself what is annotated, and why")
			case len(from.From) > 0:
				return a.annotateTranscripts(cmd.Context(), from)
			case from.DryRun || from.MovedFrom != "":
				return misusef("say which with --from-transcript FILE", "--dry-run and --moved-from are about transcripts")
			case len(args) == 0:
				return misusef("usage: "+cmd.UseLine(), "annotate needs one FILE:A-B, or --from-transcript")
			case strings.TrimSpace(why) == "":
				return misusef("say it with --why TEXT", "it is not said why")
			}
			out, err := onFile(cmd.Context(), a, args[0], tool.Annotate, func(at target) (tool.AnnotateIn, error) {
				if at.span.Len() == 0 {
					return tool.AnnotateIn{}, misusef("write "+args[0]+":42-60", "it is not said which lines are meant")
				}
				return tool.AnnotateIn{File: at.file, StartLine: at.span.First, EndLine: &at.span.Last, Why: why, Model: model, Rejected: rejected}, nil
			})
			if err != nil {
				return err
			}
			return answer(a, out, func(out tool.AnnotateOut) {
				if !a.quiet {
					a.printf("annotated %s:%s\n", oneLine(out.Annotation.File), spanOf(out.Annotation))
				}
			})
		},
	}
	c.Flags().StringVar(&why, "why", "", "the reasoning, as `TEXT`")
	c.Flags().StringArrayVar(&rejected, "rejected", nil, "an alternative that was rejected, and why, as `TEXT`; may be repeated")
	c.Flags().StringVar(&model, "model", "", "the `NAME` of the model that wrote the lines")
	c.Flags().StringArrayVar(&from.From, "from-transcript", nil, "read a `FILE`, - for standard input, or the files *.jsonl of a directory; may be repeated")
	c.Flags().StringVar(&from.MovedFrom, "moved-from", "", "the `DIR` that this tree was in when the transcript was written")
	c.Flags().BoolVar(&from.DryRun, "dry-run", false, "show what a transcript would add, and add nothing")
	c.AddCommand(a.annotateSetupCommand(), a.mergeDriverCommand(), a.annotateGCCommand(), a.annotateStatsCommand(),
		a.annotateRecoverCommand(), a.annotateExportCommand(), a.annotateImportCommand())
	return c
}
