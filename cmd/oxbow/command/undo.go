// This file holds "oxbow undo" and "oxbow restore".

package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) undoCommand() *cobra.Command {
	var v *verb
	c := &cobra.Command{
		Use:   "undo [N]",
		Short: "Undo the last change, or the last N",
		Long: `Undo takes back the last N changes that were not undone yet, all in one new
change, which can be undone in turn.`,
		Example: `  oxbow undo
  oxbow undo 3 --dry-run
  oxbow undo --seq 41        undo change 41 and nothing else`,
		Args: args(0, 1, "at most one number"),
		RunE: func(cmd *cobra.Command, args []string) error {
			m := map[string]any{}
			if len(args) > 0 {
				n, err := strconv.Atoi(args[0])
				if err != nil {
					return misusef("for one change by its number: oxbow undo --seq N", "%q is not a number of changes", args[0])
				}
				if v.given("seq") {
					return misusef("", "give a number of changes or --seq, not both")
				}
				m["count"] = n
			}
			if done, err := a.undoOther(cmd.Context(), v, m); done || err != nil {
				return err
			}
			got, err := v.run(cmd.Context(), a, m)
			if err != nil {
				return err
			}
			return answer(a, got, a.showUndone)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	v = newVerb(c, "undo", []string{"count"}, nil)
	return c
}

// undoOther takes back what consolidate, compress or an overwriting tool did in a
// home of another layout that keeps what they replaced. It reports false where
// there is no such home. It works on files of all the memory, and so not in a run
// that is bound to a profile.
func (a *app) undoOther(ctx context.Context, v *verb, args map[string]any) (done bool, err error) {
	r, err := a.bound()
	if err != nil || r != nil {
		return false, err
	}
	given, err := v.arguments()
	if err != nil {
		return false, err
	}
	dry := given["dry_run"] == true
	t, ok, err := a.tidier(unlessDry(change, dry))
	if err != nil || !ok {
		return false, err
	}
	number := 0
	if seqs, ok := given["seq"].([]any); ok {
		if len(seqs) > 1 || args["count"] != nil {
			return true, misusef("run it again for another", "this layout takes back one change at a time")
		}
		if number, err = strconv.Atoi(fmt.Sprint(seqs[0])); err != nil || number < 1 {
			return true, misusef("", "--seq %v is no number of a change", seqs[0])
		}
	}
	if n, ok := args["count"]; ok && n != 1 {
		return true, misusef("run it again for the one before", "this layout takes back one change at a time")
	}
	did, err := t.TakeBack(ctx, number, dry)
	switch {
	case errors.Is(err, oxbow.ErrConflict) && number == 0:
		return true, &hinted{err, "oxbow undo --seq N takes change N back all the same, and keeps what was changed since"}
	case errors.Is(err, oxbow.ErrNotFound):
		return true, &hinted{err, "in this layout, what consolidate, compress and overwriting replaced can be taken back; other changes keep no history"}
	case err != nil:
		return true, err
	}
	if a.json {
		return true, a.printJSON(tidiedOut{did, dry})
	}
	word := "took back"
	if dry {
		word = "would take back"
	}
	a.printf("%s change %d: %s of %s\n", word, did.Number, did.What, a.date(did.Time))
	for _, s := range did.Steps {
		a.printf("%s  %s\n", s.Did, a.clipped(s.Text))
	}
	for _, n := range did.Notes {
		a.note("%s", n)
	}
	return true, nil
}

func (a *app) showUndone(out *tool.UndoOut) {
	if out.DryRun {
		a.printf("would undo %s\n", count(len(out.Undone), "change", "changes"))
	} else {
		a.printf("undid %s\n", count(len(out.Undone), "change", "changes"))
	}
	for _, c := range out.Undone {
		a.showChange(c)
	}
	a.showNotes(out.Notes)
}

func (a *app) restoreCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "restore NAME@SEQ",
		Short: "Bring a version of an entry back",
		Long: `Restore makes the version that change SEQ left the current one, even when the
entry was forgotten since. The log shows the numbers.`,
		Example: `  oxbow log style
  oxbow restore style@3`,
		Args: args(1, 2, "NAME@SEQ"),
	}
	v := newVerb(c, "restore", []string{"name", "seq"}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		name, seq, ok := cutSeq(args)
		if !ok {
			return misusef("oxbow log "+quote(args[0])+" shows the numbers; for example: oxbow restore "+quote(args[0]+"@3"),
				"restore needs the number of a change: NAME@SEQ")
		}
		got, err := v.run(cmd.Context(), a, map[string]any{"name": name, "seq": json.Number(seq)})
		if err != nil {
			return err
		}
		return answer(a, got, func(out *tool.RestoreOut) {
			a.printf("restored %s as of change %d\n", a.bold(out.Entry.Name), out.From)
			a.showNotes(out.Notes)
		})
	}
	c.ValidArgsFunction = a.completeName(1)
	return c
}

// cutSeq cuts NAME@SEQ, or takes NAME and SEQ as two arguments.
func cutSeq(args []string) (name, seq string, ok bool) {
	if len(args) == 2 {
		name, seq = args[0], args[1]
	} else if i := strings.LastIndexByte(args[0], '@'); i > 0 {
		name, seq = args[0][:i], args[0][i+1:]
	}
	_, err := strconv.ParseUint(seq, 10, 63)
	return name, seq, name != "" && err == nil
}
