// Tests the index next to the store: that it spares work, that it is
// never believed when it does not fit, and that an erasure reaches it.

package oxbow

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/index"
	"github.com/oxbow-memory/oxbow/internal/ranking"
	"github.com/oxbow-memory/oxbow/internal/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

const indexTestFile = "memory.oxbow" + IndexSuffix

// indexHome is a store with an index file.
type indexHome struct {
	t  testing.TB
	fs *vfs.Mem
}

func newIndexHome(t testing.TB, entries int) *indexHome {
	t.Helper()
	h := &indexHome{t, vfs.NewMem()}
	m := h.open(nil)
	r := rand.New(rand.NewPCG(1, 2))
	var ops []Op
	for i := range entries {
		ops = append(ops, Add{Name: fmt.Sprint("entry ", i), Content: words(r, 12), Created: time.Unix(1776162225+int64(i), 0)})
	}
	if err := m.Apply(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
	h.recall(m, "alpha beta")
	h.close(m)
	if entries >= 264 && len(h.file()) == 0 {
		t.Fatalf("no index file was written for %d entries", entries)
	}
	return h
}

var vocabulary = []string{"alpha", "beta", "gamma", "delta", "harbor", "lantern", "river", "mountain", "copper", "silver",
	"maple", "cedar", "falcon", "heron", "winter", "summer", "needle", "thread", "window", "garden"}

func words(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "%s ", vocabulary[r.IntN(len(vocabulary))])
	}
	fmt.Fprintf(&b, "w%d", r.IntN(400))
	return b.String()
}

func (h *indexHome) snapshot() []byte {
	b, err := vfs.ReadFile(h.fs, "memory.oxbow.snap", -1)
	if err != nil {
		h.t.Fatal(err)
	}
	return b
}

func (h *indexHome) putSnapshot(b []byte) {
	if err := h.fs.Put("memory.oxbow.snap", b, 0o600, time.Unix(1, 0)); err != nil {
		h.t.Fatal(err)
	}
}

func (h *indexHome) open(o *Options) *Memory {
	h.t.Helper()
	if o == nil {
		o = &Options{}
	}
	var now atomic.Int64 // writers of a scope ask at once
	now.Store(1776200000)
	o.snapshotLeast = 1
	o.FS, o.Clock = h.fs, func() time.Time { return time.Unix(now.Add(1), 0) }
	m, err := Open("memory.oxbow", o)
	if err != nil {
		h.t.Fatal(err)
	}
	return m
}

// close checks the store, and closes it.
func (h *indexHome) close(m *Memory) {
	h.t.Helper()
	rep, err := m.Store().(Checker).Check(context.Background())
	if err != nil || len(rep.Problems) > 0 {
		h.t.Errorf("check: %v %v", rep.Problems, err)
	}
	if err := m.Close(); err != nil {
		h.t.Error(err)
	}
}

func (h *indexHome) recall(m *Memory, text string) []Hit {
	h.t.Helper()
	hits, err := m.Recall(context.Background(), Query{Text: text, Limit: 20})
	if err != nil {
		h.t.Fatal(err)
	}
	return hits
}

func (h *indexHome) file() []byte {
	b, _ := vfs.ReadFile(h.fs, indexTestFile, -1)
	return b
}

func (h *indexHome) put(b []byte) {
	h.t.Helper()
	if err := h.fs.Put(indexTestFile, b, 0o600, time.Unix(1, 0)); err != nil {
		h.t.Fatal(err)
	}
}

// countIndexed returns how many entries the memory had to index itself.
func countIndexed(m *Memory) int { return int(m.searcher.Load().unsaved.Load()) }

var indexQueries = []string{"alpha", "harbor lantern", "w7 w19 silver", "heron winter copper needle", "nothing of this", "gamm", "+maple -cedar"}

