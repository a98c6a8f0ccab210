// This file parses spans of time such as 90d.

package verb

import (
	"strconv"
	"time"
)

// timeSpanUnits lists the units that ParseTimeSpan accepts in addition to the units of [time.ParseDuration].
var timeSpanUnits = []struct {
	unit string
	long time.Duration
}{
	{"mo", 30 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"w", 7 * 24 * time.Hour}, {"y", 365 * 24 * time.Hour},
}

// ParseTimeSpan parses a span of time such as 90d, 12w, 6mo, 1y or 36h. A month has 30 days and a year 365 days. It
// returns false if s is not a span or is negative.
func ParseTimeSpan(s string) (time.Duration, bool) {
	for _, u := range timeSpanUnits {
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

// minChangesKeptWithTimeSpan is the minimum number of changes that are kept if the limit is a time span.
const minChangesKeptWithTimeSpan = 10_000

// ParseHistoryLimit parses how much history an automatic compaction keeps. s is a number of changes, or a time span
// such as 90d, for which at least 10,000 changes are kept. If s is "" or "all", automatic compaction is off.
func ParseHistoryLimit(s string) (changeCount int, age time.Duration, err error) {
	if s == "" || s == "all" {
		return 0, 0, nil
	}
	if n, nerr := strconv.Atoi(s); nerr == nil && n > 0 {
		return n, 0, nil
	}
	if age, ok := ParseTimeSpan(s); ok && age > 0 {
		return minChangesKeptWithTimeSpan, age, nil
	}
	return 0, 0, Advise(
		Invalidf("%q does not say what history to keep", s),
		"write all, a number of changes such as 50000, or a length of time such as 90d",
	)
}
