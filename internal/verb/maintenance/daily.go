// This file counts the changes and the entries of each day.

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

// DailyIn is the argument of CountByDay.
type DailyIn struct {
	Starts []time.Time // start of each day, ascending; the last day ends now
}

// DailyOut has one number for each day.
type DailyOut struct {
	Changes []int // changes that were made on the day (nil if the store does not number its changes)
	Entries []int // entries that were created before the end of the day
}

// CountByDay counts the changes and the entries of days. It reads neither the changes nor the contents of the
// entries, but looks up the number of the first change of each day.
func CountByDay(ctx context.Context, w *verb.Workspace, in DailyIn) (out DailyOut, err error) {
	ctx, m, err := w.OpenMemory(ctx, verb.ReadOwn)
	if err != nil {
		return out, err
	}
	if len(in.Starts) == 0 {
		return out, nil
	}
	if h, herr := m.History(); herr == nil {
		out.Changes, err = dailyChanges(ctx, m, h, in.Starts)
	}
	if err == nil {
		out.Entries, err = dailyEntries(ctx, m, in.Starts)
	}
	if err != nil {
		return out, fmt.Errorf("counting days: %w", err)
	}
	return out, nil
}

// dailyChanges returns the number of changes on each day. starts has the beginnings of the days in ascending order,
// and the last day ends now. A day has 0 changes if a compaction has dropped them. The result is nil if the caller may
// see only a part of the memory.
func dailyChanges(
	ctx context.Context,
	m *oxbow.Memory,
	h oxbow.Historian,
	starts []time.Time,
) (counts []int, err error) {
	stats, err := m.Stats(ctx)
	if errors.Is(err, oxbow.ErrUnsupported) { // the caller may see only a part of the memory
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	counts = make([]int, len(starts))
	none := max(stats.First, 1) - 1 // number of the last change before those that the history has
	next := stats.Last              // number of the last change before the following day
	for i, start := range slices.Backward(starts) {
		before, err := h.SeqAt(ctx, start.Add(-1))
		if errors.Is(err, oxbow.ErrNotFound) { // a compaction has dropped the changes before that time
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

// dailyEntries counts the entries that were created before the end of each day.
func dailyEntries(ctx context.Context, m *oxbow.Memory, starts []time.Time) (counts []int, err error) {
	err = heads.View(ctx, m.Store(), heads.Needs{}, func(all heads.List) error {
		counts = make([]int, len(starts)) // View may call this function a second time
		for h, err := range all.All {
			if err != nil {
				return err
			}
			day, isStart := slices.BinarySearchFunc(starts, h.Entry.Created, time.Time.Compare)
			if !isStart {
				day-- // the day that began before
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
