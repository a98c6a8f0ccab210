// This file tests how date expressions are parsed.

package query

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestResolveDate(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		berlin = time.FixedZone("CEST", 2*3600)
	}
	now := time.Date(2026, 4, 15, 0, 30, 0, 0, berlin) // a Wednesday in Berlin, when it is still Tuesday in UTC
	// want is the first and the last day, or "" if the text is not a date
	tests := []struct{ text, want string }{
		{"today", "2026-04-15 2026-04-15"},
		{"yesterday", "2026-04-14 2026-04-14"},
		{"Yesterday", "2026-04-14 2026-04-14"},
		{"tomorrow", "2026-04-16 2026-04-16"},
		{"this week", "2026-04-13 2026-04-19"},
		{"last week", "2026-04-06 2026-04-12"},
		{"next week", "2026-04-20 2026-04-26"},
		{"last weekend", "2026-04-11 2026-04-12"},
		{"last month", "2026-03-01 2026-03-31"},
		{"this year", "2026-01-01 2026-12-31"},
		{"last year", "2025-01-01 2025-12-31"},
		{"last tuesday", "2026-04-14 2026-04-14"},
		{"last wednesday", "2026-04-08 2026-04-08"},
		{"this sunday", "2026-04-19 2026-04-19"},
		{"next wednesday", "2026-04-22 2026-04-22"},
		{"last april", "2025-04-01 2025-04-30"},
		{"last march", "2026-03-01 2026-03-31"},
		{"3 days ago", "2026-04-12 2026-04-12"},
		{"a week ago", "2026-04-06 2026-04-12"},
		{"two months ago", "2026-02-01 2026-02-28"},
		{"a year ago", "2025-01-01 2025-12-31"},
		{"last 3 days", "2026-04-13 2026-04-15"},
		{"past two weeks", "2026-04-02 2026-04-15"},
		{"in May 2023", "2023-05-01 2023-05-31"},
		{"May 2023", "2023-05-01 2023-05-31"},
		{"in march", "2026-03-01 2026-03-31"},
		{"in may", "2025-05-01 2025-05-31"},
		{"in 2023", "2023-01-01 2023-12-31"},
		{"may 7", "2025-05-07 2025-05-07"},
		{"7 march", "2026-03-07 2026-03-07"},
		{"on march 7th", "2026-03-07 2026-03-07"},
		{"May 7, 2023", "2023-05-07 2023-05-07"},
		{"7 may 2023", "2023-05-07 2023-05-07"},
		{"2026-04-18", "2026-04-18 2026-04-18"},
		{"2026-04", "2026-04-01 2026-04-30"},
		{"2026-04-01..2026-04-30", "2026-04-01 2026-04-30"},
		{"2026-01..2026-02", "2026-01-01 2026-02-28"},
		{"since march", "2026-03-01 "},
		{"since 2024", "2024-01-01 "},
		{"since last week", "2026-04-06 "},
		{"since since march", ""},

		{"2023", ""}, {"may", ""}, {"march", ""}, {"week", ""}, {"last", ""}, {"ago", ""}, {"banana", ""},
		{"in", ""}, {"since", ""}, {"0 days ago", ""}, {"-3 days ago", ""}, {"3 bananas ago", ""}, {"february 30", ""},
		{"2026-02-30", ""}, {"2026-13", ""}, {"2026-04-30..2026-04-01", ""}, {"..", ""}, {"on last week", ""},
		{"march on", ""}, {"last chance", ""}, {"in 20233", ""}, {"10 15", ""}, {"", ""}, {"in 9999", ""},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			d, ok := resolveDate(tt.text, now)
			got := ""
			if ok {
				got = d.From.Format(time.DateOnly) + " "
				if !d.To.IsZero() {
					got += d.To.Add(-time.Second).Format(time.DateOnly)
				}
				if d.From.Location() != berlin {
					t.Errorf("it is in %v", d.From.Location())
				}
			}
			if got != tt.want {
				t.Errorf("resolveDate(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

// In a list of words, the longest date expression is found, without the punctuation after it.
func TestFindDates(t *testing.T) {
	now := time.Date(2026, 4, 15, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"what did we ship last week?":        "last week",
		"in May 2023, or 3 days ago":         "in May 2023|3 days ago",
		"may I march in the last parade":     "",
		"port 2023 and 8080":                 "",
		"the May 7, 2023 release, yesterday": "May 7, 2023|yesterday",
	} {
		var got []string
		for _, d := range findDates(strings.Fields(text), now) {
			got = append(got, d.Text)
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("findDates(%q) = %q, want %q", text, s, want)
		}
	}
}

// FuzzResolveDate tests that the bounds of a date in any text are in order and within the years 1 to 9999. A filter
// "on:" with the same text must be parsed, and its bounds must be within the limits of filters.
func FuzzResolveDate(f *testing.F) {
	for _, s := range []string{"last week", "in May 2023", "9998-12-31", "0001-01-01", "999 years ago", "since 1000",
		"2026-01..2026-02"} {
		f.Add(s, int64(1776211200))
	}
	f.Fuzz(func(t *testing.T, s string, at int64) {
		now := time.Unix(at%(200*365*86400), 0).UTC()
		d, ok := resolveDate(s, now)
		if !ok {
			return
		}
		if d.From.Year() < 1 || d.To.Year() > 9999 || (!d.To.IsZero() && !d.From.Before(d.To)) {
			t.Fatalf("resolveDate(%q, %v) = %v", s, now, d)
		}
		if f, err := ParseFilter("on:"+strconv.Quote(s), now); err != nil || f.After.Before(earliestTime) ||
			f.Before.After(latestTime) {
			t.Fatalf("ParseFilter(on:%q) = %v, %v", s, f, err)
		}
	})
}
