// This file contains functions and types that the tests of the index share.

package index

import (
	"cmp"
	"fmt"
	"iter"
	"testing"
)

// Doc is a short name for Document. Tests use it for documents whose ID and times are set by the method put and not by
// the test.
type Doc = Document

// memFile is a file that exists only in memory.
type memFile []byte

func (f *memFile) WriteAt(b []byte, at int64) (int, error) {
	if more := int(at) + len(b) - len(*f); more > 0 {
		*f = append(*f, make([]byte, more)...)
	}
	return copy((*f)[at:], b), nil
}

// AppendSnapshot appends the snapshot of the index to b.
func (x *Index) AppendSnapshot(b []byte) ([]byte, error) {
	at := int64(len(b))
	size, err := x.Searcher().WriteSnapshot((*memFile)(&b), at)
	if err == nil && size != int64(len(b))-at {
		err = fmt.Errorf("a snapshot of %d bytes is said to have %d", int64(len(b))-at, size)
	}
	return b, err
}

// put adds or replaces one document, with this ID and time.
func (x *Index) put(id uint64, updated int64, d Doc) {
	d.ID, d.Updated = id, updated
	x.Put(d)
}

func (x *Index) Search(q Query) []Hit             { return x.Searcher().Search(q) }
func (x *Index) Count(q Query) int                { return x.Searcher().CountHits(q) }
func (x *Index) Newest(q Query) []uint64          { return x.Searcher().NewestIDs(q) }
func (x *Index) DF(term string) int               { return x.Searcher().DocumentFrequency(term) }
func (x *Index) Len() int                         { return x.Searcher().Len() }
func (x *Index) DocumentIDs(term string) []uint64 { return x.Searcher().DocumentIDs(term) }
func (x *Index) Err() error                       { return x.Searcher().Err() }
func (x *Index) TermsWithPrefix(prefix string) iter.Seq2[string, int] {
	return x.Searcher().TermsWithPrefix(prefix)
}
func (x *Index) Explain(id uint64, terms []QueryTerm) (Explanation, bool) {
	return x.Searcher().Explain(id, terms)
}

// plainHit is a hit in a plain list of documents.
type plainHit struct {
	score float64
	newer int64
	id    uint64
}

// compare orders hits like Search does: by score, then by time, then by ID.
func (a plainHit) compare(b plainHit) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.newer, a.newer), cmp.Compare(a.id, b.id))
}

// checkInside checks the invariants of an index, which must be true between two changes.
func checkInside(t *testing.T, x *Index) {
	t.Helper()
	sr := x.Searcher()
	if err := sr.Err(); err != nil {
		t.Fatal(err)
	}
	live := 0
	total := uint64(0)
	seen := map[uint64]bool{}
	df := map[string]int{}
	for i := range sr.views {
		v := &sr.views[i]
		checkSegment(t, v.segment)
		gone, there := 0, []uint32(nil)
		for n, id := range v.ids.allValues() {
			// A memtable also contains older versions of a document.
			if at, ok := v.documentNumber(id); !ok ||
				(at != uint32(n) && (v.memtable == nil || at < uint32(n) || !v.isDeleted(uint32(n)))) {
				t.Fatalf("document %d has number %d, found under %d", id, n, at)
			}
			if v.isDeleted(uint32(n)) {
				gone++
				continue
			}
			if seen[id] {
				t.Fatalf("document %d is in two segments", id)
			}
			seen[id] = true
			if v.docLengths[n] != unscoredDocumentLength {
				live++
				total += uint64(v.docLengths[n])
			}
			there = append(there, uint32(n))
		}
		v.eachTermOfDocuments(there, func(text string) { df[text]++ })
		if gone != v.deletedCount {
			t.Fatalf("%d documents are deleted, counted %d", gone, v.deletedCount)
		}
	}
	if live != sr.scoredDocumentCount || total != sr.totalLength {
		t.Fatalf("%d documents of %d terms, counted %d of %d", live, total, sr.scoredDocumentCount, sr.totalLength)
	}
	n := 0
	for text, got := range sr.TermsWithPrefix("") {
		n++
		if got != df[text] || sr.DocumentFrequency(text) != got {
			t.Fatalf("term %q: %d documents, DF %d, counted %d", text, got, sr.DocumentFrequency(text), df[text])
		}
	}
	if n != len(df) {
		t.Fatalf("%d terms, counted %d", n, len(df))
	}
}

// checkSegment checks the invariants of a segment's terms.
func checkSegment(t *testing.T, s *segment) {
	t.Helper()
	if len(s.blockTimeRanges()) != (len(s.docLengths)+63)/64 {
		t.Fatalf("%d blocks of %d documents", len(s.blockTimeRanges()), len(s.docLengths))
	}
	for n, at := range s.created.allValues() {
		if e := s.blockTimeRanges()[n/64]; at < e.firstTime || at > e.lastTime {
			t.Fatalf("document number %d is of %d, its block from %d to %d", n, at, e.firstTime, e.lastTime)
		}
	}
	var room []posting
	for n := range s.terms {
		e := &s.terms[n]
		text := s.arena.get(e.textReference)
		if k, ok := s.termNumber(text, 0); ok && k != uint32(n) {
			t.Fatalf("term %q is number %d, found under %d", text, n, k)
		}
		list := s.termPostings(n, &room)
		if len(list) != int(e.docFrequency) || e.hasPostingList != (e.docFrequency > 1) {
			t.Fatalf("term %q: %d postings, df %d", text, len(list), e.docFrequency)
		}
		sc := bm25Scale{
			adjustedK1Base:  defaultK1 * (1 - defaultB) * FrequencyPerOccurrence,
			adjustedK1Slope: s.scoreImpactK1Slope,
		}
		for i, p := range list {
			if i > 0 && list[i-1].docNumber >= p.docNumber {
				t.Fatalf("term %q: list does not rise at %d", text, i)
			}
			if e.hasPostingList &&
				s.postingLists[e.listIndexOrDocNumber].termFrequency(p.docNumber) != p.termFrequency {
				t.Fatalf(
					"term %q: tf(%d) = %d, want %d",
					text,
					p.docNumber,
					s.postingLists[e.listIndexOrDocNumber].termFrequency(p.docNumber),
					p.termFrequency,
				)
			}
			most := sc.score(maxScoreImpact, uint32(p.termFrequency), s.docLengths[p.docNumber])
			if p.termFrequency == 0 || p.scoreImpact > e.maxScoreImpact || float64(p.scoreImpact) < most ||
				float64(p.scoreImpact) > most+1 {
				t.Fatalf("term %q: posting %+v outside of its bounds, %v and %d", text, p, most, e.maxScoreImpact)
			}
		}
	}
}
