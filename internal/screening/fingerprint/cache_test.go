// This file compares lookups in the index in memory with scans of the fingerprint file.

package fingerprint

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// withoutCaches calls fn as a process that has cached no fingerprints.
func withoutCaches(fn func()) {
	all := &fileCaches
	byDir, recent := all.byDir, all.recent
	all.byDir, all.recent = nil, nil
	fn()
	all.byDir, all.recent = byDir, recent
}

// trustNewFiles makes this process remember the content of a file even if the file has just been changed.
func trustNewFiles(t *testing.T) {
	old := minCheckedFileAge
	minCheckedFileAge = 0
	t.Cleanup(func() { minCheckedFileAge = old })
}

func hasIndex(f Store) bool {
	c := cacheOfDir(f.Dir)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.index != nil
}

// TestIndexLikeScan makes random changes and compares random texts with the stored fingerprints, once with the index
// and once by a scan.
func TestIndexLikeScan(t *testing.T) {
	trustNewFiles(t)
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 0))
	f, now := newFile(t)
	sentence := func() string {
		first := rng.IntN(25)
		return words(first, 4+rng.IntN(4))
	}
	text := func() string {
		var parts []string
		for range 1 + rng.IntN(5) {
			parts = append(parts, sentence())
		}
		return strings.Join(parts, ".\n\n")
	}
	sorted := func(ms []Match) []Match {
		for i := range ms {
			slices.Sort(ms[i].commonFingerprints)
		}
		return ms
	}
	var lookups, repeats, vouches int
	for round := range 900 {
		switch n := rng.IntN(20); {
		case n < 5:
			kind := BlockKind(1 + rng.IntN(2))
			mustAdd(t, f, kind, text(), fmt.Sprint("label ", rng.IntN(3)))
		case n < 6:
			withoutCaches(func() { mustAdd(t, f, ForeignTextBlock, text(), "other process") })
		case n < 7:
			if err := f.AcceptMatchedWords(f.FindRepeats([]string{sentence()}, nil)...); err != nil {
				t.Fatal(err)
			}
			vouches++
		case n < 8:
			*now = now.Add(time.Duration(rng.IntN(60)) * time.Hour)
		case n == 8 && rng.IntN(12) == 0:
			*now = now.Add(20 * 24 * time.Hour)
		}
		if round == 800 { // The file becomes too large, so that its oldest blocks are dropped.
			for i := range 230 {
				mustAdd(t, f, ForeignTextBlock, words(100_000+i, 7_000), "flood")
			}
		}
		const vouched = "a person vouches for these words after they were dropped from the file"
		switch round {
		case 790:
			mustAdd(t, f, ForeignTextBlock, vouched, "page")
		case 860:
			if err := f.AcceptMatchedWords(f.FindRepeats([]string{vouched}, nil)...); err != nil {
				t.Fatal(err)
			}
		}
		texts, ignored := []string{text(), sentence(), "", vouched}, []string{sentence()}
		usesIndex := hasIndex(f)
		got := sorted(f.FindRepeats(texts, ignored))
		var want []Match
		withoutCaches(func() { want = sorted(f.FindRepeats(texts, ignored)) })
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d, round %d, index %t: FindRepeats(%q) = %+v, want %+v", seed, round, usesIndex, texts, got,
				want)
		}
		if usesIndex {
			lookups++
		}
		if got[0].IsRepeat() {
			repeats++
		}
	}
	if lookups < 500 || repeats < 400 || vouches < 20 {
		t.Errorf("%d lookups used the index, %d texts were repeats, %d vouches, want more", lookups, repeats, vouches)
	}
}

// TestIndexKeepsNewestTime checks that a text which was read twice is kept until the second reading is too old.
func TestIndexKeepsNewestTime(t *testing.T) {
	f, now := newFile(t)
	mustAdd(t, f, ForeignTextBlock, page, "page")
	*now = now.Add(48 * time.Hour)
	mustAdd(t, f, ForeignTextBlock, page, "page")
	for range 2 * lookupsBeforeIndexing {
		f.FindRepeats([]string{page}, nil)
	}
	*now = now.Add(maxBlockAge - 24*time.Hour)
	if got := labelsOf(f, page, ""); got != "page|" || !hasIndex(f) {
		t.Errorf("after the first reading expired: %q, index %t", got, hasIndex(f))
	}
	*now = now.Add(24*time.Hour + time.Second)
	if got := labelsOf(f, page, ""); got != "|" {
		t.Errorf("after both readings expired: %q", got)
	}
}

