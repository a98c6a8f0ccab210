// This file tests selections that read the heads of entries. A head is an entry without its content. The result must be
// equal to a selection that reads the whole entries.

package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/store/heads"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// plain is a store without support for heads, so that whole entries must be read. A head is an entry without its
// content.
type plain struct{ oxbow.Store }

// randomOps returns n operations that add random entries. The first entry has the name "n" and the number from, such as
// n7.
func randomOps(rng *rand.Rand, from, n int) (ops []oxbow.Op) {
	start := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		add := oxbow.Add{
			Name:    fmt.Sprint("n", from+i),
			Content: strings.Repeat(fmt.Sprintf("Word w%d of %d.\n\n", rng.IntN(30), i), rng.IntN(20)),
			Kind:    oxbow.Kinds()[rng.IntN(6)], Created: start.Add(time.Duration(rng.IntN(1000)) * time.Hour),
		}
		for _, l := range []oxbow.Label{
			{Key: oxbow.LabelConfidence, Value: fmt.Sprint(".", rng.IntN(10))},
			{Key: LabelCovered, Value: "true"},
			{Key: LabelPinned, Value: "true"}, {Key: LabelProcess, Value: "true"}, {Key: LabelProfile, Value: "dev"},
			{Key: oxbow.LabelProject, Value: fmt.Sprint("p", rng.IntN(3))},
			{Key: oxbow.LabelFile, Value: "a.go"}, {Key: oxbow.LabelTag, Value: "decision"},
			{Key: oxbow.LabelTag, Value: "draft"}, {Key: oxbow.LabelTaint, Value: "web"},
		} {
			if rng.IntN(4) == 0 {
				add.Labels = append(add.Labels, l)
			}
		}
		add.Labels = oxbow.SortLabels(add.Labels)
		ops = append(ops, add)
	}
	return ops
}

