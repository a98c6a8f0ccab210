// This file implements the verb consolidate, which removes entries that repeat other entries.

package maintenance

import (
	"context"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/duplicate"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// ConsolidateIn is the argument of ConsolidateEntries.
type ConsolidateIn struct {
	TokenThreshold int  `json:"over,omitempty"    jsonschema:"Change nothing unless there are more than so many tokens." usage:"change nothing if there are at most N tokens"`
	DryRun         bool `json:"dry_run,omitempty" jsonschema:"Show what would be removed and change nothing."            usage:"show what would be removed and change nothing"`
}

// ConsolidateEntriesOut is the result of ConsolidateEntries.
type ConsolidateEntriesOut struct {
	verb.Tidied

	// RemovedDuplicates lists the removed entries. It is empty if the home has the layout of another memory system,
	// which shortens its own files.
	RemovedDuplicates []duplicate.Duplicate
}

// ConsolidateEntries removes, in one change, the entries that repeat other entries. If in.DryRun is set, it only
// reports the entries. If in.TokenThreshold is positive and the memory's text has at most this number of tokens,
// nothing is removed. If the home has a file layout with its own function for removing repeated facts,
// ConsolidateEntries calls this function instead.
func ConsolidateEntries(
	ctx context.Context,
	w *verb.Workspace,
	in ConsolidateIn,
) (out ConsolidateEntriesOut, err error) {
	how := verb.Write.UnlessDryRun(in.DryRun)
	home, isTidier, err := w.Tidier(how)
	if err != nil {
		return out, err
	}
	if isTidier {
		out.Tidied, err = consolidateHome(w.WithSource(ctx), home, in)
		return out, err
	}
	ctx, m, err := w.OpenMemory(ctx, how)
	if err != nil {
		return out, err
	}
	out.What, out.Time = "consolidate", w.CurrentTime()
	for e, err := range m.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return out, err
		}
		if e.Kind == oxbow.Note || e.Kind == oxbow.World {
			out.Before += prompt.EstimateTokens(e.Content)
		}
	}
	out.After = out.Before
	if in.TokenThreshold > 0 && out.Before <= in.TokenThreshold {
		return out, nil
	}
	out.RemovedDuplicates, err = duplicate.FindDuplicates(ctx, m, progress.NewCountReporter(ctx, progress.UnitEntries))
	if err != nil {
		return out, err
	}
	for _, d := range out.RemovedDuplicates {
		out.After -= prompt.EstimateTokens(d.DroppedEntry.Content)
		out.Steps = append(out.Steps, stepForDuplicate(d))
	}
	return out, duplicate.RemoveDuplicates(ctx, m, out.RemovedDuplicates, in.DryRun)
}

// consolidateHome removes facts that repeat other facts from the files of a home. If in.TokenThreshold is set, it
// removes nothing unless the memory has more tokens than this number. If in.DryRun is set, it removes nothing and
// returns the changes that it would make.
func consolidateHome(ctx context.Context, tidier verb.Tidier, in ConsolidateIn) (verb.Tidied, error) {
	if in.TokenThreshold <= 0 {
		return tidier.Consolidate(ctx, in.DryRun)
	}
	const dry = true
	would, err := tidier.Consolidate(ctx, dry)
	if err != nil {
		return would, err
	}
	if would.Before <= in.TokenThreshold {
		would.Steps, would.After = nil, would.Before
		return would, nil
	}
	return tidier.Consolidate(ctx, in.DryRun)
}

func stepForDuplicate(d duplicate.Duplicate) verb.Step {
	why := d.KeptEntry.Name + " says all of it"
	if d.Exact {
		why = d.KeptEntry.Name + " says the same"
	}
	return verb.Step{
		Did:  "drop",
		Text: d.DroppedEntry.Name + ": " + d.DroppedEntry.Content,
		Kept: d.KeptEntry.Name + ": " + d.KeptEntry.Content,
		Why:  why,
	}
}