// TestCacheIsBounded checks that the content of other homes is dropped if the caches are too large.
func TestCacheIsBounded(t *testing.T) {
	withoutCaches(func() {
		var files []Store
		for range 3 {
			f, _ := newFile(t)
			mustAdd(t, f, ForeignTextBlock, page, "page")
			for range 2 * lookupsBeforeIndexing {
				f.FindRepeats([]string{page}, nil)
			}
			c := cacheOfDir(f.Dir)
			if !hasIndex(f) {
				t.Fatal("the file was not indexed")
			}
			c.index.slots = make([]indexSlot, maxCachedFileBytes/2/indexSlotBytes+1) // as if it were large
			c.updateSize()
			files = append(files, f)
			dropOldCaches()
		}
		if n := len(fileCaches.byDir); n != 1 || fileCaches.byDir[mustAbs(t, files[2].Dir)] == nil {
			t.Errorf("%d caches are left, want the newest one", n)
		}
		for _, f := range files[:2] {
			if got := labelsOf(f, page, ""); got != "page|" {
				t.Errorf("after its cache was dropped: %q", got)
			}
		}
	})
}

func mustAbs(t *testing.T, dir string) string {
	full, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

// TestConcurrentIndex adds and compares texts at the same time. Each text must be found as soon as it was added.
func TestConcurrentIndex(t *testing.T) {
	f, _ := newFile(t)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 60 {
				text := words(10_000*g+100*i, 12)
				if _, err := f.AddText(ForeignTextBlock, text, fmt.Sprint(g, " ", i)); err != nil {
					t.Error(err)
					return
				}
				if got := labelsOf(f, text, ""); got != fmt.Sprint(g, " ", i, "|") {
					t.Errorf("text %d of %d repeats %q", i, g, got)
				}
			}
		})
	}
	all.Wait()
	if !hasIndex(f) {
		t.Error("the file was not indexed")
	}
}

// useIndex looks up fingerprints until an index would be used.
func useIndex(f Store) {
	for range 2 * lookupsBeforeIndexing {
		f.FindRepeats([]string{page}, nil)
	}
}

// TestIndexAfterClockJump checks that an index which was built while the clock was far ahead is not used after the
// clock was corrected, because it lacks the blocks that seemed too old.
func TestIndexAfterClockJump(t *testing.T) {
	f, now := newFile(t)
	mustAdd(t, f, ForeignTextBlock, page, "page")
	*now = now.Add(30 * 24 * time.Hour)
	useIndex(f)
	if !hasIndex(f) {
		t.Fatal("the file was not indexed")
	}
	*now = now.Add(-30 * 24 * time.Hour)
	if got := labelsOf(f, page, ""); got != "page|" {
		t.Errorf("after the clock was corrected: %q", got)
	}
}

// TestIndexWithoutHeader looks up fingerprints while another process has written a block, but not yet the header that
// makes the block valid. The header does not change the size of the file, and here not its modification time either.
func TestIndexWithoutHeader(t *testing.T) {
	f, _ := newFile(t)
	mustAdd(t, f, ForeignTextBlock, words(1, 20), "first")
	path := filepath.Join(f.Dir, fingerprintsFile)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	withoutCaches(func() { mustAdd(t, f, ForeignTextBlock, page, "page") })
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	written := time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)
	write := func(header []byte) {
		content := append(slices.Clone(header[:headerSize]), after[headerSize:]...)
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = file.WriteAt(content, 0)
			err = errors.Join(err, file.Close(), os.Chtimes(path, written, written))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write(before)
	useIndex(f)
	write(after)
	if got := labelsOf(f, page, ""); got != "page|" {
		t.Errorf("after the header was written: %q", got)
	}
}

