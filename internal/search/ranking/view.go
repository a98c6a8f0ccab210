// This file implements views. A view answers one query from the index as the index was at one moment.

package ranking

import (
	"context"
	"iter"
	"strings"
	"unique"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// View is a scorer's state between two changes of its index. A view belongs to a single query and a single goroutine.
type View struct {
	ctx       context.Context // context of the query
	scorer    *Scorer
	searcher  *index.Searcher
	termStats termStats // frequencies of terms in the index
	loadItem  func(id uint64) Item

	textBuffer  ItemText         // memory for an item's texts, which is used again for the next item
	fieldBuffer []analysis.Field // memory for an item's fields, which is used again for the next item
}

// termStats are the statistics of an index that a plan needs.
type termStats interface {
	DocumentFrequency(term string) int
	DocumentIDs(term string) []uint64
	TermsWithPrefix(prefix string) iter.Seq2[string, int]
	EachTermText(
		ctx context.Context,
		mayNeed func(prefix []byte, pairs *text.LetterPairSet) bool,
		fn func(text []byte, sharedBytes int) bool,
	)
}

// NewView returns a view of the scorer's present state. As soon as ctx is done, the view's results must be discarded.
// The function readItem is called for a document that was indexed without Data. It must read and return the document's
// item, or return nil if this fails. It may be nil if all documents have Data.
func (r *Scorer) NewView(ctx context.Context, readItem func(id uint64) Item) *View {
	return r.ViewOfSearcher(ctx, r.index.Searcher(), readItem)
}

// ViewOfSearcher returns a view of the index that the searcher x searches. The searcher x must belong to the scorer's
// own index, but may search an earlier state of this index. The function readItem is called for a document that was
// indexed without its Data field. It returns the document's item, or nil if the item cannot be read.
func (r *Scorer) ViewOfSearcher(ctx context.Context, x *index.Searcher, readItem func(id uint64) Item) *View {
	return &View{ctx: ctx, scorer: r, searcher: x, termStats: x, loadItem: readItem}
}

// WithContext returns the same view for a query with another context.
func (v *View) WithContext(ctx context.Context) *View {
	w := *v
	w.ctx = ctx
	return &w
}

// RankingName returns the name of the ranking.
func (v *View) RankingName() string { return v.scorer.rankingName }

// Searcher returns the searcher of the index.
func (v *View) Searcher() *index.Searcher { return v.searcher }

// DocumentFrequency returns the number of documents that contain a term (the document frequency).
func (v *View) DocumentFrequency(term string) int { return v.termStats.DocumentFrequency(term) }

// WordDocumentFrequency returns statistics of the word w of a query. The result docFrequency is the number of documents
// that contain the term w.Term. The result idf is the term's inverse document frequency.
//
// If w.Corrected is set, the user mistyped the word, and w.Term is the corrected word. In this case, the results are
// for the mistyped word. No document contains this word, so docFrequency is 0, and idf is the value for 0 documents.
func (v *View) WordDocumentFrequency(w QueryWordTerm) (docFrequency int, idf float64) {
	if !w.Corrected {
		docFrequency = v.termStats.DocumentFrequency(w.Term)
	}
	var prior index.FrequencyInLanguage
	if v.scorer.queryAnalyzer != nil && !w.Corrected {
		prior = priorEnglishFrequency(w.Term)
	} else if v.scorer.queryAnalyzer != nil {
		prior.N = englishPriorTextCount
	}
	return docFrequency, v.searcher.IDF(docFrequency, prior)
}

// Item returns a document's item, or nil if the document is missing or cannot be read.
func (v *View) Item(id uint64) any { return v.findItem(id) }

func (v *View) findItem(id uint64) Item {
	data, ok := v.searcher.DocumentData(id)
	it, _ := data.(Item)
	if it != nil || !ok {
		return it
	}
	if v.loadItem != nil {
		it = v.loadItem(id)
	}
	return it
}

// hitItem returns the item of a hit and stores it in the hit. It returns nil if the item
// cannot be read.
func (v *View) hitItem(h *index.Hit) Item {
	it, ok := h.Data.(Item)
	if !ok {
		it = v.findItem(h.ID)
		if it != nil {
			h.Data = it
		}
	}
	return it
}

// itemFields returns the fields of an item.
func (v *View) itemFields(it Item) []analysis.Field {
	it.FillText(&v.textBuffer)
	return appendFields(nil, &v.textBuffer)
}

// compareNewestFirst compares two hits by the time of their versions. The newer hit comes first. If one of the items
// cannot be read, the result is 0.
func (v *View) compareNewestFirst(a, b index.Hit) int {
	ia, ib := v.hitItem(&a), v.hitItem(&b)
	if ia == nil || ib == nil {
		return 0
	}
	ia.FillText(&v.textBuffer)
	updated := v.textBuffer.Updated
	ib.FillText(&v.textBuffer)
	return v.textBuffer.Updated.Compare(updated)
}

// itemName returns the name of an item, or "" if the item cannot be read.
func (v *View) itemName(id uint64) string {
	it := v.findItem(id)
	if it == nil {
		return ""
	}
	it.FillText(&v.textBuffer)
	return v.textBuffer.Name
}

// itemTurn returns the turn of a conversation that the item contains. It caches the turn in the item. The item may be
// nil.
func (v *View) itemTurn(it Item) *dialogueTurn {
	if it == nil {
		return nonDialogueTurn
	}
	kept := &it.TextCache().cachedTurn
	if t := kept.Load(); t != nil {
		return t
	}
	x := &v.textBuffer
	it.FillText(x)
	kind := analysis.ClassifyDialogue(x.Content)
	t := sharedTurnByKind[kind]
	if kind == analysis.PersonTurn {
		t = &dialogueTurn{
			dialogueKind:       kind,
			isQuestion:         analysis.EndsInQuestion(x.Content),
			createdNanoseconds: clampedNanoseconds(x.Created),
			session:            unique.Make(x.Session),
			speaker:            unique.Make(analysis.SpeakerName(x.Content)),
		}
	}
	kept.CompareAndSwap(nil, t)
	return kept.Load()
}

// NeighbourTurns returns the turns before and after the turn with this ID, in order. It returns at most maxDistance
// turns on each side. If the function accept is not nil, and returns false for a turn, this turn is left out. The
// result is empty if the ID does not belong to a person's turn in a dialogue.
func (v *View) NeighbourTurns(id uint64, maxDistance int, accept func(id uint64) bool) (before, after []Item) {
	own := v.itemTurn(v.findItem(id))
	if own.dialogueKind != analysis.PersonTurn {
		return nil, nil
	}
	for step := -maxDistance; step <= maxDistance; step++ {
		at := id + uint64(int64(step))
		it := v.findItem(at)
		switch {
		case step == 0 || it == nil || !v.itemTurn(it).isInSameDialogueAs(own) || (accept != nil && !accept(at)):
		case step < 0:
			before = append(before, it)
		default:
			after = append(after, it)
		}
	}
	return before, after
}

// termsPerContextCheck is the number of terms after which an iteration over terms checks the view's context again.
const termsPerContextCheck = 1024

// eachTermWithPrefix yields each term with this prefix, and the number of documents that contain it. When the view's
// context is done, the iteration ends early.
func (v *View) eachTermWithPrefix(prefix string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		n := 0
		for t, df := range v.termStats.TermsWithPrefix(prefix) {
			if n%termsPerContextCheck == 0 && v.ctx.Err() != nil {
				return
			}
			n++
			if !yield(t, df) {
				return
			}
		}
	}
}

