// This file implements the verb convert, which copies the memory to a new home, usually with another layout.

package transfer

import (
	"context"
	"errors"
	"fmt"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/output"
)

// ConvertIn is the argument of Convert.
type ConvertIn struct {
	Dir                string `json:"dir"               flag:"-" jsonschema:"The new home."`
	Layout             string `json:"layout"            flag:"-" jsonschema:"Its layout."`
	ShouldAdaptEntries bool   `json:"adapt,omitempty"   flag:"-" jsonschema:"Leave out what the new layout cannot hold."`
	DryRun             bool   `json:"dry_run,omitempty" flag:"-" jsonschema:"Show what would be written, and write nothing."`

	// CreateHome creates a new home in a directory or, if dir is "", in working memory. It returns the store, and a
	// function that closes the store.
	CreateHome func(ctx context.Context, dir string) (oxbow.Store, func() error, error) `json:"-"`
}

// ConvertOut is the result of Convert.
type ConvertOut struct {
	// path of the old home (the memory's directory), set by the command that calls Convert
	OldHomePath    string                  `json:"from"`
	NewHomePath    string                  `json:"to"`
	Layout         string                  `json:"layout"`
	DryRun         bool                    `json:"dry_run"`
	Entries        int                     `json:"entries"`
	AdaptedEntries []exchange.AdaptedEntry `json:"adapted"`
	// Leftovers of an interrupted run, which were removed.
	ClearedLeftovers string `json:"cleared,omitempty"`
}

// RefusedEntriesError reports entries that a layout cannot store. It matches [oxbow.ErrUnsupported].
type RefusedEntriesError struct {
	Layout          string
	Refused         []exchange.RejectedEntry
	TotalEntryCount int // number of entries in the memory
}

func (e *RefusedEntriesError) Error() string {
	entries := "entries"
	if len(e.Refused) == 1 {
		entries = "entry"
	}
	return fmt.Sprintf(
		"nothing was written: %s cannot hold %d %s of %d",
		e.Layout,
		len(e.Refused),
		entries,
		e.TotalEntryCount,
	)
}

// Is reports whether target is [oxbow.ErrUnsupported].
func (*RefusedEntriesError) Is(target error) bool { return target == oxbow.ErrUnsupported }

// Convert writes each entry to a new home. The home gets its final name only when complete. Convert first tries the
// conversion in working memory. If the new home refuses an entry, Convert writes nothing, and returns a
// [*RefusedEntriesError].
func Convert(ctx context.Context, w *verb.Workspace, in ConvertIn) (ConvertOut, error) {
	out := ConvertOut{
		NewHomePath:    in.Dir,
		Layout:         in.Layout,
		DryRun:         in.DryRun,
		AdaptedEntries: []exchange.AdaptedEntry{},
	}
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return out, err
	}
	dir := output.OutputDir{Path: in.Dir, Name: in.Dir, OperationName: "making the new home"}
	if err := dir.CheckEmpty(); err != nil {
		return out, err
	}
	rep, err := in.convertEntries(ctx, m, "")
	if err == nil && len(rep.RefusedEntries) > 0 {
		err = &RefusedEntriesError{in.Layout, rep.RefusedEntries, len(rep.RefusedEntries) + rep.EntryCount}
	}
	if err == nil && !in.DryRun {
		out.ClearedLeftovers, err = dir.BuildInPlace(func(dir string) (err error) {
			rep, err = in.convertEntries(ctx, m, dir)
			if err == nil && len(rep.RefusedEntries) > 0 {
				err = &RefusedEntriesError{in.Layout, rep.RefusedEntries, len(rep.RefusedEntries) + rep.EntryCount}
			}
			return err
		})
	}
	if err != nil {
		return out, err
	}
	out.Entries = rep.EntryCount
	out.AdaptedEntries = append(out.AdaptedEntries, rep.AdaptedEntries...)
	return out, nil
}

func (in *ConvertIn) convertEntries(
	ctx context.Context,
	m *oxbow.Memory,
	dir string,
) (rep exchange.ConvertReport, err error) {
	s, done, err := in.CreateHome(ctx, dir)
	if err != nil {
		return rep, err
	}
	defer func() { err = errors.Join(err, done()) }()
	tell := progress.NewCountReporter(ctx, progress.UnitEntries)
	return exchange.Convert(
		ctx,
		m,
		s,
		&exchange.ConvertOptions{MayAdaptEntries: in.ShouldAdaptEntries, Progress: func(done int) {
			tell(done, 0)
		}},
	)
}
