// This file implements the commands "oxbow undo" and "oxbow restore".

package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

func undoCommand(mem *lazyMemory) *cobra.Command {
	return setUpFlagsAndArgs(&cobra.Command{
		Use:   "undo [N]",
		Short: "Undo the last change, or the last N",
		Long: `Undo takes back the last N changes that were not undone yet, and prints the
command that redoes them. An import counts as one change, and so does a command
that changed many entries.`,
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
			if in.Seqs != nil {
				return usageErrorf("", "give a number of changes or --seq, not both")
			}
			in.Count = &n
		}
		// Do not compare the folders. A changed file could otherwise become the last change, which is the one to undo.
		mem.skipFolderSyncCheckAtOpen()
		mem.showsAnswerFirst = true
		defer func() { mem.showsAnswerFirst = false }()
		out, err := callVerbRawError(ctx, mem, verb.Undo, in)
		switch {
		case err != nil:
			return mem.addUndoAdvice(err, in)
		case out.UndoneShortening != nil && mem.env.wantsJSON:
			return mem.env.printTidyJSON(*out.UndoneShortening, in.DryRun)
		}
		return printResult(mem, out, answerPrinter[verb.UndoOut](mem))
	})
}

// addUndoAdvice returns the error err of the command undo. If the home has another program's layout, addUndoAdvice adds
// advice that depends on the error, such as which changes can be undone in this layout. All other errors are only
// converted by asUsageError.
func (mem *lazyMemory) addUndoAdvice(err error, in verb.UndoIn) error {
	home, herr := mem.openNonOxbowLayoutHome(verb.ReadWithoutTeamFiles)
	if herr != nil || home == nil {
		return asUsageError(err)
	}
	_, keepsDays := home.(verb.Compressor)
	switch {
	case errors.Is(err, oxbow.ErrUnsupported) && keepsDays:
		return &hintedError{
			err,
			"in this layout, oxbow compress undo NAME takes a digest back, and nothing takes back other " +
				"changes",
		}
	case errors.Is(err, oxbow.ErrConflict) && len(in.Seqs) == 0:
		return &hintedError{
			err,
			"oxbow undo --seq N takes change N back all the same, and keeps what was changed since",
		}
	case errors.Is(err, oxbow.ErrNotFound):
		return &hintedError{
			err,
			"in this layout, what consolidate, compress and overwriting tools replaced as a whole can be taken back, " +
				"and no other change",
		}
	}
	return asUsageError(err)
}

func restoreCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "restore NAME[@SEQ]",
		Short: "Bring back a forgotten entry, or an earlier version of one",
		Long: `Restore brings back a forgotten entry in its last version. With a number, it
makes the version of change SEQ the current version, whether the entry was
forgotten or not. oxbow log NAME shows the numbers.`,
		Example: `  oxbow log style
  oxbow restore style@3`,
		Args: requireArgCount(1, 2, "NAME or NAME@SEQ"),
	}, verb.RestoreVersion, func(in *verb.RestoreIn, _ *flagSet, args []string) error {
		name, seq, ok := splitNameAndVersion(args)
		if !ok && len(args) == 1 {
			in.Name = args[0]
			return nil
		}
		if !ok {
			return usageErrorf("oxbow log "+quoteShellOperand(args[0])+
				" shows the numbers", "%q is not the number of a change", args[1])
		}
		in.Name, in.Seq = name, &seq
		return nil
	})
}

// splitNameAndVersion parses an entry's name and a version, which are given as NAME@SEQ or as two arguments. ok is
// false if they have another form.
func splitNameAndVersion(args []string) (name string, seq uint64, ok bool) {
	number := ""
	if len(args) == 2 {
		name, number = args[0], args[1]
	} else if i := strings.LastIndexByte(args[0], '@'); i > 0 {
		name, number = args[0][:i], args[0][i+1:]
	}
	seq, err := strconv.ParseUint(number, 10, 63)
	return name, seq, name != "" && err == nil
}
