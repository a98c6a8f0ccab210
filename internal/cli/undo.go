// This file implements the commands "oxbow undo" and "oxbow restore".

package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/layout"
)

func undoCommand(mem *openMemory) *cobra.Command {
	return setUpFlagsAndArgs(&cobra.Command{
		Use:   "undo [N]",
		Short: "Undo the last change, or the last N",
		Long: `Undo takes back the last N changes that were not undone yet. It makes a single
new change, which you can also undo. An import counts as one change.`,
		Example: `  oxbow undo
  oxbow undo 3 --dry-run
  oxbow undo --seq 41      # undo change 41 and nothing else`,
		Args: requireArgCount(0, 1, "at most one number"),
	}, func(ctx context.Context, in verb.UndoIn, args []string) error {
		if len(args) > 0 {
			n, err := strconv.Atoi(args[0])
			if err != nil {
				return usageErrorf(
					"for the last change: oxbow undo; for one change by its number, which oxbow log shows: oxbow undo --seq N",
					"%q is not a number of changes",
					args[0],
				)
			}
			if in.Seq != nil {
				return usageErrorf("", "give a number of changes or --seq, not both")
			}
			in.Count = &n
		}
		mem.skipFolderComparison() // otherwise a change of a file could become the last change, which is undone
		if done, err := mem.undoInOtherLayout(ctx, in); done || err != nil {
			return err
		}
		err := callAndReport(ctx, mem, verb.Undo, in)
		if errors.Is(err, oxbow.ErrUnsupported) {
			if _, no := mem.openCompressor(verb.ReadOwn); no == nil {
				err = &hintedError{
					err,
					"in this layout, oxbow compress undo NAME takes a digest back, and nothing takes back other " +
						"changes",
				}
			}
		}
		return err
	})
}

// undoInOtherLayout reverts the effect of consolidate, compress or an overwriting tool in a home of
// another layout that keeps the replaced files. done is false if the home is not of this kind, or
// if the run is bound to a profile, because the files belong to the whole memory.
func (mem *openMemory) undoInOtherLayout(ctx context.Context, in verb.UndoIn) (done bool, err error) {
	r, err := mem.boundProfile()
	if err != nil || r != nil {
		return false, err
	}
	dry := in.DryRun
	t, ok, err := mem.openTidier(writeAccess.UnlessDryRun(dry))
	if err != nil || !ok {
		return false, err
	}
	number := 0
	switch {
	case len(in.Seq) > 1:
		return true, usageErrorf("run it again for another", "this layout takes back one change at a time")
	case in.Count != nil && *in.Count != 1:
		return true, usageErrorf("run it again for the one before", "this layout takes back one change at a time")
	case len(in.Seq) == 1:
		number = int(in.Seq[0])
		if number < 1 {
			return true, usageErrorf("", "--seq %d is no number of a change", number)
		}
	}
	did, err := t.Revert(ctx, number, dry)
	switch {
	case errors.Is(err, oxbow.ErrConflict) && number == 0:
		return true, &hintedError{
			err,
			"oxbow undo --seq N takes change N back all the same, and keeps what was changed since",
		}
	case errors.Is(err, oxbow.ErrNotFound):
		return true, &hintedError{
			err,
			"in this layout, what consolidate, compress and the tool memory_write replaced as a whole can be taken " +
				"back, and no other change",
		}
	case err != nil:
		return true, err
	}
	if mem.env.json {
		return true, mem.env.printTidiedJSON(did, dry)
	}
	mem.env.showReport(reportRevertedChange(did, dry))
	return true, nil
}

// reportRevertedChange describes a change of consolidate, compress or a tool that was, or would be, reverted.
func reportRevertedChange(did layout.Tidied, dry bool) (r report.Report) {
	r.AddLinef("%s change %d: %s of %s", report.EffectVerb(dry, "took back", "would take back"), did.Number,
		report.Words(did.What), did.Time)
	for _, s := range did.Steps {
		r.Add(report.Line{Sentence: report.Sentencef("%s  %s", report.Words(s.Did), s.Text), MayBeCut: true})
	}
	for _, n := range did.Notes {
		r.AddNotef("%s", report.Text(n))
	}
	return r
}

func restoreCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "restore NAME[@SEQ]",
		Short: "Bring back a forgotten entry, or an earlier version of one",
		Long: `Restore brings back a forgotten entry in its last version. With a number, it
makes the version of change SEQ the current version, whether the entry was
forgotten or not. oxbow log NAME shows the numbers.`,
		Example: `  oxbow log style
  oxbow restore style@3`,
		Args: requireArgCount(1, 2, "NAME or NAME@SEQ"),
	}, verb.Restore, func(in *verb.RestoreIn, _ *flagSet, args []string) error {
		name, seq, ok := splitNameAndSeq(args)
		if !ok && len(args) == 1 {
			in.Name = args[0]
			return nil
		}
		if !ok {
			return usageErrorf("oxbow log "+shellName(args[0])+
				" shows the numbers", "%q is not the number of a change", args[1])
		}
		in.Name, in.Seq = name, &seq
		return nil
	})
}

// splitNameAndSeq splits NAME@SEQ, or accepts NAME and SEQ as two arguments.
func splitNameAndSeq(args []string) (name string, seq uint64, ok bool) {
	number := ""
	if len(args) == 2 {
		name, number = args[0], args[1]
	} else if i := strings.LastIndexByte(args[0], '@'); i > 0 {
		name, number = args[0][:i], args[0][i+1:]
	}
	seq, err := strconv.ParseUint(number, 10, 63)
	return name, seq, name != "" && err == nil
}
