// This file implements the verb consolidate, which removes entries that another entry makes
// superfluous.

package maintenance

import (
	"context"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/duplicate"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// ConsolidateIn is the argument of Consolidate.
type ConsolidateIn struct {
	Over   int  `json:"over,omitempty"    jsonschema:"Change nothing unless there are more than so many tokens." usage:"change nothing if there are at most N tokens"`
	DryRun bool `json:"dry_run,omitempty" jsonschema:"Show what would be removed and change nothing."            usage:"show what would be removed and change nothing"`
}

// ConsolidateOut is the result of Consolidate.
type ConsolidateOut struct {
	Before, After int // tokens of notes and facts
	Dropped       []duplicate.Duplicate
}

// Consolidate removes the entries that another entry makes superfluous, in a single change.
func Consolidate(ctx context.Context, w *verb.Workspace, in ConsolidateIn) (out ConsolidateOut, err error) {
	ctx, m, err := w.OpenMemory(ctx, verb.Write.UnlessDryRun(in.DryRun))
	if err != nil {
		return out, err
	}
	for e, err := range m.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return out, err
		}
		if e.Kind == oxbow.Note || e.Kind == oxbow.World {
			out.Before += prompt.EstimateTokens(e.Content)
		}
	}
	out.After = out.Before
	if in.Over > 0 && out.Before <= in.Over {
		return out, nil
	}
	out.Dropped, err = duplicate.FindDuplicates(ctx, m, progress.CountReporter(ctx, progress.UnitEntries))
	if err != nil {
		return out, err
	}
	for _, d := range out.Dropped {
		out.After -= prompt.EstimateTokens(d.Drop.Content)
	}
	return out, duplicate.RemoveDuplicates(ctx, m, out.Dropped, in.DryRun)
}