// Vocabulary yields the words that begin with the prefix, and the number of documents that contain each word. When the
// view's context is done, the result is incomplete.
func (v *View) Vocabulary(prefix string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for t, df := range v.eachTermWithPrefix(prefix) {
			if isWord(t) && !yield(t, df) {
				return
			}
		}
	}
}

// SimilarWords returns at most limit words of the documents that are similar to a word, the most similar first (see
// [text.FindSimilar]). When the view's context is done, the result is incomplete.
func (v *View) SimilarWords(word string, limit int) []string {
	similar := text.NewSimilarTexts(word, limit)
	v.termStats.EachTermText(v.ctx, similar.MayAddFromGroup, func(term []byte, sharedBytes int) bool {
		if !similar.WouldAdd(term, sharedBytes) {
			return true
		}
		if t := string(term); isWord(t) && v.DocumentFrequency(t) > 0 {
			similar.Add(t)
		}
		return true
	})
	return similar.Texts()
}

// isWord reports whether a term is a word of a text. A term with a prefix such as date: is not.
func isWord(term string) bool { return !isKeyword(term) && !strings.HasPrefix(term, datePrefix) }

// KeywordValues yields the values that at least one document has for a key. The key is the key of a property, such as a
// label (see [KeywordTerm]). When the view's context is done, the result is incomplete.
func (v *View) KeywordValues(key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for value := range v.KeywordCounts(key) {
			if !yield(value) {
				return
			}
		}
	}
}

// KeywordCounts yields the values that documents have for a key, and the number of documents with each. When the view's
// context is done, the result is incomplete.
func (v *View) KeywordCounts(key string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		prefix := KeywordTerm(key, "")
		for t, df := range v.eachTermWithPrefix(prefix) {
			if !yield(t[len(prefix):], df) {
				return
			}
		}
	}
}
