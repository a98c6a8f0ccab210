// This file contains the examples of the package documentation. They show the first things that a program does with a
// memory. Each example runs as a test.

package oxbow_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/query"
	"github.com/oxbow-memory/oxbow/vfs"
)

// sample opens an empty memory m that is kept in RAM. The clock of m starts on the 14th of April 2026, and each call of
// the function tomorrow moves the clock one day forward. Real programs need neither of the options FS and Clock.
func sample() (ctx context.Context, m *oxbow.Memory, tomorrow func()) {
	now := time.Date(2026, 4, 14, 9, 0, 0, 0, time.UTC)
	m, err := oxbow.Open("brain.oxbow", &oxbow.Options{
		FS:    vfs.NewMem(),
		Clock: func() time.Time { return now },
	})
	if err != nil {
		log.Fatal(err)
	}
	return context.Background(), m, func() { now = now.AddDate(0, 0, 1) }
}

// must returns v. If err is not nil, must logs the error and exits the program.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// A memory is one file. The first Remember creates the file. If Remember has returned no error, the entry is found
// after the next Open, in this process or in another.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "oxbow")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "brain.oxbow")
	ctx := context.Background()

	m, err := oxbow.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	_, err = m.Remember(ctx, oxbow.Entry{Name: "deploy", Content: "Deploy on Tuesdays, never on Fridays."})
	if err != nil {
		log.Fatal(err)
	}
	if err := m.Close(); err != nil {
		log.Fatal(err)
	}

	m, err = oxbow.Open(path, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	hits, err := m.Recall(ctx, oxbow.Query{Text: "when do we deploy"})
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hits {
		fmt.Printf("%s: %s\n", h.Entry.Name, h.Entry.Content)
	}
	// Output:
	// deploy: Deploy on Tuesdays, never on Fridays.
}

// Remember adds an entry, or updates the entry that has the same name. An update keeps the aliases and the labels if
// they are nil in the new entry. If the name is empty, Remember makes a name from the first line of the content.
func ExampleMemory_Remember() {
	ctx, m, tomorrow := sample()
	defer m.Close()

	e := must(m.Remember(ctx, oxbow.Entry{
		Name:    "rate limit",
		Content: "The weather API allows 60 calls a minute.",
		Aliases: []string{"429"},
		Labels:  []oxbow.Label{{Key: oxbow.LabelProject, Value: "harbour"}},
	}))
	fmt.Println(e.ID, e.Name, e.Kind, e.Created.Format(time.DateOnly), "version", e.Version)

	tomorrow()
	e = must(m.Remember(ctx, oxbow.Entry{Name: "rate limit", Content: "The weather API allows 30 calls a minute."}))
	fmt.Println(e.ID, e.Aliases, e.Labels, e.Updated.Format(time.DateOnly), "version", e.Version)

	e = must(m.Remember(ctx, oxbow.Entry{Content: "# Who to ask\n\nMira knows the tides."}))
	fmt.Println(e.ID, e.Name)

	_, err := m.Remember(ctx, oxbow.Entry{Name: "empty"})
	fmt.Println(err)
	// Output:
	// 1 rate limit note 2026-04-14 version 1
	// 1 [429] [project:harbour] 2026-04-15 version 2
	// 2 Who to ask
	// content is empty; say what to remember
}

// Recall finds the entries that contain words of the query in their name, their aliases or their content. The best hit
// comes first.
func ExampleMemory_Recall() {
	ctx, m, _ := sample()
	defer m.Close()
	for _, e := range []oxbow.Entry{
		{Name: "berths", Content: "Winter berths cost half; booking opens in October."},
		{Name: "double charge", Content: "A booking was charged twice when the card form was sent twice."},
		{Name: "tides", Content: "Tide tables come from the harbour office."},
	} {
		must(m.Remember(ctx, e))
	}

	for _, h := range must(m.Recall(ctx, oxbow.Query{Text: "booking charged twice", Limit: 2})) {
		fmt.Printf("%.3f %s\n", h.Score, h.Entry.Name)
	}

	// A query that finds nothing is no error. Diagnose says why.
	q := oxbow.Query{Text: "tables", Filter: must(query.ParseFilter("project:harbour", time.Now()))}
	fmt.Println(len(must(m.Recall(ctx, q))), "hits")
	d := must(m.Diagnose(ctx, q))
	fmt.Printf("%d without the filter; %s leaves %d\n", d.Unfiltered, d.Removed[0], d.Removed[0].Left)
	// Output:
	// 14.573 double charge
	// 2.864 berths
	// 0 hits
	// 1 without the filter; project:harbour leaves 0
}

