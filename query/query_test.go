// This file tests the language of filters and queries: which texts are accepted, and which are refused with which
// message. If a filter is written as text, parsing the text must return an equal filter.

package query_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // time zones of the dates below, because a machine may lack them

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/query"
)

// noon is the current time in these tests.
var noon = time.Date(2026, 4, 18, 12, 0, 0, 0, time.UTC)

// utc parses a moment such as 2026-04-18T09:30:00Z.
func utc(t testing.TB, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t.Fatal(err)
	}
	return at.UTC()
}

func term(key string, values ...string) oxbow.Term { return oxbow.Term{Key: key, Values: values} }

func not(t oxbow.Term) oxbow.Term { t.Not = true; return t }

func terms(ts ...oxbow.Term) oxbow.Filter { return oxbow.Filter{Terms: ts} }

func TestParseFilter(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want oxbow.Filter
	}{
		{"", oxbow.Filter{}},
		{" \t\n", oxbow.Filter{}},
		{"project:vtt", terms(term("project", "vtt"))},
		{"project:vtt tag:draft", terms(term("project", "vtt"), term("tag", "draft"))},
		{"project:vtt\u00a0tag:draft", terms(term("project", "vtt"), term("tag", "draft"))},
		{"-tag:draft", terms(not(term("tag", "draft")))},
		{"tag:a,b,c", terms(term("tag", "a", "b", "c"))},
		{`tag:"two words"`, terms(term("tag", "two words"))},
		{`tag:"a,b",c,"d e"`, terms(term("tag", "a,b", "c", "d e"))},
		{`-tag:"two words",x`, terms(not(term("tag", "two words", "x")))},
		{`tag:"say \"hi\""`, terms(term("tag", `say "hi"`))},
		{`file:"a\\b.txt"`, terms(term("file", `a\b.txt`))},
		{`tag:"\u00e9t\u00e9"`, terms(term("tag", "été"))},
		{`tag:5"`, terms(term("tag", `5"`))},
		{`tag:5" project:vtt`, terms(term("tag", `5"`), term("project", "vtt"))},
		{"file:cmd/oxbow/main.go:42", terms(term("file", "cmd/oxbow/main.go:42"))},
		{"file:https://x.test/a", terms(term("file", "https://x.test/a"))},
		{"tag:日本,été", terms(term("tag", "日本", "été"))},
		{"confidence:0.8", terms(term("confidence", "0.8"))},
		{"-confidence:1", terms(not(term("confidence", "1")))},
		{"kind:note,archive", terms(term("kind", "note", "archive"))},
		{"by:person,agent,tool,import", terms(term("by", "person", "agent", "tool", "import"))},
		{"name:x door:mcp", terms(term("name", "x"), term("door", "mcp"))},
		{"has:project -has:customer", terms(term("has", "project"), not(term("has", "customer")))},

		// These keys are synonyms of keys, or look like synonyms.
		{"tags:a", terms(term("tag", "a"))},
		{"projects:a", terms(term("project", "a"))},
		{"files:a", terms(term("file", "a"))},
		{"path:a", terms(term("file", "a"))},
		{"-type:journal", terms(not(term("kind", "journal")))},
		{"since:2026-04-18", oxbow.Filter{After: utc(t, "2026-04-18T00:00:00Z")}},
		{"until:2026-04-18", oxbow.Filter{Before: utc(t, "2026-04-19T00:00:00Z")}},
		{`"until":spring`, terms(term("until", "spring"))},
		{"util:x", terms(term("util", "x"))},
		{"date:2026-04", oxbow.Filter{After: utc(t, "2026-04-01T00:00:00Z"), Before: utc(t, "2026-05-01T00:00:00Z")}},

		// These are other label keys, some of them in quotes.
		{"customer:acme", terms(term("customer", "acme"))},
		{"os:linux", terms(term("os", "linux"))},
		{"product:api", terms(term("product", "api"))},
		{"title:x", terms(term("title", "x"))},
		{"game:chess", terms(term("game", "chess"))},
		{`"tax":vat`, terms(term("tax", "vat"))},
		{`-"type":bug`, terms(not(term("type", "bug")))},
		{`"project":vtt`, terms(term("project", "vtt"))},
		{`"projct":"two words",b`, terms(term("projct", "two words", "b"))},

		// If there are several bounds, the narrowest range counts.
		{"after:2026-01-01 after:2026-03-01 before:2026-12-01 before:2026-09-01",
			oxbow.Filter{After: utc(t, "2026-03-01T00:00:00Z"), Before: utc(t, "2026-09-01T00:00:00Z")}},
		{
			"on:2026-04 on:2026-04-18",
			oxbow.Filter{After: utc(t, "2026-04-18T00:00:00Z"), Before: utc(t, "2026-04-19T00:00:00Z")},
		},
	} {
		got, err := query.ParseFilter(tc.in, noon)
		if err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("ParseFilter(%q) = %+v, %v, want %+v", tc.in, got, err, tc.want)
		}
		again, err := query.ParseFilter(got.String(), noon.In(time.FixedZone("", 9*3600)))
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("ParseFilter(%q) = %+v, %v, want %+v as from %q", got.String(), again, err, got, tc.in)
		}
	}
}

