// This file implements the command "peers". It measures oxbow and other search libraries for Go alternately, and
// compares the results.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

const (
	searchResultLimit = 10 // maximum number of results for a query
	warmUpQueries     = 5  // number of queries before the timing begins
	// number of consecutive queries to one search program before the next program gets the same queries
	consecutiveQueryCount = 20
	checkedQueryCount     = 200 // number of queries whose results are compared with the result of scoring all texts
	queriesPerProcess     = 20  // number of queries in a process that measures the memory of one search program
)

// peersRun is one run of the command peers, which compares oxbow with other search programs.
type peersRun struct {
	*bench
	textSource textSource
	textCounts []int
	queryCount int
	seed       uint64
	// maximum time for all queries to one search program at one size (number of texts)
	budget        time.Duration
	queryRateTime time.Duration // duration of one measurement in which queries per second are counted
	dropStopWords bool          // Remove stop words from the queries.
	searchMethods []searchMethod
}

func peersCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	r := &peersRun{bench: b}
	var names []string
	for _, p := range allSearchMethods() {
		names = append(names, p.name)
	}
	sizes := fl.String("sizes", "1000,10000,100000", "texts, one table for each of these `NUMBERS`")
	engines := fl.String("engines", strings.Join(names, ","), "only these `NAMES`; seed is always there")
	fl.IntVar(&r.queryCount, "queries", 1000, "queries to time, fewer for those that are slow")
	fl.Uint64Var(&r.seed, "seed", 1, "seed of the sampling")
	fl.DurationVar(&r.budget, "budget", 20*time.Second, "the `TIME` that the queries of one peer may take at one size")
	fl.DurationVar(&r.queryRateTime, "rate", time.Second, "the `TIME` of one measurement of queries a second")
	fl.BoolVar(
		&r.dropStopWords,
		"drop-stop-words",
		false,
		"leave stop words and single letters out of the queries of all",
	)
	r.textSource.addFlags(fl)
	b.addDirFlag(fl)
	return func(ctx context.Context) error {
		for s := range strings.SplitSeq(*sizes, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(s))
			if err != nil || n < 1 {
				return fmt.Errorf("measuring peers: --sizes %q is not a list of numbers above 0", *sizes)
			}
			r.textCounts = append(r.textCounts, n)
		}
		wanted := append(strings.Split(*engines, ","), "seed")
		for _, name := range wanted {
			if !slices.Contains(names, name) {
				return fmt.Errorf(
					"measuring peers: there is no %q; there are %s (and fts5-cgo with go run -tags sqlite_fts5)",
					name,
					strings.Join(names, ", "),
				)
			}
		}
		r.searchMethods = slices.DeleteFunc(
			allSearchMethods(),
			func(p searchMethod) bool { return !slices.Contains(wanted, p.name) },
		)
		isMeasurable := r.queryCount > 0 && r.budget > 0 && r.queryRateTime > 0
		if !isMeasurable {
			return errors.New("measuring peers: --queries, --budget and --rate must be above 0")
		}
		return r.run(ctx)
	}
}

func (r *peersRun) run(ctx context.Context) error {
	r.printTitle("peers", os.TempDir())
	pieces, from, err := r.textSource.readEntries(ctx, slices.Max(r.textCounts))
	if err != nil {
		return err
	}
	r.printf(
		"Texts of about %d bytes from %s. Queries: stretches of 2 to 8 words from the texts, any of the words, %d "+
			"hits. ",
		entryTextBytes,
		from,
		searchResultLimit,
	)
	if r.dropStopWords {
		r.printf("Stop words and single letters are left out of the queries of all. ")
	} else {
		r.printf(
			"Stop words stay; but both rankings of oxbow leave them out by themselves, as crabtalk's analyzer and " +
				"the default one do: beside the others, compare the bare index, which keeps all words. ",
		)
	}
	r.printf(
		"The peers take turns every %d queries; who is slow answers the first ones only (n), and × compares with "+
			"seed over the same queries. CPU is that of the whole process. Open is a process of its own: opening for "+
			"one answer, to that answer, with the files in the system's cache. RAM is what stands for no file once "+
			"it is open for many: what others leave to the system's cache is not in it. The bare index and the scan "+
			"keep nothing but the texts on disk.\n\n",
		consecutiveQueryCount,
	)
	for _, n := range r.textCounts {
		if err := r.measureSize(ctx, n, pieces); err != nil {
			return fmt.Errorf("measuring peers at %d: %w", n, err)
		}
	}
	return nil
}

