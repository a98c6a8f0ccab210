// This file tests which entries a filter selects.

package store_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/query"
	"github.com/oxbow-memory/oxbow/store"
)

// noon is the present time in the tests.
var noon = time.Date(2026, 4, 18, 12, 0, 0, 0, time.UTC)

func term(key string, values ...string) store.Term { return store.Term{Key: key, Values: values} }
func terms(ts ...store.Term) store.Filter          { return store.Filter{Terms: ts} }

func TestFilterMatch(t *testing.T) {
	e := &store.Entry{
		Name: "rate limit", Kind: store.Archive, Aliases: []string{"429", "throttle"},
		Labels: []store.Label{
			{Key: "confidence", Value: "0.8"},
			{Key: "customer", Value: "acme"},
			{Key: "project", Value: "vtt"},
			{Key: "tag", Value: "api"}, {Key: "tag", Value: "two words"}, {Key: "type", Value: "bug"},
		},
		Created: noon,
		Source:  store.Source{Actor: store.Agent, Door: "mcp"},
	}
	for in, want := range map[string]bool{
		"":                            true,
		"project:vtt":                 true,
		"project:VTT":                 false, // A value must match exactly.
		"project:vt":                  false,
		"project:other,vtt":           true,
		"project:vtt tag:api":         true,
		"project:vtt tag:x":           false,
		`tag:"two words"`:             true,
		"tag:two":                     false,
		"tag:api -tag:x":              true,
		"-tag:x,api":                  false,
		"-tag:x,y":                    true,
		"-file:main.go":               true, // An entry without a label of this key does not have the value.
		"file:main.go":                false,
		"customer:acme":               true,
		`"type":bug`:                  true,
		"confidence:0.8":              true, // The confidence must be at least .8.
		"confidence:.80":              true,
		"confidence:0.81":             false,
		"confidence:0":                true,
		"-confidence:0.9":             true,
		"kind:archive":                true,
		"kind:note":                   false,
		"kind:note,archive":           true,
		"-kind:note":                  true,
		`name:"rate limit"`:           true,
		"name:429":                    true,
		"name:rate":                   false,
		"by:agent":                    true,
		"by:person,import":            false,
		"door:mcp":                    true,
		"door:cli":                    false,
		"has:project":                 true,
		"has:file":                    false,
		"-has:file":                   true,
		"has:file,tag":                true,
		"on:2026-04-18":               true,
		"on:2026-04-17":               false,
		"after:2026-04-18":            true,
		"after:2026-04-19":            false,
		"before:2026-04-18":           false,
		"before:2026-04-19":           true,
		"after:2026-04-18T12:00:00Z":  true,  // The lower limit is included.
		"before:2026-04-18T12:00:00Z": false, // The upper limit is excluded.
		"project:vtt before:2026":     false,
	} {
		f, err := query.ParseFilter(in, noon)
		if err != nil {
			t.Errorf("ParseFilter(%q) = %v", in, err)
			continue
		}
		if got := f.Match(e); got != want {
			t.Errorf("filter %q matches %+v: %v, want %v", in, e, got, want)
		}
		all := true
		for _, p := range f.Parts() {
			all = all && p.Match(e)
		}
		if all != want {
			t.Errorf("all parts of filter %q match: %v, want %v as the whole", in, all, want)
		}
	}
	bare := &store.Entry{Name: "x", Created: noon}
	for in, want := range map[string]bool{"confidence:0": false, "-confidence:0": true, "has:tag": false} {
		f, err := query.ParseFilter(in, noon)
		if got := f.Match(bare); err != nil || got != want {
			t.Errorf("filter %q matches an entry without labels: %v, %v, want %v", in, got, err, want)
		}
	}
}

func TestFilterAnd(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 4, d, 0, 0, 0, 0, time.UTC) }
	for _, tc := range []struct{ f, g, want store.Filter }{
		{store.Filter{}, store.Filter{}, store.Filter{}},
		{terms(term("tag", "a")), terms(term("tag", "b")), terms(term("tag", "a"), term("tag", "b"))},
		{store.Filter{After: day(3)}, store.Filter{}, store.Filter{After: day(3)}},
		{store.Filter{}, store.Filter{Before: day(3)}, store.Filter{Before: day(3)}},
		{
			store.Filter{After: day(3), Before: day(20)},
			store.Filter{After: day(2), Before: day(21)},
			store.Filter{After: day(3), Before: day(20)},
		},
		{
			store.Filter{After: day(2), Before: day(21)},
			store.Filter{After: day(3), Before: day(20)},
			store.Filter{After: day(3), Before: day(20)},
		},
	} {
		if got := tc.f.And(tc.g); got.String() != tc.want.String() {
			t.Errorf("(%v).And(%v) = %v, want %v", tc.f, tc.g, got, tc.want)
		}
	}
	// A term that is added to one filter must not appear in another filter.
	base := terms(append(make([]store.Term, 0, 8), term("tag", "a"))...)
	b, c := base.And(terms(term("tag", "b"))), base.And(terms(term("tag", "c")))
	if b.String() != "tag:a tag:b" || c.String() != "tag:a tag:c" {
		t.Errorf("two filters from one base = %v and %v, want tag:a tag:b and tag:a tag:c", b, c)
	}
}

// TestFilterOfManyValues tests that String allocates memory roughly in proportion to the number of the filter's values.
// It also tests that Brief returns only the first values of a term with many values, and how many others there are.
func TestFilterOfManyValues(t *testing.T) {
	many := func(n int) store.Filter {
		not := store.Term{Key: "tag", Not: true}
		for i := range n {
			not.Values = append(not.Values, fmt.Sprint("t", i))
		}
		return store.Filter{Terms: []store.Term{term("project", "a", "b"), not}}
	}
	if got, want := many(5000).Brief(), "project:a,b -tag:t0,t1,t2 and 4997 more"; got != want {
		t.Errorf("Brief() = %q, want %q", got, want)
	}
	if got := many(3); got.Brief() != got.String() {
		t.Errorf("Brief() = %q, String() = %q, want the same", got.Brief(), got.String())
	}
	allocated := func(f store.Filter) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = f.String()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if small, large := allocated(many(2000)), allocated(many(20000)); large > 30*small {
		t.Errorf("String() of 10 times as many values allocates %d bytes instead of %d", large, small)
	}
}
