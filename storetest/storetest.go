// Package storetest holds the tests that every [oxbow.Store] must pass. A store
// of one's own runs them with
//
//	func TestStore(t *testing.T) { storetest.Run(t, open, storetest.Can{…}) }
//
// New behaviour of the seam starts here.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// Can says what a store's layout can hold. What it cannot, it must refuse with
// an error that matches [oxbow.ErrUnsupported] or [oxbow.ErrInvalid].
type Can struct {
	Labels  bool          // labels on entries
	Aliases bool          // aliases on entries
	Kinds   []oxbow.Kind  // the kinds it holds; nil means all
	Created time.Duration // how exactly it keeps the time of creation; 0 means to the nanosecond, from a day on that it does not
	Reopen  func(t *testing.T) oxbow.Store
}

// Run runs the contract. Open returns an empty store for each test; the test
// closes it. With can.Reopen, the store that was opened last is opened again.
func Run(t *testing.T, open func(t *testing.T) oxbow.Store, can Can) {
	if can.Kinds == nil {
		can.Kinds = oxbow.Kinds()
	}
	for _, tc := range []struct {
		name string
		test func(t *testing.T, s oxbow.Store, can Can)
	}{
		{"Add", testAdd}, {"Update", testUpdate}, {"Alias", testAlias}, {"UniqueAliases", testUniqueAliases}, {"Relabel", testRelabel},
		{"Remove", testRemove}, {"Atomic", testAtomic}, {"CompareAndSet", testIf},
		{"Order", testOrder}, {"Filter", testFilter}, {"Names", testNames}, {"Contents", testContents},
		{"Refused", testRefused}, {"Snapshot", testSnapshot}, {"Parallel", testParallel},
		{"Watch", testWatch}, {"Canceled", testCanceled}, {"Reopen", testReopen}, {"Closed", testClosed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := open(t)
			tc.test(t, s, can)
			check(t, s)
			if err := s.Close(); err != nil && !errors.Is(err, oxbow.ErrClosed) {
				t.Errorf("Close() = %v", err)
			}
		})
	}
}

// check runs the store's own examination, where it has one.
func check(t *testing.T, s oxbow.Store) {
	t.Helper()
	c, ok := s.(oxbow.Checker)
	if !ok {
		return
	}
	rep, err := c.Check(context.WithoutCancel(t.Context()))
	if err != nil && !errors.Is(err, oxbow.ErrClosed) {
		t.Errorf("Check() = %v", err)
	}
	for _, p := range rep.Problems {
		t.Errorf("Check() found: %s", p.What)
	}
}

func apply(t *testing.T, s oxbow.Store, ops ...oxbow.Op) {
	t.Helper()
	if err := s.Apply(t.Context(), ops...); err != nil {
		t.Fatalf("Apply(%v) = %v", ops, err)
	}
}

func refused(t *testing.T, s oxbow.Store, want error, ops ...oxbow.Op) {
	t.Helper()
	if err := s.Apply(t.Context(), ops...); !errors.Is(err, want) {
		t.Errorf("Apply(%.200v) = %v, want %v", fmt.Sprint(ops), err, want)
	}
}

func get(t *testing.T, s oxbow.Store, name string) oxbow.Entry {
	t.Helper()
	e, err := s.Get(t.Context(), name)
	if err != nil {
		t.Fatalf("Get(%q) = %v", name, err)
	}
	return e
}

func gone(t *testing.T, s oxbow.Store, name string) {
	t.Helper()
	if e, err := s.Get(t.Context(), name); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Get(%q) = %+v, %v, want ErrNotFound", name, e, err)
	}
}

func list(t *testing.T, s oxbow.Store, f oxbow.Filter) []oxbow.Entry {
	t.Helper()
	var es []oxbow.Entry
	for e, err := range s.Entries(t.Context(), f) {
		if err != nil {
			t.Fatalf("Entries(%s) = %v", f, err)
		}
		es = append(es, e)
	}
	return es
}

func names(es []oxbow.Entry) []string {
	var ns []string
	for _, e := range es {
		ns = append(ns, e.Name)
	}
	return ns
}

