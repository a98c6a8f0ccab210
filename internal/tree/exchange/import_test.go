// This file tests how items are imported if entries with their names exist.

package exchange

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
)

func TestImportExportItems(t *testing.T) {
	const line = `{"name":"a","content":"%s","updated":"%s"}`
	older, newer := "2026-04-30T00:00:00Z", "2026-05-30T00:00:00Z"
	there := fmt.Sprintf(line, "there", newer)
	const created = `,"created":"2020-01-01T00:00:00Z"}`
	moved := strings.TrimSuffix(there, "}") + created
	foreign := strings.TrimSuffix(there, "}") + `,"created":"2021-01-01T00:00:00Z"}`
	ours, imported := oxbow.Source{Actor: oxbow.Person}, oxbow.Source{Actor: oxbow.Imported, Ref: "in.jsonl"}
	otherFile := oxbow.Source{Actor: oxbow.Imported, Ref: "old.jsonl"}
	overwrite := &ImportOptions{Overwrite: true}
	for _, tt := range []struct {
		name, in string
		source   oxbow.Source // source of the existing entry
		o        *ImportOptions
		want     [4]int
		content  string
		problem  string
	}{
		{"same", fmt.Sprintf(line, "here", newer), ours, nil, [4]int{0, 0, 1, 0}, "here", ""},
		{"newer than what this file brought", there, imported, nil, [4]int{0, 1, 0, 0}, "there", ""},
		{"newer than what a person wrote", there, ours, nil, [4]int{0, 0, 0, 1}, "here",
			"was written or edited in the store"},
		{"newer than what an agent wrote", there, oxbow.Source{Actor: oxbow.Agent}, nil, [4]int{0, 0, 0, 1}, "here",
			"was written or edited in the store"},
		{"newer than what another file brought", there, otherFile, nil, [4]int{0, 0, 0, 1}, "here",
			"was written or edited in the store"},
		{"newer, moved before", moved, otherFile, nil, [4]int{0, 1, 0, 0}, "there", ""},
		{"newer, moved before and edited here", moved, ours, nil, [4]int{0, 0, 0, 1}, "here",
			"was written or edited in the store"},
		{"another entry of the name", foreign, ours, nil, [4]int{1, 0, 0, 0}, "here", ""},
		{"another entry of the name, imported", foreign, otherFile, nil, [4]int{1, 0, 0, 0}, "here", ""},
		{"another entry of the name, overwrite", foreign, ours, overwrite, [4]int{0, 1, 0, 0}, "there", ""},
		{"newer, overwrite", there, ours, overwrite, [4]int{0, 1, 0, 0}, "there", ""},
		{"older", fmt.Sprintf(line, "there", older), imported, nil, [4]int{0, 0, 0, 1}, "here",
			"in.jsonl:1: \"a\" is in the store with other content that is not older"},
		{"older, overwrite", fmt.Sprintf(line, "there", older), ours, overwrite, [4]int{0, 1, 0, 0}, "there", ""},
		{"without a time", `{"name":"a","content":"there"}`, imported, nil, [4]int{0, 0, 0, 1}, "here",
			"does not say when"},
		{"other kind", `{"name":"a","kind":"world","content":"here","updated":"` + newer +
			`"}`, imported, nil, [4]int{0, 0, 0, 1}, "here", "a kind is fixed"},
		{"other kind, overwrite", `{"name":"a","kind":"world","content":"there"}`, ours, overwrite,
			[4]int{0, 1, 0, 0}, "there", ""},
		{"other labels", `{"name":"a","content":"here","tags":["x"],"updated":"` + newer +
			`"}`, imported, nil, [4]int{0, 1, 0, 0}, "here", ""},
		{"other aliases", `{"name":"a","content":"here","aliases":["x"],"updated":"` + newer +
			`"}`, imported, nil, [4]int{0, 1, 0, 0}, "here", ""},
		{"dry run", there, imported, &ImportOptions{DryRun: true}, [4]int{0, 1, 0, 0}, "here", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore()
			if err := s.Apply(
				oxbow.WithSource(t.Context(), tt.source),
				oxbow.Add{Name: "a", Content: "here", Created: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)},
			); err != nil {
				t.Fatal(err)
			}
			rep := load(t, s, jsonl(tt.in), tt.o)
			if counts(rep) != tt.want || s.content(t, "a") != tt.content {
				t.Errorf("Import = %+v and %q, want %v and %q", rep, s.content(t, "a"), tt.want, tt.content)
			}
			if got := strings.Join(rep.Problems, "\n"); (tt.problem == "") != (got == "") ||
				!strings.Contains(got, tt.problem) {
				t.Errorf("problems = %q, want %q", got, tt.problem)
			}
			if e, _ := s.Get(t.Context(), "a"); e.Created.Year() != 2020 {
				t.Errorf("created = %v, want it kept", e.Created)
			}
			// A second import must find the entry that the first import added beside the existing entry.
			if tt.o == nil && rep.AddedCount > 0 {
				if rep := load(t, s, jsonl(tt.in), nil); counts(rep) != [4]int{0, 0, 1, 0} ||
					s.content(t, "a (2)") != "there" {
					t.Errorf("again: Import = %+v, entries %q", rep, s.names())
				}
				later := strings.NewReplacer("there", "later", newer, "2026-06-30T00:00:00Z").Replace(tt.in)
				if rep := load(t, s, jsonl(later), nil); counts(rep) != [4]int{0, 1, 0, 0} ||
					s.content(t, "a (2)") != "later" {
					t.Errorf("later: Import = %+v, entries %q", rep, s.names())
				}
			}
		})
	}
}

