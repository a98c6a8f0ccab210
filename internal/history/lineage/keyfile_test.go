// A key file stores the words of a memory's history, so that the edges between an entry and its sources are found
// without reading the whole history. This file tests that the edges are the same with and without a key file, even if
// the key file is damaged, missing or outdated.

package lineage

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	testLog  = "memory.oxbow"
	testKeys = testLog + ".words"
)

// randomHistory makes random changes of a memory. Texts are copied from each other. Entries are merged, restored, and
// labelled with the sources from which they were supposedly made.
type randomHistory struct {
	t     *testing.T
	rng   *rand.Rand
	m     *oxbow.Memory
	texts []string
}

func (r *randomHistory) name() string { return fmt.Sprint("n", r.rng.IntN(12)) }

func (r *randomHistory) text() string {
	words := strings.Fields("run Read the LOG of oxbow7 configuration pagination Straße naïve 部署脚本 ไทย é don't " +
		"crane harbor turns left at dawn and stops at night")
	var b strings.Builder
	for range 4 + r.rng.IntN(16) {
		b.WriteString(words[r.rng.IntN(len(words))] + []string{" ", ", ", "\n"}[r.rng.IntN(3)])
	}
	if len(r.texts) > 0 && r.rng.IntN(2) == 0 {
		b.WriteString(r.texts[r.rng.IntN(len(r.texts))])
	}
	r.texts = append(r.texts, b.String()[:min(b.Len(), 300)])
	return b.String()
}

// change applies one change with one to six random ops, and sometimes restores a random version of an entry afterwards.
// It ignores errors, because random ops may be invalid.
func (r *randomHistory) change() {
	var ops []oxbow.Op
	for range 1 + r.rng.IntN(3) {
		name, other := r.name(), r.name()
		source := oxbow.Label{
			Key:   SourceLabel,
			Value: []string{FormatSource(other, 1), "claude/a/0001"}[r.rng.IntN(2)],
		}
		switch r.rng.IntN(6) {
		case 0:
			ops = append(ops, oxbow.Remove{Name: name})
		case 1:
			ops = append(ops, oxbow.Remove{Name: other}, oxbow.Update{Name: name, Content: r.text(),
				Aliases: []string{other}})
		case 2:
			ops = append(ops, oxbow.Update{Name: name, Content: r.text(), Labels: []oxbow.Label{source}})
		case 3:
			ops = append(ops, oxbow.Add{Name: name, Content: r.text(), Labels: []oxbow.Label{source}})
		default:
			ops = append(ops, oxbow.Add{Name: name, Content: r.text()})
		}
	}
	_ = r.m.Apply(r.t.Context(), ops...)
	if h, err := r.m.History(); err == nil && r.rng.IntN(8) == 0 {
		_, _ = h.Restore(r.t.Context(), r.name(), 1+r.rng.Uint64N(20))
	}
}

// compare tests that FindLineage returns the same edges for each name as a computation from the whole history. The
// string when is part of error messages. The result usedFile reports whether the lineage file could be opened.
func (r *randomHistory) compare(when string) (usedFile bool) {
	r.t.Helper()
	h, err := r.m.History()
	if err != nil {
		r.t.Fatal(err)
	}
	whole, err := readHistoryGraph(r.t.Context(), h)
	if err != nil {
		r.t.Fatal(err)
	}
	usedFile = (&lineageFinder{history: h, lineageFile: r.m.LineageFile()}).openLineageFile(r.t.Context()) == nil
	for i := range 13 {
		name := fmt.Sprint("n", i)
		if i == 12 {
			name = "claude/a/0001"
		}
		wantFrom, wantMade, _ := followEdgesBothWays(name, func(names map[string]bool) ([]Edge, error) {
			return whole.Edges(names), nil
		})
		from, made, err := FindLineage(r.t.Context(), r.m, name)
		if err != nil || !slices.Equal(from, wantFrom) || !slices.Equal(made, wantMade) {
			r.t.Fatalf("%s: edges of %s are %v and %v, %v; want %v and %v", when, name, from, made, err, wantFrom,
				wantMade)
		}
	}
	return usedFile
}

