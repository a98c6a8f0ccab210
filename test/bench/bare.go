// This file implements the command "bare", which measures the processor time of searches in oxbow's index alone,
// without a store. The command can compare this index with the index of an earlier version and with a prototype. For a
// fair comparison, the indexes take turns: each index gets a few queries, and then the next index gets the same
// queries.

package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/bench/ownindex"
)

const (
	indexHitLimit  = 10
	queriesPerTurn = 40 // number of consecutive queries to one index before the next index gets the same queries
)

// indexTexts contains the texts that every compared index gets, and the function that cuts a text into words.
type indexTexts struct {
	texts      []string
	splitWords func(string) []string
}

// textWords cuts text number i into words.
func (t indexTexts) textWords(i int) []string { return t.splitWords(t.texts[i]) }

// comparedIndex is a filled index. A query is passed both as text and as words, because some
// engines cut the text themselves.
type comparedIndex interface {
	countHits(text string, words []string) int
	listHits(text string, words []string) iter.Seq2[uint64, float64]
}

// otherIndex is a search index that is compared with oxbow's index, such as an earlier version of it.
type otherIndex struct {
	name      string
	fillIndex func(t indexTexts, way string) (comparedIndex, error)
	// function by which all compared indexes cut texts into words (nil if this index works with any function)
	wordSplitter func(text string, emit func(string))
	// If this index supports only one kind of search, its name in ownindex.SearchVariants, otherwise "".
	onlySearchWay string
}

// checkoutIndex is the search index of the checkout in which this benchmark is built.
type checkoutIndex struct{ *ownindex.FilledIndex }

func (e checkoutIndex) countHits(_ string, words []string) int {
	return e.CountHits(words, indexHitLimit)
}

func (e checkoutIndex) listHits(_ string, words []string) iter.Seq2[uint64, float64] {
	return func(yield func(uint64, float64) bool) {
		for _, h := range e.ListHits(words, indexHitLimit) {
			if !yield(h.TextNumber, h.Score) {
				return
			}
		}
	}
}

// indexRun is one run of the command "bare", which measures oxbow's search index without a store.
type indexRun struct {
	*bench
	indexBuild
	textSource   textSource
	textCounts   []int
	searchWays   []string
	withRecalls  bool
	storesDir    string          // directory in which memories are created
	openMemories []*oxbow.Memory // memories that must be closed at the end
	queryCount   int
	queryRounds  int
	seed         uint64
}

func bareCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	r := &indexRun{bench: b}
	sizes := fl.String("sizes", "1000,10000,100000", "texts, one table for each of these `NUMBERS`")
	ways := fl.String(
		"ways",
		ownindex.SearchVariants[0],
		"the `WAYS` to ask, or all: "+strings.Join(ownindex.SearchVariants, ","),
	)
	fl.BoolVar(&r.withRecalls, "recall", false, "beside whole recalls of a memory of the same texts")
	b.addDirFlag(fl)
	fl.IntVar(&r.queryCount, "queries", 1000, "queries of a round")
	fl.IntVar(&r.queryRounds, "rounds", 3, "rounds that are timed, after one that is not")
	fl.Uint64Var(&r.seed, "seed", 1, "seed of the sampling")
	fl.StringVar(&r.earlierCheckoutDir, "before", "", "beside the index of the checkout in this `DIR`")
	fl.StringVar(&r.prototypeModuleDir, "prototype", "", "beside the module perf/proto in this `DIR`")
	r.textSource.addFlags(fl)
	return func(ctx context.Context) error {
		for s := range strings.SplitSeq(*sizes, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(s))
			if err != nil || n < 100 {
				return fmt.Errorf("measuring the index: --sizes %q is not a list of numbers from 100 on", *sizes)
			}
			r.textCounts = append(r.textCounts, n)
		}
		r.searchWays = strings.Split(*ways, ",")
		if *ways == "all" {
			r.searchWays = ownindex.SearchVariants
		}
		for _, w := range r.searchWays {
			if !slices.Contains(ownindex.SearchVariants, w) {
				return fmt.Errorf(
					"measuring the index: there is no way %q; there are %s",
					w,
					strings.Join(ownindex.SearchVariants, ", "),
				)
			}
		}
		if r.queryCount < 1 || r.queryRounds < 1 {
			return errors.New("measuring the index: --queries and --rounds must be above 0")
		}
		if r.hasMissingEngine(otherIndexes()) {
			return r.rebuildAndRunCommand(ctx, b, fl)
		}
		return r.run(ctx)
	}
}