func testAdd(t *testing.T, s oxbow.Store, can Can) {
	gone(t, s, "a")
	apply(t, s, oxbow.Add{Name: "a", Content: "alpha"})
	e := get(t, s, "a")
	if e.Name != "a" || e.Content != "alpha" || e.Kind != can.Kinds[0] || e.ID == 0 || e.Created.IsZero() {
		t.Errorf("Get(a) = %+v", e)
	}
	refused(t, s, oxbow.ErrExists, oxbow.Add{Name: "a", Content: "again"})
	if got := get(t, s, "a"); got.Content != "alpha" {
		t.Errorf("a refused Add changed the content to %q", got.Content)
	}
	for _, k := range can.Kinds {
		apply(t, s, oxbow.Add{Name: "kind " + k.String(), Kind: k, Content: "x"})
		if got := get(t, s, "kind "+k.String()); got.Kind != k {
			t.Errorf("kind = %v, want %v", got.Kind, k)
		}
	}
	when := time.Date(2023, 5, 25, 10, 4, 0, 0, time.UTC)
	apply(t, s, oxbow.Add{Name: "old", Content: "x", Created: when})
	if got := get(t, s, "old").Created; can.Created < 24*time.Hour && got.Sub(when).Abs() > can.Created {
		t.Errorf("created = %v, want %v", got, when)
	}
}

func testUpdate(t *testing.T, s oxbow.Store, can Can) {
	refused(t, s, oxbow.ErrNotFound, oxbow.Update{Name: "a", Content: "x"})
	apply(t, s, oxbow.Add{Name: "a", Content: "one", Created: time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC)})
	old := get(t, s, "a")
	apply(t, s, oxbow.Update{Name: "a", Content: "two"})
	e := get(t, s, "a")
	if e.Content != "two" || e.ID != old.ID || e.Kind != old.Kind || !e.Created.Equal(old.Created) {
		t.Errorf("after Update: %+v, before: %+v", e, old)
	}
	if can.Aliases {
		apply(t, s, oxbow.Update{Name: "a", Content: "three", Aliases: []string{"x"}})
		apply(t, s, oxbow.Update{Name: "a", Content: "four"})
		if e := get(t, s, "a"); len(e.Aliases) != 0 {
			t.Errorf("an Update without aliases left %q", e.Aliases)
		}
	}
}

func testAlias(t *testing.T, s oxbow.Store, can Can) {
	apply(t, s, oxbow.Add{Name: "a", Content: "one"})
	if !can.Aliases {
		refused(t, s, oxbow.ErrUnsupported, oxbow.Alias{Name: "a", Aliases: []string{"x"}})
		return
	}
	refused(t, s, oxbow.ErrNotFound, oxbow.Alias{Name: "ghost", Aliases: []string{"x"}})
	apply(t, s, oxbow.Alias{Name: "a", Aliases: []string{"zulu", "alpha", "mike"}})
	if e := get(t, s, "a"); !slices.Equal(e.Aliases, []string{"zulu", "alpha", "mike"}) || e.Content != "one" {
		t.Errorf("after Alias: %+v", e)
	}
	apply(t, s, oxbow.Alias{Name: "a", Aliases: []string{"only"}})
	apply(t, s, oxbow.Alias{Name: "a"})
	if e := get(t, s, "a"); len(e.Aliases) != 0 {
		t.Errorf("aliases = %q, want none", e.Aliases)
	}
}

// testUniqueAliases gives aliases that are taken, also by several goroutines.
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
	apply(t, s, add("one", "a", "b"))
	refused(t, s, oxbow.ErrInvalid, add("two", "a"))
	refused(t, s, oxbow.ErrInvalid, add("two", "one"))
	apply(t, s, add("two", "two"), update("one", "a", "c"))
	refused(t, s, oxbow.ErrInvalid, update("two", "b", "c"))
	refused(t, s, oxbow.ErrInvalid, add("three", "d"), update("two", "d"))
	gone(t, s, "three")
	apply(t, s, oxbow.Remove{Name: "one"}, update("two", "a", "c"))
	apply(t, s, oxbow.Add{Name: "four", Content: "x", Aliases: []string{"a"}}, update("four", "a")) // which it has
	errs, wg := make([]error, 8), sync.WaitGroup{}
	for i := range errs {
		wg.Go(func() { errs[i] = s.Apply(t.Context(), add(fmt.Sprint("w", i), "same")) })
	}
	wg.Wait()
	errs = slices.DeleteFunc(errs, func(err error) bool { return errors.As(err, new(*oxbow.AliasTakenError)) })
	if len(errs) != 1 || errs[0] != nil {
		t.Errorf("several goroutines gave one alias: %v, want one nil", errs)
	}
}

