// This file tests dates in the formats of other programs.

package exchange

import (
	"testing"
	"time"
)

func TestParseDate(t *testing.T) {
	const calendarDay, instant = "2023-10-09T10:00:00Z", "2023-10-09T08:14:00Z"
	tokyo := time.FixedZone("", 9*3600)
	for in, want := range map[string]string{
		"2023-10-09": calendarDay, "2023/10/9": calendarDay, "2023.10.09": calendarDay, "20231009": calendarDay,
		"9.10.2023": calendarDay, "October 9, 2023": calendarDay, "Oct 9th 2023": calendarDay,
		"9 Oct 2023": calendarDay, "9-October-2023": calendarDay, "Monday, 9 October 2023": calendarDay,
		"[[2023-10-09]]": calendarDay, " 2023-10-09 ": calendarDay, "10/13/2023": "2023-10-13T10:00:00Z",
		"13/10/2023": "2023-10-13T10:00:00Z", "10/10/2023": "2023-10-10T10:00:00Z",
		"29 Feb 2024": "2024-02-29T10:00:00Z", "Sept. 9, 2023": "2023-09-09T10:00:00Z",

		"2023-10-09T08:14:00Z": instant, "2023-10-09 08:14:00Z": instant, "2023-10-09 08:14 UTC": instant,
		"2023-10-09T10:14:00+02:00": instant, "2023-10-09T10:14:00.000+0200": instant,
		"2023-10-09 10:14:00 +0200": instant, "Mon, 09 Oct 2023 08:14:00 GMT": instant,
		"2023-10-09 17:14": instant, "2023-10-09T17:14": instant, "2023-10-09 5:14 PM": instant,
		"Monday, October 9th 2023, 5:14:00 pm": instant, "2023/10/09 (Mon) 17:14": instant,
		"October 9, 2023 at 5:14 PM": instant, "20231009171400": instant, "202310091714": instant,
		"20231009T081400Z": instant, "Mon Oct 09 2023 10:14:00 GMT+0200 (Central European Summer Time)": instant,
		"1696839240": instant, "1696839240000": instant,
		"2023-10-09T08:14:00.123456789123Z": "2023-10-09T08:14:00.123456789Z",
		"2023-10-09 12:05 am":               "2023-10-08T15:05:00Z", "2023-10-09 12:05 pm": "2023-10-09T03:05:00Z",

		"": "", "soon": "", "2023": "", "2023-10": "", "October 2023": "", "2023-02-29": "", "2023-13-01": "",
		"4/5/2023": "", "2023-10-09 24:00": "", "2023-10-09 13:00 pm": "", "2023-10-09 08:60": "",
		"2023-10-09 08:14 CEST": "", "2023-10-09 and more": "", "42": "", "-1696839240": "", "+696839240": "",
		"0001-01-01T00:00:00+01:00": "", "0000-01-01": "", "2023-10-09T08:14:00+99:00": "", "Foo 9, 2023": "",
	} {
		got, err := parseDate(in, tokyo)
		if want == "" {
			if err == nil {
				t.Errorf("parseDate(%q) = %v, want an error", in, got)
			}
			continue
		}
		if err != nil || got.Format(time.RFC3339Nano) != want {
			t.Errorf("parseDate(%q) = %v, %v; want %s", in, got.Format(time.RFC3339Nano), err, want)
		}
	}
}

// TestCalendarDateInAllZones tests that a date without a time is the same day in all time zones from UTC−10:00 to
// UTC+13:45.
func TestCalendarDateInAllZones(t *testing.T) {
	got, err := parseDate("2026-03-01", nil)
	if err != nil {
		t.Fatal(err)
	}
	for minutes := -10 * 60; minutes <= 13*60+45; minutes += 15 {
		if day := got.In(time.FixedZone("", minutes*60)).Format(time.DateOnly); day != "2026-03-01" {
			t.Errorf("%d minutes from UTC, the date is %s", minutes, day)
		}
	}
}

// FuzzParseDate tests that a parsed date, when it is formatted and parsed again, is the same time.
func FuzzParseDate(f *testing.F) {
	f.Add("Mon, 09 Oct 2023 08:14:00 GMT+0200 (x)")
	f.Add("20231009T081400Z")
	f.Add("10/13/2023 5:14:07.25 pm")
	f.Add("1696839240000")
	f.Fuzz(func(t *testing.T, in string) {
		got, err := parseDate(in, time.FixedZone("", -7*3600))
		if err != nil {
			return
		}
		again, err := parseDate(got.Format(time.RFC3339Nano), nil)
		if err != nil || !again.Equal(got) {
			t.Errorf("parseDate(%q) = %v, which is read as %v, %v", in, got, again, err)
		}
	})
}