func (r *indexRun) run(ctx context.Context) error {
	dir, remove, err := r.tempDir()
	if err != nil {
		return err
	}
	defer remove()
	r.storesDir = dir
	r.printTitle("bare", dir)
	pieces, from, err := r.textSource.readEntries(ctx, slices.Max(r.textCounts))
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(r.seed, 2))
	rng.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
	r.printf(
		"Texts of about %d bytes from %s. Queries: stretches of 2 to 8 words from the texts, stop words among them "+
			"and none twice, any of the words, %d hits. "+
			"The engines take turns every %d queries, in one thread, of which the processor time is taken; a round "+
			"that "+
			"is not timed comes first, and of the %d others a query's median counts.\n\n",
		entryTextBytes, from, indexHitLimit, queriesPerTurn, r.queryRounds,
	)
	for _, n := range r.textCounts {
		texts, again := sampleTexts(pieces, n, r.seed)
		t := indexTexts{texts, splitLowercaseWords}
		for _, o := range otherIndexes() {
			if o.wordSplitter != nil {
				t.splitWords = func(s string) (words []string) {
					o.wordSplitter(s, func(w string) { words = append(words, w) })
					return words
				}
			}
		}
		if err := r.measureSize(ctx, t, again); err != nil {
			return fmt.Errorf("measuring the index at %d: %w", n, err)
		}
	}
	return nil
}

// sampleQueries returns queries made from the texts, and the words of each query. A query consists of 2 to 8
// consecutive words of a text. If a word is repeated, the repetition is omitted, because one of the compared indexes
// counts each repetition.
func (r *indexRun) sampleQueries(t indexTexts) (queries []string, words [][]string) {
	rng := rand.New(rand.NewPCG(r.seed, 3))
	for len(queries) < r.queryCount {
		ws := t.textWords(rng.IntN(len(t.texts)))
		k := 2 + rng.IntN(7)
		if len(ws) < k {
			continue
		}
		at := rng.IntN(len(ws) - k + 1)
		ws = distinctWords(ws[at : at+k])
		q := strings.Join(ws, " ")
		// Split the joined query instead of using ws, so that the words share the query's memory. Some indexes split
		// the query themselves, and their words share its memory, too. With equal memory layouts, no index has an
		// unfair advantage in speed.
		queries, words = append(queries, q), append(words, strings.Split(q, " "))
	}
	return queries, words
}

// distinctWords returns the words without repetitions, in the order of their first occurrence.
func distinctWords(words []string) (ws []string) {
	for _, w := range words {
		if !slices.Contains(ws, w) {
			ws = append(ws, w)
		}
	}
	return ws
}

// measuredIndex is one of the compared search indexes, filled with the texts, and its measured query times.
type measuredIndex struct {
	name        string
	filledIndex comparedIndex
	memoryBytes int64 // memory that the filled index uses, in bytes
	queryTimes  []timings
}

// measureSize fills each compared index with the texts in t and measures its queries. If hasComposedTexts is true,
// there were too few texts, so the texts were composed from sentences of other texts.
func (r *indexRun) measureSize(ctx context.Context, t indexTexts, hasComposedTexts bool) error {
	r.printf("### %s texts\n\n", formatCount(len(t.texts)))
	if hasComposedTexts {
		r.printf(
			"There are fewer such texts; so each of these is put together from sentences of all, drawn at random "+
				"(seed %d).\n\n",
			r.seed,
		)
	}
	queries, words := r.sampleQueries(t)
	tab := newTable(
		"way, engine",
		"p50",
		"p95",
		"p99",
		"own ÷ p50",
		"own ÷ p95",
		"own ÷ p99",
		"own ÷ mean",
		"same ten",
		"same bits",
		"B an entry",
	)
	for _, way := range r.searchWays {
		cs, err := r.fillComparedIndexes(ctx, t, way)
		if err != nil {
			return err
		}
		if err := queryIndexesAlternately(ctx, cs, queries, words, r.queryRounds); err != nil {
			return err
		}
		own := cs[0]
		for _, c := range cs {
			lists, bits := countEqualResults(own.filledIndex, c.filledIndex, queries, words)
			share := func(n int) string { return fmt.Sprintf("%d of %d", n, len(queries)) }
			row := []string{way + ", " + c.name}
			for _, q := range []float64{.5, .95, .99} {
				row = append(row, formatDuration(c.queryMedians().quantile(q)))
			}
			for _, q := range []float64{.5, .95, .99} {
				row = append(
					row,
					fmt.Sprintf("%.3f", float64(own.queryMedians().quantile(q))/float64(c.queryMedians().quantile(q))),
				)
			}
			tab.addRow(append(
				row,
				fmt.Sprintf("%.3f", float64(own.queryMedians().total())/float64(c.queryMedians().total())),
				share(lists),
				share(bits),
				formatCount(int(c.memoryBytes)/len(t.texts)),
			)...)
		}
	}
	r.emitTable(tab)
	var err error
	for _, m := range r.openMemories {
		err = errors.Join(err, m.Close())
	}
	r.openMemories = nil
	return err
}

