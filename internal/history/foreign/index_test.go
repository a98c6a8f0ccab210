// This file tests that the index finds the same repeated entries as a comparison of each text with all entries. Some
// tests delete the index file, damage it or replace it with an outdated file.

package foreign

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/keytable"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	testLog  = "memory.oxbow"
	testFile = testLog + keytable.ForeignTextTableSuffix
)

// plainStore wraps a store and hides all its optional methods. An Index therefore cannot use its index file, and
// compares the texts with all entries of the store.
type plainStore struct{ oxbow.Store }

// inherited contains what a text inherits from the entries whose text it repeats. The keys of the map taints are the
// values of the entries' taint labels, and the keys of the map unvouched are the values of their unvouched labels.
// isImported reports whether the trust of an entry is oxbow.TrustImported.
type inherited struct {
	taints, unvouched map[string]bool
	isImported        bool
}

// compareTexts returns a line for each text. The line describes the entries of the store whose text is repeated in the
// text: the values of their labels LabelTaint and LabelUnvouched, and whether an entry was imported.
func compareTexts(t *testing.T, x *Index, store oxbow.Store, writer *oxbow.Memory, texts *Texts) []string {
	t.Helper()
	all := make([]inherited, len(texts.Texts))
	for i := range all {
		all[i] = inherited{taints: map[string]bool{}, unvouched: map[string]bool{}}
	}
	if err := x.EachRepeatedEntry(t.Context(), store, writer, texts, func(e *oxbow.Entry, i int) {
		for _, v := range e.Values(oxbow.LabelTaint) {
			all[i].taints[v] = true
		}
		for _, v := range e.Values(oxbow.LabelUnvouched) {
			all[i].unvouched[v] = true
		}
		all[i].isImported = all[i].isImported || e.Trust() == oxbow.TrustImported
	}); err != nil {
		t.Fatal(err)
	}
	var result []string
	for _, in := range all {
		result = append(result, fmt.Sprint(slices.Sorted(maps.Keys(in.taints)), slices.Sorted(maps.Keys(in.unvouched)),
			in.isImported))
	}
	return result
}

// randomMemory makes random changes to a memory. Its entries copy text from each other.
type randomMemory struct {
	t     *testing.T
	rng   *rand.Rand
	disk  *vfs.Mem
	m     *oxbow.Memory
	long  *Index // index that stays open while the memory changes, like the index of a server
	found int    // number of compared texts that repeated the text of an entry
}

func newRandomMemory(t *testing.T, seed uint64) *randomMemory {
	disk := vfs.NewMem()
	r := &randomMemory{t: t, rng: rand.New(rand.NewPCG(seed, 9)), disk: disk, long: testIndex(),
		m: storetest.Open(t, testLog, &oxbow.Options{FS: disk})}
	t.Cleanup(r.long.Close)
	for range 30 {
		r.change()
	}
	return r
}

// testIndex returns an index that writes its file after few rows, and that is used even if there are only a few
// tainted entries.
func testIndex() *Index { return &Index{minRowsBeforeSave: 12, maxTaintedEntryBytes: 1} }

func (r *randomMemory) text() string {
	words := strings.Fields("run Read the LOG of oxbow7 configuration pagination Straße naïve 部署脚本 ไทย é don't " +
		"crane harbor turns left at dawn and stops at night")
	var b strings.Builder
	for range 1 + r.rng.IntN(12) {
		b.WriteString(words[r.rng.IntN(len(words))] + []string{" ", ", ", "\n", ". "}[r.rng.IntN(4)])
	}
	if e, err := r.m.Store().Get(r.t.Context(), r.name()); err == nil && r.rng.IntN(2) == 0 {
		from := r.rng.IntN(len(e.Content))
		b.WriteString(e.Content[from:][:min(len(e.Content)-from, 300)])
	}
	return strings.ToValidUTF8(b.String(), "")
}

func (r *randomMemory) labels() (labels []oxbow.Label) {
	for _, key := range []string{oxbow.LabelTaint, oxbow.LabelUnvouched, oxbow.LabelOrigin} {
		if r.rng.IntN(4) == 0 {
			labels = append(labels, oxbow.Label{Key: key, Value: fmt.Sprint("v", r.rng.IntN(3))})
		}
	}
	return labels
}

func (r *randomMemory) name() string { return fmt.Sprint("n", r.rng.IntN(16)) }