// TestImportWithoutChanges tests that an import with NoChangeList lists no changes but still knows which entries it has
// changed.
func TestImportWithoutChanges(t *testing.T) {
	s := newStore()
	s.must(t, oxbow.Add{Name: "same", Content: "1"}, oxbow.Add{Name: "skipped", Content: "1"})
	load(t, s, jsonl(`{"name":"updated","content":"1"}`), nil)
	rep := load(t, s, jsonl(`{"name":"same","content":"1"}
{"name":"skipped","content":"2"}
{"name":"added","content":"2"}
{"name":"updated","content":"2","updated":"2030-01-01T00:00:00Z"}
`), &ImportOptions{NoChangeList: true})
	if counts(rep) != [4]int{1, 1, 1, 1} || len(rep.Changes) > 0 {
		t.Errorf("Import = %+v", rep)
	}
	for name, want := range map[string]bool{"same": false, "skipped": false, "added": true, "updated": true,
		"none": false} {
		if got := rep.IsEntryChanged(name); got != want {
			t.Errorf("Changed(%q) = %t, want %t", name, got, want)
		}
	}
}

// TestImportMarkdownLife imports a Markdown file several times. Between the imports, the file, its entry, or both are
// changed. An unchanged file, and a file that agrees with the entry, change nothing. If only the file has changed, its
// text replaces the entry's text. If both have changed, the import is skipped, unless the option Overwrite is set.
func TestImportMarkdownLife(t *testing.T) {
	s := newStore()
	file := func(text string) iter.Seq2[Item, error] { return markdown("n/plan.md", text) }
	steps := []struct {
		what, text string
		edit       string // text that a person writes into the entry before the import
		o          *ImportOptions
		want       [4]int
		content    string
	}{
		{"first", "one", "", nil, [4]int{1, 0, 0, 0}, "one"},
		{"again", "one", "", nil, [4]int{0, 0, 1, 0}, "one"},
		{"the file changed", "two", "", nil, [4]int{0, 1, 0, 0}, "two"},
		{"a person edited the entry", "two", "two, edited", nil, [4]int{0, 0, 1, 0}, "two, edited"},
		{"both changed", "three", "", nil, [4]int{0, 0, 0, 1}, "two, edited"},
		{"both changed, overwrite", "three", "", &ImportOptions{Overwrite: true}, [4]int{0, 1, 0, 0}, "three"},
		{"both to the same", "four", "four", nil, [4]int{0, 0, 1, 0}, "four"},
	}
	for _, st := range steps {
		if st.edit != "" {
			e, err := s.Get(t.Context(), "plan")
			if err != nil {
				t.Fatal(err)
			}
			s.must(t, oxbow.Update{Name: "plan", Content: st.edit, Labels: e.Labels})
		}
		rep := load(t, s, file(st.text), st.o)
		if counts(rep) != st.want || s.content(t, "plan") != st.content || len(s.entries) != 1 {
			t.Errorf(
				"%s: Import = %+v, content %q, entries %q; want %v, %q",
				st.what,
				rep,
				s.content(t, "plan"),
				s.names(),
				st.want,
				st.content,
			)
		}
	}
	if e, _ := s.Get(t.Context(), "plan"); !slices.Contains(e.Labels, oxbow.Label{Key: "import", Value: "n/plan.md"}) {
		t.Errorf("labels = %q, want import:n/plan.md among them", labels(e))
	}
}

