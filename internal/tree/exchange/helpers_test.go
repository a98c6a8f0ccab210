// This file contains a store and helper functions for the tests.

package exchange

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// mapStore is a store that keeps its entries in memory. Its clock advances by a second at each Apply.
type mapStore struct {
	entries []oxbow.Entry
	now     time.Time
	id, seq uint64
	applied []int // number of ops in each call of Apply
	source  oxbow.Source
	before  func() error // Apply calls this function first, if it is not nil.
}

func newStore() *mapStore {
	return &mapStore{now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
}

func (s *mapStore) find(es []oxbow.Entry, name string) int {
	return slices.IndexFunc(es, func(e oxbow.Entry) bool { return e.Name == name })
}

func (s *mapStore) Get(_ context.Context, name string) (oxbow.Entry, error) {
	if i := s.find(s.entries, name); i >= 0 {
		return s.entries[i], nil
	}
	return oxbow.Entry{}, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
}

func (s *mapStore) Entries(_ context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		for _, e := range slices.Clone(s.entries) {
			if f.Match(&e) && !yield(e, nil) {
				return
			}
		}
	}
}

func (s *mapStore) Apply(ctx context.Context, ops ...oxbow.Op) error {
	if s.before != nil {
		if err := s.before(); err != nil {
			return err
		}
	}
	es := slices.Clone(s.entries)
	id := s.id
	src, _ := oxbow.SourceFrom(ctx)
	for _, op := range ops {
		if err := op.Check(); err != nil {
			return err
		}
		i := s.find(es, op.Target())
		if _, ok := op.(oxbow.Add); ok != (i < 0) {
			return &oxbow.NameError{
				Name: op.Target(),
				Err:  map[bool]error{true: oxbow.ErrExists, false: oxbow.ErrNotFound}[ok],
			}
		}
		switch op := op.(type) {
		case oxbow.Add:
			id++
			e := oxbow.Entry{ID: id, Name: op.Name, Kind: op.Kind, Content: op.Content, Aliases: op.Aliases,
				Labels: oxbow.SortLabels(op.Labels), Created: op.Created, Updated: s.now, Version: s.seq + 1,
				Source: src}
			if e.Created.IsZero() {
				e.Created = s.now
			}
			es = append(es, e)
		case oxbow.Update:
			if op.If != 0 && op.If != es[i].Version {
				return &oxbow.ConflictError{Name: op.Name, Want: op.If, Have: es[i].Version}
			}
			es[i].Content = op.Content
			es[i].Aliases = op.Aliases
			es[i].Labels = oxbow.SortLabels(op.Labels)
			es[i].Updated = s.now
			es[i].Version = s.seq + 1
			es[i].Source = src
		case oxbow.Remove:
			es = slices.Delete(es, i, i+1)
		default:
			return fmt.Errorf("op %T is not for this store", op)
		}
	}
	s.entries, s.id = es, id
	s.seq++
	s.now = s.now.Add(time.Second)
	s.applied = append(s.applied, len(ops))
	s.source, _ = oxbow.SourceFrom(ctx)
	return nil
}

func (s *mapStore) Close() error { return nil }

func (s *mapStore) names() []string {
	var ns []string
	for _, e := range s.entries {
		ns = append(ns, e.Name)
	}
	return ns
}

func (s *mapStore) must(t *testing.T, ops ...oxbow.Op) {
	t.Helper()
	if err := s.Apply(t.Context(), ops...); err != nil {
		t.Fatalf("Apply(%v): %v", ops, err)
	}
}

func (s *mapStore) content(t *testing.T, name string) string {
	t.Helper()
	e, err := s.Get(t.Context(), name)
	if err != nil {
		t.Fatalf("Get(%q): %v; there are %q", name, err, s.names())
	}
	return e.Content
}

// collect returns all items of a sequence, and the texts of its errors.
func collect(seq iter.Seq2[Item, error]) (items []Item, errs []string) {
	for it, err := range seq {
		if err != nil {
			errs = append(errs, err.Error())
			continue
		}
		items = append(items, it)
	}
	return items, errs
}

// one returns the only item of a sequence. The test fails if there are other items or errors.
func one(t *testing.T, seq iter.Seq2[Item, error]) Item {
	t.Helper()
	items, errs := collect(seq)
	if len(items) != 1 || len(errs) != 0 {
		t.Fatalf("read %d items and the errors %q, want 1 item", len(items), errs)
	}
	return items[0]
}

// load imports the items. The test fails if there is an error.
func load(t *testing.T, s oxbow.Store, seq iter.Seq2[Item, error], o *ImportOptions) Report {
	t.Helper()
	rep, err := Import(t.Context(), s, seq, o)
	if err != nil {
		t.Fatalf("Import: %v", err)
	}
	return rep
}

func counts(r Report) [4]int {
	return [4]int{r.AddedCount, r.UpdatedCount, r.UnchangedCount, r.SkippedCount}
}

func labels(e oxbow.Entry) string {
	var ss []string
	for _, l := range e.Labels {
		ss = append(ss, l.String())
	}
	return strings.Join(ss, " ")
}

func jsonl(text string) iter.Seq2[Item, error] { return readJSONL(strings.NewReader(text), "in.jsonl") }

func markdown(ref, text string) iter.Seq2[Item, error] {
	return ReadMarkdown(strings.NewReader(text), ref, nil)
}
