// This file tests that a selection does not contain the same fact twice, in a digest and in an entry that the digest
// summarizes.

package profile

import (
	"slices"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

func TestWithoutRetold(t *testing.T) {
	entry := func(id uint64, name, day string, labels ...string) rankedEntry {
		created, err := time.Parse(time.DateOnly, day)
		if err != nil {
			t.Fatal(err)
		}
		e := oxbow.Entry{ID: id, Name: name, Created: created}
		for i := 0; i < len(labels); i += 2 {
			e.Labels = append(e.Labels, oxbow.Label{Key: labels[i], Value: labels[i+1]})
		}
		return rankedEntry{id: id, entry: &e, rankTraits: rankTraitsFromLabels(&e)}
	}
	week := entry(1, "week", "2026-04-06", "project", "vtt", "tag", "decision", "digest", "true")
	sixth := entry(2, "sixth", "2026-04-06", "project", "vtt", "tag", "decision", "covered", "true", "file", "a.go")
	ninth := entry(3, "ninth", "2026-04-09", "project", "vtt", "covered", "true")
	other := entry(4, "other", "2026-04-09", "project", "home", "covered", "true")
	moltbook := entry(5, "moltbook", "2026-04-09", "project", "vtt", "tag", "moltbook", "covered", "true")
	march := entry(6, "march", "2026-03-30", "project", "vtt", "covered", "true")
	june := entry(7, "june", "2026-06-01", "project", "vtt", "covered", "true")
	newest := entry(8, "newest", "2026-06-02", "project", "vtt")
	found, listed := ninth, week
	found.queryRank = 1
	listed.isNamedInProfile = true
	for _, tt := range []struct {
		name string
		in   rankHeap
		want []string
	}{
		{"a digest replaces its days, and no others",
			rankHeap{newest, week, sixth, ninth, other, moltbook, march, june},
			[]string{"newest", "week", "other", "moltbook", "march", "june"}},
		{"without the digest, the days stay", rankHeap{newest, sixth, ninth}, []string{"newest", "sixth", "ninth"}},
		{"a day that the query found replaces the digest, and the other days return",
			rankHeap{found, newest, week, sixth}, []string{"ninth", "newest", "sixth"}},
		{"a digest that the profile names stays", rankHeap{listed, found}, []string{"week", "ninth"}},
	} {
		var got []string
		for _, x := range omitSummarizedEntries(tt.in) {
			got = append(got, x.entry.Name)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
