// This file tests the search in annotations.

package annotate

import (
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/query"
)

func TestSearch(t *testing.T) {
	m, b := tree(t, map[string]string{"cache.go": source, "net/dial.go": numbered(30)})
	at := func(n int) time.Time { return noon.AddDate(0, n, 0) }
	for _, r := range []Record{
		{File: "cache.go", Span: LineSpan{14, 19}, Why: "Redis drops connections that are idle for long.",
			RejectedAlternatives: []string{"memcached: nobody runs it"}, Agent: "coder", Time: at(0)},
		{File: "cache.go", Span: LineSpan{23, 26}, Why: "The proxy must be told before it closes.", Model: "m-1",
			Time: at(1)},
		{File: "net/dial.go", Span: LineSpan{3, 5}, Why: "Redis and the proxy are dialled alike: redis first.",
			Author: oxbow.Person, Time: at(2)},
	} {
		add(t, b, r)
	}
	search := func(text string) string {
		t.Helper()
		q, err := query.Parse(text, at(3))
		if err != nil {
			t.Fatal(err)
		}
		hits, err := b.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var ws []string
		for _, h := range hits {
			w, _, _ := strings.Cut(h.Why, " ")
			if h.MatchesOnlyCodeLines {
				w += "*"
			}
			if (h.Score > 0) != (q.Text != "") {
				t.Errorf("Search(%q) gives %q the score %v", text, h.Why, h.Score)
			}
			ws = append(ws, h.CurrentFile+" "+w)
		}
		return strings.Join(ws, ", ")
	}
	for _, c := range []struct{ query, want string }{
		{"redis", "net/dial.go Redis, cache.go Redis"},
		{"memcached", "cache.go Redis"}, // the rejected alternatives are searched as well
		{"redis file:cache.go", "cache.go Redis"},
		{"redis after:2026-05", "net/dial.go Redis"},
		{"redis -idle", "net/dial.go Redis"},
		{"proxy +closes", "cache.go The"},
		{"agent:coder", "cache.go Redis"},
		{"by:person", "net/dial.go Redis"},
		{"ErrBusy", "cache.go Redis*"},                  // only the annotated lines contain this word
		{"closes nil", "cache.go The, cache.go Redis*"}, // hits in the reasoning come first
		{"archived:true", ""},
		{"elephant", ""},
	} {
		if got := search(c.query); got != c.want {
			t.Errorf("Search(%q) finds %s, want %s", c.query, got, c.want)
		}
	}

	f, err := query.ParseFilter("model:m-1", at(3))
	if err != nil {
		t.Fatal(err)
	}
	if hits, err := b.Search(t.Context(), oxbow.Query{Text: "proxy", Filter: f}); err != nil || len(hits) != 1 ||
		hits[0].Model != "m-1" {
		t.Errorf("Search with a filter = %+v, %v, want one", hits, err)
	}

	// A hit has the present position of its block.
	put(t, m, "cache.go", "// Copyright\n"+source)
	hits, err := b.Search(t.Context(), oxbow.Query{Text: "idle"})
	if err != nil || len(hits) == 0 || hits[0].MatchesOnlyCodeLines || hits[0].Placement != PlacedAfterMove ||
		hits[0].CurrentSpan != (LineSpan{15, 20}) {
		t.Errorf("Search = %+v, %v, want one that moved", hits, err)
	}
	g, err := b.Diagnose(t.Context(), oxbow.Query{Text: "elephant"})
	if err != nil || g.Entries != 3 || len(g.Terms) != 1 || g.Terms[0].DF != 0 {
		t.Errorf("Diagnose = %+v, %v", g, err)
	}
}