func TestParseFilterRefuses(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"vtt", `filter "vtt" is not key:value, such as project:vtt or -tag:draft`},
		{
			"project",
			`filter "project" is not key:value, such as project:vtt or -tag:draft; a value with spaces has quotes`,
		},
		{"projct", `filter "projct" is not key:value, such as project:vtt or -tag:draft; did you mean project?`},
		{"Project:vtt", `filter "Project:vtt" has no lower-case key; write project:`},
		{"-TAGS:x", `filter "-TAGS:x" has no lower-case key; write tags:`},
		{":x", `filter ":x" is not key:value`},
		{"--tag:x", `filter "--tag:x" is not key:value`},
		{"-", `filter "-" is not key:value`},
		{"9x:y", `filter "9x:y" is not key:value`},
		{"été:y", `filter "été:y" is not key:value`},
		{"project:", `filter "project:" has no value`},
		{"tag:a,", `filter "tag:" has no value`},
		{"tag:,a", `filter "tag:" has no value`},
		{`tag:""`, `filter "tag:" has no value`},
		{`tag:"a`, `tag "\"a" has an unclosed or badly escaped quote`},
		{`tag:"a b`, `tag "\"a" has an unclosed or badly escaped quote`},
		{`tag:"a\q"`, `has an unclosed or badly escaped quote`},
		{`tag:"a"b`, `tag "b" follows a quoted value; put a comma or a space between`},
		{`tag:" a"`, `label tag " a" begins or ends with white space`},
		{`tag:"a\x00b"`, `holds a control character at byte 1`},
		{`tag:"\xff"`, `is not UTF-8`},
		{"tag:" + strings.Repeat("x", oxbow.MaxName+1), `has 257 bytes; the most is 256`},

		// These are misspellings of known keys.
		{
			"projct:x",
			`filter key "projct" is not known; did you mean project? (labels of that very key are "projct":x)`,
		},
		{"porject:x", `did you mean project?`},
		{"rpoject:x", `did you mean project?`},
		{"projectt:x", `did you mean project?`},
		{"-prject:x", `did you mean project?`},
		{"confidnece:0.5", `did you mean confidence?`},
		{"confedance:0.5", `did you mean confidence?`},
		{"tagg:x", `did you mean tag?`},
		{"tga:x", `did you mean tag?`},
		{"knd:note", `did you mean kind?`},
		{"naem:x", `did you mean name?`},
		{"fiel:x", `did you mean file?`},
		{"aftr:2026", `did you mean after?`},
		{"befor:2026", `did you mean before?`},

		// These keys are in quotes.
		{`"Tax":x`, `begins with no label key in quotes`},
		{`"":x`, `begins with no label key in quotes`},
		{`"id":x`, `filter "id" is no filter; use name:`},
		{`"a b"`, `is not key:value`},

		// Only certain values are allowed for these keys.
		{"kind:memo", `kind "memo" is not one of note, archive, journal, world, history, handoff`},
		{
			"type:bug",
			`kind "bug" is not one of note, archive, journal, world, history, handoff (labels of the key type are "type":bug)`,
		},
		{"by:claude", `by "claude" is not one of person, agent, tool, import`},
		{"has:Project", `has "Project" is not a label key, such as project`},
		{"confidence:2", `confidence "2" is not a number from 0 to 1`},
		{"confidence:high", `confidence "high" is not a number from 0 to 1`},
		{"id:4", `filter "id" is no filter; use name:`},

		// These values are not valid dates, or the date is not allowed for the key.
		{
			"after:yesteryear",
			`after "yesteryear" is not a date; write 2026-04-18, 2026-04, 2026, 2026-04-18T09:30:00Z, ` +
				`yesterday, last-week, 7d, 36h or "3 days ago"`,
		},
		{"after:d", `is not a date`},
		{"after:-7d", `is not a date`},
		{"after:and", `is not a date`},
		{`until:"since march"`, `until "since march" has no end`},
		{"after:7x", `is not a date`},
		{"after:70000d", `is not a date`},
		{"after:2026-02-30", `after "2026-02-30" is not a date`},
		{"after:2026-13", `is not a date`},
		{"after:26-01-01", `is not a date`},
		{"after:12026", `is not a date`},
		{"on:2026-04-18T09:30", `is not a date`},
		{"after:2026-01-01,2026-02-01", `filter "after:2026-01-01,2026-02-01" takes one date`},
		{"-after:2026", `filter "-after" cannot be negated; use after: and before:`},
		{"-date:2026", `filter "-on" cannot be negated`},
	} {
		f, err := query.ParseFilter(tc.in, noon)
		if !errors.Is(err, oxbow.ErrInvalid) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("ParseFilter(%q) = %+v, %v, want an error with %q", tc.in, f, err, tc.want)
		}
		if !f.IsZero() {
			t.Errorf("ParseFilter(%q) = %+v with an error, want no filter", tc.in, f)
		}
	}
}

