// This file tests the verb that deletes old archives.

package sessions

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestPruneArchives(t *testing.T) {
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	w := &verb.Workspace{
		Open:   func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return m, nil },
		Now:    func() time.Time { return time.Date(2026, 4, 20, 12, 0, 0, 0, time.UTC) },
		Source: oxbow.Source{Door: "cli", Actor: oxbow.Person},
	}
	day := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	for i, name := range []string{"a", "b", "c", "d"} {
		if err := m.Apply(
			t.Context(),
			oxbow.Add{Name: name, Kind: oxbow.Archive, Content: "x", Created: day.AddDate(0, 0, i)},
		); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Apply(
		t.Context(),
		oxbow.Add{Name: "note", Content: "x", Created: day.AddDate(-9, 0, 0)},
	); err != nil {
		t.Fatal(err)
	}
	left := func() string {
		var names []string
		for e, err := range m.Entries(t.Context(), oxbow.Filter{}) {
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
		{PruneArchivesIn{KeepNewest: n(1), DryRun: true}, "a b c", "a b c d note"},
		// not b, because it was created exactly at this time
		{PruneArchivesIn{BeforeDate: "2026-04-02"}, "a", "b c d note"},
		{PruneArchivesIn{KeepNewest: n(2)}, "b", "c d note"},
		{PruneArchivesIn{KeepNewest: n(2)}, "", "c d note"},
		{PruneArchivesIn{MaxDays: n(17)}, "c", "d note"}, // the present time is noon on 20 April
		{PruneArchivesIn{MaxDays: n(17), KeepNewest: n(7)}, "", "d note"},
	} {
		out, err := PruneArchives(t.Context(), w, step.in)
		var gone []string
		for _, e := range out.PrunedArchives {
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
	for _, in := range []PruneArchivesIn{{}, {KeepNewest: n(0)}, {MaxDays: n(-1)}, {BeforeDate: "2026",
		MaxDays: n(1)}} {
		if _, err := PruneArchives(t.Context(), w, in); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("PruneArchives(%+v) = %v, want ErrInvalid", in, err)
		}
	}
}