// measuredSearchMethod contains the measurements for one search program (such as SQLite) that contains a certain number
// of texts.
type measuredSearchMethod struct {
	*searchMethod
	dir               string
	searcher          searcher
	buildTime         time.Duration
	indexDiskBytes    int64
	cost              searchMethodCost
	wall, cpu         timings
	totalQueryTime    time.Duration
	queryRatesByCores map[int][]float64
	// number of queries for which a hit contains all words of the query (the words of a query come from one text)
	foundSourceTextCount int
}

// measureSize fills each search program with textCount texts and measures it.
func (r *peersRun) measureSize(ctx context.Context, textCount int, pieces []oxbow.Add) (err error) {
	texts, again := sampleTexts(pieces, textCount, r.seed)
	es := make([]oxbow.Add, textCount)
	bytes := 0
	for i, s := range texts {
		es[i].Content = s
		bytes += len(s)
	}
	queries, err := samplePhrases(es, r.queryCount, r.seed)
	if err != nil {
		return err
	}
	if r.dropStopWords {
		for i, q := range queries {
			queries[i] = strings.Join(text.CrabtalkTerms(q), " ")
		}
	}
	dir, remove, err := r.tempDir()
	if err != nil {
		return err
	}
	defer remove()
	var cs []*measuredSearchMethod
	defer func() {
		for _, c := range cs {
			if c.searcher != nil {
				err = errors.Join(err, c.searcher.close())
			}
		}
	}()
	for i := range r.searchMethods {
		c := &measuredSearchMethod{
			searchMethod:      &r.searchMethods[i],
			dir:               filepath.Join(dir, r.searchMethods[i].name),
			queryRatesByCores: map[int][]float64{},
		}
		cs = append(cs, c)
		if err := r.prepare(ctx, c, texts, queries); err != nil {
			return fmt.Errorf("%s: %w", c.title, err)
		}
	}
	if err := r.measureLatency(ctx, cs, texts, queries); err != nil {
		return err
	}
	if err := r.measureRates(ctx, cs, queries); err != nil {
		return err
	}
	r.printf("### %s texts\n\n", formatCount(textCount))
	if again {
		r.printf(
			"There are %s such texts; so each of these is put together from sentences of all, drawn at random (seed "+
				"%d). ",
			formatCount(len(pieces)),
			r.seed,
		)
	}
	r.printf(
		"%d bytes each on average. The first %d hits of oxbow, and of its bare index, are those of exhaustive "+
			"scoring for all of %d queries tried.\n\n",
		bytes/textCount, searchResultLimit, min(checkedQueryCount, len(queries)),
	)
	r.printTable(cs, textCount)
	return nil
}

// prepare fills one search program with the texts, checks its results, and measures its build time, size and memory.
// These measurements do not depend on any other program. The times of queries are measured later, with all programs
// alternately.
func (r *peersRun) prepare(ctx context.Context, c *measuredSearchMethod, texts, queries []string) error {
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		return err
	}
	p := r.newProgress(c.name + ": building")
	from := time.Now()
	if err := c.build(ctx, c.dir, texts, func(done int) { p.setProgress(done, len(texts)) }); err != nil {
		return fmt.Errorf("building: %w", err)
	}
	c.buildTime = time.Since(from)
	p.clear()
	var err error
	c.indexDiskBytes, err = dirSize(c.dir)
	if err != nil {
		return err
	}
	c.cost, err = runSearchMethodProcess(
		ctx,
		searchMethodJob{c.name, c.dir, queries[:min(queriesPerProcess, len(queries))]},
	)
	if err != nil {
		return err
	}
	c.searcher, err = c.open(c.dir)
	if err != nil {
		return fmt.Errorf("opening: %w", err)
	}
	if c.splitTerms != nil || c.name == "oxbow" {
		return checkSearchMethod(
			ctx,
			c.searchMethod,
			c.searcher,
			texts,
			queries[:min(checkedQueryCount, len(queries))],
		)
	}
	return nil
}

