// This file tests whether an entry counts as seen after its content was shown in several pages.

package verb

import (
	"context"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// TestSeenPages checks that an entry counts as seen when all pages of one version were shown in order.
func TestSeenPages(t *testing.T) {
	e := oxbow.Entry{Name: "long", Content: "0123456789", Version: 7}
	changed := oxbow.Entry{Name: "long", Content: "0123456789ab", Version: 8}
	type shown struct {
		e        oxbow.Entry
		from, to int
	}
	for name, tc := range map[string]struct {
		pages []shown
		known bool
	}{
		"whole":                 {[]shown{{e, 0, 10}}, true},
		"all pages":             {[]shown{{e, 0, 4}, {e, 4, 8}, {e, 8, 10}}, true},
		"again and overlapping": {[]shown{{e, 0, 6}, {e, 0, 6}, {e, 4, 10}}, true},
		"the last page":         {[]shown{{e, 8, 10}}, false},
		"a gap":                 {[]shown{{e, 0, 4}, {e, 6, 10}}, false},
		"not the end":           {[]shown{{e, 0, 9}}, false},
		"changed between":       {[]shown{{e, 0, 8}, {changed, 8, 12}}, false},
		"from the beginning":    {[]shown{{e, 0, 8}, {changed, 0, 8}, {changed, 8, 12}}, true},
		"empty":                 {[]shown{{oxbow.Entry{Name: "long"}, 0, 0}}, true},
	} {
		var s SeenEntries
		for _, p := range tc.pages {
			s.recordShownPage(p.e, p.from, p.to)
		}
		if _, known := s.SeenVersion(e); known != tc.known {
			t.Errorf("%s: known = %v, want %v", name, known, tc.known)
		}
	}
}

// TestPastFailsClosed checks that an old version is not shown if the present entry cannot be read.
func TestPastFailsClosed(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	v := oxbow.Entry{Name: "gone", Content: "text"}
	if NewPastTextFilter(b.m).isWithheld(ctx, &v) {
		t.Error("a version of an entry that is no more is withheld")
	}
	cancel()
	if !NewPastTextFilter(b.m).isWithheld(ctx, &v) {
		t.Error("a version is shown where it is not known whether its entry is in quarantine")
	}
}
