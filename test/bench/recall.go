// This file implements the command "recall". The command measures how long oxbow takes to find an entry, and how much
// RAM the index uses.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// recallRun is one measurement of recall.
type recallRun struct {
	*bench
	entryCount, queryCount int
	seed                   uint64
	textSource             textSource

	ranking    string
	path       string
	entries    []oxbow.Add
	textOrigin string
	phrases    []string
	memory     *oxbow.Memory
}

func recallCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	r := &recallRun{bench: b}
	fl.IntVar(&r.entryCount, "n", 10000, "entries in the store")
	fl.IntVar(&r.queryCount, "queries", 2000, "queries to time")
	fl.Uint64Var(&r.seed, "seed", 1, "seed of the sampling")
	r.textSource.addFlags(fl)
	fl.StringVar(&r.ranking, "rank", "", "`RANKING` of the library: oxbow (its default) or seed")
	b.addDirFlag(fl)
	return r.run
}

func (r *recallRun) run(ctx context.Context) (err error) {
	if r.entryCount < 1 || r.queryCount < 1 {
		return errors.New("measuring recall: -n and -queries must be above 0")
	}
	dir, remove, err := r.tempDir()
	if err != nil {
		return err
	}
	defer remove()
	r.path = filepath.Join(dir, "memory.oxbow")
	r.entries, r.textOrigin, err = r.textSource.readEntries(ctx, r.entryCount)
	if err != nil {
		return err
	}
	r.phrases, err = samplePhrases(r.entries, r.queryCount, r.seed)
	if err != nil {
		return err
	}
	bytes := 0
	for _, e := range r.entries {
		bytes += len(e.Content)
	}
	r.printTitle("recall", dir)
	r.printf(
		"%s entries from %s, %.0f bytes each on average; %s queries, stretches of 2 to 8 words from the entries "+
			"(seed %d), 10 hits; store on disk. ",
		formatCount(
			len(r.entries),
		),
		r.textOrigin,
		float64(bytes)/float64(len(r.entries)),
		formatCount(r.queryCount),
		r.seed,
	)
	if len(r.entries) < r.entryCount {
		r.printf("There were no more than these of the %s asked for. ", formatCount(r.entryCount))
	}
	built, err := r.buildStore(ctx)
	if err != nil {
		return err
	}
	if err := r.measureOpening(ctx, built, bytes); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.memory.Close()) }()
	if err := r.measureIndexFilling(ctx); err != nil {
		return err
	}
	if err := r.measureLatency(ctx); err != nil {
		return err
	}
	return r.measureThroughput(ctx)
}

// buildStore writes the store and returns the time that it took.
func (r *recallRun) buildStore(ctx context.Context) (time.Duration, error) {
	m, err := oxbow.Open(r.path, &oxbow.Options{Ranking: r.ranking})
	if err != nil {
		return 0, err
	}
	from := time.Now()
	err = fillMemory(ctx, m, r.entries)
	return time.Since(from), errors.Join(err, m.Close())
}

