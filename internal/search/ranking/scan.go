// This file answers a query from a temporary index that contains only the terms of the query.
//
// To find these terms, the query is first planned with an empty index that records all look-ups. Then all items are
// scanned for the terms. The resulting index returns the same hits and scores as the complete index, because a
// document's length counts all of its words.

package ranking

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// scanBatchSize is the number of items that a worker scans at a time.
const scanBatchSize = 512

// ScanItems reads the items and returns a view of a temporary index. This index contains only the terms in
// lookupTerms. The items must be in order of ID.
func ScanItems(ctx context.Context, ranking string, items []Item, lookupTerms *analysis.TermSet) (*View, error) {
	batches := make([][]index.Document, (len(items)+scanBatchSize-1)/scanBatchSize)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			sc := newItemScanner(ranking, lookupTerms)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(batches) {
					return
				}
				batches[i] = sc.scanItems(ctx, items[i*scanBatchSize:min((i+1)*scanBatchSize, len(items))])
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := BM25Params(ranking)
	// Also count documents without terms. The scan collected only the terms in lookupTerms, so a document without terms
	// may belong to an item that contains other words.
	p.CountEmptyDocuments = true
	r := NewScorer(ranking, index.New(p))
	r.index.FillEmptyIndex(func(yield func(*index.Document) bool) {
		for _, docs := range batches {
			for i := range docs {
				yield(&docs[i])
			}
		}
	}, nil)
	v := r.NewView(ctx, nil)
	v.termStats = &scanTermStats{searcher: v.searcher, scannedTerms: lookupTerms}
	return v, nil
}

// CoversTerms reports whether the view can be used for a query with the given ranking and the terms in c. The view was
// created by a scan of the entries, which collected only some terms. CoversTerms returns true if the view has the same
// ranking, and the scan collected all terms in c and all terms with the prefixes in c. If c is nil, the query needs all
// terms, so CoversTerms returns false.
func (v *View) CoversTerms(ranking string, c *analysis.TermSet) bool {
	have := v.termStats.(*scanTermStats).scannedTerms
	return v.RankingName() == ranking && c != nil && !slices.ContainsFunc(c.ListTerms(), func(t string) bool {
		return !have.Has(t)
	}) &&
		!slices.ContainsFunc(c.ListPrefixes(), func(p string) bool { return !have.HasAllWithPrefix(p) })
}

// HasMissingTerms reports whether a query of this view has looked up a term that is not in the view's temporary index.
// This can happen only if ScanItems made the view, because ScanItems collects only chosen terms. If HasMissingTerms
// returns true, the results of the query are incomplete and must be discarded.
func (v *View) HasMissingTerms() bool {
	s, ok := v.termStats.(*scanTermStats)
	return ok && s.hasMissingTerm.Load()
}

// MarkSeedScanIncomplete marks the result of a scan as incomplete, so that [View.HasMissingTerms] returns true. It does
// this only if the view was created by a scan of the entries and p is a plan for the ranking Seed. Call it if the query
// also returns documents without words, because a scan for the ranking Seed leaves out such documents.
func (v *View) MarkSeedScanIncomplete(p *Plan) {
	if s, ok := v.termStats.(*scanTermStats); ok && p.isForSeedRanking {
		s.hasMissingTerm.Store(true)
	}
}

// itemScanner searches items for the chosen terms. It finds the same chosen terms in an item as [Scorer.AnalyzeItem]
// would. Only one goroutine may use a scanner.
type itemScanner struct {
	lookupTerms *analysis.TermSet
	// finds the terms in texts (nil for the simple ranking Seed, which divides texts in another way)
	termFinder         *analysis.TermFinder
	shouldCollectDates bool // the chosen terms may include the date of an item
	// the terms to collect may include keywords, which are terms made from an item's properties
	shouldCollectKeywords bool
	buffer                AnalysisBuffer
	termBuffer            []index.Term // reused memory for the terms of a document
}