// TestImportOfStamped tests that labels that programs add to an entry do not count as an edit, so a changed file
// replaces the entry.
func TestImportOfStamped(t *testing.T) {
	s := newStore()
	load(t, s, markdown("n/plan.md", "one"), nil)
	e, err := s.Get(t.Context(), "plan")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{oxbow.LabelTaint, oxbow.LabelSuspect, oxbow.LabelQuarantine} {
		e.Labels = oxbow.SortLabels(append(e.Labels, oxbow.Label{Key: key, Value: "x"}))
	}
	s.must(t, oxbow.Update{Name: "plan", Content: "one", Labels: e.Labels})
	for text, want := range map[string][4]int{"one": {0, 0, 1, 0}, "two": {0, 1, 0, 0}} {
		if rep := load(t, s, markdown("n/plan.md", text), &ImportOptions{DryRun: true}); counts(rep) != want {
			t.Errorf("Import of %q = %+v, want %v", text, rep, want)
		}
	}
}

// TestImportForeign tests the import of files whose name is already used by an entry that was not imported from the
// same file. Such an entry must not change, so the new entry gets another name. If the file is imported again with
// Overwrite, the entry that was imported from this file changes.
func TestImportForeign(t *testing.T) {
	s := newStore()
	s.must(t, oxbow.Add{Name: "plan", Content: "mine"})
	rep := load(t, s, markdown("a/plan.md", "one"), nil)
	if counts(rep) != [4]int{1, 0, 0, 0} || s.content(t, "plan") != "mine" || s.content(t, "plan (2)") != "one" ||
		len(rep.Notes) != 1 || !strings.Contains(rep.Notes[0], `a/plan.md:1: named "plan (2)"`) {
		t.Errorf("Import = %+v, entries %q", rep, s.names())
	}
	load(t, s, markdown("b/plan.md", "bee"), nil)
	rep = load(t, s, markdown("a/plan.md", "two"), &ImportOptions{Overwrite: true})
	if counts(rep) != [4]int{0, 1, 0, 0} || s.content(t, "plan") != "mine" || s.content(t, "plan (2)") != "two" ||
		s.content(t, "plan (3)") != "bee" {
		t.Errorf("Import of the changed file = %+v, entries %q", rep, s.names())
	}
	// An entry with the same content exists, so nothing is added, whoever wrote it.
	if rep := load(t, s, markdown("c/plan.md", "mine"), nil); counts(rep) != [4]int{0, 0, 1, 0} {
		t.Errorf("Import of the same content = %+v, want the same", rep)
	}
}

func TestImportSameNames(t *testing.T) {
	in := `{"name":"a","content":"1"}
{"name":"a","content":"2"}
{"name":"a","content":"2"}
{"name":"a (2)","content":"3"}
{"name":"a","content":"4"}
`
	s := newStore()
	for _, want := range [][4]int{{4, 0, 1, 0}, {0, 0, 5, 0}} {
		rep := load(t, s, jsonl(in), nil)
		if counts(rep) != want {
			t.Errorf("Import = %+v, want %v", rep, want)
		}
		for name, content := range map[string]string{"a": "1", "a (2)": "2", "a (2) (2)": "3", "a (3)": "4"} {
			if got := s.content(t, name); got != content {
				t.Errorf("%q = %q, want %q", name, got, content)
			}
		}
	}
	// A name of the maximum length is shortened, so that there is room for its number.
	long := strings.Repeat("é", 128)
	rep := load(t, s, jsonl(`{"name":"`+long+`","content":"1"}`+"\n"+`{"name":"`+long+`","content":"2"}`), nil)
	if counts(rep) != [4]int{2, 0, 0, 0} || len(rep.Changes[1].Name) > oxbow.MaxName {
		t.Errorf("Import of long twins = %+v", rep)
	}
}

