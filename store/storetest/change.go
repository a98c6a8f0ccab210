// This file tests the contract of Apply: each op, conditions, atomicity, and refused
// changes.

package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// isSameEntry reports whether a and b are versions of the same entry, which have the same ID, kind and creation time.
func isSameEntry(a, b *oxbow.Entry) bool {
	return a.ID == b.ID && a.Kind == b.Kind && a.Created.Equal(b.Created)
}

func testAddEntry(t *testing.T, s oxbow.Store, features Can) {
	checkEntryMissing(t, s, "a")
	applyOps(t, s, oxbow.Add{Name: "a", Content: "alpha"})
	e := getEntry(t, s, "a")
	if e.Name != "a" || e.Content != "alpha" {
		t.Errorf("Get(a) = %+v, want the name a and the content alpha", e)
	}
	if e.Kind != features.Kinds[0] {
		t.Errorf("Get(a) = %+v, want the kind %v", e, features.Kinds[0])
	}
	if e.ID == 0 || e.Created.IsZero() {
		t.Errorf("Get(a) = %+v, want an ID and a creation time", e)
	}
	checkOpsRefused(t, s, oxbow.ErrExists, oxbow.Add{Name: "a", Content: "again"})
	if got := getEntry(t, s, "a"); got.Content != "alpha" {
		t.Errorf("a refused Add changed the content to %q", got.Content)
	}
	for _, k := range features.Kinds {
		applyOps(t, s, oxbow.Add{Name: "kind " + k.String(), Kind: k, Content: "x"})
		if got := getEntry(t, s, "kind "+k.String()); got.Kind != k {
			t.Errorf("kind = %v, want %v", got.Kind, k)
		}
	}
	when := time.Date(2023, 5, 25, 10, 4, 0, 0, time.UTC)
	applyOps(t, s, oxbow.Add{Name: "old", Content: "x", Created: when})
	if got := getEntry(t, s, "old").Created; features.Created < 24*time.Hour && got.Sub(when).Abs() > features.Created {
		t.Errorf("created = %v, want %v", got, when)
	}
}

func testUpdate(t *testing.T, s oxbow.Store, features Can) {
	checkOpsRefused(t, s, oxbow.ErrNotFound, oxbow.Update{Name: "a", Content: "x"})
	applyOps(t, s, oxbow.Add{Name: "a", Content: "one", Created: time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)})
	old := getEntry(t, s, "a")
	applyOps(t, s, oxbow.Update{Name: "a", Content: "two"})
	e := getEntry(t, s, "a")
	if e.Content != "two" || !isSameEntry(&e, &old) {
		t.Errorf("after Update: %+v, before: %+v", e, old)
	}
	if features.Aliases {
		applyOps(t, s, oxbow.Update{Name: "a", Content: "three", Aliases: []string{"x"}})
		applyOps(t, s, oxbow.Update{Name: "a", Content: "four"})
		if e := getEntry(t, s, "a"); len(e.Aliases) != 0 {
			t.Errorf("an Update without aliases left %q", e.Aliases)
		}
	}
}

func testAlias(t *testing.T, s oxbow.Store, can Can) {
	applyOps(t, s, oxbow.Add{Name: "a", Content: "one"})
	if !can.Aliases {
		checkOpsRefused(t, s, oxbow.ErrUnsupported, oxbow.Alias{Name: "a", Aliases: []string{"x"}})
		return
	}
	checkOpsRefused(t, s, oxbow.ErrNotFound, oxbow.Alias{Name: "ghost", Aliases: []string{"x"}})
	applyOps(t, s, oxbow.Alias{Name: "a", Aliases: []string{"zulu", "alpha", "mike"}})
	if e := getEntry(t, s, "a"); !slices.Equal(e.Aliases, []string{"zulu", "alpha", "mike"}) || e.Content != "one" {
		t.Errorf("after Alias: %+v", e)
	}
	applyOps(t, s, oxbow.Alias{Name: "a", Aliases: []string{"only"}})
	applyOps(t, s, oxbow.Alias{Name: "a"})
	if e := getEntry(t, s, "a"); len(e.Aliases) != 0 {
		t.Errorf("aliases = %q, want none", e.Aliases)
	}
}

