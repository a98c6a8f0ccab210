// This file limits times to a range, for example to the times that JSON can represent.

package text

import "time"

// These are the first and the last time that JSON can represent.
var (
	minTime = time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	maxTime = time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
)

// ClampToJSONTime returns t in UTC. If JSON cannot represent t, it returns the nearest time that JSON can represent.
func ClampToJSONTime(t time.Time) time.Time { return ClampTime(t, minTime, maxTime) }

// ClampTime returns t in UTC, limited to the range from first to last. It returns the argument first if t is before
// first, and the argument last if t is after last.
func ClampTime(t, first, last time.Time) time.Time {
	switch t = t.UTC(); {
	case t.Before(first):
		return first
	case t.After(last):
		return last
	}
	return t
}