func TestImportStale(t *testing.T) {
	s := newStore()
	in := func(second string) string {
		return "# A\n" + filler(3000) + "## One\n" + filler(3000) + "## " + second + "\ntext\n"
	}
	load(t, s, markdown("x.md", in("Two")), nil)
	load(t, s, markdown("y.md", "text"), nil)
	rep := load(t, s, markdown("x.md", in("Three")), nil)
	if counts(rep) != [4]int{1, 0, 2, 0} || !slices.Equal(rep.EntriesMissingFromFile, []string{"A > Two"}) {
		t.Errorf("Import after a heading changed = %+v, want A > Two stale", rep)
	}
	if s.content(t, "A > Two") == "" {
		t.Errorf("the stale entry is gone")
	}
}

func sequence(items ...any) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for _, it := range items {
			if err, ok := it.(error); ok {
				if !yield(Item{}, err) {
					return
				}
			} else if !yield(it.(Item), nil) {
				return
			}
		}
	}
}

func many(n, size int) (items []any) {
	for i := range n {
		items = append(
			items,
			Item{
				Entry:    oxbow.Entry{Name: fmt.Sprint("n", i), Content: strings.Repeat("x", size)},
				Position: fmt.Sprintf("d/f%d.md:%d", i/2, i),
			},
		)
	}
	return items
}

func TestImportBatches(t *testing.T) {
	var done []int
	s := newStore()
	items := append(many(1001, 1), newItemError("bad:1", errors.New("bad")))
	load(t, s, sequence(items...), &ImportOptions{Progress: func(n int) { done = append(done, n) }})
	if !slices.Equal(s.applied, []int{500, 500, 1}) || !slices.Equal(done, []int{500, 1000, 1002}) {
		t.Errorf("1001 items were applied as %v with progress %v", s.applied, done)
	}
	if s.source.Actor != oxbow.Imported || s.source.Ref != "d/f500.md" {
		t.Errorf("source = %+v, want an import of d/f500.md", s.source)
	}
	s = newStore()
	load(t, s, sequence(many(5, 3<<20/2)...), nil)
	if !slices.Equal(s.applied, []int{2, 2, 1}) || s.source.Ref != "d/f2.md" {
		t.Errorf("items of 1.5 MiB were applied as %v, source %+v", s.applied, s.source)
	}
	s = newStore()
	ctx := oxbow.WithSource(t.Context(), oxbow.Source{Door: "cli", Actor: oxbow.Person})
	if _, err := Import(ctx, s, sequence(many(4, 1)...), nil); err != nil || s.source.Ref != "d" ||
		s.source.Door != "cli" || s.source.Actor != oxbow.Imported {
		t.Errorf("source of two files = %+v (%v), want their directory, the door kept", s.source, err)
	}
}

// TestImportRace tests that a batch is planned again if another writer changes one of its entries after the plan was
// made.
func TestImportRace(t *testing.T) {
	s := newStore()
	tries := 0
	s.before = func() error {
		tries++
		if tries == 1 {
			s.before = nil
			s.must(t, oxbow.Add{Name: "a", Content: "theirs"})
			return &oxbow.NameError{Name: "a", Err: oxbow.ErrExists}
		}
		return nil
	}
	rep := load(t, s, markdown("a.md", "ours"), nil)
	if counts(rep) != [4]int{1, 0, 0, 0} || s.content(t, "a") != "theirs" || s.content(t, "a (2)") != "ours" {
		t.Errorf("Import = %+v, entries %q; want both kept", rep, s.names())
	}
	s = newStore()
	s.before = func() error { tries++; return &oxbow.ConflictError{Name: "a"} }
	tries = 0
	if _, err := Import(t.Context(), s, markdown("a.md", "ours"), nil); !errors.Is(err, oxbow.ErrConflict) ||
		tries != maxBatchAttempts {
		t.Errorf(
			"Import into a store that never rests = %v after %d tries, want a conflict after %d",
			err,
			tries,
			maxBatchAttempts,
		)
	}
}

