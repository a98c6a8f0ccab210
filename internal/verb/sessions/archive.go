// This file implements the verb that forgets old archives of conversations.

package sessions

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/transfer"
)

// PruneArchivesIn is the argument of PruneArchives. An archive is forgotten if it exceeds a
// limit. At least one limit must be given.
type PruneArchivesIn struct {
	Before string `json:"before,omitempty" value:"DATE" usage:"forget archives that were made before this DATE"`
	Days   *int   `json:"days,omitempty" usage:"forget archives that are older than N days"`
	Keep   *int   `json:"keep,omitempty" usage:"keep the newest N archives, and forget all others"`
	DryRun bool   `json:"dry_run,omitempty" usage:"show what would be forgotten and change nothing"`
}

// PruneArchivesOut is the result of PruneArchives, oldest first.
type PruneArchivesOut struct {
	DryRun    bool            `json:"dry_run,omitempty"`
	Forgotten []PrunedArchive `json:"forgotten"`
	// copy of all archives from before, if the call cannot be undone
	SavedIn string `json:"saved_in,omitempty"`
}

// PrunedArchive is an archive that was, or would be, forgotten.
type PrunedArchive struct {
	Name    string `json:"name"`
	Created string `json:"created"` // RFC 3339
	Bytes   int    `json:"bytes"`
}

// PruneArchives forgets archives that are too old, in a single change. If an archive is changed at
// the same time, nothing is forgotten and the error matches [oxbow.ErrConflict].
func PruneArchives(ctx context.Context, w *verb.Workspace, in PruneArchivesIn) (PruneArchivesOut, error) {
	out := PruneArchivesOut{DryRun: in.DryRun, Forgotten: []PrunedArchive{}}
	before, err := in.age(w.Time())
	if err != nil {
		return out, err
	}
	ctx, m, err := w.Memory(ctx, verb.Write.Unless(in.DryRun))
	if err != nil {
		return out, err
	}
	archives := oxbow.Filter{Terms: []oxbow.Term{{Key: "kind", Values: []string{oxbow.Archive.String()}}}}
	var all []oxbow.Entry
	for e, err := range m.Entries(ctx, archives) {
		if err != nil {
			return out, verb.WrapError("looking for archives", err)
		}
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b oxbow.Entry) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	var ops []oxbow.Op
	for i, e := range all {
		isSurplus := in.Keep != nil && i < len(all)-*in.Keep
		if isSurplus || e.Created.Before(before) {
			out.Forgotten = append(
				out.Forgotten,
				PrunedArchive{e.Name, e.Created.UTC().Format(time.RFC3339), len(e.Content)},
			)
			ops = append(ops, oxbow.Remove{Name: e.Name, If: e.Version})
		}
	}
	if in.DryRun || len(ops) == 0 {
		return out, nil
	}
	if _, err := m.History(); err != nil {
		out.SavedIn, err = transfer.Save(ctx, w, m, "archives", archives)
		if err != nil {
			return out, err
		}
	}
	return out, verb.WrapError("forgetting archives", m.Apply(ctx, ops...))
}

// age returns the time before which an archive is too old, or the zero time if age is not
// limited.
func (in PruneArchivesIn) age(now time.Time) (time.Time, error) {
	for name, n := range map[string]*int{"days": in.Days, "keep": in.Keep} {
		if n != nil && *n < 1 {
			return time.Time{}, verb.InvalidValue(name, strconv.Itoa(*n), "is less than 1")
		}
	}
	switch {
	case in.Before != "" && in.Days != nil:
		return time.Time{}, verb.Invalidf("before and days both give an age; leave one of them out")
	case in.Days != nil:
		return now.AddDate(0, 0, -*in.Days), nil
	case in.Before == "" && in.Keep == nil:
		return time.Time{}, verb.Invalidf("which archives go is not said: give an age, or a number to keep")
	}
	f, err := verb.TimeFilter("before", "before", in.Before, now)
	return f.Before, err
}

// Report lists the forgotten archives.
func (o PruneArchivesOut) Report() (r report.Report) {
	items := report.List{All: verb.AllTouched(o.DryRun)}
	if o.SavedIn != "" {
		items.All = report.Words(o.SavedIn + " contains them all")
	}
	for _, e := range o.Forgotten {
		items.Items = append(items.Items, report.Line{Sentence: report.Sentencef("%s %s (%s)",
			report.Did(o.DryRun, "forgot", "would forget"), report.Name(e.Name), report.Moment(e.Created))})
	}
	r.Add(items)
	switch {
	case len(o.Forgotten) == 0:
		r.Notef("no archive is that old, or beyond that number: nothing is to be forgotten")
	case o.DryRun:
	case o.SavedIn == "":
		r.Notef("oxbow undo brings them back")
	default:
		r.Notef("all archives were written to %s first; oxbow import %s brings these back", o.SavedIn,
			report.Words(text.ShellQuote(o.SavedIn)))
	}
	return r
}