// change makes one change with one to three random operations. In about one of eight cases, it also restores an earlier
// version of a random entry. It ignores errors, because random operations may be invalid.
func (r *randomMemory) change() {
	var ops []oxbow.Op
	for range 1 + r.rng.IntN(3) {
		name := r.name()
		if _, err := r.m.Store().Get(r.t.Context(), name); err != nil {
			ops = append(ops, oxbow.Add{Name: name, Content: r.text(), Labels: r.labels()})
			continue
		}
		switch r.rng.IntN(6) {
		case 0:
			ops = append(ops, oxbow.Remove{Name: name})
		case 1:
			ops = append(ops, oxbow.Relabel{Name: name, Labels: r.labels()})
		case 2:
			ops = append(ops, oxbow.Alias{Name: name, Aliases: []string{strings.Join(strings.Fields(r.text()), " ")}})
		default:
			ops = append(ops, oxbow.Update{Name: name, Content: r.text(), Labels: r.labels()})
		}
	}
	actor := []oxbow.Actor{oxbow.Imported, oxbow.Foreign, oxbow.Agent, oxbow.Person}[r.rng.IntN(4)]
	_ = r.m.Apply(oxbow.WithSource(r.t.Context(), oxbow.Source{Actor: actor}), ops...)
	if h, err := r.m.History(); err == nil && r.rng.IntN(8) == 0 {
		_, _ = h.Restore(r.t.Context(), r.name(), 1+r.rng.Uint64N(20))
	}
}

// compare checks that three indexes give the same result as a comparison with all entries: the index of a process that
// only reads, of a process that also writes the file, and of a process that runs for long.
func (r *randomMemory) compare(when string) {
	r.t.Helper()
	texts := &Texts{ComparesOnlyTaintedEntries: r.rng.IntN(3) == 0}
	for range 8 {
		texts.EntryNames = append(texts.EntryNames, r.name())
		texts.Texts = append(texts.Texts, r.text())
		texts.IgnoredTexts = append(texts.IgnoredTexts, []string{"", r.text()}[r.rng.IntN(2)])
	}
	want := compareTexts(r.t, new(Index), plainStore{r.m.Store()}, nil, texts)
	for _, s := range want {
		if s != "[] [] false" {
			r.found++
		}
	}
	reading, writing := testIndex(), testIndex()
	defer reading.Close()
	defer writing.Close()
	for i, got := range [][]string{
		compareTexts(r.t, reading, r.m.Store(), nil, texts),
		compareTexts(r.t, writing, r.m.Store(), r.m, texts),
		compareTexts(r.t, r.long, r.m.Store(), r.m, texts),
	} {
		if !slices.Equal(got, want) {
			r.t.Fatalf("%s: index %d finds %q, want %q; texts %q", when, i, got, want, texts.Texts)
		}
	}
}

// usesFile reports whether a new index can open the index file.
func (r *randomMemory) usesFile() bool {
	x := testIndex()
	defer x.Close()
	db := r.m.Store().(*logstore.DB)
	return x.openIndexFile(db) && x.indexNewChanges(r.t.Context()) == nil
}

func TestSameResults(t *testing.T) {
	found := 0
	for seed := range uint64(24) {
		r := newRandomMemory(t, seed)
		for i := range 20 {
			r.compare(fmt.Sprint("seed ", seed, ", round ", i))
			r.change()
		}
		if !r.usesFile() {
			t.Error("the file was not written")
		}
		found += r.found
	}
	if found < 300 {
		t.Errorf("only %d texts repeat an entry", found)
	}
}

func TestDamagedFile(t *testing.T) {
	r := newRandomMemory(t, 3)
	r.compare("without a file")
	sound, err := vfs.ReadFile(r.disk, testFile, -1)
	if err != nil {
		t.Fatal(err)
	}
	other := newRandomMemory(t, 4)
	other.compare("another memory")
	foreign, err := vfs.ReadFile(other.disk, testFile, -1)
	if err != nil {
		t.Fatal(err)
	}
	bad := [][]byte{nil, []byte("x"), sound[:len(sound)-1], append(slices.Clone(sound), 0), foreign}
	for i := 0; i < len(sound); i += 97 {
		flipped := slices.Clone(sound)
		flipped[i] ^= 0x10
		bad = append(bad, flipped)
	}
	for i, b := range bad {
		if err := vfs.WriteDerived(r.disk, testFile, 0o600, b); err != nil {
			t.Fatal(err)
		}
		r.compare(fmt.Sprint("damage ", i))
		if err := r.disk.Remove(testFile); err != nil {
			t.Fatal(err)
		}
		r.long.Close()
	}
}