// testUniqueAliases adds aliases that another entry has. It also does so from several goroutines.
func testUniqueAliases(t *testing.T, s oxbow.Store, can Can) {
	if !can.Aliases {
		return
	}
	add := func(name string, aliases ...string) oxbow.Op {
		return oxbow.Add{Name: name, Content: name, Aliases: aliases, UniqueAliases: true}
	}
	update := func(name string, aliases ...string) oxbow.Op {
		return oxbow.Update{Name: name, Content: "new", Aliases: aliases, UniqueAliases: true}
	}
	applyOps(t, s, add("one", "a", "b"))
	checkOpsRefused(t, s, oxbow.ErrInvalid, add("two", "a"))
	checkOpsRefused(t, s, oxbow.ErrInvalid, add("two", "one"))
	applyOps(t, s, add("two", "two"), update("one", "a", "c"))
	checkOpsRefused(t, s, oxbow.ErrInvalid, update("two", "b", "c"))
	checkOpsRefused(t, s, oxbow.ErrInvalid, add("three", "d"), update("two", "d"))
	checkEntryMissing(t, s, "three")
	applyOps(t, s, oxbow.Remove{Name: "one"}, update("two", "a", "c"))
	// Adding an alias that the entry already has must succeed.
	applyOps(t, s, oxbow.Add{Name: "four", Content: "x", Aliases: []string{"a"}}, update("four", "a"))
	errs, wg := make([]error, 8), sync.WaitGroup{}
	for i := range errs {
		wg.Go(func() { errs[i] = s.Apply(t.Context(), add(fmt.Sprint("w", i), "same")) })
	}
	wg.Wait()
	errs = slices.DeleteFunc(errs, func(err error) bool { return errors.As(err, new(*oxbow.AliasError)) })
	if len(errs) != 1 || errs[0] != nil {
		t.Errorf("several goroutines gave one alias: %v, want one nil", errs)
	}
}

func testRelabel(t *testing.T, s oxbow.Store, can Can) {
	applyOps(t, s, oxbow.Add{Name: "a", Content: "one"})
	ls := []oxbow.Label{
		{Key: "tag", Value: "two words"},
		{Key: "project", Value: "vtt"},
		{Key: "tag", Value: "a:b, c"},
		{Key: "project", Value: "vtt"},
	}
	if !can.Labels {
		checkOpsRefused(t, s, oxbow.ErrUnsupported, oxbow.Relabel{Name: "a", Labels: ls})
		return
	}
	applyOps(t, s, oxbow.Relabel{Name: "a", Labels: ls})
	want := []oxbow.Label{
		{Key: "project", Value: "vtt"},
		{Key: "tag", Value: "a:b, c"},
		{Key: "tag", Value: "two words"},
	}
	if e := getEntry(t, s, "a"); !slices.Equal(e.Labels, want) || e.Content != "one" {
		t.Errorf("after Relabel: %+v, want labels %v", e, want)
	}
	applyOps(t, s, oxbow.Relabel{Name: "a"})
	if e := getEntry(t, s, "a"); len(e.Labels) != 0 {
		t.Errorf("labels = %v, want none", e.Labels)
	}
}

func testRemove(t *testing.T, s oxbow.Store, _ Can) {
	checkOpsRefused(t, s, oxbow.ErrNotFound, oxbow.Remove{Name: "a"})
	applyOps(t, s, oxbow.Add{Name: "a", Content: "one"}, oxbow.Add{Name: "b", Content: "two"})
	id := getEntry(t, s, "b").ID
	applyOps(t, s, oxbow.Remove{Name: "a"})
	checkEntryMissing(t, s, "a")
	checkOpsRefused(t, s, oxbow.ErrNotFound, oxbow.Remove{Name: "a"})
	applyOps(t, s, oxbow.Add{Name: "a", Content: "new"})
	if e := getEntry(t, s, "a"); e.Content != "new" || e.ID <= id {
		t.Errorf("after Remove and Add: %+v, want an ID over %d", e, id)
	}
}