func testRelabel(t *testing.T, s oxbow.Store, can Can) {
	apply(t, s, oxbow.Add{Name: "a", Content: "one"})
	ls := []oxbow.Label{{Key: "tag", Value: "two words"}, {Key: "project", Value: "vtt"}, {Key: "tag", Value: "a:b, c"}, {Key: "project", Value: "vtt"}}
	if !can.Labels {
		refused(t, s, oxbow.ErrUnsupported, oxbow.Relabel{Name: "a", Labels: ls})
		return
	}
	apply(t, s, oxbow.Relabel{Name: "a", Labels: ls})
	want := []oxbow.Label{{Key: "project", Value: "vtt"}, {Key: "tag", Value: "a:b, c"}, {Key: "tag", Value: "two words"}}
	if e := get(t, s, "a"); !slices.Equal(e.Labels, want) || e.Content != "one" {
		t.Errorf("after Relabel: %+v, want labels %v", e, want)
	}
	apply(t, s, oxbow.Relabel{Name: "a"})
	if e := get(t, s, "a"); len(e.Labels) != 0 {
		t.Errorf("labels = %v, want none", e.Labels)
	}
}

func testRemove(t *testing.T, s oxbow.Store, _ Can) {
	refused(t, s, oxbow.ErrNotFound, oxbow.Remove{Name: "a"})
	apply(t, s, oxbow.Add{Name: "a", Content: "one"}, oxbow.Add{Name: "b", Content: "two"})
	id := get(t, s, "b").ID
	apply(t, s, oxbow.Remove{Name: "a"})
	gone(t, s, "a")
	refused(t, s, oxbow.ErrNotFound, oxbow.Remove{Name: "a"})
	apply(t, s, oxbow.Add{Name: "a", Content: "new"})
	if e := get(t, s, "a"); e.Content != "new" || e.ID <= id {
		t.Errorf("after Remove and Add: %+v, want an ID over %d", e, id)
	}
}

func testAtomic(t *testing.T, s oxbow.Store, _ Can) {
	apply(t, s, oxbow.Add{Name: "a", Content: "one"})
	refused(t, s, oxbow.ErrNotFound,
		oxbow.Add{Name: "b", Content: "x"}, oxbow.Update{Name: "a", Content: "y"}, oxbow.Remove{Name: "ghost"})
	gone(t, s, "b")
	if e := get(t, s, "a"); e.Content != "one" {
		t.Errorf("a batch that failed changed the content to %q", e.Content)
	}
	// The changes of a batch see each other.
	apply(t, s, oxbow.Add{Name: "c", Content: "1"}, oxbow.Update{Name: "c", Content: "2"},
		oxbow.Remove{Name: "a"}, oxbow.Add{Name: "a", Content: "3"})
	if c, a := get(t, s, "c"), get(t, s, "a"); c.Content != "2" || a.Content != "3" {
		t.Errorf("after a batch: c = %q, a = %q, want 2, 3", c.Content, a.Content)
	}
	if got := names(list(t, s, oxbow.Filter{})); len(got) != 2 {
		t.Errorf("entries = %q", got)
	}
	apply(t, s)
}

func testIf(t *testing.T, s oxbow.Store, _ Can) {
	apply(t, s, oxbow.Add{Name: "a", Content: "one"})
	v := get(t, s, "a").Version
	if v == 0 {
		t.Skip("this store does not number versions")
	}
	apply(t, s, oxbow.Update{Name: "a", Content: "two", If: v})
	refused(t, s, oxbow.ErrConflict, oxbow.Update{Name: "a", Content: "three", If: v})
	refused(t, s, oxbow.ErrConflict, oxbow.Remove{Name: "a", If: v})
	if e := get(t, s, "a"); e.Content != "two" || e.Version == v {
		t.Errorf("after a conflict: %+v", e)
	}
}