func newRandomHistory(t *testing.T, disk vfs.FS, seed uint64) *randomHistory {
	m := storetest.Open(t, testLog, &oxbow.Options{FS: disk})
	r := &randomHistory{t: t, rng: rand.New(rand.NewPCG(seed, 51)), m: m}
	for range 30 {
		r.change()
	}
	return r
}

func TestEdgesWithFile(t *testing.T) {
	edges := 0
	for seed := range uint64(12) {
		r := newRandomHistory(t, vfs.NewMem(), seed)
		if r.compare("without a file") {
			t.Fatal("there is a file before the first question")
		}
		for range 3 {
			if !r.compare("with a file") {
				t.Fatal("the file was not used")
			}
			r.change()
		}
		from, _, err := FindLineage(t.Context(), r.m, "n1")
		if err != nil {
			t.Fatal(err)
		}
		edges += len(from)
	}
	if edges == 0 {
		t.Error("the histories have no edges")
	}
}

func TestDamagedFile(t *testing.T) {
	disk := vfs.NewMem()
	r := newRandomHistory(t, disk, 3)
	r.compare("without a file")
	sound, err := vfs.ReadFile(disk, testKeys, -1)
	if err != nil {
		t.Fatal(err)
	}
	other := vfs.NewMem()
	newRandomHistory(t, other, 4).compare("another memory")
	foreign, err := vfs.ReadFile(other, testKeys, -1)
	if err != nil {
		t.Fatal(err)
	}
	bad := [][]byte{nil, []byte("x"), sound[:len(sound)-1], append(slices.Clone(sound), 0), foreign}
	for i := 0; i < len(sound); i += 397 {
		flipped := slices.Clone(sound)
		flipped[i] ^= 0x10
		bad = append(bad, flipped)
	}
	for i, b := range bad {
		if err := vfs.WriteDerived(disk, testKeys, 0o600, b); err != nil {
			t.Fatal(err)
		}
		r.compare(fmt.Sprint("damage ", i))
		now, err := vfs.ReadFile(disk, testKeys, -1)
		if err != nil || !reflect.DeepEqual(now, sound) {
			t.Fatalf("damage %d was not repaired: %v", i, err)
		}
	}
}

// TestStaleFile tests that an older key file is used together with the newer changes, and that a redaction or a
// compaction removes the file.
func TestStaleFile(t *testing.T) {
	disk := vfs.NewMem()
	r := newRandomHistory(t, disk, 5)
	r.compare("without a file")
	for range 10 {
		r.change()
	}
	if !r.compare("after changes") {
		t.Error("the older file was not used")
	}
	long := strings.Repeat("a long text that nobody wrote before ", maxUnindexedBytes/30)
	if err := r.m.Apply(t.Context(), oxbow.Add{Name: "long", Content: long}); err != nil {
		t.Fatal(err)
	}
	if r.compare("after a long text") {
		t.Error("a file was used that lacks much")
	}
	if !r.compare("after the file was written again") {
		t.Error("the file was not written again")
	}
	redact := func(e oxbow.Entry, _ bool) bool { return e.Name == "n1" }
	if _, err := r.m.Store().(oxbow.Redactor).RedactVersions(t.Context(), redact, false); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.Stat(testKeys); err == nil {
		t.Error("the file was not deleted by a redaction")
	}
	r.compare("after a redaction")
	if _, err := r.m.Store().(oxbow.Compactor).Compact(t.Context(), time.Now().Add(time.Hour), false); err != nil {
		t.Fatal(err)
	}
	if _, err := disk.Stat(testKeys); err == nil {
		t.Error("the file was not deleted by a compaction")
	}
	r.compare("after a compaction")
}
