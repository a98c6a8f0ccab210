// This file tests how spans of time are parsed.

package verb

import (
	"testing"
	"time"
)

func TestParseSpan(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		in   string
		want time.Duration
	}{
		{"90d", 90 * day}, {"0d", 0}, {"2w", 14 * day}, {"6mo", 180 * day}, {"1y", 365 * day}, {"36h", 36 * time.Hour},
		{"0", 0},
		{"", -1}, {"d", -1}, {"-1d", -1}, {"-1h", -1}, {"1.5d", -1}, {"65535y", -1}, {"99999999999999999999d", -1},
	} {
		got, ok := ParseTimeSpan(c.in)
		if !ok {
			got = -1
		}
		if got != c.want {
			t.Errorf("ParseSpan(%q) = %v, %v, want %v", c.in, got, ok, c.want)
		}
	}
}

func FuzzParseSpan(f *testing.F) {
	const day = 24 * time.Hour
	for s, want := range map[string]time.Duration{
		"30d": 30 * day, "2w": 14 * day, "6mo": 180 * day, "1y": 365 * day, "36h": 36 * time.Hour, "0": 0,
		"5m": 5 * time.Minute,
		"":   -1, "d": -1, "-3d": -1, "+3d": -1, "-1h": -1, "1.5d": -1, "3 d": -1, "99999y": -1, "30": -1, "month": -1,
	} {
		f.Add(s)
		if got, ok := ParseTimeSpan(s); ok != (want >= 0) || (ok && got != want) {
			f.Errorf("ParseSpan(%q) = %v, %v, want %v", s, got, ok, want)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, ok := ParseTimeSpan(s); ok && d < 0 {
			t.Errorf("ParseSpan(%q) = %v", s, d)
		}
	})
}