// An explanation shows how much each term of the query contributes to the score of a hit.
func ExampleMemory_Recall_explain() {
	ctx, m, _ := sample()
	defer m.Close()
	must(m.Remember(ctx, oxbow.Entry{Name: "tides", Content: "high tide and low tide"}))
	must(m.Remember(ctx, oxbow.Entry{Name: "berths", Content: "low season prices"}))

	h := must(m.Recall(ctx, oxbow.Query{Text: "low tide", Explain: true}))[0]
	x := h.Explanation
	fmt.Printf(
		"%s: %.4f by %s, %g of %g terms in %d entries\n",
		h.Entry.Name,
		h.Score,
		x.Formula,
		x.Length,
		x.AvgLen,
		x.Entries,
	)
	for _, t := range x.Terms {
		fmt.Printf("  %-4s %g times here, in %d entries, idf %.4f: %.4f\n", t.Term, t.TF, t.DF, t.IDF, t.Score)
	}
	// Output:
	// tides: 11.7698 by oxbow, 7 of 6 terms in 2 entries
	//   low  1 times here, in 2 entries, idf 3.2456: 3.0385
	//   tide 4 times here, in 1 entries, idf 5.3083: 8.7314
}

// Labels connect an entry with a project, tags, files, or anything else. Relabel replaces all labels of an entry.
func ExampleRelabel() {
	ctx, m, _ := sample()
	defer m.Close()
	e := must(m.Remember(ctx, oxbow.Entry{
		Name:    "double charge",
		Content: "The card form must be sent once.",
		Labels: []oxbow.Label{
			{Key: oxbow.LabelTag, Value: "bug"},
			{Key: oxbow.LabelTag, Value: "payment form"},
			{Key: oxbow.LabelFile, Value: "pay/form.go"},
			{Key: "customer", Value: "acme"},
			oxbow.Confidence(0.9),
		},
	}))
	fmt.Println(e.Labels)
	fmt.Println(e.Values(oxbow.LabelTag))

	labels := append(slices.Clone(e.Labels), oxbow.Label{Key: oxbow.LabelTag, Value: "fixed"})
	if err := m.Apply(ctx, oxbow.Relabel{Name: e.Name, Labels: labels}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(must(m.Get(ctx, e.Name)).Values(oxbow.LabelTag))

	fmt.Println(oxbow.Label{Key: "kind", Value: "bug"}.Check())
	// Output:
	// [confidence:0.9 customer:acme file:pay/form.go tag:bug tag:"payment form"]
	// [bug payment form]
	// [bug fixed payment form]
	// label key "kind" is a word of the filter language; choose another
}

// Undo cancels the last change. In this example, the last change is a Forget, which removed an entry. Undo can restore
// the entry because its versions stay in the log.
func ExampleMemory_Undo() {
	ctx, m, _ := sample()
	defer m.Close()
	must(m.Remember(ctx, oxbow.Entry{Name: "tides", Content: "Tide tables are public."}))
	if err := m.Forget(ctx, "tides"); err != nil {
		log.Fatal(err)
	}
	_, err := m.Get(ctx, "tides")
	fmt.Println(err, errors.Is(err, oxbow.ErrNotFound))

	seq, undone, err := m.Undo(ctx, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf(
		"change %d undid change %d, which did %s %q\n",
		seq,
		undone[0].Seq,
		undone[0].Versions[0].Verb,
		undone[0].Versions[0].Entry.Name,
	)
	fmt.Println(must(m.Get(ctx, "tides")).Content)
	// Output:
	// entry not found: "tides" true
	// change 3 undid change 2, which did remove "tides"
	// Tide tables are public.
}

// Versions returns all versions of an entry, newest first. Restore makes an earlier version the current one again.
func ExampleMemory_Versions() {
	ctx, m, tomorrow := sample()
	defer m.Close()
	must(m.Remember(ctx, oxbow.Entry{Name: "limit", Content: "60 calls a minute"}))
	tomorrow()
	must(m.Remember(ctx, oxbow.Entry{Name: "limit", Content: "30 calls a minute"}))
	tomorrow()
	if err := m.Forget(ctx, "limit"); err != nil {
		log.Fatal(err)
	}

	for v, err := range m.Versions(ctx, "limit") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d %s %s %q\n", v.Seq, v.Source.Time.Format(time.DateOnly), v.Verb, v.Entry.Content)
	}
	fmt.Println("at change 1:", must(m.VersionAt(ctx, "limit", 1)).Entry.Content)

	must(m.Restore(ctx, "limit", 2))
	fmt.Println("now:", must(m.Get(ctx, "limit")).Content)
	// Output:
	// 3 2026-04-16 remove ""
	// 2 2026-04-15 update "30 calls a minute"
	// 1 2026-04-14 add "60 calls a minute"
	// at change 1: 60 calls a minute
	// now: 30 calls a minute
}

// ExampleMemory_History shows what a memory contained at an earlier time. SeqAt returns the last change before that
// time. AsOf and a Query with AsOf then read the memory as it was after this change.
func ExampleMemory_History() {
	ctx, m, tomorrow := sample()
	defer m.Close()
	must(m.Remember(ctx, oxbow.Entry{Name: "limit", Content: "60 calls a minute"}))
	tomorrow()
	must(m.Remember(ctx, oxbow.Entry{Name: "limit", Content: "30 calls a minute"}))

	history := must(m.History())
	seq := must(history.SeqAt(ctx, time.Date(2026, 4, 14, 23, 0, 0, 0, time.UTC)))
	then := must(history.AsOf(ctx, seq))
	defer then.Close()
	fmt.Println(must(then.Get(ctx, "limit")).Content)

	for _, h := range must(m.Recall(ctx, oxbow.Query{Text: "calls", AsOf: seq})) {
		fmt.Println(h.Entry.Content)
	}
	// Output:
	// 60 calls a minute
	// 60 calls a minute
}

// Apply makes several changes at once. If one of them fails, none is made.
func ExampleMemory_Apply() {
	ctx, m, _ := sample()
	defer m.Close()
	err := m.Apply(ctx,
		oxbow.Add{Name: "tides", Content: "Tide tables are public."},
		oxbow.Add{Name: "berths", Content: "Winter berths cost half."},
	)
	fmt.Println(err)

	err = m.Apply(ctx,
		oxbow.Remove{Name: "tides"},
		oxbow.Alias{Name: "gate", Aliases: []string{"lock"}}, // there is no such entry
	)
	fmt.Println(err)
	fmt.Println(must(m.Get(ctx, "tides")).Content)

	c := must(first(m.Log(ctx)))
	fmt.Printf("change %d holds %d versions\n", c.Seq, len(c.Versions))
	// Output:
	// <nil>
	// entry not found: "gate"
	// Tide tables are public.
	// change 1 holds 2 versions
}

// first returns the first element of a sequence and its error. If the sequence is empty, both are zero.
func first[T any](seq iter.Seq2[T, error]) (v T, err error) {
	for v, err = range seq {
		break
	}
	return v, err
}

// If two agents change the same entry, neither overwrites the other's change, because each says which version it has
// read.
func ExampleMemory_Remember_version() {
	ctx, m, _ := sample()
	defer m.Close()
	mine := must(m.Remember(ctx, oxbow.Entry{Name: "limit", Content: "60 calls a minute"}))
	must(m.Remember(ctx, oxbow.Entry{Name: "limit", Content: "30 calls a minute"})) // another process

	mine.Content = "60 calls a minute, as of April"
	_, err := m.Remember(ctx, mine)
	fmt.Println(err)

	var conflict *oxbow.ConflictError
	if errors.As(err, &conflict) {
		now := must(m.Get(ctx, "limit")).Clone()
		now.Content += ", as of April"
		now = must(m.Remember(ctx, now))
		fmt.Println(now.Version, now.Content)
	}

	// The field If of an operation does the same: Apply fails if the entry no longer has this version.
	err = m.Apply(ctx, oxbow.Remove{Name: "limit", If: mine.Version})
	fmt.Println(errors.Is(err, oxbow.ErrConflict))
	// Output:
	// entry "limit" changed since it was read: it is at version 2, not 1
	// 3 30 calls a minute, as of April
	// true
}

// A source says who writes an entry: a person or an agent (Source.Actor), and through which interface the call arrives
// (Source.Door). The source is stored with every version of the entry.
func ExampleWithSource() {
	ctx, m, _ := sample()
	defer m.Close()
	ctx = oxbow.WithSource(ctx, oxbow.Source{
		Door:    "mcp",
		Actor:   oxbow.Agent,
		Session: "s1",
		Claimed: oxbow.Claim{Client: "editor 2.1"}, // what the caller says of itself
	})
	ctx = oxbow.WithNote(ctx, "learned while fixing the card form")
	e := must(m.Remember(ctx, oxbow.Entry{Name: "form", Content: "The card form must be sent once."}))
	fmt.Println(
		e.Source.Actor,
		"by",
		e.Source.Door,
		"at",
		e.Source.Time.Format(time.DateOnly),
		"claims to be",
		e.Source.Claimed.Client,
	)

	c := must(first(m.Log(ctx)))
	fmt.Println(c.Note)

	// A filter can select entries by the kind of writer.
	f := must(query.ParseFilter("by:person", time.Now()))
	fmt.Println(len(must(m.Recall(ctx, oxbow.Query{Text: "card form", Filter: f}))), "written by a person")
	// Output:
	// agent by mcp at 2026-04-14 claims to be editor 2.1
	// learned while fixing the card form
	// 0 written by a person
}

// mapStore is the smallest store there is: a map, for one goroutine.
type mapStore struct {
	entries map[string]oxbow.Entry
	last    uint64
}

func (s *mapStore) Get(_ context.Context, name string) (oxbow.Entry, error) {
	e, ok := s.entries[name]
	if !ok {
		return e, &oxbow.NameError{Name: name, Err: oxbow.ErrNotFound}
	}
	return e, nil
}

func (s *mapStore) Entries(_ context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	byID := func(a, b oxbow.Entry) int { return int(a.ID) - int(b.ID) }
	return func(yield func(oxbow.Entry, error) bool) {
		for _, e := range slices.SortedFunc(maps.Values(s.entries), byID) {
			if f.Match(&e) && !yield(e, nil) {
				return
			}
		}
	}
}

func (s *mapStore) Apply(_ context.Context, ops ...oxbow.Op) error {
	next := maps.Clone(s.entries) // all or none
	for _, op := range ops {
		add, ok := op.(oxbow.Add)
		if !ok {
			return fmt.Errorf("%w: %T", oxbow.ErrUnsupported, op)
		}
		if err := op.Check(); err != nil {
			return err
		}
		if _, ok := next[add.Name]; ok {
			return &oxbow.NameError{Name: add.Name, Err: oxbow.ErrExists}
		}
		s.last++
		next[add.Name] = oxbow.Entry{ID: s.last, Name: add.Name, Kind: add.Kind, Content: add.Content,
			Labels: oxbow.SortLabels(add.Labels), Version: s.last}
	}
	s.entries = next
	return nil
}

func (s *mapStore) Close() error { return nil }

// A store needs only four methods, and New returns a memory that searches and ranks the store's entries. If a method of
// the memory needs more than the store can do, the method returns an error that wraps ErrUnsupported. (Package
// storetest contains the tests that a full store must pass.)
func ExampleNew() {
	ctx := context.Background()
	m := oxbow.New(&mapStore{entries: map[string]oxbow.Entry{}}, nil)
	defer m.Close()
	must(m.Remember(ctx, oxbow.Entry{Name: "tides", Content: "Tide tables are public."}))
	must(m.Remember(ctx, oxbow.Entry{Name: "berths", Content: "Winter berths cost half."}))

	for _, h := range must(m.Recall(ctx, oxbow.Query{Text: "winter prices"})) {
		fmt.Println(h.Entry.Name)
	}
	fmt.Println(errors.Is(m.Forget(ctx, "tides"), oxbow.ErrUnsupported))
	_, _, err := m.Undo(ctx, 1)
	fmt.Println(err)
	// Output:
	// berths
	// true
	// this store cannot do that: it keeps no history
}
