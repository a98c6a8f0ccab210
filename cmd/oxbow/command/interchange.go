// This file holds "oxbow annotate export" and "oxbow annotate import":
// annotations in the formats of others.

package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/annotate"
	"github.com/oxbow-memory/oxbow/annotate/interchange"
	"github.com/oxbow-memory/oxbow/tool"
)

const (
	agentTrace = "agent-trace"
	gitAI      = "git-ai"
)

// interchangeOut is what came of it, as JSON.
type interchangeOut struct {
	Format  string         `json:"format"`
	DryRun  bool           `json:"dry_run,omitempty"`
	Written int            `json:"written"`          // annotations that were written out, or are new
	Known   int            `json:"known,omitempty"`  // were there already
	Left    map[string]int `json:"left,omitempty"`   // what does not fit, and how often
	Output  string         `json:"output,omitempty"` // the file that was written
}

// showLeft tells a person what does not fit.
func (a *app) showLeft(left map[string]int) {
	for _, what := range slices.Sorted(maps.Keys(left)) {
		a.note("%d %s", left[what], what)
	}
}

func (a *app) annotateExportCommand() *cobra.Command {
	var format, output string
	c := &cobra.Command{
		Use:   "export [FILE]...",
		Short: "Write annotations in the format of others",
		Long: `Export writes the annotations of the repository, or of the FILEs only, as Agent
Trace 0.1: one record a line, with the lines, who wrote them, and the revision.
The format has no place for why; that travels in the metadata, where oxbow
annotate import finds it again. What does not fit is told on standard error.`,
		Example: "  oxbow annotate export --output traces.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			if format != agentTrace {
				return misusef("write --format agent-trace", "%q is no format that annotations are written in", format)
			}
			if a.json && output == "" {
				return misusef("name a file with --output; the report is then printed as JSON", "export prints records, which are JSON already")
			}
			return a.withBook(cmd.Context(), func(ctx context.Context, b *annotate.Store) error {
				records, err := a.exported(ctx, b, args)
				if err != nil {
					return err
				}
				var out bytes.Buffer
				rep, err := interchange.WriteTraces(&out, records)
				if err != nil {
					return err
				}
				if output == "" {
					if _, err := a.env.Stdout.Write(out.Bytes()); err != nil {
						return fmt.Errorf("writing: %w", err)
					}
				} else {
					if err := tool.CheckText("--output", output); err != nil {
						return badArgument(err)
					}
					full, err := a.abs(output)
					if err != nil {
						return err
					}
					if err := os.WriteFile(full, out.Bytes(), 0o644); err != nil {
						return fmt.Errorf("writing %s: %w", output, err)
					}
				}
				if a.json {
					return a.printJSON(interchangeOut{Format: format, Written: rep.Written, Left: rep.Left, Output: output})
				}
				if output != "" && !a.quiet {
					a.printf("wrote %s to %s\n", count(rep.Written, "annotation", "annotations"), oneLine(output))
				}
				a.showLeft(rep.Left)
				return nil
			})
		},
	}
	c.Flags().StringVar(&format, "format", agentTrace, "the `FORMAT`: agent-trace")
	c.Flags().StringVarP(&output, "output", "o", "", "write to a `FILE`, and not to standard output")
	return c
}

// exported returns the annotations of the files that are named, or all.
func (a *app) exported(ctx context.Context, b *annotate.Store, names []string) ([]annotate.Record, error) {
	if len(names) == 0 {
		return b.All(ctx)
	}
	var out []annotate.Record
	for _, n := range names {
		file, s, err := a.place(b, n)
		if err != nil {
			return nil, err
		}
		if s.Len() > 0 {
			return nil, misusef("leave out the lines", "%q names lines; export takes whole files", n)
		}
		records, err := b.Records(ctx, file)
		if err != nil {
			return nil, err
		}
		out = append(out, records...)
	}
	return out, nil
}

func (a *app) annotateImportCommand() *cobra.Command {
	var format string
	var dryRun bool
	c := &cobra.Command{
		Use:   "import [FILE]",
		Short: "Read annotations from the format of others",
		Long: `Import makes annotations of the Agent Trace records in a FILE (- for standard
input) or, with --format git-ai, of the notes that Git AI keeps in this
repository, under refs/notes/ai. Both say who wrote which lines at which
revision, and only seldom why: the annotations say so. Lines are taken from the
revision, when the repository has it. What is read again is not added again.
What does not fit is told on standard error.`,
		Example: `  oxbow annotate import traces.jsonl --dry-run
  oxbow annotate import --format git-ai`,
		Args: args(0, 1, "one FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case format != agentTrace && format != gitAI:
				return misusef("write --format agent-trace or --format git-ai", "%q is no format that annotations are read from", format)
			case format == gitAI && len(args) > 0:
				return misusef("leave out "+args[0], "the notes of Git AI are in the repository, not in a file")
			case format == agentTrace && len(args) == 0:
				return misusef("name a file, or - for standard input", "import needs a FILE of Agent Trace records")
			}
			return a.withBook(cmd.Context(), func(ctx context.Context, b *annotate.Store) error {
				records, left, err := a.imported(ctx, b, format, args)
				if err != nil {
					return err
				}
				has, err := b.Has(ctx, records)
				if err != nil {
					return err
				}
				var fresh []annotate.Record
				for i, r := range records {
					if !has[i] {
						fresh = append(fresh, r)
					}
				}
				verb := "would add"
				if !dryRun {
					verb = "added"
					if _, err := b.Add(ctx, fresh...); err != nil {
						return err
					}
				}
				known := len(records) - len(fresh)
				if a.json {
					return a.printJSON(interchangeOut{Format: format, DryRun: dryRun, Written: len(fresh), Known: known, Left: left})
				}
				if dryRun {
					for _, r := range fresh {
						why, _, _ := strings.Cut(strings.TrimSpace(r.Why), "\n")
						a.printf("%s  %s\n", a.bold(oneLine(r.File)+":"+r.Span.String()), oneLine(why))
					}
				}
				if !a.quiet {
					a.printf("%s %s; %d were there already\n", verb, count(len(fresh), "annotation", "annotations"), known)
				}
				a.showLeft(left)
				return nil
			})
		},
	}
	c.Flags().StringVar(&format, "format", agentTrace, "the `FORMAT`: agent-trace or git-ai")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be added, and add nothing")
	return c
}

// imported reads the records of a format.
func (a *app) imported(ctx context.Context, b *annotate.Store, format string, args []string) ([]annotate.Record, map[string]int, error) {
	if format == gitAI {
		records, rep, err := interchange.ReadGitAI(ctx, b)
		return records, rep.Left, err
	}
	var r io.Reader = a.env.Stdin
	if args[0] != "-" {
		if err := tool.CheckText("FILE", args[0]); err != nil {
			return nil, nil, badArgument(err)
		}
		full, err := a.abs(args[0])
		if err != nil {
			return nil, nil, err
		}
		f, err := os.Open(full)
		if err != nil {
			return nil, nil, fmt.Errorf("reading agent traces: %w", err)
		}
		defer f.Close()
		r = f
	}
	records, rep, err := interchange.ReadTraces(ctx, b, r)
	return records, rep.Left, err
}