func testAtomicity(t *testing.T, s oxbow.Store, _ Can) {
	applyOps(t, s, oxbow.Add{Name: "a", Content: "one"})
	checkOpsRefused(t, s, oxbow.ErrNotFound,
		oxbow.Add{Name: "b", Content: "x"}, oxbow.Update{Name: "a", Content: "y"}, oxbow.Remove{Name: "ghost"})
	checkEntryMissing(t, s, "b")
	if e := getEntry(t, s, "a"); e.Content != "one" {
		t.Errorf("a batch that failed changed the content to %q", e.Content)
	}
	// Each op in a call sees the effects of the ops before it.
	applyOps(t, s, oxbow.Add{Name: "c", Content: "1"}, oxbow.Update{Name: "c", Content: "2"},
		oxbow.Remove{Name: "a"}, oxbow.Add{Name: "a", Content: "3"})
	if c, a := getEntry(t, s, "c"), getEntry(t, s, "a"); c.Content != "2" || a.Content != "3" {
		t.Errorf("after a batch: c = %q, a = %q, want 2, 3", c.Content, a.Content)
	}
	if got := entryNames(listEntries(t, s, oxbow.Filter{})); len(got) != 2 {
		t.Errorf("entries = %q", got)
	}
	applyOps(t, s)
}

func testVersionCondition(t *testing.T, s oxbow.Store, _ Can) {
	applyOps(t, s, oxbow.Add{Name: "a", Content: "one"})
	v := getEntry(t, s, "a").Version
	if v == 0 {
		t.Skip("this store does not number versions")
	}
	applyOps(t, s, oxbow.Update{Name: "a", Content: "two", If: v})
	checkOpsRefused(t, s, oxbow.ErrConflict, oxbow.Update{Name: "a", Content: "three", If: v})
	checkOpsRefused(t, s, oxbow.ErrConflict, oxbow.Remove{Name: "a", If: v})
	if e := getEntry(t, s, "a"); e.Content != "two" || e.Version == v {
		t.Errorf("after a conflict: %+v", e)
	}
}

func testRefusedOps(t *testing.T, s oxbow.Store, features Can) {
	for _, n := range []string{"", " a", "a ", "a\x00b", "a\nb", "a\x1bb", "a\u0085b", "\xff",
		strings.Repeat("n", 10<<10)} {
		checkOpsRefused(t, s, oxbow.ErrInvalid, oxbow.Add{Name: n, Content: "x"})
	}
	for _, c := range []string{"\xff\xfe", "nul\x00", strings.Repeat("x", oxbow.MaxContent+1)} {
		checkOpsRefused(t, s, oxbow.ErrInvalid, oxbow.Add{Name: "a", Content: c})
	}
	checkOpsRefused(t, s, oxbow.ErrInvalid, oxbow.Add{Name: "a", Content: "x", Kind: oxbow.Kind(200)})
	if features.Labels {
		checkOpsRefused(
			t,
			s,
			oxbow.ErrInvalid,
			oxbow.Add{Name: "a", Content: "x", Labels: []oxbow.Label{{Key: "Bad Key", Value: "x"}}},
		)
		checkOpsRefused(
			t,
			s,
			oxbow.ErrInvalid,
			oxbow.Add{Name: "a", Content: "x", Labels: []oxbow.Label{{Key: "tag", Value: ""}}},
		)
		checkOpsRefused(
			t,
			s,
			oxbow.ErrInvalid,
			oxbow.Add{Name: "a", Content: "x", Labels: []oxbow.Label{{Key: "confidence", Value: "2"}}},
		)
	}
	if es := listEntries(t, s, oxbow.Filter{}); len(es) != 0 {
		t.Errorf("refused changes left %q", entryNames(es))
	}
}