func testOrder(t *testing.T, s oxbow.Store, _ Can) {
	for _, n := range []string{"c", "a", "b"} {
		apply(t, s, oxbow.Add{Name: n, Content: n})
	}
	apply(t, s, oxbow.Update{Name: "c", Content: "x"})
	es := list(t, s, oxbow.Filter{})
	if !slices.IsSortedFunc(es, func(a, b oxbow.Entry) int { return int(a.ID) - int(b.ID) }) || len(es) != 3 {
		t.Errorf("entries = %q, not by ID", names(es))
	}
	for range s.Entries(t.Context(), oxbow.Filter{}) {
		break // stopping early is fine
	}
}

func testFilter(t *testing.T, s oxbow.Store, can Can) {
	day := func(d int) time.Time { return time.Date(2026, 4, d, 12, 0, 0, 0, time.UTC) }
	apply(t, s, oxbow.Add{Name: "a", Content: "x", Created: day(1)}, oxbow.Add{Name: "b", Content: "x", Created: day(2)})
	created, before, after := day(2), []string{"a"}, []string{"b"}
	if can.Created >= 24*time.Hour {
		// Both were made now, as far as this store knows.
		created, before, after = get(t, s, "a").Created, nil, []string{"a", "b"}
		if b := get(t, s, "b").Created; b.Before(created) {
			created = b
		}
	}
	f := oxbow.Filter{After: created}
	if got := names(list(t, s, f)); !slices.Equal(got, after) {
		t.Errorf("Entries(%s) = %q, want %q", f, got, after)
	}
	f = oxbow.Filter{Before: created}
	if got := names(list(t, s, f)); !slices.Equal(got, before) {
		t.Errorf("Entries(%s) = %q, want %q", f, got, before)
	}
	if can.Labels {
		apply(t, s, oxbow.Relabel{Name: "b", Labels: []oxbow.Label{{Key: "tag", Value: "x"}}})
		f = oxbow.Filter{Terms: []oxbow.Term{{Key: "tag", Values: []string{"y", "x"}}}}
		if got := names(list(t, s, f)); !slices.Equal(got, []string{"b"}) {
			t.Errorf("Entries(%s) = %q, want [b]", f, got)
		}
		f.Terms[0].Not = true
		if got := names(list(t, s, f)); !slices.Equal(got, []string{"a"}) {
			t.Errorf("Entries(%s) = %q, want [a]", f, got)
		}
	}
}

// testNames uses names that look like paths, differ by case only, or are long.
func testNames(t *testing.T, s oxbow.Store, can Can) {
	hard := []string{"a", "A", "a b", "a-b", "../../etc/passwd", "/abs", "a/b", `a\b`, "C:", "con", "é", "e\u0301",
		"日本語", "🦀", ".hidden", "..", "dot.", "%2e", strings.Repeat("n", 200), "#1", "- x", "a.md", "[x](y)", "<b>&amp;"}
	want := map[string]string{}
	for i, n := range hard {
		content := fmt.Sprint("content ", i)
		err := s.Apply(t.Context(), oxbow.Add{Name: n, Content: content})
		if errors.Is(err, oxbow.ErrInvalid) || errors.Is(err, oxbow.ErrUnsupported) {
			continue // a layout may refuse a name, in words, but never mix two up
		}
		if err != nil {
			t.Errorf("Add(%q) = %v", n, err)
			continue
		}
		want[n] = content
	}
	if len(want) == 0 {
		t.Fatal("every name was refused")
	}
	if can.Reopen != nil {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = can.Reopen(t)
		defer s.Close()
	}
	for n, content := range want {
		if e := get(t, s, n); e.Content != content {
			t.Errorf("Get(%q) = %q, want %q", n, e.Content, content)
		}
	}
	if got := list(t, s, oxbow.Filter{}); len(got) != len(want) {
		t.Errorf("%d entries, want %d", len(got), len(want))
	}
}