func newItemScanner(ranking string, c *analysis.TermSet) *itemScanner {
	sc := &itemScanner{lookupTerms: c}
	for _, t := range slices.Concat(c.ListTerms(), c.ListPrefixes()) {
		sc.shouldCollectKeywords = sc.shouldCollectKeywords || isKeyword(t)
		date, ok := strings.CutPrefix(t, datePrefix)
		// The query looks up a "date:" term for each word that may be a part of a date. Collect dates only if the term
		// is the name of a month, if it begins with a digit, or if it is only the prefix "date:", with which all dates
		// begin.
		if ok && ranking != SeedRanking {
			sc.shouldCollectDates = sc.shouldCollectDates || slices.Contains(monthTerms[:], t) || date == "" ||
				(date[0] >= '0' && date[0] <= '9')
		}
	}
	if ranking != SeedRanking {
		sc.termFinder = analysis.NewTermFinder(c)
	}
	return sc
}

// scanItems returns the documents of the items, with the chosen terms only. For the ranking Seed, it leaves out
// documents without words, because Seed ignores such documents. If ctx is done, it returns early.
func (sc *itemScanner) scanItems(ctx context.Context, items []Item) []index.Document {
	docs := make([]index.Document, 0, len(items))
	d := index.Document{Terms: sc.termBuffer}
	for _, it := range items {
		if ctx.Err() != nil {
			break
		}
		if !sc.scanItem(ctx, it, &d) {
			continue
		}
		doc := d
		doc.Terms = slices.Clone(d.Terms)
		doc.Data = it
		docs = append(docs, doc)
	}
	sc.termBuffer = d.Terms
	return docs
}

// scanItem sets d to the document of an item. The document contains only the chosen terms, and its field Data is not
// set. scanItem reuses the memory of d. For the simple ranking Seed, hasWords is false if the item contains no words.
// For other rankings, hasWords is always true.
func (sc *itemScanner) scanItem(ctx context.Context, it Item, d *index.Document) (hasWords bool) {
	t := &sc.buffer.text
	it.FillText(t)
	*d = index.Document{
		ID:                  t.ID,
		Updated:             t.Updated.UnixNano(),
		Created:             clampedNanoseconds(t.Created),
		Terms:               d.Terms[:0],
		AnalyzerTermNumbers: d.AnalyzerTermNumbers[:0],
	}
	hasWords = true
	if sc.termFinder == nil {
		hasWords = sc.setSeedRankingWords(t, d)
	} else {
		sc.buffer.fields = appendFields(sc.buffer.fields[:0], t)
		sc.termFinder.SetDoc(ctx, d, sc.buffer.fields)
		d.WeightedLength += itemLengthPadding(t)
	}
	if sc.shouldCollectDates {
		sc.addLookupTerms(d, dateTerms(t.Created), dateTermWeight)
	}
	if sc.shouldCollectKeywords {
		sc.addLookupTerms(d, it.Keywords(), 1)
	}
	return hasWords
}

// addLookupTerms adds to d the terms that the scan has to collect.
func (sc *itemScanner) addLookupTerms(d *index.Document, terms []string, frequency uint16) {
	for _, t := range terms {
		if sc.lookupTerms.Has(t) {
			d.Terms = append(d.Terms, index.Term{Text: t, Frequency: frequency})
		}
	}
}

// setSeedRankingWords adds the words of the text t to the document d and sets d's length to the word count, as the
// ranking Seed requires. It returns false if the text contains no words.
func (sc *itemScanner) setSeedRankingWords(t *ItemText, d *index.Document) bool {
	sc.buffer.words = appendSeedRankingTerms(sc.buffer.words[:0], t)
	d.WeightedLength = index.FrequencyPerOccurrence * uint32(len(sc.buffer.words))
	sc.addLookupTerms(d, sc.buffer.words, index.FrequencyPerOccurrence)
	return len(sc.buffer.words) > 0
}
