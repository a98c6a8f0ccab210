// This file reads a part of a history without reading all later changes.

package store

import (
	"context"
	"iter"
	"math"
	"slices"
)

// A LogSeeker is a [Historian] that can find a change without reading the changes after it. Callers
// use [LogFrom] and [ReadChanges].
type LogSeeker interface {
	// LogFrom yields the changes up to number seq, newest first. It leaves out as many of the newest changes as the
	// parameter skip says.
	LogFrom(ctx context.Context, seq uint64, skip int) iter.Seq2[Change, error]
}

// LastChange is a number that is not lower than the number of any change. Pass it to [LogFrom] to read a log from its
// newest change on.
const LastChange = math.MaxUint64

// ReadHistory returns the history from which h reads. This is h itself, unless h wraps another history only to limit
// changes. Such a wrapper has a method ReadsFrom, which returns the wrapped history.
func ReadHistory(h Historian) Historian {
	if w, ok := h.(interface{ ReadsFrom() Historian }); ok {
		return w.ReadsFrom()
	}
	return h
}

// LogFrom yields the changes whose numbers are at most seq, newest first. It leaves out the newest changes among them,
// as many as the parameter skipCount specifies. If the history is not a [LogSeeker], LogFrom also has to read all
// changes with higher numbers.
func LogFrom(ctx context.Context, h Historian, seq uint64, skipCount int) iter.Seq2[Change, error] {
	if s, ok := ReadHistory(h).(LogSeeker); ok {
		return s.LogFrom(ctx, seq, skipCount)
	}
	return func(yield func(Change, error) bool) {
		for c, err := range h.Log(ctx) {
			switch {
			case err == nil && c.Seq > seq:
				continue
			case err == nil && skipCount > 0:
				skipCount--
				continue
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// ReadChanges returns the changes with these numbers, newest first. Numbers that the history does not
// have are left out.
func ReadChanges(ctx context.Context, h Historian, seqs []uint64) (cs []Change, err error) {
	seqs = slices.Compact(slices.Sorted(slices.Values(seqs)))
	seeker, seeks := ReadHistory(h).(LogSeeker)
	if !seeks {
		return walkToChanges(ctx, h, seqs)
	}
	for _, seq := range slices.Backward(seqs) {
		for c, err := range seeker.LogFrom(ctx, seq, 0) {
			if err != nil {
				return nil, err
			}
			if c.Seq == seq {
				cs = append(cs, c)
			}
			break
		}
	}
	return cs, nil
}

// walkToChanges returns the changes with the numbers in seqs that h contains. It is like ReadChanges, but for a history
// that can be read only from its newest change to its oldest. The numbers in seqs must be in ascending order. The
// result is in descending order of the numbers.
func walkToChanges(ctx context.Context, h Historian, seqs []uint64) (cs []Change, err error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	for c, err := range h.Log(ctx) {
		if err != nil {
			return nil, err
		}
		if c.Seq < seqs[0] {
			break
		}
		if _, wanted := slices.BinarySearch(seqs, c.Seq); wanted {
			cs = append(cs, c)
		}
		if c.Seq == seqs[0] {
			break
		}
	}
	return cs, nil
}
