// This file implements the verbs compact, redact and stats.

package maintenance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session/inbox"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// CompactIn is the argument of Compact.
type CompactIn struct {
	KeptHistorySpan string `json:"keep"              value:"SPAN" default:"90d" jsonschema:"keep the history of this SPAN, such as 90d, 12w, 1y or 36h"`
	DryRun          bool   `json:"dry_run,omitempty"                            jsonschema:"show what would be dropped and change nothing"`
}

// Compact builds the index again if the store has less than maxStoreBytesToReindex bytes. For such a store, this takes
// at most two seconds.
const maxStoreBytesToReindex = 32 << 20

// CompactOut is the result of Compact.
type CompactOut struct {
	DryRun              bool   `json:"dry_run,omitempty"`
	CutoffTime          string `json:"before"` // versions that were replaced before this time were dropped (RFC 3339)
	DroppedChangeCount  int    `json:"changes"`
	DroppedVersionCount int    `json:"versions"`
	BytesBefore         int64  `json:"bytes_before"`
	BytesAfter          int64  `json:"bytes_after"`
	LastChangeSeq       uint64 `json:"seq,omitempty"`
}

// Compact drops the history that is older than in.KeptHistorySpan, such as 90d. This history consists of the entry
// versions that were replaced or removed before that time. Dropping the versions cannot be undone. Compact fails
// without dropping anything if the caller may not erase one of the old versions (see [verb.CheckMayEraseVersions]). If
// in.DryRun is set, Compact only reports what would be dropped, and does not check whether the caller may erase it.
func Compact(ctx context.Context, w *verb.Workspace, in CompactIn) (CompactOut, error) {
	span, ok := verb.ParseTimeSpan(in.KeptHistorySpan)
	if !ok {
		return CompactOut{}, verb.Advise(
			verb.Invalidf("%q is not a length of time", in.KeptHistorySpan),
			"write 90d, 12w, 6mo, 1y or 36h",
		)
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Write)
	if err != nil {
		return CompactOut{}, err
	}
	before := w.CurrentTime().Add(-span)
	if !in.DryRun {
		if err := verb.CheckMayEraseVersions(ctx, "compact", oldVersions(ctx, m, before)); err != nil {
			return CompactOut{}, err
		}
	}
	r, err := m.Compact(ctx, oxbow.Compaction{Before: before, DryRun: in.DryRun})
	if err != nil {
		return CompactOut{}, err
	}
	if r.Seq > 0 && r.BytesAfter < maxStoreBytesToReindex {
		// The compaction may have removed the index file. If building the index fails, the next recall builds it.
		_ = m.MakeIndex(ctx)
	}
	return CompactOut{
		in.DryRun,
		verb.FormatTimestamp(before),
		r.Changes,
		r.Versions,
		r.BytesBefore,
		r.BytesAfter,
		r.Seq,
	}, nil
}

// oldVersions yields the versions that a compaction may drop. A version is yielded if it is not the entry's current
// one, has content, and was written before the given time.
func oldVersions(ctx context.Context, m *oxbow.Memory, before time.Time) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		now := map[string]uint64{}
		for e, err := range m.Entries(ctx, oxbow.Filter{}) {
			if err != nil {
				yield(oxbow.Entry{}, err)
				return
			}
			now[e.Name] = e.Version
		}
		more := true
		err := eachVersionNotCurrent(ctx, m, now, func() {}, func(e oxbow.Entry) {
			isOld := e.Content != "" && e.Source.Time.Before(before)
			if more && isOld {
				more = yield(e, nil)
			}
		})
		if err != nil && more {
			yield(oxbow.Entry{}, err)
		}
	}
}

// RedactIn is the argument of Redact.
type RedactIn struct {
	Name   string `json:"name"              flag:"-" jsonschema:"exact name of the entry"`
	DryRun bool   `json:"dry_run,omitempty"          jsonschema:"show what would be erased and change nothing"`
}

// RedactOut is the result of Redact.
type RedactOut struct {
	DryRun               bool     `json:"dry_run,omitempty"`
	Name                 string   `json:"name"`
	Versions             int      `json:"versions"`
	RedactionSeq         uint64   `json:"seq,omitempty"` // number of the change that records the redaction
	PlacesWithErasedText []string `json:"left"`          // places that may still contain the erased text
}