// noLabels is a store that cannot store labels.
type noLabels struct{ *mapStore }

func (s noLabels) Apply(ctx context.Context, ops ...oxbow.Op) error {
	for _, op := range ops {
		if a, ok := op.(oxbow.Add); ok && len(a.Labels) > 0 {
			return fmt.Errorf("labels of %q: %w", a.Name, oxbow.ErrUnsupported)
		}
	}
	return s.mapStore.Apply(ctx, ops...)
}

// TestImportRefused tests that an item that the store refuses is reported and that all other items are imported.
func TestImportRefused(t *testing.T) {
	s := noLabels{newStore()}
	in := `{"name":"a","content":"1"}
{"name":"b","content":"2","tags":["x"]}
{"name":"c","content":"3"}
`
	rep := load(t, s, jsonl(in), nil)
	if counts(rep) != [4]int{2, 0, 0, 1} || len(rep.Problems) != 1 ||
		!strings.HasPrefix(rep.Problems[0], "in.jsonl:2: ") {
		t.Errorf("Import = %+v, want b refused", rep)
	}
	rep = load(t, s, markdown("x.md", "text"), &ImportOptions{NoOriginLabels: true})
	if counts(rep) != [4]int{1, 0, 0, 0} {
		t.Errorf("Import without marks = %+v, want one added", rep)
	}
	rep = load(t, s, markdown("x.md", "text"), &ImportOptions{NoOriginLabels: true})
	if counts(rep) != [4]int{0, 0, 1, 0} {
		t.Errorf("Import again = %+v, want the same", rep)
	}
}

// TestImportWithoutPlaceForOrigin tests the import to a store without labels, which cannot record the file that an
// entry comes from. The report must contain a note about it. An item with labels is refused. A second import must
// recognize all other items and add nothing.
func TestImportWithoutPlaceForOrigin(t *testing.T) {
	s := noLabels{newStore()}
	s.must(t, oxbow.Add{Name: "known", Kind: oxbow.World, Content: "text"})
	files := func(yield func(Item, error) bool) {
		for _, f := range []string{"a.md", "known.md", "b.md"} {
			for it, err := range markdown(f, "text") {
				if !yield(it, err) {
					return
				}
			}
		}
		it := Item{
			Entry:    oxbow.Entry{Name: "tagged", Content: "x", Labels: []oxbow.Label{{Key: "tag", Value: "x"}}},
			Position: "c.md",
			Origin:   "c.md",
		}
		_ = yield(it, nil) &&
			yield(Item{Entry: oxbow.Entry{Name: "d", Content: "x"}, Position: "d.md", Origin: "d.md"}, nil)
	}
	rep := load(t, s, files, nil)
	if counts(rep) != [4]int{3, 0, 1, 1} || len(rep.Problems) != 1 || !strings.HasPrefix(rep.Problems[0], "c.md: ") ||
		len(rep.Notes) != 1 || !strings.Contains(rep.Notes[0], "no labels") {
		t.Errorf("Import = %+v, want three added, one the same, one refused, and a note", rep)
	}
	rep = load(t, s, files, nil)
	if counts(rep) != [4]int{0, 0, 4, 1} || len(rep.Notes) != 0 {
		t.Errorf("Import again = %+v, want all the same", rep)
	}
}