// testContents uses contents that a text format may trip over.
func testContents(t *testing.T, s oxbow.Store, can Can) {
	hard := []string{"", " ", "\n", "one\n", "one\n\n\n", "\n\none", "crlf\r\nline\r\n", "tab\tbed", "---\nname: evil\n---\nx",
		"## 10:00\n\nlooks like a day's entry", "<div id=\"meta\"></div>\nx", "</div>", "日本語 🦀", "# Heading", "a\n\n---\n\nb",
		strings.Repeat("long ", 20000)}
	want := map[string]string{}
	for i, c := range hard {
		n := fmt.Sprint("entry ", i)
		err := s.Apply(t.Context(), oxbow.Add{Name: n, Content: c})
		if errors.Is(err, oxbow.ErrInvalid) || errors.Is(err, oxbow.ErrUnsupported) {
			continue
		}
		if err != nil {
			t.Errorf("Add(content %.40q) = %v", c, err)
			continue
		}
		want[n] = c
	}
	if can.Reopen != nil {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = can.Reopen(t)
		defer s.Close()
	}
	for n, c := range want {
		if e := get(t, s, n); e.Content != c {
			t.Errorf("content = %.60q, want %.60q", e.Content, c)
		}
	}
}

func testRefused(t *testing.T, s oxbow.Store, can Can) {
	for _, n := range []string{"", " a", "a ", "a\x00b", "a\nb", "a\x1bb", "a\u0085b", "\xff", strings.Repeat("n", 10<<10)} {
		refused(t, s, oxbow.ErrInvalid, oxbow.Add{Name: n, Content: "x"})
	}
	for _, c := range []string{"\xff\xfe", "nul\x00", strings.Repeat("x", oxbow.MaxContent+1)} {
		refused(t, s, oxbow.ErrInvalid, oxbow.Add{Name: "a", Content: c})
	}
	refused(t, s, oxbow.ErrInvalid, oxbow.Add{Name: "a", Content: "x", Kind: oxbow.Kind(200)})
	if can.Labels {
		refused(t, s, oxbow.ErrInvalid, oxbow.Add{Name: "a", Content: "x", Labels: []oxbow.Label{{Key: "Bad Key", Value: "x"}}})
		refused(t, s, oxbow.ErrInvalid, oxbow.Add{Name: "a", Content: "x", Labels: []oxbow.Label{{Key: "tag", Value: ""}}})
		refused(t, s, oxbow.ErrInvalid, oxbow.Add{Name: "a", Content: "x", Labels: []oxbow.Label{{Key: "confidence", Value: "2"}}})
	}
	if es := list(t, s, oxbow.Filter{}); len(es) != 0 {
		t.Errorf("refused changes left %q", names(es))
	}
}

// testSnapshot changes the store while it is being listed.
func testSnapshot(t *testing.T, s oxbow.Store, _ Can) {
	for i := range 5 {
		apply(t, s, oxbow.Add{Name: fmt.Sprint("e", i), Content: "old"})
	}
	n := 0
	for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			apply(t, s, oxbow.Remove{Name: "e4"}, oxbow.Add{Name: "e9", Content: "new"}, oxbow.Update{Name: "e3", Content: "new"})
		}
		if e.Content != "old" {
			t.Errorf("the listing shows %q, which was written after it began", e.Name)
		}
		n++
	}
	if n != 5 {
		t.Errorf("the listing has %d entries, want the 5 there were", n)
	}
}

// testParallel writes from several goroutines: none of what was acknowledged
// may be missing.
func testParallel(t *testing.T, s oxbow.Store, _ Can) {
	const writers, each = 8, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				n := fmt.Sprintf("w%d-%d", w, i)
				if err := s.Apply(t.Context(), oxbow.Add{Name: n, Content: n}); err != nil {
					t.Errorf("Add(%s) = %v", n, err)
				}
				if _, err := s.Get(t.Context(), n); err != nil {
					t.Errorf("Get(%s) right after its Add = %v", n, err)
				}
			}
		})
	}
	wg.Wait()
	ids := map[uint64]bool{}
	for _, e := range list(t, s, oxbow.Filter{}) {
		ids[e.ID] = true
	}
	if len(ids) != writers*each {
		t.Errorf("%d entries are there, %d were acknowledged", len(ids), writers*each)
	}
}

