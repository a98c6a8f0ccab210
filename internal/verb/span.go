// Reads lengths of time.

package verb

import (
	"strconv"
	"time"
)

// spans are the units of a span next to the units of [time.ParseDuration].
var spans = []struct {
	unit string
	long time.Duration
}{
	{"mo", 30 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"w", 7 * 24 * time.Hour}, {"y", 365 * 24 * time.Hour},
}

// ParseSpan reads a length of time such as 90d, 12w, 6mo, 1y or 36h, at least
// 0. A month is 30 days and a year 365.
func ParseSpan(s string) (time.Duration, bool) {
	for _, u := range spans {
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

// keepChanges is how many changes are kept at least where a span is to be kept.
const keepChanges = 10_000

// ParseKeep reads what history a compaction that begins by itself is to keep: a
// number of changes, a span such as 90d and at least 10,000 changes, or all, as
// nothing does, with which none begins.
func ParseKeep(s string) (changes int, age time.Duration, err error) {
	if s == "" || s == "all" {
		return 0, 0, nil
	}
	if n, nerr := strconv.Atoi(s); nerr == nil && n > 0 {
		return n, 0, nil
	}
	if age, ok := ParseSpan(s); ok && age > 0 {
		return keepChanges, age, nil
	}
	return 0, 0, Advise(
		Invalidf("%q does not say what history to keep", s),
		"write all, a number of changes such as 50000, or a length of time such as 90d",
	)
}
