// This file parses durations.

package verb

import (
	"strconv"
	"time"
)

// spanUnits are the units that ParseSpan accepts in addition to [time.ParseDuration]'s units.
var spanUnits = []struct {
	unit string
	long time.Duration
}{
	{"mo", 30 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"w", 7 * 24 * time.Hour}, {"y", 365 * 24 * time.Hour},
}

// ParseSpan parses a duration such as 90d, 12w, 6mo, 1y or 36h, which must not be negative. A month
// is 30 days and a year 365 days.
func ParseSpan(s string) (time.Duration, bool) {
	for _, u := range spanUnits {
		if n := len(s) - len(u.unit); n > 0 && s[n:] == u.unit {
			v, err := strconv.ParseUint(s[:n], 10, 16)
			if err != nil || time.Duration(v) > (1<<63-1)/u.long {
				return 0, false
			}
			return time.Duration(v) * u.long, true
		}
	}
	d, err := time.ParseDuration(s)
	return d, err == nil && d >= 0
}

// minKeptChanges is the minimum number of changes to keep if a span is given.
const minKeptChanges = 10_000

// ParseKeptHistory parses how much history an automatic compaction keeps: a number of changes, or a span
// such as 90d with at least 10,000 changes. If s is "" or "all", the whole history is kept, without
// automatic compaction.
func ParseKeptHistory(s string) (changes int, age time.Duration, err error) {
	if s == "" || s == "all" {
		return 0, 0, nil
	}
	if n, nerr := strconv.Atoi(s); nerr == nil && n > 0 {
		return n, 0, nil
	}
	if age, ok := ParseSpan(s); ok && age > 0 {
		return minKeptChanges, age, nil
	}
	return 0, 0, Advise(
		Invalidf("%q does not say what history to keep", s),
		"write all, a number of changes such as 50000, or a length of time such as 90d",
	)
}