// A day in a filter is a day in the time zone of the clock. It ends where the next day begins. The changes of clocks
// below are those of the IANA time zone database.
func TestFilterDates(t *testing.T) {
	for _, tc := range []struct{ zone, in, after, before string }{
		{"UTC", "on:2026-04-18", "2026-04-18T00:00:00Z", "2026-04-19T00:00:00Z"},
		{"UTC", "on:2026-02", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		{"UTC", "on:2024-02-29", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"},
		{"UTC", "on:2026", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"Europe/Berlin", "on:2026-04-18", "2026-04-17T22:00:00Z", "2026-04-18T22:00:00Z"},
		{"Europe/Berlin", "after:2026-01 before:2026-07", "2025-12-31T23:00:00Z", "2026-06-30T22:00:00Z"},
		{"America/New_York", "on:2026-03-08", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"}, // this day has 23 hours
		{"America/New_York", "on:2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"}, // this day has 25 hours
		{"Asia/Kolkata", "on:2026-04-18", "2026-04-17T18:30:00Z", "2026-04-18T18:30:00Z"},
		{"Pacific/Kiritimati", "on:2026-04-18", "2026-04-17T10:00:00Z", "2026-04-18T10:00:00Z"},
		// this day begins at 1 o'clock
		{"America/Sao_Paulo", "on:2018-11-04", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
		// this day begins at 1 o'clock
		{"Africa/Cairo", "on:2024-04-26", "2024-04-25T22:00:00Z", "2024-04-26T21:00:00Z"},
		// this day has midnight twice
		{"America/Havana", "on:2024-11-03", "2024-11-03T04:00:00Z", "2024-11-04T05:00:00Z"},
		// this day was left out
		{"Pacific/Apia", "on:2011-12-30", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"},
		// Ages in days are counted from the current day, which is Saturday, 2026-04-18.
		{"UTC", "after:7d", "2026-04-11T00:00:00Z", ""},
		{"UTC", "before:2w", "", "2026-04-04T00:00:00Z"},
		{"Europe/Berlin", "on:1d", "2026-04-16T22:00:00Z", "2026-04-17T22:00:00Z"},
		{"UTC", "on:last-week", "2026-04-06T00:00:00Z", "2026-04-13T00:00:00Z"},
		{"UTC", "after:2026-04-01..2026-04-03", "2026-04-01T00:00:00Z", ""},
		{"UTC", "until:7d", "", "2026-04-12T00:00:00Z"},
		{"UTC", "on:6mo", "2025-10-20T00:00:00Z", "2025-10-21T00:00:00Z"},
		{"UTC", "since:1y", "2025-04-18T00:00:00Z", ""},
		{"UTC", "until:2026-02", "", "2026-03-01T00:00:00Z"},
		// this day begins at 1 o'clock
		{"America/Sao_Paulo", "on:2722d", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
		// An age in hours or minutes means a moment, whatever the time zone is.
		{"Asia/Tokyo", "on:36h", "2026-04-17T00:00:00Z", "2026-04-17T00:00:01Z"},
		{"UTC", "until:90m", "", "2026-04-18T10:30:01Z"},
		// A moment names its own time zone.
		{"Asia/Tokyo", "on:2026-04-18T09:30:00Z", "2026-04-18T09:30:00Z", "2026-04-18T09:30:01Z"},
		{"Asia/Tokyo", "after:2026-04-18T09:30:00+02:00", "2026-04-18T07:30:00Z", ""},
		{"UTC", "before:2026-04-18T09:30:00.123456789-05:00", "", "2026-04-18T14:30:00.123456789Z"},
		// A date at the end of the possible times is still a bound.
		{"UTC", "after:0001-01-01", "0001-01-01T00:00:00.000000001Z", ""},
		{"UTC", "before:0001-01-01T00:00:00Z", "", "0001-01-01T00:00:00.000000001Z"},
		{"Asia/Tokyo", "after:0000", "0001-01-01T00:00:00.000000001Z", ""},
		{"America/New_York", "on:9999-12-31", "9999-12-31T05:00:00Z", "9999-12-31T23:59:59.999999999Z"},
	} {
		loc, err := time.LoadLocation(tc.zone)
		if err != nil {
			t.Fatal(err)
		}
		f, err := query.ParseFilter(tc.in, noon.In(loc))
		if err != nil {
			t.Errorf("ParseFilter(%q) in %s = %v", tc.in, tc.zone, err)
			continue
		}
		for _, b := range []struct {
			name, want string
			got        time.Time
		}{{"After", tc.after, f.After}, {"Before", tc.before, f.Before}} {
			got := ""
			if !b.got.IsZero() {
				got = b.got.Format(time.RFC3339Nano)
			}
			if got != b.want {
				t.Errorf("ParseFilter(%q) in %s has %s %s, want %s", tc.in, tc.zone, b.name, got, b.want)
			}
		}
		again, err := query.ParseFilter(f.String(), noon)
		if err != nil || !reflect.DeepEqual(again, f) {
			t.Errorf("ParseFilter(%q) = %+v, %v, want %+v as from %q in %s", f.String(), again, err, f, tc.in, tc.zone)
		}
	}
}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		in, text string
		filter   oxbow.Filter
	}{
		{"", "", oxbow.Filter{}},
		{"rate  limit\n retry", "rate limit retry", oxbow.Filter{}},
		{"rate project:vtt limit", "rate limit", terms(term("project", "vtt"))},
		{"-tag:draft rate", "rate", terms(not(term("tag", "draft")))},
		{`tag:"two words" x tags:b`, "x", terms(term("tag", "two words"), term("tag", "b"))},
		{"since:2026-04-01 deploy", "deploy", oxbow.Filter{After: utc(t, "2026-04-01T00:00:00Z")}},
		{"kind:note", "", terms(term("kind", "note"))},

		// These words contain a colon but are not terms.
		{"https://x.test/a?b=c:d", "https://x.test/a?b=c:d", oxbow.Filter{}},
		{"file:///etc/hosts", "file:///etc/hosts", oxbow.Filter{}},
		{"error:timeout std::vector 12:30 a:b", "error:timeout std::vector 12:30 a:b", oxbow.Filter{}},
		{"customer:acme projct:vtt", "customer:acme projct:vtt", oxbow.Filter{}},
		{"id:4 Project:vtt TAG:x", "id:4 Project:vtt TAG:x", oxbow.Filter{}},
		{"what is the file: name:", "what is the file: name:", oxbow.Filter{}},
		{"--tag:x - -x", "--tag:x - -x", oxbow.Filter{}},

		// In quotes, a word is not a term. A quote that is not closed has no effect.
		{`"project:vtt" x`, `"project:vtt" x`, oxbow.Filter{}},
		{`"say project:vtt now"`, `"say project:vtt now"`, oxbow.Filter{}},
		{`5" pipe project:vtt`, `5" pipe`, terms(term("project", "vtt"))},
		{`"open project:vtt`, `"open`, terms(term("project", "vtt"))},
		{`it"s project:vtt it"s`, `it"s it"s`, terms(term("project", "vtt"))},
		{`"C:\" project:vtt`, `"C:\"`, terms(term("project", "vtt"))},
	} {
		q, err := query.Parse(tc.in, noon)
		if err != nil || q.Text != tc.text || !reflect.DeepEqual(q.Filter, tc.filter) {
			t.Errorf("Parse(%q) = %q, %+v, %v, want %q, %+v", tc.in, q.Text, q.Filter, err, tc.text, tc.filter)
		}
	}
	for _, tc := range []struct{ in, want string }{
		{"rate kind:memo", `kind "memo" is not one of note`},
		{"rate since:yesteryear", `after "yesteryear" is not a date`},
		{`rate tag:"a`, `unclosed or badly escaped quote`},
		{"rate -on:2026", `cannot be negated`},
	} {
		if q, err := query.Parse(tc.in, noon); !errors.Is(err, oxbow.ErrInvalid) ||
			!strings.Contains(err.Error(), tc.want) {
			t.Errorf("Parse(%q) = %+v, %v, want an error with %q", tc.in, q, err, tc.want)
		}
	}
}

// zones contains the time zones that the fuzz tests use.
var zones = []*time.Location{
	time.UTC,
	time.FixedZone("", 14*3600),
	time.FixedZone("", -12*3600),
	time.FixedZone("", 5*3600+45*60),
}

func FuzzParseFilter(f *testing.F) {
	for _, s := range []string{"project:vtt -tag:a,\"b c\"", "on:2026-04-18", "before:9999-12-31 after:0000",
		`"tax":"a\"b\\"`, "confidence:1e-1", `tag:5" kind:note`, "after:2026-04-18T09:30:00.5+02:00", "tag:\u00ad",
		"has:x by:person"} {
		f.Add(s, byte(0))
		f.Add(s, byte(1))
	}
	f.Fuzz(func(t *testing.T, s string, zone byte) {
		now := noon.In(zones[int(zone)%len(zones)])
		got, err := query.ParseFilter(s, now)
		if err != nil {
			if !errors.Is(err, oxbow.ErrInvalid) {
				t.Errorf("ParseFilter(%q) = %v, want ErrInvalid", s, err)
			}
			return
		}
		parsesBack(t, s, got)
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"rate limit project:vtt", `"quoted project:x" 5" tags:a`,
		"https://x.test file:///a file:a", "since:2026 until:9999", "what file: it"} {
		f.Add(s, byte(0))
		f.Add(s, byte(2))
	}
	f.Fuzz(func(t *testing.T, s string, zone byte) {
		q, err := query.Parse(s, noon.In(zones[int(zone)%len(zones)]))
		if err != nil {
			if !errors.Is(err, oxbow.ErrInvalid) {
				t.Errorf("Parse(%q) = %v, want ErrInvalid", s, err)
			}
			return
		}
		parsesBack(t, s, q.Filter)
		// The text q.Text, which remains after the filter terms were removed, must not contain filter terms.
		again, err := query.Parse(q.Text, noon)
		if err != nil || again.Text != q.Text || !again.Filter.IsZero() {
			t.Errorf("Parse(%q), the words of %q, = %+v, %v, want words only", q.Text, s, again, err)
		}
	})
}

// parsesBack checks that a filter is unchanged after it was written and parsed.
func parsesBack(t *testing.T, from string, f oxbow.Filter) {
	t.Helper()
	again, err := query.ParseFilter(f.String(), noon)
	if err != nil || !reflect.DeepEqual(again, f) {
		t.Errorf("ParseFilter(%q) = %+v, %v, want %+v as from %q", f.String(), again, err, f, from)
	}
}

// TestParseRequest checks which memory a request names, and which query remains.
func TestParseRequest(t *testing.T) {
	for _, c := range []struct{ request, memory, rest string }{
		{"crane repair", "", "crane repair"},
		{"  crane  repair ", "", "crane repair"},
		{"crane in:sessions repair", query.InSessions, "crane repair"},
		{"in:notes", query.InNotes, ""},
		{"in:both crane", "both", "crane"},
		{"in:notes crane in:sessions", query.InSessions, "crane"},
		{`"look in:sessions first"`, "", `"look in:sessions first"`},
		{`"look in:sessions first" in:notes`, query.InNotes, `"look in:sessions first"`},
		{`tag:"in:notes" crane`, "", `tag:"in:notes" crane`},
		{"in:session crane", "", "in:session crane"},
		{"-in:notes crane", "", "-in:notes crane"},
		{"in: crane", "", "in: crane"},
		{`"in:notes" crane`, "", `"in:notes" crane`},
		{`open " in:notes`, query.InNotes, `open "`},
	} {
		r, err := query.ParseRequest(c.request, noon)
		want, werr := query.Parse(c.rest, noon)
		if err != nil || werr != nil || r.Memory != c.memory || !reflect.DeepEqual(r.Query, want) {
			t.Errorf("ParseRequest(%q) = %q, %+v, %v, want %q, %+v, %v",
				c.request, r.Memory, r.Query, err, c.memory, want, werr)
		}
	}
}

func TestMisspellings(t *testing.T) {
	for s, want := range map[string]string{
		"projct:vtt harbour":       "projct:vtt",
		"-projct:vtt":              "-projct:vtt",
		"project:vtt tag:a":        "",
		`"projct:vtt"`:             "",
		"customer:acme http://x.y": "",
		"tga:a kidn:note":          "tga:a kidn:note",
		"in:notes projct:vtt":      "projct:vtt",
	} {
		r, err := query.ParseRequest(s, noon)
		if err != nil {
			t.Errorf("ParseRequest(%q): %v", s, err)
		}
		var words []string
		for _, m := range r.Misspellings {
			if !errors.Is(m.Err, oxbow.ErrInvalid) || !strings.Contains(m.Err.Error(), "did you mean") {
				t.Errorf("the error for %q is %v", m.Word, m.Err)
			}
			words = append(words, m.Word)
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("the misspellings of %q are %q, want %q", s, got, want)
		}
	}
}