// TestManyOrigins adds a text under so many labels that an index would be slow. The file is then scanned, and nothing
// is lost.
func TestManyOrigins(t *testing.T) {
	f, _ := newFile(t)
	var texts []TextReadByTool
	for i := range maxProbedSlots + 100 {
		texts = append(texts, TextReadByTool{ForeignTextBlock, page, []string{fmt.Sprint("page ", i)}})
	}
	if _, err := f.AddAll(texts...); err != nil {
		t.Fatal(err)
	}
	useIndex(f)
	if hasIndex(f) || !cacheOfDir(f.Dir).cannotBeIndexed {
		t.Error("the file was indexed")
	}
	got := f.FindRepeats([]string{page}, nil)
	var want []Match
	withoutCaches(func() { want = f.FindRepeats([]string{page}, nil) })
	if !got[0].IsRepeat() || !slices.Equal(got[0].ForeignTextLabels, want[0].ForeignTextLabels) {
		t.Errorf("labels are %q, want %q", got[0].ForeignTextLabels, want[0].ForeignTextLabels)
	}
}

// TestRecentTextsNeedNoLock checks that texts whose fingerprints the file certainly contains are added without the lock
// of the directory, and that they are written again after a change of each file by another process.
func TestRecentTextsNeedNoLock(t *testing.T) {
	trustNewFiles(t)
	f, _ := newFile(t)
	read := TextReadByTool{ForeignTextBlock, page, []string{"page"}}
	add := func() error {
		_, err := f.AddAll(read)
		return err
	}
	isStored := func() bool {
		found := false
		withoutCaches(func() { found = f.FindRepeats([]string{page}, nil)[0].IsRepeat() })
		return found
	}
	removeFile := func(name string) {
		if err := os.Remove(filepath.Join(f.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	addWhileLocked := func() (err error) {
		dir, err := vfs.Dir(f.Dir)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		lock, err := dir.OpenLock(lockFile)
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		if ok, err := lock.TryLock(); !ok || err != nil {
			t.Fatal(ok, err)
		}
		return add()
	}
	for range 3 {
		if err := add(); err != nil {
			t.Fatal(err)
		}
	}
	if err := addWhileLocked(); err != nil {
		t.Errorf("adding a text that the file contains already, while another process has the lock: %v", err)
	}
	for _, name := range []string{fingerprintsFile, fingerprintKeyFile} {
		f.FindRepeats([]string{page}, nil)
		removeFile(name)
		if err := add(); err != nil || !isStored() {
			t.Errorf("after %s was removed: error %v, text stored %t", name, err, isStored())
		}
		// Other fingerprints were lost. Remove the record of this, so that only stored fingerprints count as repeats.
		if err := os.RemoveAll(filepath.Join(f.Dir, fingerprintLossFile)); err != nil {
			t.Fatal(err)
		}
		if !isStored() {
			t.Errorf("after %s was removed, the text was not added again", name)
		}
	}
	// Another process replaces the whole directory.
	if err := os.RemoveAll(f.Dir); err != nil {
		t.Fatal(err)
	}
	withoutCaches(func() { mustAdd(t, f, ForeignTextBlock, "another text in the new directory of the home", "other") })
	if err := add(); err != nil || !isStored() {
		t.Errorf("after the directory was replaced: error %v, text stored %t", err, isStored())
	}
}

// TestLookupAfterChangeByOtherProcess checks that each lookup sees the text that another process has added just before,
// although this process has an index and knows the key.
func TestLookupAfterChangeByOtherProcess(t *testing.T) {
	trustNewFiles(t)
	f, _ := newFile(t)
	mustAdd(t, f, ForeignTextBlock, page, "page")
	for i := range 20 {
		for range 2 * lookupsBeforeIndexing {
			f.FindRepeats([]string{page}, nil)
		}
		if !hasIndex(f) {
			t.Fatal("the lookups use no index")
		}
		text := words(1000*i, 20)
		if got := labelsOf(f, text, ""); got != "|" {
			t.Fatalf("before it was added, the text repeats %q", got)
		}
		withoutCaches(func() { mustAdd(t, f, ForeignTextBlock, text, "other") })
		if got := labelsOf(f, text, ""); got != "other|" {
			t.Errorf("after another process added the text, it repeats %q", got)
		}
	}
}