// Redact erases all versions of an entry. This cannot be undone. It also removes the file of vectors, because vectors
// reveal the text. The result lists where the text may remain, for example in files that an interrupted command left.
// With in.DryRun, nothing is erased. If the caller may not erase a version, the error matches [oxbow.ErrInvalid].
func Redact(ctx context.Context, w *verb.Workspace, in RedactIn) (RedactOut, error) {
	store, err := w.OwnStorePath("redact")
	if err != nil {
		return RedactOut{}, err
	}
	ctx, m, err := w.OpenMemory(ctx, verb.Write)
	if err != nil {
		return RedactOut{}, err
	}
	if err := verb.CheckMayEraseVersions(ctx, "redact", unerasedVersions(ctx, m, in.Name)); !in.DryRun &&
		errors.Is(err, oxbow.ErrInvalid) {
		return RedactOut{}, err // ignore other errors, because the call of Redact below returns them
	}
	notes, err := describeMentionsInNotes(ctx, w, m, in.Name)
	if err != nil {
		return RedactOut{}, fmt.Errorf("redacting: %w", err)
	}
	r, err := m.Redact(ctx, in.Name, in.DryRun)
	if errors.Is(err, oxbow.ErrNotFound) {
		return RedactOut{}, verb.Advise(
			fmt.Errorf("redacting: %w", err),
			"redact takes the exact name, and of an entry that is in the log; oxbow log shows the names",
		)
	}
	if err != nil {
		return RedactOut{}, fmt.Errorf("redacting: %w", err)
	}
	if !in.DryRun { // Remove the file of vectors, because the vectors reveal the erased text.
		if err := os.Remove(store + verb.VectorSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return RedactOut{}, verb.WrapError("removing the vectors", err)
		}
	}
	out := RedactOut{
		DryRun:               in.DryRun,
		Name:                 in.Name,
		Versions:             r.Versions,
		RedactionSeq:         r.Seq,
		PlacesWithErasedText: r.Left,
	}
	if notes != "" {
		out.PlacesWithErasedText = append(out.PlacesWithErasedText, notes)
	}
	// Files next to the store may also contain the text, so list them.
	left, err := listStaleFiles(store)
	for _, l := range left {
		out.PlacesWithErasedText = append(out.PlacesWithErasedText, l.path)
	}
	return out, err
}

// unerasedVersions yields the versions of an entry that have text. It skips versions that were erased, and versions
// that record a removal of the entry.
func unerasedVersions(ctx context.Context, m *oxbow.Memory, name string) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		for v, err := range m.Versions(ctx, name) {
			if err != nil {
				yield(oxbow.Entry{}, err)
				return
			}
			v.Entry.Source = v.Source
			hasText := !v.Erased && v.Verb != oxbow.VerbRemove
			if hasText && !yield(v.Entry, nil) {
				return
			}
		}
	}
}

// StatsIn is the argument of [Stats]. It is empty.
type StatsIn struct{}

// StatsOut is the statistics of a memory.
type StatsOut struct {
	Store           string         `json:"store"`
	Entries         int            `json:"entries"`
	Bytes           int64          `json:"bytes"` // size of the store's file, in bytes
	UsedBytes       int64          `json:"used"`  // size of the file without its free space, in bytes
	ContentBytes    int64          `json:"content_bytes"`
	FirstSeq        uint64         `json:"first_change"`
	LastSeq         uint64         `json:"last_change"`
	LastLogHash     string         `json:"head,omitempty"`   // value of the log's hash chain after the last change
	OldestEntryTime string         `json:"oldest,omitempty"` // creation time of the oldest entry (RFC 3339)
	NewestEntryTime string         `json:"newest,omitempty"`
	EntriesPerKind  map[string]int `json:"kinds"`
	Projects        map[string]int `json:"projects"`
	Tags            map[string]int `json:"tags"`

	// number of proposals from past sessions that wait for a decision of the user
	WaitingProposals int `json:"inbox,omitempty"`

	HasOxbowLayout bool `json:"-"` // The memory has oxbow's own layout, a single file with the history.
}

// Stats returns the memory's size, its changes, the number of entries for each kind, project and tag, and how many
// proposals are waiting. A size or changes that the store does not know are omitted.
func Stats(ctx context.Context, w *verb.Workspace, _ StatsIn) (StatsOut, error) {
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return StatsOut{}, err
	}
	p, err := w.FindPlace()
	if err != nil {
		return StatsOut{}, err
	}
	out := StatsOut{
		Store:          p.StorePath,
		HasOxbowLayout: p.HasOwnLayout(),
		EntriesPerKind: map[string]int{},
		Projects:       map[string]int{},
		Tags:           map[string]int{},
	}
	if s, err := m.Stats(ctx); err == nil {
		out.Bytes = s.Bytes
		out.UsedBytes = s.Used
		out.FirstSeq = s.First
		out.LastSeq = s.Last
		out.LastLogHash = s.Head
	} else if !errors.Is(err, oxbow.ErrUnsupported) {
		return StatsOut{}, err
	}
	sum, err := m.Summary(ctx)
	if err != nil {
		return StatsOut{}, fmt.Errorf("counting: %w", err)
	}
	out.Entries, out.ContentBytes = sum.Entries, sum.Content
	counts := map[string]map[string]int{
		"kind":             out.EntriesPerKind,
		oxbow.LabelProject: out.Projects,
		oxbow.LabelTag:     out.Tags,
	}
	for l, n := range sum.Counts {
		counts[l.Key][l.Value] = n
	}
	if out.Entries > 0 {
		out.OldestEntryTime, out.NewestEntryTime = verb.FormatTimestamp(sum.Oldest), verb.FormatTimestamp(sum.Newest)
	}
	file, err := sessionArchivePath(w)
	hasArchive := err == nil && file != ""
	if hasArchive && w.Sessions != nil {
		// ignore an error of the session archive, because oxbow doctor reports it
		if a, err := w.Sessions(ctx); err == nil {
			out.WaitingProposals, _ = inbox.CountOpenProposals(ctx, a.Memory)
		}
	}
	return out, nil
}