// measureOpening measures how long it takes to read the store file, to open the store, and to make the first search. It
// also measures how much memory the open store and its index occupy. It prints the results in tables, together with
// buildTime, the time for writing the store, and bytes, the size of the text in the store. The store stays open.
func (r *recallRun) measureOpening(ctx context.Context, buildTime time.Duration, bytes int) error {
	var read, open, first timings
	for range 5 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := read.timeCall(func() error { _, err := os.ReadFile(r.path); return err }); err != nil {
			return err
		}
		var m *oxbow.Memory
		if err := open.timeCall(func() (err error) {
			m, err = oxbow.Open(r.path, &oxbow.Options{Ranking: r.ranking})
			return err
		}); err != nil {
			return err
		}
		err := first.timeCall(func() error {
			_, err := m.Recall(ctx, oxbow.Query{Text: r.phrases[0], Limit: 10})
			return err
		})
		if err := errors.Join(err, m.Close()); err != nil {
			return err
		}
	}
	before := liveHeapBytes()
	var err error
	r.memory, err = oxbow.Open(r.path, &oxbow.Options{Ranking: r.ranking})
	if err != nil {
		return err
	}
	opened := liveHeapBytes()
	if _, err := r.memory.Recall(ctx, oxbow.Query{Text: r.phrases[0], Limit: 10}); err != nil {
		return errors.Join(err, r.memory.Close())
	}
	indexed := liveHeapBytes()

	n := float64(len(r.entries))
	r.printf("\n\n")
	t := newTable("a store of "+formatCount(len(r.entries)), "median", "an entry", "× reading the file")
	per := func(name string, d time.Duration, of string) {
		t.addRow(name, formatDuration(d), formatDuration(time.Duration(float64(d)/n)), of)
	}
	per("reading the file, nothing else", read.p50(), "1.00×")
	per("Open", open.p50(), formatRatio(open.p50(), read.p50()))
	per("first Recall after it (fills the index)", first.p50(), formatRatio(first.p50(), read.p50()))
	per("both, to the first answer", open.p50()+first.p50(), formatRatio(open.p50()+first.p50(), read.p50()))
	per("writing it, durable, 1,000 entries a change", buildTime, "–")
	r.emitTable(t)

	t = newTable("memory (live heap)", "bytes an entry", "× the text")
	mem := func(name string, a, b uint64) {
		per := (float64(b) - float64(a)) / n
		t.addRow(name, formatRoundedNumber(per), formatRoundedNumber(per*n/float64(bytes))+"×")
	}
	t.addRow("the text itself", formatRoundedNumber(float64(bytes)/n), "1.00×")
	mem("open store (entries and names)", before, opened)
	mem("index", opened, indexed)
	mem("both", before, indexed)
	r.emitTable(t)
	return nil
}

// liveHeapBytes returns the size of the live objects in bytes.
func liveHeapBytes() uint64 {
	runtime.GC()
	runtime.GC() // collect objects that finalizers released in the first collection
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// For comparison, some queries are also answered by a scan of all texts. queriesPerScan is the number of measured
// queries for each scan, because scans are much slower.
const queriesPerScan = 20

// measureLatency prints how long queries take: a whole recall, the check for changes of the store, the search in the
// index, and the splitting of the query into terms. For comparison, some queries are also answered without an index.
func (r *recallRun) measureLatency(ctx context.Context) error {
	x := index.New(index.Params{})
	lower := make([]string, len(r.entries))
	for i, e := range r.entries {
		x.Put(index.DocumentOfWords(uint64(i+1), append(text.CrabtalkTerms(e.Name), text.CrabtalkTerms(e.Content)...)))
		lower[i] = strings.ToLower(e.Content)
	}
	watcher, ok := r.memory.Store().(oxbow.Watcher)
	if !ok {
		return errors.New("measuring recall: the store does not say when it changed")
	}
	var whole, fresh, search, cutting, scan timings
	hits := 0
	scanHits := 0
	scans := 0
	for i, p := range slices.Concat(r.phrases[:min(200, len(r.phrases))], r.phrases) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i == min(200, len(r.phrases)) { // The first queries only warm up the caches. Discard their times.
			whole = nil
			fresh = nil
			search = nil
			cutting = nil
			scan = nil
			hits = 0
			scanHits = 0
			scans = 0
		}
		var got []oxbow.Hit
		var terms []string
		parts := []func() error{
			func() error {
				return whole.timeCall(func() (err error) {
					got, err = r.memory.Recall(ctx, oxbow.Query{Text: p, Limit: 10})
					return err
				})
			},
			func() error { return fresh.timeCall(func() error { return watcher.Refresh(ctx) }) },
			func() error {
				_ = cutting.timeCall(func() error { terms = text.CrabtalkTerms(p); return nil })
				return search.timeCall(func() error {
					x.Searcher().Search(index.Query{Terms: index.TermsForWords(terms), Limit: 10})
					return nil
				})
			},
		}
		for j := range parts {
			if err := parts[(i+j)%len(parts)](); err != nil {
				return err
			}
		}
		if slices.ContainsFunc(got, func(h oxbow.Hit) bool { return containsPhrase(h.Entry.Content, p) }) {
			hits++
		}
		if i%queriesPerScan == 0 {
			var top []int
			_ = scan.timeCall(func() error { top = scanWithoutIndex(lower, p, 10); return nil })
			scans++
			if slices.ContainsFunc(top, func(i int) bool { return containsPhrase(r.entries[i].Content, p) }) {
				scanHits++
			}
		}
	}
	t := newTable("one query", "p50", "p95", "p99", "p50 × bare search", "phrase in 10 hits")
	line := func(name string, ts timings, found string) {
		t.addRow(
			name,
			formatDuration(ts.p50()),
			formatDuration(ts.quantile(.95)),
			formatDuration(ts.quantile(.99)),
			formatRatio(ts.p50(), search.p50()),
			found,
		)
	}
	percent := func(a, b int) string { return fmt.Sprintf("%.1f %%", 100*float64(a)/float64(b)) }
	line("Memory.Recall, the whole call", whole, percent(hits, len(whole)))
	line("– of it: is the file still the same?", fresh, "")
	line("– of it: cutting the query into terms", cutting, "")
	line("bare search of the index", search, "")
	line("plain scan of lower-cased texts", scan, percent(scanHits, scans))
	r.emitTable(t)
	r.printf(
		"The plain scan looks for each word of the query in each text (strings.Contains), counts, and keeps the ten "+
			"best; it is timed for one query in %d. The bare search has the same terms and documents, without the "+
			"store. \"Phrase in 10 hits\" says how often one of the hits holds the very phrase; a scan for words "+
			"with their punctuation comes nearer to that than ranking by terms. Recall ÷ scan: %s.\n\n",
		queriesPerScan, formatRatio(scan.p50(), whole.p50()),
	)
	return nil
}

