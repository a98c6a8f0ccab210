// This file answers a query from a temporary index that has only the query's terms.
//
// To find out these terms, the query is planned with an empty index that records all
// look-ups. Then all items are scanned for the terms. The resulting index returns the same
// hits and scores as the complete index, because the lengths of documents include all their
// words.

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

// scanBatch is the number of items that a worker scans at a time.
const scanBatch = 512

// ScanItems returns a view of an index with only the chosen terms. Items must be in order of ID.
func ScanItems(ctx context.Context, ranking string, items []Item, choice *analysis.TermSet) (*View, error) {
	batches := make([][]index.Document, (len(items)+scanBatch-1)/scanBatch)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			sc := newScanner(ranking, choice)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(batches) {
					return
				}
				batches[i] = sc.scanItems(ctx, items[i*scanBatch:min((i+1)*scanBatch, len(items))])
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := FormulaParams(ranking)
	// Count documents without terms, because a scan stores only the chosen terms, and the text of
	// such a document has other terms.
	p.CountEmpty = true
	r := New(ranking, index.New(p))
	r.index.FillEmpty(func(yield func(*index.Document) bool) {
		for _, docs := range batches {
			for i := range docs {
				yield(&docs[i])
			}
		}
	}, nil)
	v := r.View(ctx, nil)
	v.stats = &scanStats{searcher: v.searcher, choice: choice}
	return v, nil
}

// CoversTerms reports whether the scan that created the view was for this ranking and included
// all terms of c. It returns false if c is nil, which means all terms.
func (v *View) CoversTerms(ranking string, c *analysis.TermSet) bool {
	have := v.stats.(*scanStats).choice
	return v.Ranking() == ranking && c != nil && !slices.ContainsFunc(c.Terms(), func(t string) bool {
		return !have.Has(t)
	}) &&
		!slices.ContainsFunc(c.Prefixes(), func(p string) bool { return !have.HasAllWithPrefix(p) })
}

// HasMissingTerms reports whether terms were looked up that the scan did not include. Results of the
// view must then be discarded.
func (v *View) HasMissingTerms() bool {
	s, ok := v.stats.(*scanStats)
	return ok && s.hasMissed.Load()
}

// RequireAllDocuments marks the scan as insufficient if the plan needs the documents that a scan for
// Seed leaves out.
func (v *View) RequireAllDocuments(p *Plan) {
	if s, ok := v.stats.(*scanStats); ok && p.isSeed {
		s.hasMissed.Store(true)
	}
}

// scanner searches items for terms. It finds the terms that [Scorer.AnalyzeItem] would find.
// Only one goroutine may use a scanner.
type scanner struct {
	choice        *analysis.TermSet
	finder        *analysis.TermFinder // nil for Seed
	wantsDates    bool                 // a term may be a date of an item
	wantsKeywords bool                 // a term may be a keyword
	buffer        Buffer
	terms         []index.Term // memory for the terms of many documents
}

func newScanner(ranking string, c *analysis.TermSet) *scanner {
	sc := &scanner{choice: c}
	for _, t := range slices.Concat(c.Terms(), c.Prefixes()) {
		sc.wantsKeywords = sc.wantsKeywords || isKeyword(t)
		date, ok := strings.CutPrefix(t, datePrefix)
		// Plan looks up "date:" terms for ordinary words as well, so check whether the term is a
		// real date
		if ok && ranking != Seed {
			sc.wantsDates = sc.wantsDates || slices.Contains(monthTerms[:], t) || date == "" ||
				(date[0] >= '0' && date[0] <= '9')
		}
	}
	if ranking != Seed {
		sc.finder = analysis.NewTermFinder(c)
	}
	return sc
}

// scanItems returns the items' documents with the wanted terms. For Seed, it leaves out documents
// without words, because Seed does not count such documents. If ctx is done, it returns early.
func (sc *scanner) scanItems(ctx context.Context, items []Item) []index.Document {
	docs := make([]index.Document, 0, len(items))
	t := &sc.buffer.text
	for _, it := range items {
		if ctx.Err() != nil {
			break
		}
		it.FillText(t)
		d := index.Document{ID: t.ID, Updated: t.Updated.UnixNano(), Created: timestamp(t.Created), Data: it}
		from := len(sc.terms)
		d.Terms = sc.terms[from:]
		if sc.finder == nil {
			if !sc.setSeedWords(t, &d) {
				continue
			}
		} else {
			sc.buffer.fields = appendFields(sc.buffer.fields[:0], t)
			sc.finder.SetDoc(ctx, &d, sc.buffer.fields)
			d.Len += lengthPadding(t)
		}
		if sc.wantsDates {
			sc.addWantedTerms(&d, dateTerms(t.Created), weightDate)
		}
		if sc.wantsKeywords {
			sc.addWantedTerms(&d, it.Keywords(), 1)
		}
		d.Terms = slices.Clone(d.Terms)
		docs = append(docs, d)
	}
	return docs
}

// addWantedTerms adds those terms to d that are wanted.
func (sc *scanner) addWantedTerms(d *index.Document, terms []string, tf uint16) {
	for _, t := range terms {
		if sc.choice.Has(t) {
			d.Terms = append(d.Terms, index.Term{Text: t, TF: tf})
		}
	}
}

// setSeedWords sets d to a text's words for Seed. It returns false if the text has no
// words.
func (sc *scanner) setSeedWords(t *Text, d *index.Document) bool {
	sc.buffer.words = seedWords(sc.buffer.words[:0], t)
	d.Len = index.OneTF * uint32(len(sc.buffer.words))
	sc.addWantedTerms(d, sc.buffer.words, index.OneTF)
	return len(sc.buffer.words) > 0
}