func TestImportStops(t *testing.T) {
	s := newStore()
	full := errors.New("full")
	s.before = func() error { return full }
	if _, err := Import(t.Context(), s, jsonl(entryLine), nil); !errors.Is(err, full) ||
		!strings.Contains(err.Error(), "in.jsonl:1") {
		t.Errorf("Import into a full store = %v, want its error and where", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Import(ctx, newStore(), jsonl(entryLine), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Import after cancel = %v", err)
	}
}

func TestImportManyProblems(t *testing.T) {
	rep := load(t, newStore(), jsonl(strings.Repeat("x\n", maxReportMessages+50)), nil)
	if rep.SkippedCount != maxReportMessages+50 || len(rep.Problems) != maxReportMessages ||
		rep.OmittedMessageCount != 50 {
		t.Errorf(
			"Import of bad lines: skipped %d, %d problems, %d more",
			rep.SkippedCount,
			len(rep.Problems),
			rep.OmittedMessageCount,
		)
	}
}

func TestOriginLabel(t *testing.T) {
	seen := make(map[string]string)
	for _, origin := range []string{"a.md", " a.md", "a.md ", "a\tb.md", "a  b.md", "\xff", "",
		strings.Repeat("é/", 200) + "x.md", strings.Repeat("e/", 200) + "x.md"} {
		l := oxbow.Label{Key: originLabelKey, Value: originLabel(origin)}
		if err := l.Check(); err != nil && origin != "" {
			t.Errorf("originLabel(%q) = %q: %v", origin, l.Value, err)
		}
		if other, ok := seen[l.Value]; ok {
			t.Errorf("originLabel(%q) and (%q) are both %q", origin, other, l.Value)
		}
		seen[l.Value] = origin
	}
	if originLabel("a.md") != "a.md" {
		t.Errorf("originLabel(a.md) = %q", originLabel("a.md"))
	}
}

// TestImportBesideWriter tests that an import into an empty memory notices entries that another writer adds in the
// meantime.
func TestImportBesideWriter(t *testing.T) {
	m := storetest.Open(t, filepath.Join(t.TempDir(), "memory.oxbow"), nil)
	items := func(yield func(Item, error) bool) {
		if err := m.Apply(t.Context(), oxbow.Add{Name: "a", Content: "of the writer"}); err != nil {
			t.Error(err)
		}
		_ = yield(Item{Entry: oxbow.Entry{Name: "a", Content: "of the import"}, Position: "f:1", Origin: "f"}, nil) &&
			yield(Item{Entry: oxbow.Entry{Name: "b", Content: "free"}, Position: "f:2", Origin: "f"}, nil)
	}
	rep, err := Import(t.Context(), m, items, nil)
	if err != nil || rep.AddedCount != 2 || len(rep.Notes) != 1 || !strings.Contains(rep.Notes[0], `named "a (2)"`) {
		t.Fatalf("Import = %+v, %v; want two added, and a as a (2)", rep, err)
	}
	if e, err := m.Get(t.Context(), "a"); err != nil || e.Content != "of the writer" {
		t.Errorf("a = %q, %v; want that of the writer", e.Content, err)
	}
}

// TestReadAheadEnds tests that reading has ended when an import returns early.
func TestReadAheadEnds(t *testing.T) {
	read, ended := 0, false
	for range readAhead(func(yield func(Item, error) bool) {
		defer func() { ended = true }()
		for read < 5000 && yield(Item{}, nil) {
			read++
		}
	}, nil) {
		break
	}
	if !ended || read > maxBatchItems+2 {
		t.Errorf("readAhead read %d items for one, ended: %v", read, ended)
	}

	read, ended = 0, false
	half := Item{Entry: oxbow.Entry{Content: strings.Repeat("x", maxBatchBytes/2)}}
	for range readAhead(func(yield func(Item, error) bool) {
		defer func() { ended = true }()
		for read < 1000 && yield(half, nil) {
			read++
		}
	}, nil) {
		break
	}
	if !ended || read > 4 {
		t.Errorf("readAhead read %d items of half a batch for one, ended: %v", read, ended)
	}
}

// TestImportInterrupts tests that an import ends if the store fails while the input waits for its next line.
func TestImportInterrupts(t *testing.T) {
	s := newStore()
	s.before = func() error { return oxbow.ErrFull }
	waits := make(chan struct{})
	items := func(yield func(Item, error) bool) {
		for i := range maxBatchItems + 1 {
			if !yield(Item{Entry: oxbow.Entry{Name: fmt.Sprint(i), Content: "x"}, Position: "f:1"}, nil) {
				return
			}
		}
		<-waits
	}
	if _, err := Import(t.Context(), s, items, &ImportOptions{Interrupt: func() {
		close(waits)
	}}); !errors.Is(err, oxbow.ErrFull) {
		t.Errorf("Import = %v, want that the store is full", err)
	}
}

// TestImportOfAliasesThatAreTaken tests items with the same alias. The first item or an existing entry keeps the
// alias. A second import changes nothing, and an alias can move to another entry.
func TestImportOfAliasesThatAreTaken(t *testing.T) {
	m := storetest.Open(t, filepath.Join(t.TempDir(), "memory.oxbow"), nil)
	do := func(added, updated, same int, notes string, lines ...string) {
		t.Helper()
		items := readJSONL(strings.NewReader(strings.Join(lines, "\n")), "f")
		rep, err := Import(t.Context(), m, items, nil)
		if got := strings.Join(rep.Notes, "; "); err != nil || rep.AddedCount != added || rep.UpdatedCount != updated ||
			rep.UnchangedCount != same ||
			got != notes {
			t.Errorf("Import = %+v, %v\nwant %d added, %d updated, %d same, %q", rep, err, added, updated, same, notes)
		}
	}
	reaches := func(alias, want string) {
		t.Helper()
		if e, err := m.Get(t.Context(), alias); err != nil || e.Name != want {
			t.Errorf("%q leads to %q, %v; want %q", alias, e.Name, err, want)
		}
	}
	first := []string{
		`{"name":"a","content":"x","aliases":["al","one"]}`,
		`{"name":"b","content":"y","aliases":["al","a","two"]}`,
	}
	left := `f:2: alias "al" was left off: "a" has it; f:2: alias "a" was left off: "a" has it`
	do(2, 0, 0, left, first...)
	reaches("al", "a")
	reaches("two", "b")
	do(0, 0, 2, "", first...)
	do(
		1,
		0,
		0,
		`f:1: alias "two" was left off: "b" has it; f:1: alias "b" was left off: "b" has it`,
		`{"name":"c","content":"z","aliases":["two","b","three"]}`,
	)
	reaches("two", "b")
	reaches("three", "c")
	do(
		0,
		2,
		0,
		"",
		`{"name":"a","content":"x","aliases":["one"],"updated":"2999-01-01T00:00:00Z"}`,
		`{"name":"b","content":"y","aliases":["al"],"updated":"2999-01-01T00:00:00Z"}`,
	)
	reaches("al", "b")
}

// TestImportMarkdownAliasTaken tests that the files of a vault are recognized in the next import, even if an alias was
// omitted.
func TestImportMarkdownAliasTaken(t *testing.T) {
	s := newStore()
	for i, want := range []string{"2 0 0", "0 0 2", "0 0 2"} {
		if i == 2 { // In this round, the entry was edited in the store and the file was not.
			e, _ := s.Get(t.Context(), "B")
			if err := s.Apply(
				t.Context(),
				oxbow.Update{Name: "B", Content: "edited", Aliases: e.Aliases, Labels: e.Labels},
			); err != nil {
				t.Fatal(err)
			}
		}
		items := func(yield func(Item, error) bool) {
			_ = yield(
				Item{
					Entry:    oxbow.Entry{Name: "A", Content: "a", Aliases: []string{"al"}},
					Position: "a.md:1",
					Origin:   "a.md",
				},
				nil,
			) &&
				yield(
					Item{
						Entry:    oxbow.Entry{Name: "B", Content: "b", Aliases: []string{"al"}},
						Position: "b.md:1",
						Origin:   "b.md",
					},
					nil,
				)
		}
		rep, err := Import(t.Context(), s, items, nil)
		if got := fmt.Sprint(rep.AddedCount, rep.UpdatedCount, rep.UnchangedCount); err != nil || got != want {
			t.Errorf("import %d: %s, %v; want %s; %q", i, got, err, want, rep.Problems)
		}
	}
}