// notRead lists the entries of the memory m with the data that the profile r needs for ranking. A listed entry may lack
// its content, because the store has not read the content. notRead returns the number of entries that are not listed
// completely.
func notRead(t *testing.T, m *oxbow.Memory, r *Resolved) (n int) {
	t.Helper()
	s := r.Scope()
	err := heads.View(t.Context(), m.Store(), r.rankingHeadNeeds(&s), func(all heads.List) error {
		for h, err := range all.All {
			if err != nil {
				return err
			}
			if !h.Whole {
				n++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSelectByHeads(t *testing.T) {
	testenv.SkipInShortMode(t)
	fsys := vfs.NewMem()
	set := &Set{Places: []Place{{FS: fsys, Dirs: HomeDirs}}}
	write(
		t,
		fsys,
		"profiles/dev.yaml",
		"include: {projects: [p0, p1], entries: [n7, n1205, none]}\nexclude: {tags: [draft], entries: [n9]}",
	)
	write(
		t,
		fsys,
		"profiles/days.yaml",
		"include: {kinds: [note, history], date_range: [2026-04-03, 2026-05-01]}\nprocess: false",
	)
	write(t, fsys, "profiles/files.yaml", "include: {related_files: [a.go]}")
	open := func() *oxbow.Memory {
		m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: fsys})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	rng := rand.New(rand.NewPCG(1, 2))
	m := open()
	for i := range 4 {
		if err := m.Apply(t.Context(), randomOps(rng, 300*i, 300)...); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = open()
	defer m.Close()
	later := append(randomOps(rng, 1200, 20), oxbow.Remove{Name: "n5"}, oxbow.Update{Name: "n6", Content: "again"})
	if err := m.Apply(t.Context(), later...); err != nil {
		t.Fatal(err)
	}
	for name, least := range map[string]int{"": 1190, "dev": 1190, "days": 1190, "files": 0} {
		r := Everything()
		if name != "" {
			var err error
			r, err = set.Resolve(name)
			if err != nil {
				t.Fatal(err)
			}
		}
		if n := notRead(t, m, &r); n < least {
			t.Errorf("profile %q: %d heads are not whole, want %d", name, n, least)
		}
		without := func(key, value string) *oxbow.Memory {
			return scope.Within(
				m,
				scope.Scope{Any: []oxbow.Filter{{Terms: []oxbow.Term{{Key: key, Values: []string{value}, Not: true}}}}},
			)
		}
		for i, of := range []*oxbow.Memory{
			m,
			without("kind", "journal"),
			without(oxbow.LabelFile, "a.go"),
			without("name", "n11"),
		} {
			whole := oxbow.New(plain{of.Store()}, nil)
			for _, q := range []Request{
				{Budget: 20},
				{Budget: 400},
				{Budget: 3000, Query: "w7 w8"},
				{},
				{Budget: 900, NoEntries: true},
				{Budget: 1_000_000},
			} {
				got, err := set.Select(t.Context(), of, &r, q)
				if err != nil {
					t.Fatal(err)
				}
				want, err := set.Select(t.Context(), whole, &r, q)
				if err != nil {
					t.Fatal(err)
				}
				a, b := written(t, &got), written(t, &want)
				if a != b {
					t.Errorf("profile %q, %+v, memory %d: Select by heads is\n%.2000s\nwant\n%.2000s", name, q, i, a, b)
				}
			}
		}
	}
	report, err := m.Check(t.Context())
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("Check = %v, %v", report.Problems, err)
	}
}

// TestSelectFromLargeGroups compares selections by heads with selections from entries if most entries have the same
// labels, and only a few are pinned, covered, tainted or have a confidence. The few entries are old, new or spread.
func TestSelectFromLargeGroups(t *testing.T) {
	testenv.SkipInShortMode(t)
	const count = 3*groupCheckRowInterval + 100
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 71))
		fsys := vfs.NewMem()
		day := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
		open := func() *oxbow.Memory {
			m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: fsys, Clock: func() time.Time { return day }})
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		labels := []oxbow.Label{
			{Key: LabelPinned, Value: "true"}, {Key: LabelProcess, Value: "true"}, {Key: LabelCovered, Value: "true"},
			{Key: oxbow.LabelConfidence, Value: ".9"}, {Key: oxbow.LabelTaint, Value: "web"},
			{Key: oxbow.LabelOrigin, Value: "web"},
		}
		firstLabelled, labelledCount := rng.IntN(count), 1+rng.IntN(count)
		m := open()
		for i := 0; i < count; i += 100 {
			var ops []oxbow.Op
			for n := i; n < i+100; n++ {
				add := oxbow.Add{
					Name:    fmt.Sprint("n", n),
					Content: strings.Repeat(fmt.Sprintf("w%d ", n%50), 1+rng.IntN(40)),
				}
				if n >= firstLabelled && n < firstLabelled+labelledCount && rng.IntN(3) == 0 {
					add.Labels = append(add.Labels, labels[rng.IntN(len(labels))])
				}
				add.Labels = append(add.Labels, oxbow.Label{Key: oxbow.LabelTag, Value: fmt.Sprint("t", rng.IntN(300))})
				add.Labels = oxbow.SortLabels(add.Labels)
				ops = append(ops, add)
			}
			if err := m.Apply(t.Context(), ops...); err != nil {
				t.Fatal(err)
			}
			day = day.Add(time.Duration(rng.IntN(30)) * time.Hour)
		}
		if err := errors.Join(m.Checkpoint(t.Context()), m.Close()); err != nil {
			t.Fatal(err)
		}
		m = open()
		r := Everything()
		// The snapshot may lack the last entries: Checkpoint writes no new snapshot if the memory has just written one
		// in the background.
		if n := notRead(t, m, &r); n < count/2 {
			t.Errorf("%d of %d heads are not whole, want at least half of them", n, count)
		}
		set := &Set{Places: []Place{{FS: fsys, Dirs: HomeDirs}}}
		whole := oxbow.New(plain{m.Store()}, nil)
		for _, q := range []Request{{Budget: 50}, {Budget: 2000}, {Budget: 20_000, Query: "w7"}, {Query: "w3 w8 w9"}} {
			got, err := set.Select(t.Context(), m, &r, q)
			if err != nil {
				t.Fatal(err)
			}
			want, err := set.Select(t.Context(), whole, &r, q)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := written(t, &got), written(t, &want); a != b {
				t.Errorf("seed %d, %+v: Select by heads is\n%.2000s\nwant\n%.2000s", seed, q, a, b)
			}
		}
		report, err := m.Check(t.Context())
		if err != nil || len(report.Problems) > 0 {
			t.Errorf("Check = %v, %v", report.Problems, err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// written returns all contents of a selection as a text.
func written(t *testing.T, s *Selection) string {
	t.Helper()
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