// fillComparedIndexes fills the compared search indexes with the texts. searchWay is the kind of search to measure,
// such as "prefix". An index that does not support this kind is left out. The index of this checkout comes first.
func (r *indexRun) fillComparedIndexes(
	ctx context.Context,
	texts indexTexts,
	searchWay string,
) ([]*measuredIndex, error) {
	p := r.newProgress("filling for " + searchWay)
	defer p.clear()
	all := append([]otherIndex{{name: "own", fillIndex: func(t indexTexts, way string) (comparedIndex, error) {
		e, err := ownindex.NewFilledIndex(ownindex.IndexedTexts{Count: len(t.texts), WordsOf: t.textWords}, way)
		return checkoutIndex{e}, err
	}}}, otherIndexes()...)
	if r.withRecalls {
		all = append(
			all,
			otherIndex{
				name:          "whole recall",
				onlySearchWay: ownindex.SearchVariants[0],
				fillIndex: func(t indexTexts, _ string) (comparedIndex, error) {
					e, err := newRecallEngine(ctx, r.storesDir, t.texts)
					if err == nil {
						r.openMemories = append(r.openMemories, e.memory)
					}
					return e, err
				},
			},
		)
	}
	var cs []*measuredIndex
	for i, o := range all {
		if o.onlySearchWay != "" && o.onlySearchWay != searchWay {
			continue
		}
		before := liveObjectBytes()
		e, err := o.fillIndex(texts, searchWay)
		if err != nil {
			return nil, fmt.Errorf("filling %s: %w", o.name, err)
		}
		cs = append(cs, &measuredIndex{name: o.name, filledIndex: e, memoryBytes: liveObjectBytes() - before})
		p.setProgress(i+1, len(all))
	}
	return cs, nil
}

// liveObjectBytes returns the total size of live objects in bytes.
func liveObjectBytes() int64 {
	runtime.GC()
	runtime.GC() // Collect a second time, to free what finalizers have released.
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// queryIndexesAlternately passes all queries to each search index: once without measuring, then in several rounds with
// measuring. The indexes alternate after a few queries.
func queryIndexesAlternately(
	ctx context.Context,
	cs []*measuredIndex,
	queries []string,
	words [][]string,
	rounds int,
) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// Disable the garbage collector, because it would collect the garbage of one index while another index is
	// measured.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, c := range cs {
		c.queryTimes = make([]timings, len(queries))
	}
	clock := clockReadTime()
	for round := range rounds + 1 {
		for from := 0; from < len(queries); from += queriesPerTurn {
			if err := ctx.Err(); err != nil {
				return err
			}
			for k := range cs {
				c := cs[(from/queriesPerTurn+round+k)%len(cs)]
				for i := from; i < min(from+queriesPerTurn, len(queries)); i++ {
					start, _ := threadProcessorTime()
					c.filledIndex.countHits(queries[i], words[i])
					end, ok := threadProcessorTime()
					if !ok {
						return errors.New("the processor time of a thread is read on Linux only")
					}
					if round > 0 {
						c.queryTimes[i] = append(c.queryTimes[i], max(end-start-clock, 1))
					}
				}
			}
		}
		runtime.GC()
	}
	return nil
}

// clockReadTime returns the time that reading the clock takes.
func clockReadTime() time.Duration {
	var t timings
	for range 1001 {
		start, _ := threadProcessorTime()
		end, _ := threadProcessorTime()
		t = append(t, end-start)
	}
	return t.p50()
}

// queryMedians returns the median time of each query.
func (c *measuredIndex) queryMedians() timings {
	t := make(timings, len(c.queryTimes))
	for i := range c.queryTimes {
		t[i] = c.queryTimes[i].p50()
	}
	return t
}

func (t timings) total() (sum time.Duration) {
	for _, d := range t {
		sum += d
	}
	return sum
}

// countEqualResults compares the results of two search indexes for the queries. sameTextsCount is the number of queries
// for which both find the same texts. sameScoresCount is the number of queries for which the results are identical,
// including the order and every bit of the scores.
func countEqualResults(a, b comparedIndex, queries []string, words [][]string) (sameTextsCount, sameScoresCount int) {
	type hit struct {
		number uint64
		score  float64
	}
	of := func(e comparedIndex, i int) (hits []hit) {
		for n, s := range e.listHits(queries[i], words[i]) {
			hits = append(hits, hit{n, s})
		}
		return hits
	}
	for i := range queries {
		x, y := of(a, i), of(b, i)
		if slices.Equal(x, y) {
			sameScoresCount++
		}
		byNumber := func(a, b hit) int { return cmp.Compare(a.number, b.number) }
		slices.SortFunc(x, byNumber)
		slices.SortFunc(y, byNumber)
		if slices.EqualFunc(x, y, func(x, y hit) bool { return x.number == y.number }) {
			sameTextsCount++
		}
	}
	return sameTextsCount, sameScoresCount
}
