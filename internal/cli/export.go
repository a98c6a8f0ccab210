// This file implements the command "oxbow export".

package cli

import (
	"context"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/output"
	"github.com/oxbow-memory/oxbow/internal/verb/transfer"
)

// filterTermPattern matches an argument that is a filter term. Any other argument is a file.
var filterTermPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-?[a-z][a-z0-9_-]+:.`) })

func exportCommand(mem *lazyMemory) *cobra.Command {
	c := &cobra.Command{
		Use:   "export [FILE] [FILTER…]",
		Short: "Write entries as JSON lines, or for other programs",
		Long: `Export writes entries as JSON, one on each line, to FILE or to standard output.
Import reads this format, on this or another machine.

With --to okf, FILE is a new directory for a bundle of the Open Knowledge
Format 0.2: a Markdown file for each entry, indexes, and a log.`,
		Example: `  oxbow export > backup.jsonl
  oxbow export harbor.jsonl project:harbor
  oxbow export --kind note | jq .name
  oxbow export --to okf harbor-okf project:harbor`,
	}
	var force bool
	var to string
	setUpFlagsAndArgs(c, func(ctx context.Context, in transfer.ExportIn, args []string) error {
		for _, name := range []string{"limit", "offset"} {
			if c.Flags().Changed(name) {
				return usageErrorf(
					"use a filter, such as after:2026-04",
					"--%s cannot be used here: an export is whole",
					name,
				)
			}
		}
		file, terms := "", []string{}
		for _, arg := range args {
			switch {
			case filterTermPattern().MatchString(arg):
				terms = append(terms, arg)
			case file != "":
				return usageErrorf("usage: "+
					c.UseLine(), "export takes one file; %q is neither that nor a filter such as tag:x", arg)
			default:
				file = arg
			}
		}
		in.Filter = strings.Join(append(terms, in.Filter), " ")
		switch to {
		case "okf":
			return mem.exportBundle(ctx, in, file)
		case "", "jsonl":
		default:
			return usageErrorf("oxbow dump DIR writes Markdown files", "--to %s is not one of jsonl, okf", to)
		}
		return mem.exportEntries(ctx, in, file, force)
	})
	c.Flags().BoolVar(&force, "force", false, "replace an existing FILE; if somebody edited it, a copy is kept")
	c.Flags().StringVar(&to, "to", "", "write this `FORMAT`: jsonl, or okf for a directory")
	for _, name := range []string{"limit", "offset"} {
		c.Flags().Int(name, 0, "")
		_ = c.Flags().MarkHidden(name) // Hide --limit and --offset, because export rejects these flags.
	}
	return c
}

// exportBundle writes a bundle in the Open Knowledge Format to a new directory.
func (mem *lazyMemory) exportBundle(ctx context.Context, in transfer.ExportIn, name string) error {
	if name == "" || name == "-" {
		return usageErrorf("oxbow export --to okf DIR", "export --to okf needs a directory")
	}
	path, err := mem.env.absolutePath(name)
	if err != nil {
		return err
	}
	dir := output.OutputDir{Path: path, Name: name, OperationName: "exporting"}
	write := func(ctx context.Context, w *verb.Workspace, in transfer.ExportIn) (transfer.ExportOut, error) {
		return transfer.ExportBundle(ctx, w, in, dir)
	}
	return callAndReport(ctx, mem, write, in)
}

func (mem *lazyMemory) exportEntries(ctx context.Context, in transfer.ExportIn, file string, force bool) error {
	var out transfer.ExportOut
	write := func(to io.Writer) (err error) {
		in.Output = to
		out, err = callVerb(ctx, mem, transfer.Export, in)
		return err
	}
	if file == "" || file == "-" {
		err := write(mem.env.Stdout)
		if err == nil && out.EntryCount == 0 {
			mem.env.printNote("no entry was selected: nothing was written")
		}
		if out.LeftOutEntries > 0 {
			mem.env.printNote("%s", transfer.LeftOutEntriesNote(out.LeftOutEntries))
		}
		return err
	}
	path, err := mem.outputPath(file)
	if err != nil {
		return err
	}
	kept, err := output.Output{
		Path:                 path,
		UserPath:             file,
		OperationName:        "exporting",
		Force:                force,
		TrustList:            mem.finder.host().TrustList,
		AdviceForDirectory:   ", or use: oxbow dump " + shellQuote(file),
		AdviceForSpecialFile: "; a pipe or a device is written by: oxbow export > FILE",
	}.Write(
		ctx,
		0o600,
		write,
	)
	if err != nil {
		return asUsageError(err)
	}
	out.File, out.EditedFileCopy = file, kept
	return printResult(mem, out, answerPrinter[transfer.ExportOut](mem))
}
