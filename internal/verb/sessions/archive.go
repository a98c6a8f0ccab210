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

// PruneArchivesIn is the argument of PruneArchives. It contains limits, of which at least one must be given. An
// archive that exceeds a limit is forgotten.
type PruneArchivesIn struct {
	BeforeDate string `json:"before,omitempty"  value:"DATE" usage:"forget archives that were made before this DATE"`
	MaxDays    *int   `json:"days,omitempty"                 usage:"forget archives that are older than N days"`
	KeepNewest *int   `json:"keep,omitempty"                 usage:"keep the newest N archives, and forget all others"`
	DryRun     bool   `json:"dry_run,omitempty"              usage:"show what would be forgotten and change nothing"`
}

// PruneArchivesOut is the result of PruneArchives. The archives are listed in order of age, oldest first.
type PruneArchivesOut struct {
	DryRun         bool            `json:"dry_run,omitempty"`
	PrunedArchives []PrunedArchive `json:"forgotten"`
	// file with a copy of all archived conversations as they were before the call (only if the call cannot be undone)
	BackupFile string `json:"saved_in,omitempty"`
}

// PrunedArchive is an entry with an archived conversation that was forgotten or, in a dry run, would be forgotten.
type PrunedArchive struct {
	Name    string `json:"name"`
	Created string `json:"created"` // time in RFC 3339
	Bytes   int    `json:"bytes"`
}

// PruneArchives forgets the archives that exceed a limit in the arguments. The list PrunedArchives of the result
// contains the forgotten archives. A single undo restores all forgotten archives.
//
// PruneArchives removes the archives in one change, or in several changes if one change would be too large (see
// [oxbow.CommitInParts]). If another call changes an archive at the same time, the error matches [oxbow.ErrConflict].
// If there was only one change, no archive was forgotten. If there were several changes, the changes before the error
// are kept.
func PruneArchives(ctx context.Context, w *verb.Workspace, in PruneArchivesIn) (PruneArchivesOut, error) {
	out := PruneArchivesOut{DryRun: in.DryRun, PrunedArchives: []PrunedArchive{}}
	before, err := in.oldestKeptTime(w.CurrentTime())
	if err != nil {
		return out, err
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Write.UnlessDryRun(in.DryRun))
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
	var groups []oxbow.OpGroup
	for i, e := range all {
		isSurplus := in.KeepNewest != nil && i < len(all)-*in.KeepNewest
		if isSurplus || e.Created.Before(before) {
			out.PrunedArchives = append(
				out.PrunedArchives,
				PrunedArchive{e.Name, e.Created.UTC().Format(time.RFC3339), len(e.Content)},
			)
			groups = append(groups, oxbow.OpGroup{
				Ops:      []oxbow.Op{oxbow.Remove{Name: e.Name, If: e.Version}},
				OldBytes: oxbow.EntryBytes(&e),
			})
		}
	}
	if in.DryRun || len(groups) == 0 {
		return out, nil
	}
	if _, err := m.History(); err != nil {
		out.BackupFile, err = transfer.SaveEntries(ctx, w, m, "archives", archives)
		if err != nil {
			return out, err
		}
	}
	done, err := oxbow.CommitInParts(
		oxbow.WithNote(ctx, "forget archives"),
		m,
		groups,
		oxbow.PartOptions{MaxBytes: w.MaxChangeBytes},
	)
	out.PrunedArchives = out.PrunedArchives[:done.GroupCount]
	return out, verb.WrapError("forgetting archives", err)
}

// oldestKeptTime returns the earliest creation time of the archives that are kept because of their age. An older
// archive may be deleted. The result is the time in.BeforeDate, or the time that is in.MaxDays days before the
// parameter now. It is zero if only in.KeepNewest is set. oldestKeptTime returns an error in these cases:
//   - MaxDays or KeepNewest is less than 1.
//   - BeforeDate and MaxDays are both set.
//   - BeforeDate, MaxDays and KeepNewest are all unset.
//   - BeforeDate is not a valid date.
func (in PruneArchivesIn) oldestKeptTime(now time.Time) (time.Time, error) {
	for name, n := range map[string]*int{"days": in.MaxDays, "keep": in.KeepNewest} {
		if n != nil && *n < 1 {
			return time.Time{}, verb.InvalidValue(name, strconv.Itoa(*n), "is less than 1")
		}
	}
	switch {
	case in.BeforeDate != "" && in.MaxDays != nil:
		return time.Time{}, verb.Invalidf("before and days both give an age; leave one of them out")
	case in.MaxDays != nil:
		return now.AddDate(0, 0, -*in.MaxDays), nil
	case in.BeforeDate == "" && in.KeepNewest == nil:
		return time.Time{}, verb.Invalidf("which archives go is not said: give an age, or a number to keep")
	}
	f, err := verb.TimeFilter("before", "before", in.BeforeDate, now)
	return f.Before, err
}

// Report lists the forgotten archives.
func (o PruneArchivesOut) Report() (r report.Report) {
	items := report.List{ListAllAdvice: verb.AdviceForListingChanges(o.DryRun)}
	if o.BackupFile != "" {
		items.ListAllAdvice = report.OxbowText(o.BackupFile + " contains them all")
	}
	for _, e := range o.PrunedArchives {
		items.Items = append(items.Items, report.Line{Sentence: report.Sentencef(
			"%s %s (%s)",
			report.EffectVerb(
				o.DryRun,
				"forgot",
				"would forget",
			),
			report.EntryName(e.Name),
			report.ParseTimeOrText(e.Created),
		)})
	}
	r.Add(items)
	switch {
	case len(o.PrunedArchives) == 0:
		r.AddNotef("no archive is that old, or beyond that number: nothing is to be forgotten")
	case o.DryRun:
	case o.BackupFile == "":
		r.AddNotef("oxbow undo brings them back")
	default:
		r.AddNotef("all archives were written to %s first; oxbow import %s brings these back", o.BackupFile,
			report.OxbowText(text.ShellQuote(o.BackupFile)))
	}
	return r
}