// dirSize returns the total size of the files in a directory.
func dirSize(dir string) (int64, error) {
	var sum int64
	err := fs.WalkDir(os.DirFS(dir), ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}

// measureLatency passes each query to each search program, and times the answers. The programs take turns: each gets a
// few queries at a time. It gets these queries twice, and only the second time is measured. A program that has used up
// its time budget gets no more queries.
func (r *peersRun) measureLatency(ctx context.Context, cs []*measuredSearchMethod, texts, queries []string) error {
	p := r.newProgress("asking in turns")
	defer p.clear()
	for _, c := range cs {
		if err := c.runQueries(ctx, texts, queries[:min(warmUpQueries, len(queries))], 0); err != nil {
			return err
		}
	}
	for i := 0; i < len(queries); i += consecutiveQueryCount {
		chunk := queries[i:min(i+consecutiveQueryCount, len(queries))]
		for j := range cs {
			c := cs[(i/consecutiveQueryCount+j)%len(cs)]
			if c.totalQueryTime > r.budget {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := c.runQueries(ctx, texts, chunk, r.budget); err != nil {
				return err
			}
		}
		p.setProgress(i+len(chunk), len(queries))
	}
	return nil
}

// runQueries passes queries to the search program, and times each query until the budget is spent. It also counts the
// queries for which a hit contains all words of the query. If budget is 0, all queries are passed, and nothing is timed
// or counted.
func (c *measuredSearchMethod) runQueries(ctx context.Context, texts, queries []string, budget time.Duration) error {
	for _, q := range queries {
		if budget > 0 && c.totalQueryTime > budget {
			return nil
		}
		cpu, _ := processorTime()
		from := time.Now()
		fs, err := c.searcher.search(ctx, q, searchResultLimit)
		took := time.Since(from)
		after, ok := processorTime()
		if err != nil {
			return fmt.Errorf("%s: asking %q: %w", c.title, q, err)
		}
		if budget == 0 {
			continue
		}
		c.totalQueryTime += took
		c.wall = append(c.wall, took)
		if ok {
			c.cpu = append(c.cpu, after-cpu)
		}
		if slices.ContainsFunc(fs, func(f foundText) bool {
			return f.textNumber >= 0 && f.textNumber < len(texts) && containsWords(texts[f.textNumber], q)
		}) {
			c.foundSourceTextCount++
		}
	}
	return nil
}

// containsWords reports whether the text s contains all words of the query. Letter case is ignored, and a word may be a
// part of a longer word.
func containsWords(s, query string) bool {
	s = strings.ToLower(s)
	for w := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

// measureRates measures how many queries per second each search program answers, on one core and on two cores. Each is
// measured three times, in turns.
func (r *peersRun) measureRates(ctx context.Context, cs []*measuredSearchMethod, queries []string) error {
	p := r.newProgress("queries a second, round")
	defer p.clear()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for round := range 3 {
		p.setProgress(round+1, 3)
		for i := range cs {
			c := cs[(round+i)%len(cs)]
			for _, cores := range []int{1, 2} {
				if cores > runtime.NumCPU() {
					continue
				}
				runtime.GOMAXPROCS(cores)
				rate, err := c.queryRate(ctx, cores, r.queryRateTime, queries)
				if err != nil {
					return err
				}
				c.queryRatesByCores[cores] = append(c.queryRatesByCores[cores], rate)
			}
		}
	}
	return nil
}

// queryRate measures how many queries per second the search method c answers. Several goroutines send queries at the
// same time for the given duration. Each goroutine makes at least one query.
func (c *measuredSearchMethod) queryRate(
	ctx context.Context,
	goroutines int,
	duration time.Duration,
	queries []string,
) (float64, error) {
	asked, errs := make([]int, goroutines), make([]error, goroutines)
	var wg sync.WaitGroup
	from := time.Now()
	for g := range goroutines {
		wg.Go(func() {
			for i := g * len(queries) / goroutines; errs[g] == nil; i++ {
				_, errs[g] = c.searcher.search(ctx, queries[i%len(queries)], searchResultLimit)
				if errs[g] == nil {
					errs[g] = ctx.Err()
				}
				asked[g]++
				if time.Since(from) >= duration {
					return
				}
			}
		})
	}
	wg.Wait()
	sum := 0
	for _, n := range asked {
		sum += n
	}
	return float64(sum) / time.Since(from).Seconds(), errors.Join(errs...)
}

// printTable prints the measurements.
func (r *peersRun) printTable(cs []*measuredSearchMethod, textCount int) {
	seed := cs[slices.IndexFunc(cs, func(c *measuredSearchMethod) bool { return c.name == "seed" })]
	t := newTable(
		formatCount(textCount)+" texts",
		"n",
		"p50",
		"p95",
		"p99",
		"CPU p50",
		"CPU × seed",
		"wall × seed",
		"q/s 1 core",
		"q/s 2 cores",
		"texts built/s",
		"RAM B/text",
		"disk B/text",
		"open",
		"all words in 10",
	)
	for _, c := range cs {
		high := func(q float64, least int) string {
			if len(c.wall) < least {
				return "–"
			}
			return formatDuration(c.wall.quantile(q))
		}
		cpu, timesCPU := "–", "–"
		if len(c.cpu) > 0 {
			cpu, timesCPU = formatDuration(
				c.cpu.p50(),
			), formatRatio(
				c.cpu.p50(),
				seed.cpu[:min(len(c.cpu), len(seed.cpu))].p50(),
			)
		}
		rates := map[int]string{}
		for _, g := range []int{1, 2} {
			rates[g] = "–"
			if len(c.queryRatesByCores[g]) > 0 {
				rates[g] = formatRoundedNumber(median(c.queryRatesByCores[g]))
			}
		}
		anon := "–"
		if c.cost.AnonymousMemoryBytes >= 0 {
			anon = formatRoundedNumber(float64(c.cost.AnonymousMemoryBytes) / float64(textCount))
		}
		// A search program that stores no index builds the index when it is opened, so it gets no value here.
		built := "–"
		if c.name != "engine" && c.name != "scan" {
			built = formatRoundedNumber(float64(textCount) / c.buildTime.Seconds())
		}
		t.addRow(
			c.title,
			formatCount(len(c.wall)),
			formatDuration(c.wall.p50()),
			high(.95, 40),
			high(.99, 200),
			cpu,
			timesCPU,
			formatRatio(
				c.wall.p50(),
				seed.wall[:min(len(c.wall), len(seed.wall))].p50(),
			),
			rates[1],
			rates[2],
			built,
			anon,
			formatRoundedNumber(float64(c.indexDiskBytes)/float64(textCount)),
			formatDuration(c.cost.FirstAnswerTime),
			fmt.Sprintf("%.3f", float64(c.foundSourceTextCount)/float64(max(len(c.wall), 1))),
		)
	}
	r.emitTable(t)
}

// sampleTexts returns textCount texts. If there are at least textCount entries in sourceEntries, these are the first
// textCount. Otherwise each text is composed of random sentences from all of these entries, and areComposed is true.
func sampleTexts(sourceEntries []oxbow.Add, textCount int, seed uint64) (texts []string, areComposed bool) {
	if textCount <= len(sourceEntries) {
		for _, p := range sourceEntries[:textCount] {
			texts = append(texts, p.Content)
		}
		return texts, false
	}
	var sentences []string
	for _, p := range sourceEntries {
		sentences = append(sentences, splitSentences(p.Content)...)
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	for range textCount {
		var b strings.Builder
		for b.Len() < entryTextBytes-100 {
			b.WriteString(sentences[rng.IntN(len(sentences))] + " ")
		}
		texts = append(texts, strings.TrimSpace(b.String()))
	}
	return texts, true
}

// splitSentences splits a text after lines, and after periods, question marks, exclamation marks and semicolons that a
// space follows. It splits parts of more than 400 bytes, such as tables, at a space.
func splitSentences(s string) []string {
	var out []string
	for line := range strings.Lines(s) {
		for line != "" {
			end := len(line)
			for _, stop := range []string{". ", "? ", "! ", "; "} {
				if i := strings.Index(line, stop); i >= 0 {
					end = min(end, i+len(stop))
				}
			}
			if end > 400 {
				if i := strings.LastIndexByte(line[:400], ' '); i > 0 {
					end = i + 1
				}
			}
			if part := strings.TrimSpace(line[:end]); part != "" {
				out = append(out, part)
			}
			line = line[end:]
		}
	}
	return out
}
