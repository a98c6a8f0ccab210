// This file counts the changes and the entries for each day.

package maintenance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/store/heads"
)

// CollectDailyStatsIn is the argument of CollectDailyStats.
type CollectDailyStatsIn struct {
	DayStarts []time.Time // beginning of each day to count, ascending; the last day ends now
}

// CollectDailyStatsOut contains a number for each day.
type CollectDailyStatsOut struct {
	ChangeCounts []int // number of changes on each day (nil if the store does not number its changes)
	EntryCounts  []int // for each day, how many entries were created before the end of the day
}

// CollectDailyStats counts the changes and the entries for each day. It does not read the changes. It looks up the
// number of each day's first change.
func CollectDailyStats(
	ctx context.Context,
	w *verb.Workspace,
	in CollectDailyStatsIn,
) (out CollectDailyStatsOut, err error) {
	ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles)
	if err != nil {
		return out, err
	}
	if len(in.DayStarts) == 0 {
		return out, nil
	}
	if h, herr := m.History(); herr == nil {
		out.ChangeCounts, err = countDailyChanges(ctx, m, h, in.DayStarts)
	}
	if err == nil {
		out.EntryCounts, err = countDailyEntries(ctx, m, in.DayStarts)
	}
	if err != nil {
		return out, fmt.Errorf("counting days: %w", err)
	}
	return out, nil
}

// countDailyChanges returns the number of changes on each day. The days begin at the given start times, which must be
// in ascending order, and the last day ends now. Changes that a compaction has dropped are not counted, so the count of
// an old day can be 0. If the caller may see only a part of the memory, the result is nil.
func countDailyChanges(
	ctx context.Context,
	m *oxbow.Memory,
	h oxbow.Historian,
	starts []time.Time,
) (counts []int, err error) {
	stats, err := m.Stats(ctx)
	// The store reports no statistics, because the caller may see only a part of the memory.
	if errors.Is(err, oxbow.ErrUnsupported) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	counts = make([]int, len(starts))
	none := max(stats.First, 1) - 1 // number of the last change that a compaction dropped (0 if no change was dropped)
	next := stats.Last              // number of the last change on the day that is counted next
	for i, start := range slices.Backward(starts) {
		before, err := h.SeqAt(ctx, start.Add(-1))
		if errors.Is(err, oxbow.ErrNotFound) { // A compaction has dropped all changes before the start of this day.
			before, err = none, nil
		}
		if err != nil {
			return nil, err
		}
		counts[i] = int(next - min(before, next))
		next = min(before, next)
		if before <= none {
			break
		}
	}
	return counts, nil
}

// countDailyEntries returns, for each day, the number of entries that were created before the end of this day. The
// argument starts contains the start times of the days in ascending order. Entries from before the first day are
// counted too. Entries from after the last day are counted for the last day.
func countDailyEntries(ctx context.Context, m *oxbow.Memory, starts []time.Time) (counts []int, err error) {
	err = heads.View(ctx, m.Store(), heads.Needs{}, func(all heads.List) error {
		counts = make([]int, len(starts)) // Begin again, because View may call this function a second time.
		for h, err := range all.All {
			if err != nil {
				return err
			}
			day, isStart := slices.BinarySearchFunc(starts, h.Entry.Created, time.Time.Compare)
			if !isStart {
				day-- // Count the entry for the last day that started before the entry was created.
			}
			counts[min(max(day, 0), len(counts)-1)]++
		}
		return nil
	})
	for i := 1; i < len(counts); i++ {
		counts[i] += counts[i-1]
	}
	return counts, err
}