// containsPhrase reports whether content contains the phrase between white space, or at its beginning or end. A phrase
// that a comma follows is not found. Any white space in content counts as one space.
func containsPhrase(content, phrase string) bool {
	return strings.Contains(" "+strings.Join(strings.Fields(content), " ")+" ", " "+phrase+" ")
}

// scanWithoutIndex returns the indexes of the entries that contain the most words from the query, best first, at most
// limit. A memory without an index searches like this.
func scanWithoutIndex(lowercaseTexts []string, query string, limit int) []int {
	words := strings.Fields(strings.ToLower(query))
	slices.Sort(words)
	words = slices.Compact(words)
	best := make([][]int, len(words)+1) // for each number n, the indexes of the entries that contain n of the words
	for i, s := range lowercaseTexts {
		n := 0
		for _, w := range words {
			if strings.Contains(s, w) {
				n++
			}
		}
		if n > 0 && len(best[n]) < limit {
			best[n] = append(best[n], i)
		}
	}
	slices.Reverse(best)
	top := slices.Concat(best...)
	return top[:min(limit, len(top))]
}

// measureThroughput measures the queries per second on 1 and 2 goroutines, alternately.
func (r *recallRun) measureThroughput(ctx context.Context) error {
	rates := map[int][]float64{}
	for range 3 {
		for _, g := range []int{1, 2} {
			rate, err := r.queryRate(ctx, g)
			if err != nil {
				return err
			}
			rates[g] = append(rates[g], rate)
		}
	}
	t := newTable("Memory.Recall on", "queries/s, median of 3", "× 1 goroutine")
	one := median(rates[1])
	t.addRow("1 goroutine", formatRoundedNumber(one), "1.00×")
	t.addRow("2 goroutines", formatRoundedNumber(median(rates[2])), formatRoundedNumber(median(rates[2])/one)+"×")
	r.emitTable(t)
	return nil
}

// queryRate returns how many queries per second are answered if goroutineCount goroutines search at the same time. Each
// goroutine searches once for each of r.phrases.
func (r *recallRun) queryRate(ctx context.Context, goroutineCount int) (float64, error) {
	errs := make([]error, goroutineCount)
	var wg sync.WaitGroup
	from := time.Now()
	for i := range goroutineCount {
		wg.Go(func() {
			for _, p := range r.phrases {
				if _, err := r.memory.Recall(ctx, oxbow.Query{Text: p, Limit: 10}); err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(goroutineCount*len(r.phrases)) / time.Since(from).Seconds(), errors.Join(errs...)
}
