// This file tests what happens if several entries have or request the same alias.

package store_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestWithoutTakenAliases(t *testing.T) {
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Apply(t.Context(),
		store.Add{Name: "a", Content: "a", Aliases: []string{"one", "two"}},
		store.Add{Name: "b", Content: "b", Aliases: []string{"three"}},
		store.Add{Name: "caf\u00e9", Content: "c"},
		// An earlier version allowed an alias that another entry already has.
		store.Add{Name: "old", Content: "o", Aliases: []string{"two"}},
	); err != nil {
		t.Fatal(err)
	}
	add := func(name string, aliases ...string) store.Op {
		return store.Add{Name: name, Content: name, Aliases: aliases}
	}
	for what, c := range map[string]struct {
		ops   []store.Op
		free  []store.Op // expected ops (nil if they are equal to the passed ops)
		taken []store.TakenAlias
	}{
		"nothing taken": {ops: []store.Op{add("n", "four"), store.Remove{Name: "a"}}},
		"an alias": {[]store.Op{add("n", "one", "four")}, []store.Op{add("n", "four")},
			[]store.TakenAlias{{"n", "one", "a"}}},
		"a name": {[]store.Op{add("n", "b")}, []store.Op{add("n")}, []store.TakenAlias{{"n", "b", "b"}}},
		"a spelling": {[]store.Op{add("n", "cafe\u0301")}, []store.Op{add("n")},
			[]store.TakenAlias{{"n", "cafe\u0301", "caf\u00e9"}}},
		"a new name": {[]store.Op{add("n", "m"), add("m")}, []store.Op{add("n"), add("m")},
			[]store.TakenAlias{{"n", "m", "m"}}},
		"both new": {[]store.Op{add("n", "x"), add("m", "x")}, []store.Op{add("n"), add("m", "x")},
			[]store.TakenAlias{{"n", "x", "m"}}},
		"its own":    {ops: []store.Op{store.Update{Name: "a", Content: "new", Aliases: []string{"two", "one"}}}},
		"two had it": {ops: []store.Op{store.Update{Name: "old", Content: "new", Aliases: []string{"two"}}}},
		"moved":      {ops: []store.Op{add("n", "three"), store.Alias{Name: "b"}}},
		"freed":      {ops: []store.Op{add("n", "three"), store.Remove{Name: "b"}}},
		"made again": {ops: []store.Op{store.Remove{Name: "b"},
			store.Add{Name: "b", Content: "b", Aliases: []string{"three"}}}},
		"of one removed": {ops: []store.Op{store.Remove{Name: "b"}, add("n", "b")}},
		"nothing is left": {
			[]store.Op{store.Alias{Name: "b", Aliases: []string{"three", "one"}}, store.Remove{Name: "old"}},
			[]store.Op{store.Remove{Name: "old"}}, []store.TakenAlias{{"b", "one", "a"}},
		},
	} {
		free, taken, err := store.WithoutTakenAliases(t.Context(), m, c.ops)
		if c.free == nil {
			c.free = c.ops
		}
		if !reflect.DeepEqual(free, c.free) || !reflect.DeepEqual(taken, c.taken) || err != nil {
			t.Errorf("%s: got %v, %v, %v, want %v, %v", what, free, taken, err, c.free, c.taken)
		}
	}
	if r, err := m.Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("Check() = %v, %v", r.Problems, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// TestSettleAliases tests which of several entries keeps an alias by the default rule and by the rule OldestKeeps. The
// two rules differ if only a younger entry had the alias before. An entry whose name is the alias keeps it by both
// rules.
func TestSettleAliases(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	holder := func(name string, created int, had ...string) store.AliasHolder {
		return store.AliasHolder{Name: name, Aliases: []string{"key"}, Had: had, Created: day(created)}
	}
	for _, c := range []struct {
		what    string
		holders []store.AliasHolder
		keeps   string // name of the entry that keeps the alias when entries are added to a store
		oldest  string // name of the entry that keeps it when two stores are merged
	}{
		{"nobody had it", []store.AliasHolder{holder("b", 2), holder("a", 1)}, "a", "a"},
		{"created at the same time", []store.AliasHolder{holder("b", 1), holder("a", 1)}, "a", "a"},
		{"the younger had it", []store.AliasHolder{holder("b", 2, "key"), holder("a", 1)}, "b", "a"},
		{"it is a name", []store.AliasHolder{holder("a", 1), {Name: "key", IsNew: true}}, "key", "key"},
		{"all had it", []store.AliasHolder{holder("b", 2, "key"), holder("a", 1, "key")}, "", ""},
	} {
		for rule, want := range map[store.AliasRule]string{0: c.keeps, store.OldestKeeps: c.oldest} {
			taken := store.SettleAliases(c.holders, rule)
			if want == "" && len(taken) == 0 {
				continue
			}
			if len(taken) != 1 || taken[0].Owner != want || taken[0].Alias != "key" {
				t.Errorf("%s: rule %d takes %v, want that %q keeps the alias", c.what, rule, taken, want)
			}
		}
	}
}