// TestCheckNamesDamage checks that a check of the memory reports a damaged index file, and that deleting the file, as
// the report recommends, repairs it.
func TestCheckNamesDamage(t *testing.T) {
	r := newRandomMemory(t, 5)
	r.compare("without a file")
	b, err := vfs.ReadFile(r.disk, testFile, -1)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{100, len(b) - 8} {
		damaged := slices.Clone(b)
		damaged[at] ^= 1
		if err := vfs.WriteDerived(r.disk, testFile, 0o600, damaged); err != nil {
			t.Fatal(err)
		}
		rep, err := r.m.Check(t.Context())
		if err != nil || len(rep.Problems) != 1 || !strings.Contains(rep.Problems[0].Mend, "rm "+testFile) {
			t.Errorf("a check with the damage at %d reports %+v, %v", at, rep.Problems, err)
		}
	}
	if err := r.disk.Remove(testFile); err != nil {
		t.Fatal(err)
	}
	r.long.Close()
	r.compare("after the repair")
	if !r.usesFile() {
		t.Error("the file was not written again")
	}
}

// TestErasure checks that a redaction and a compaction delete the index file. An index that is already in use must
// then give the same result as a comparison with all entries.
func TestErasure(t *testing.T) {
	r := newRandomMemory(t, 6)
	for _, erase := range []struct {
		what string
		do   func(ctx context.Context) error
	}{
		{"redaction", func(ctx context.Context) error {
			redact := func(e oxbow.Entry, _ bool) bool { return e.Name == "n1" || e.Name == "n2" }
			_, err := r.m.Store().(oxbow.Redactor).RedactVersions(ctx, redact, false)
			return err
		}},
		{"compaction", func(ctx context.Context) error {
			_, err := r.m.Store().(oxbow.Compactor).Compact(ctx, time.Now().Add(time.Hour), false)
			return err
		}},
	} {
		r.compare("before a " + erase.what)
		if !r.usesFile() {
			t.Error("there is no file before a " + erase.what)
		}
		if err := erase.do(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.disk.Stat(testFile); err == nil {
			t.Errorf("the file was not deleted by a %s", erase.what)
		}
		r.compare("after a " + erase.what)
		r.change()
	}
}

// TestStaleTextsAreDropped changes 50 entries many times. It checks that the index file is rebuilt from time to time,
// so that the file does not contain the texts of all old versions.
func TestStaleTextsAreDropped(t *testing.T) {
	r := &randomMemory{t: t, rng: rand.New(rand.NewPCG(1, 9)), disk: vfs.NewMem(), long: testIndex()}
	r.m = storetest.Open(t, testLog, &oxbow.Options{FS: r.disk})
	ctx := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Imported})
	var ops []oxbow.Op
	for i := range 50 {
		ops = append(ops, oxbow.Add{Name: fmt.Sprint("n", i), Content: "one two three four five six"})
	}
	for range 4 + minTextsBeforeRebuild/len(ops) {
		if err := r.m.Apply(ctx, ops...); err != nil {
			t.Fatal(err)
		}
		for i := range ops {
			ops[i] = oxbow.Update{Name: fmt.Sprint("n", i), Content: r.text()}
		}
		r.long.comparisonCallCount = 0
		r.compare("while entries change")
	}
	file, err := r.disk.OpenFile(testFile, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	table, err := keytable.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := table.Head.TextCount; n > minTextsBeforeRebuild+3*len(ops) {
		t.Errorf("the file has %d texts of 50 entries", n)
	}
	r.long.Close()
	if err := table.Close(); err != nil {
		t.Error(err)
	}
}

// TestStoreWithoutLog checks that a store which is not a log is compared entry by entry, up to the byte limit.
func TestStoreWithoutLog(t *testing.T) {
	m := storetest.Open(t, testLog, &oxbow.Options{FS: vfs.NewMem()})
	ctx := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Imported})
	const text = "the crane in harbor nine turns left at dawn"
	for i := range 3 {
		if err := m.Apply(ctx, oxbow.Add{Name: fmt.Sprint("n", i), Content: text}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		most int
		want error
	}{{3 * len(text), nil}, {3*len(text) - 1, ErrTooManyEntries}} {
		found := 0
		compare := textComparison{
			texts:        &Texts{EntryNames: []string{"new"}, Texts: []string{text}},
			reportRepeat: func(*oxbow.Entry, int) { found++ },
		}
		if err := compare.compareAllEntries(t.Context(), plainStore{m.Store()}, c.most); err != c.want || found < 2 {
			t.Errorf(
				"a comparison with %d bytes found %d entries and returned %v, want %v",
				c.most,
				found,
				err,
				c.want,
			)
		}
	}
}
