// This file implements the verb embed, which computes the vectors of entries.

package maintenance

import (
	"context"
	"errors"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/vectors"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// EmbedIn is the argument of EmbedEntries.
type EmbedIn struct {
	DryRun bool `json:"dry_run,omitempty" usage:"Show how much would be sent, and send nothing."`
}

// EmbedOut is the result of EmbedEntries.
type EmbedOut struct {
	DryRun          bool   `json:"dry_run,omitempty"`
	Model           string `json:"model"`
	Endpoint        string `json:"endpoint"`
	NewVectors      int    `json:"made"`  // number of vectors that were computed, or would be by a dry run
	ExistingVectors int    `json:"kept"`  // number of entries that already have a vector
	TextBytes       int    `json:"bytes"` // size of the texts that are sent to the endpoint, in bytes
}

// Report returns a report with the number of vectors that were computed. For a dry run, this is the number of vectors
// that a real run would compute.
func (o EmbedOut) Report() (r report.Report) {
	r.AddLinef("%s %s of %s by %s: %s of text; %d had one", report.EffectVerb(o.DryRun, "made", "would make"),
		report.OxbowText(text.FormatCount(o.NewVectors, "vector", "vectors")), o.Model, o.Endpoint,
		report.OxbowText(text.FormatBytes(int64(o.TextBytes))), o.ExistingVectors)
	return r
}

// EmbedEntries computes a vector for each entry that lacks one. With in.DryRun, it only counts these entries.
func EmbedEntries(ctx context.Context, w *verb.Workspace, in EmbedIn) (out EmbedOut, err error) {
	v := w.Vectors
	if v == nil {
		return out, verb.Advise(verb.Invalidf("no endpoint that makes vectors is named"),
			"for example: oxbow embed --embed http://127.0.0.1:11434 --embed-model nomic-embed-text")
	}
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return out, err
	}
	var r vectors.Report
	err = errors.Join(m.View(ctx, func(all oxbow.Entries) {
		r, err = v.ComputeMissingVectors(ctx, all, in.DryRun, progress.NewCountReporter(ctx, progress.UnitTexts))
	}), err)
	return EmbedOut{in.DryRun, v.Model, v.Endpoint, r.ComputedVectors, r.ExistingVectors, r.TextBytes}, err
}
