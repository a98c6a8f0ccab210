// This file finds the command that undoes an import.

package transfer

import (
	"context"
	"fmt"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// buildUndoCommand returns the command that undoes an import that was just made. The command is correct even if the
// user runs it after further changes, because it does not undo the last change. If the import was a single change, the
// command undoes the change with this number. Otherwise the command reverts all changes of the session in ctx, which is
// the session of the import. If the history cannot be read or is empty, buildUndoCommand returns "".
func buildUndoCommand(ctx context.Context, w *verb.Workspace) string {
	limit := 2
	out, err := verb.ListHistory(ctx, w, verb.HistoryIn{Limit: &limit})
	source, _ := oxbow.SourceFrom(ctx)
	if err != nil || len(out.Changes) == 0 {
		return ""
	}
	last := verb.GroupChangesByCall(out.Changes)[0]
	if last.HasManyChanges() || last.Source.Session != source.Session {
		return "oxbow revert --session " + source.Session
	}
	return fmt.Sprintf("oxbow undo --seq %d", last.Seq)
}