// testWatch has two functions watch the store, one of them for part of the time.
// Of a memory, it is the store below that sends events.
func testWatch(t *testing.T, s oxbow.Store, _ Can) {
	base := s
	if m, ok := s.(interface{ Store() oxbow.Store }); ok {
		base = m.Store()
	}
	w, ok := base.(oxbow.Watcher)
	if !ok {
		t.Skip("this store sends no events")
	}
	var one, two []oxbow.Event
	stop := w.Watch(func(e oxbow.Event) { one = append(one, e) })
	w.Watch(func(e oxbow.Event) { two = append(two, e) })
	apply(t, s, oxbow.Add{Name: "a", Content: "one"})
	id := get(t, s, "a").ID
	if len(one) != 1 || len(two) != 1 || len(one[0].Changes) != 1 || one[0].Reset ||
		one[0].Changes[0].ID != id || one[0].Changes[0].Entry == nil || one[0].Changes[0].Entry.Content != "one" {
		t.Errorf("after an Add, the watchers received %+v and %+v", one, two)
	}
	stop()
	stop()
	apply(t, s, oxbow.Remove{Name: "a"})
	if len(one) != 1 || len(two) != 2 || len(two[1].Changes) != 1 || two[1].Changes[0].ID != id || two[1].Changes[0].Entry != nil {
		t.Errorf("after a Remove, the watchers received %+v and %+v, the first being stopped", one, two)
	}
}

func testCanceled(t *testing.T, s oxbow.Store, _ Can) {
	apply(t, s, oxbow.Add{Name: "a", Content: "x"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Apply(ctx, oxbow.Add{Name: "b", Content: "x"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply() with a canceled context = %v", err)
	}
	var errs []error
	for _, err := range s.Entries(ctx, oxbow.Filter{}) {
		errs = append(errs, err)
	}
	if len(errs) == 0 || !errors.Is(errs[len(errs)-1], context.Canceled) {
		t.Errorf("Entries() with a canceled context yields %v", errs)
	}
	gone(t, s, "b")
}

func testReopen(t *testing.T, s oxbow.Store, can Can) {
	if can.Reopen == nil {
		t.Skip("this store lives as long as its process")
	}
	op := oxbow.Add{Name: "a", Content: "one", Kind: can.Kinds[len(can.Kinds)-1]}
	if can.Aliases {
		op.Aliases = []string{"x", "y"}
	}
	if can.Labels {
		op.Labels = []oxbow.Label{{Key: "project", Value: "vtt"}, {Key: "tag", Value: "two words"}}
	}
	apply(t, s, op)
	apply(t, s, oxbow.Add{Name: "b", Content: "two"})
	apply(t, s, oxbow.Remove{Name: "b"})
	want := get(t, s, "a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := can.Reopen(t)
	defer again.Close()
	got := get(t, again, "a")
	if got.ID != want.ID || got.Kind != want.Kind || got.Content != want.Content || !got.Created.Equal(want.Created) ||
		!slices.Equal(got.Aliases, want.Aliases) || !slices.Equal(got.Labels, want.Labels) || got.Version != want.Version {
		t.Errorf("reopened: %+v, want %+v", got, want)
	}
	gone(t, again, "b")
	check(t, again)
}

func testClosed(t *testing.T, s oxbow.Store, _ Can) {
	apply(t, s, oxbow.Add{Name: "a", Content: "x"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "a"); !errors.Is(err, oxbow.ErrClosed) {
		t.Errorf("Get() on a closed store = %v, want ErrClosed", err)
	}
	if err := s.Apply(t.Context(), oxbow.Add{Name: "b", Content: "x"}); !errors.Is(err, oxbow.ErrClosed) {
		t.Errorf("Apply() on a closed store = %v, want ErrClosed", err)
	}
}
