// This file tests the verbs that delete old archives and that list names for a shell.

package verb

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

func TestPruneArchives(t *testing.T) {
	b := newBench(t)
	day := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	for i, name := range []string{"a", "b", "c", "d"} {
		if err := b.m.Apply(
			t.Context(),
			oxbow.Add{Name: name, Kind: oxbow.Archive, Content: "x", Created: day.AddDate(0, 0, i)},
		); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.m.Apply(
		t.Context(),
		oxbow.Add{Name: "note", Content: "x", Created: day.AddDate(-9, 0, 0)},
	); err != nil {
		t.Fatal(err)
	}
	left := func() string {
		var names []string
		for e, err := range b.m.Entries(t.Context(), oxbow.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, e.Name)
		}
		return strings.Join(names, " ")
	}
	n := func(i int) *int { return &i }
	for _, step := range []struct {
		in         PruneArchivesIn
		gone, left string
	}{
		{PruneArchivesIn{Keep: n(1), DryRun: true}, "a b c", "a b c d note"},
		{PruneArchivesIn{Before: "2026-04-02"}, "a", "b c d note"}, // b is created at this time, not before
		{PruneArchivesIn{Keep: n(2)}, "b", "c d note"},
		{PruneArchivesIn{Keep: n(2)}, "", "c d note"},
		{PruneArchivesIn{Days: n(17)}, "c", "d note"}, // the clock is at noon on 20 April
		{PruneArchivesIn{Days: n(17), Keep: n(7)}, "", "d note"},
	} {
		out, err := PruneArchives(t.Context(), b.Workspace, step.in)
		var gone []string
		for _, e := range out.Forgotten {
			gone = append(gone, e.Name)
		}
		if got := strings.Join(gone, " "); err != nil || got != step.gone || left() != step.left {
			t.Errorf(
				"PruneArchives(%+v) = %q, %v and leaves %q, want %q and %q",
				step.in,
				got,
				err,
				left(),
				step.gone,
				step.left,
			)
		}
	}
	for _, in := range []PruneArchivesIn{{}, {Keep: n(0)}, {Days: n(-1)}, {Before: "2026", Days: n(1)}} {
		if _, err := PruneArchives(t.Context(), b.Workspace, in); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("PruneArchives(%+v) = %v, want ErrInvalid", in, err)
		}
	}
}

func TestNames(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"boat", "boom", "crew", "bow"} {
		if err := b.m.Apply(t.Context(), oxbow.Add{Name: name, Content: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		in   NamesIn
		want string
	}{
		{NamesIn{Limit: 2}, "bow crew"},
		{NamesIn{Prefix: "bo", Limit: 9}, "boat boom bow"},
		{NamesIn{Prefix: "bo", Limit: 2}, "boat boom"},
		{NamesIn{Prefix: "z", Limit: 2}, ""},
	} {
		out, err := Names(t.Context(), b.Workspace, tt.in)
		if got := strings.Join(out.Names, " "); err != nil || got != tt.want {
			t.Errorf("Names(%+v) = %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
}