// agree fails unless a memory answers as one that has made its index itself.
func (h *indexHome) agree(m *Memory) {
	h.t.Helper()
	plain := h.open(&Options{ReadOnly: true})
	defer plain.Close()
	plain.distrust = true
	for _, text := range indexQueries {
		got, want := h.recall(m, text), h.recall(plain, text)
		same := func(a, b Hit) bool {
			return a.Entry.ID == b.Entry.ID && a.Entry.Content == b.Entry.Content && a.Score == b.Score
		}
		if !slices.EqualFunc(got, want, same) {
			h.t.Fatalf("%q finds %d entries %v\nwant %d %v", text, len(got), names(got), len(want), names(want))
		}
	}
}

func names(hits []Hit) []string {
	var s []string
	for _, h := range hits {
		s = append(s, fmt.Sprintf("%s %.6f", h.Entry.Name, h.Score))
	}
	return s
}

// The version that the index file has of a changed entry is read from the log,
// so that no list of the index need be read.
func TestOldVersionsAreReadFromTheLog(t *testing.T) {
	h := newIndexHome(t, 600)
	m := h.open(nil)
	for i := range 30 {
		name := fmt.Sprint("entry ", i*7)
		if err := m.Forget(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			if _, err := m.Remember(t.Context(), Entry{Name: fmt.Sprint("entry ", i*7+1), Content: "harbor changed w7"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	h.close(m)
	m = h.open(nil)
	defer h.close(m)
	saved, err := m.store.(*db).openIndex(m.opts.Ranking)
	if err != nil {
		t.Fatal(err)
	}
	s := newSearcher(m.opts.Ranking)
	s.saved = saved
	defer s.close()
	r := ranking.New(m.opts.Ranking, saved.index)
	var ds []analyzedDelta
	for id := uint64(1); id <= 600; id++ {
		ds = append(ds, analyzedDelta{Delta: Delta{ID: id}})
	}
	olds, err := s.analyzeOld(t.Context(), r, ds)
	if err != nil {
		t.Fatal(err)
	}
	for i, old := range olds {
		if old == nil || len(old.Terms) == 0 {
			t.Fatalf("entry %d: the version of the index file was not found", i+1)
		}
	}
	h.agree(m)
}

func TestIndexIsKept(t *testing.T) {
	h := newIndexHome(t, 600)
	m := h.open(nil)
	h.agree(m)
	if n := countIndexed(m); n != 0 {
		t.Errorf("%d entries were indexed anew, want none", n)
	}
	// What changes since is indexed, also when another process changed it.
	other := h.open(nil)
	for i := range 40 {
		name := fmt.Sprint("entry ", i*7)
		switch i % 3 {
		case 0:
			if err := other.Forget(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		case 1:
			if _, err := other.Remember(t.Context(), Entry{Name: name, Content: "harbor changed w7"}); err != nil {
				t.Fatal(err)
			}
		default:
			if _, err := m.Remember(t.Context(), Entry{Name: fmt.Sprint("new ", i), Content: "lantern w19 new"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	h.agree(m)
	h.close(other)
	before := h.file()
	h.close(m)
	if !bytes.Equal(before, h.file()) {
		t.Error("the file was written for 40 changes; it is to be written for many")
	}
	m = h.open(nil)
	h.agree(m)
	if n := countIndexed(m); n != 40 {
		t.Errorf("%d entries were indexed anew, want the 40 that changed", n)
	}
	if _, err := m.Restore(t.Context(), "entry 0", 1); err != nil {
		t.Fatal(err)
	}
	h.agree(m)
	h.close(m)
}

func TestIndexIsWrittenAgain(t *testing.T) {
	h := newIndexHome(t, 600)
	before := h.file()
	m := h.open(nil)
	for i := range 300 {
		if _, err := m.Remember(t.Context(), Entry{Name: fmt.Sprint("later ", i), Content: "gamma delta"}); err != nil {
			t.Fatal(err)
		}
	}
	h.close(m) // without a recall there is no index to write
	if !bytes.Equal(before, h.file()) {
		t.Error("the file was written by somebody who had no index")
	}
	m = h.open(&Options{ReadOnly: true})
	h.agree(m)
	h.close(m)
	if !bytes.Equal(before, h.file()) {
		t.Error("the file was written by somebody who only reads")
	}
	m = h.open(&Options{ReadOnly: true, KeepIndex: true})
	h.agree(m)
	h.close(m)
	if bytes.Equal(before, h.file()) {
		t.Error("the file was not written, with 300 entries that it lacks")
	}
	m = h.open(nil)
	h.agree(m)
	if n := countIndexed(m); n != 0 {
		t.Errorf("%d entries were indexed anew, want none", n)
	}
	h.close(m)
}

// The changes of other processes that a memory reads as it is closed are in the index
// file. Old versions, which the file before has, are read from the log.
func TestCloseTakesInWhatOthersChanged(t *testing.T) {
	h := newIndexHome(t, 600)
	m, other := h.open(nil), h.open(nil)
	change := func(from, to int) {
		for i := from; i < to; i++ {
			if _, err := other.Remember(t.Context(), Entry{Name: fmt.Sprint("entry ", i), Content: fmt.Sprint("harbor changed w", i)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	change(0, 300)
	h.recall(m, "alpha")
	change(300, 310)
	h.close(m)
	change(310, 315)
	h.close(other)
	m = h.open(nil)
	h.agree(m)
	if n := countIndexed(m); n != 5 {
		t.Errorf("%d entries were indexed anew, want 5", n)
	}
	h.close(m)
}

// While one process writes, no other waits to write an index.
func TestIndexIsNotWaitedFor(t *testing.T) {
	h := newIndexHome(t, 300)
	if err := h.fs.Remove(indexTestFile); err != nil {
		t.Fatal(err)
	}
	m := h.open(nil)
	h.recall(m, "alpha")
	l, err := h.fs.OpenLock("memory.oxbow.lock")
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	if len(h.file()) > 0 {
		t.Error("the index was written while somebody else had the lock")
	}
	m = h.open(nil)
	h.recall(m, "alpha")
	h.close(m)
	if len(h.file()) == 0 {
		t.Error("the index was not written with the lock free")
	}
}

// A file of another store, of an older or newer history, or of another format
// is as good as none.
func TestIndexThatDoesNotFit(t *testing.T) {
	h := newIndexHome(t, 300)
	sound := h.file()
	for name, change := range map[string]func(b []byte){
		"another format":   func(b []byte) { b[8]++ },
		"another revision": func(b []byte) { b[12]++ },
		"another ranking":  func(b []byte) { b[16] ^= 1 },
		"another store":    func(b []byte) { b[32] ^= 1 },
		"another change":   func(b []byte) { b[48] ^= 1 },
		"another chain":    func(b []byte) { b[56] ^= 1 },
	} {
		t.Run(name, func(t *testing.T) {
			b := bytes.Clone(sound)
			change(b)
			sealHead(b)
			h.put(b)
			m := h.open(nil)
			h.agree(m)
			if n := countIndexed(m); n != 300 {
				t.Errorf("%d entries were indexed anew, want all 300", n)
			}
			h.close(m)
		})
	}
	t.Run("a future", func(t *testing.T) {
		// An older copy of the store goes on by another way: the same ids and
		// versions then mean other texts.
		old, err := vfs.ReadFile(h.fs, "memory.oxbow", -1)
		if err != nil {
			t.Fatal(err)
		}
		m := h.open(nil)
		for i := range 400 {
			if _, err := m.Remember(t.Context(), Entry{Name: fmt.Sprint("f ", i), Content: "falcon of one future"}); err != nil {
				t.Fatal(err)
			}
		}
		h.recall(m, "falcon")
		h.close(m)
		for _, name := range []string{"memory.oxbow.lock", "memory.oxbow"} {
			if err := h.fs.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.fs.Put("memory.oxbow", old, 0o600, time.Unix(2, 0)); err != nil {
			t.Fatal(err)
		}
		m = h.open(nil)
		for i := range 400 {
			if _, err := m.Remember(t.Context(), Entry{Name: fmt.Sprint("f ", i), Content: "heron of another"}); err != nil {
				t.Fatal(err)
			}
		}
		h.agree(m)
		h.close(m)
	})
}

// sealHead makes the check of a head right.
func sealHead(b []byte) { binary.LittleEndian.PutUint32(b[124:], crc32.Checksum(b[:124], castagnoli)) }

// An index file with any one bit turned over, or cut at any length, is either not
// opened, or found out when it is read, or reads the same.
func TestIndexFlipped(t *testing.T) {
	testenv.Sequential(t)
	h := newIndexHome(t, 264)
	sound := h.file()
	m := h.open(&Options{ReadOnly: true})
	defer m.Close()
	d := m.Store().(*db)
	read := func() (all []byte) {
		s, err := d.openIndex(RankOxbow)
		if err != nil {
			return nil
		}
		defer s.close()
		if all, err = s.index.Searcher().AppendSnapshot(nil); err != nil {
			return nil
		}
		return append(all, s.rows...)
	}
	want := read()
	if want == nil {
		t.Fatal("the sound file cannot be read")
	}
	refused := 0
	try := func(b []byte, what string, at int) {
		h.put(b)
		switch got := read(); {
		case got == nil:
			refused++
		case !bytes.Equal(got, want):
			t.Fatalf("%s at byte %d: the file reads, and says something else", what, at)
		}
	}
	step := testenv.Long(5, 1)
	for i := 0; i < len(sound); i += step {
		b := bytes.Clone(sound)
		b[i] ^= 1 << (i % 8)
		try(b, "a bit turned over", i)
		try(bytes.Clone(sound[:i]), "cut", i)
		// Some all the way to the answer.
		if i%(211*step) == 0 {
			h.put(b)
			h.sampled(i)
		}
	}
	if refused < len(sound)/step {
		t.Errorf("only %d files were refused; those that are cut all are to be", refused)
	}
}

// sampled is agree for one query, with the answer known.
func (h *indexHome) sampled(i int) {
	h.t.Helper()
	m := h.open(&Options{ReadOnly: true})
	defer m.Close()
	if hits := h.recall(m, "w7 harbor silver"); len(hits) != 20 {
		h.t.Fatalf("byte %d: %d hits", i, len(hits))
	} else if sum := fmt.Sprint(names(hits)); h.want() != sum {
		h.t.Fatalf("byte %d: other answers: %s\nwant %s", i, sum, h.want())
	}
}

var wanted = map[*vfs.Mem]string{}

func (h *indexHome) want() string {
	if wanted[h.fs] == "" {
		plain := h.open(&Options{ReadOnly: true})
		defer plain.Close()
		plain.distrust = true
		wanted[h.fs] = fmt.Sprint(names(h.recall(plain, "w7 harbor silver")))
	}
	return wanted[h.fs]
}

// The terms of entries are part of the index file's form. Whoever changes how
// they are made must raise indexRevision, and then the sums here.
func TestIndexRevision(t *testing.T) {
	at := time.Date(2026, 4, 14, 10, 23, 45, 0, time.UTC)
	entries := []Entry{
		{Name: "deploy-window", Content: "We ship on Tuesdays; `kubectl rollout status` first. See pkg/http2/ServerConn.go:42.", Aliases: []string{"rollout"}, Created: at},
		{Name: "Élan", Content: "L'été à Zürich, naïveté; 日本語のテキスト; 한국어; don't, ran, running, better, mice.", Created: at},
		{Name: "talk", Content: "Anna: I went to the harbor.\nBen: Which one? v1.2.3-rc1 of FooBarBaz_qux?", Created: at,
			Labels: []Label{{LabelProject, "ships"}, {LabelTag, "decision"}, {LabelConfidence, "0.7"}, {"session", "s1"}}},
		{Name: "chat", Content: "user: what is the plan?\n\nassistant: It is 2026-04-01..2026-04-30, 1,000,000 units and 0x7fFF.", Created: at},
	}
	want := map[string]string{
		RankOxbow: "d15bd9e475a6dcbd",
		RankSeed:  "b6d26d9546444393",
	}
	for _, name := range []string{RankOxbow, RankSeed} {
		sum := sha256.New()
		r := ranking.New(name, nil)
		for i := range entries {
			var d index.Document
			r.Analyze(t.Context(), newIndexed(&entries[i]), &d, new(ranking.Buffer))
			slices.SortFunc(d.Terms, func(a, b index.Term) int { return strings.Compare(a.Text, b.Text) })
			fmt.Fprintln(sum, d.Len, d.Terms, ranking.Params(name))
		}
		if got := hex.EncodeToString(sum.Sum(nil)[:8]); got != want[name] {
			t.Errorf("%s makes other terms: sum %s, want %s; raise indexRevision (now %d), then change the sum here", name, got, want[name], indexRevision)
		}
	}
}

// Whatever an index file holds, opening it neither fails badly nor takes more
// memory than the file is worth. The checks are made right, so that what is
// behind them is reached.
func FuzzOpenIndex(f *testing.F) {
	h := newIndexHome(f, 264)
	sound := h.file()
	f.Add(sound)
	f.Add(sound[:indexHeadSize])
	f.Add([]byte{})
	m := h.open(&Options{ReadOnly: true})
	d := m.Store().(*db)
	f.Fuzz(func(t *testing.T, b []byte) {
		b = bytes.Clone(b)
		if len(b) >= indexHeadSize {
			sealHead(b)
			n := binary.LittleEndian.Uint64(b[88:])
			if end := indexHeadSize + 24*n; n < uint64(len(b)) && end+4 <= uint64(len(b)) {
				binary.LittleEndian.PutUint32(b[end:], crc32.Checksum(b[indexHeadSize:end], castagnoli))
			}
		}
		if err := h.fs.Put(indexTestFile, b, 0o600, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		s, err := d.openIndex(RankOxbow)
		if err != nil {
			return
		}
		defer s.close()
		for i := 1; i < s.rows.len(); i++ {
			if s.rows.id(i) <= s.rows.id(i-1) {
				t.Error("its entries are not in order")
			}
		}
		_, _ = s.index.Searcher().AppendSnapshot(nil)
	})
}

// onOpen is a file system that calls a function once, before a file is opened.
type onOpen struct {
	*vfs.Mem
	name string
	then func()
}

func (f *onOpen) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if then := f.then; name == f.name && then != nil {
		f.then = nil
		then()
	}
	return f.Mem.OpenFile(name, flag, perm)
}

// Another process compacts the log between the opening of the index file and the
// reading of what changed since: the index is built of the entries.
func TestCompactWhileIndexOpens(t *testing.T) {
	h := newIndexHome(t, 300)
	other := h.open(nil)
	for i := range 40 {
		if err := other.Apply(t.Context(), Update{Name: fmt.Sprint("entry ", i), Content: "falcon " + fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	m := h.open(nil)
	m.scanFrom = 1 << 30
	d := m.Store().(*db)
	d.fs = &onOpen{Mem: h.fs, name: "memory.oxbow", then: func() {
		if rep, err := other.Store().(Compactor).Compact(t.Context(), time.Unix(1<<40, 0), false); err != nil || rep.Seq == 0 {
			t.Errorf("Compact() = %+v, %v", rep, err)
		}
	}}
	if hits := h.recall(m, "falcon 39"); len(hits) == 0 || hits[0].Entry.Name != "entry 39" {
		t.Errorf("after a compaction, recall finds %v", hits)
	}
	if d.fs.(*onOpen).then != nil {
		t.Error("what changed since was not read")
	}
	h.agree(m)
	h.close(m)
	h.close(other)
}

// Few entries of much text are worth an index file, too.
func TestIndexFileOfLargeEntries(t *testing.T) {
	h := newIndexHome(t, 1)
	m := h.open(nil)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 2 {
		if _, err := m.Remember(t.Context(), Entry{Name: fmt.Sprint("large ", i), Content: words(r, 100_000)}); err != nil {
			t.Fatal(err)
		}
	}
	m.scanFrom = 1 << 30
	h.recall(m, "alpha")
	h.close(m)
	m = h.open(nil)
	h.recall(m, "alpha")
	if n := countIndexed(m); n != 0 {
		t.Errorf("the weight of what was indexed again is %d", n)
	}
	h.close(m)
}
