// This file tests the conditions of a query that functions of the caller check.

package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
)

// pairHashes returns hashes for the pairs of words that follow each other.
func pairHashes(words []string) []uint32 {
	var hashes []uint32
	for i := 1; i < len(words); i++ {
		hash := uint32(7)
		for _, c := range []byte(words[i-1] + " " + words[i]) {
			hash = hash*31 + uint32(c)
		}
		hashes = append(hashes, hash)
	}
	return hashes
}

// hasPhrase reports whether the words contain the phrase.
func hasPhrase(words, phrase []string) bool {
	for i := range len(words) {
		if i+len(phrase) <= len(words) && slices.Equal(words[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}

// TestDocumentChecks compares searches for phrases with searches whose AcceptDocument examines the words of each
// document. The documents change, are merged, and are written to a snapshot, and some have no pairs. It also tests that
// the functions are called only for documents with a word of the query, and that the index excludes most documents
// without the phrase.
func TestDocumentChecks(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	word := func() string { return fmt.Sprintf("w%d", int(100*rng.Float64()*rng.Float64()*rng.Float64())) }
	words := map[uint64][]string{}
	withoutPairs := map[uint64]bool{}
	x := New(Params{K1: 1.2, B: .75})
	change := func(n int) {
		var changes []Change
		for range n {
			id := uint64(rng.IntN(9000))
			delete(words, id)
			if rng.IntN(5) == 0 {
				changes = append(changes, Change{ID: id})
				continue
			}
			for range 1 + rng.IntN(30)*rng.IntN(4) {
				words[id] = append(words[id], word())
			}
			d := DocumentOfWords(id, words[id])
			withoutPairs[id] = rng.IntN(50) == 0
			if !withoutPairs[id] {
				d.PairHashes = pairHashes(words[id])
			}
			changes = append(changes, Change{ID: id, Document: &d})
		}
		x.Apply(changes...)
	}
	for range 10 {
		change(1000)
	}
	hits := 0
	needlessCalls := 0
	documentsWithWords := 0
	for i := range 100 {
		if i%25 == 24 {
			x.WaitForMerges()
			x = reopened(t, x, x.params)
		}
		change(1 + rng.IntN(20))
		asked, phrase := []string{word(), word()}, []string{word(), word()}
		if rng.IntN(3) == 0 {
			phrase = append(phrase, word())
		}
		isNegated := rng.IntN(2) == 0
		hasWords := func(id uint64, ws []string) bool {
			return !slices.ContainsFunc(ws, func(w string) bool { return !slices.Contains(words[id], w) })
		}
		isHit := func(id uint64) bool { return hasPhrase(words[id], phrase) != isNegated }
		q := Query{Terms: TermsForWords(asked), Limit: 1 + rng.IntN(30)}
		want := q
		want.AcceptDocument = func(id uint64) bool {
			if !hasWords(id, asked[:1]) && !hasWords(id, asked[1:]) {
				t.Errorf("seed %d: AcceptDocument is called for a document without the words of the query", seed)
			}
			return isHit(id)
		}
		check := DocumentCheck{PairHashes: pairHashes(phrase), IsNegated: isNegated, Matches: func(id uint64) bool {
			if !hasWords(id, phrase) {
				t.Errorf("seed %d: Matches is called for a document without the words of the phrase", seed)
			}
			if !hasPhrase(words[id], phrase) && !withoutPairs[id] {
				needlessCalls++
			}
			return hasPhrase(words[id], phrase)
		}}
		if isNegated || rng.IntN(2) == 0 {
			check.Terms = phrase
		} else {
			for _, w := range phrase {
				q.Conditions = append(q.Conditions, TermCondition{Terms: []string{w}})
			}
		}
		q.Checks = []DocumentCheck{check}
		s := x.Searcher()
		found := s.Search(q)
		if expected := s.Search(want); !slices.Equal(found, expected) {
			t.Fatalf("seed %d: found %v, want %v", seed, found, expected)
		}
		hits += len(found)
		if got, expected := s.CountHits(q), s.CountHits(want); got != expected {
			t.Fatalf("seed %d: %d hits, want %d", seed, got, expected)
		}
		for id := range words {
			if hasWords(id, phrase) && !hasPhrase(words[id], phrase) && !withoutPairs[id] {
				documentsWithWords++
			}
		}
		q.Terms, want.AcceptDocument = nil, isHit
		if got, expected := s.NewestIDs(q), s.NewestIDs(want); !slices.Equal(got, expected) {
			t.Fatalf("seed %d: newest are %v, want %v", seed, got, expected)
		}
	}
	if hits < 250 {
		t.Errorf("seed %d: %d hits", seed, hits)
	}
	if needlessCalls > documentsWithWords/4 {
		t.Errorf("seed %d: Matches was called %d times for documents without the phrase, of %d such documents",
			seed, needlessCalls, documentsWithWords)
	}
}

// TestDifferentSignatureIsFound tests that the comparison of documents with a snapshot notices other pairs of words.
func TestDifferentSignatureIsFound(t *testing.T) {
	x := New(Params{})
	words := []string{"red", "ships", "sail"}
	var docs []ExpectedDocument
	for id := range uint64(300) {
		d := DocumentOfWords(id, words)
		d.PairHashes = pairHashes(words)
		x.Put(d)
		e := ExpectedDocument{ID: id, Length: d.WeightedLength, PairHashes: d.PairHashes, Frequencies: map[string]int{}}
		for _, w := range words {
			e.Frequencies[w] = FrequencyPerOccurrence
		}
		docs = append(docs, e)
	}
	s := reopened(t, x, Params{}).Searcher()
	if i, err := s.FindSnapshotMismatch(docs); i != len(docs) || err != nil {
		t.Errorf("document %d of a sound snapshot differs, %v", i, err)
	}
	docs[200].PairHashes = pairHashes([]string{"ships", "red", "sail"})
	if i, err := s.FindSnapshotMismatch(docs); i != 200 || err != nil {
		t.Errorf("document %d differs, want 200, %v", i, err)
	}
}

// TestUnfitSignatureSizes tests that the signatures of a snapshot are treated as unknown, with an error, if their sizes
// do not add up to the number of stored units.
func TestUnfitSignatureSizes(t *testing.T) {
	for _, try := range []struct {
		units int
		fits  bool
	}{{3, true}, {2, false}, {4, false}, {0, false}} {
		var file bytes.Buffer
		w := pagefile.NewWriter(&file)
		w.Write([]byte("head"))
		w.FinishPage()
		for _, size := range []uint16{2, 0, 1} {
			w.AppendEncodedRow(binary.LittleEndian.AppendUint16(nil, size))
		}
		w.FinishPage()
		for range try.units {
			w.AppendUint32Row(0)
		}
		w.FinishPage()
		docs, err := pagefile.Open(bytes.NewReader(file.Bytes()), func([]byte) ([]pagefile.TableSize, error) {
			tables := make([]pagefile.TableSize, tableNumberSignatures+1)
			for i := range tables {
				tables[i].RowSize = 1
			}
			tables[tableNumberSignatureSizes] = pagefile.TableSize{RowSize: signatureSizeRowBytes, RowCount: 3}
			tables[tableNumberSignatures] = pagefile.TableSize{RowSize: signatureRowBytes, RowCount: try.units}
			return tables, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		c := signatureColumn{snapshot: &storedSignatures{docs: docs}}
		for number, want := range []bool{!try.fits, true, !try.fits} { // A signature without bits has no pair.
			if got := c.mayContain(uint32(number), []uint32{7}); got != want {
				t.Errorf("%d units: document %d may contain a pair: %v, want %v", try.units, number, got, want)
			}
		}
		if err := docs.Err(); errors.Is(err, errDamagedSnapshot) == try.fits {
			t.Errorf("%d units: error %v", try.units, err)
		}
	}
}

// TestSignaturesAcrossPages tests that the signatures in a snapshot contain the same pairs as in memory. Some of the
// signatures continue on the next page of the file.
func TestSignaturesAcrossPages(t *testing.T) {
	const docCount, pairsPerDoc = 2000, 20
	var memory signatureColumn
	hash := func(doc, pair int) uint32 { return uint32(doc*pairsPerDoc+pair) * 0x9e3779b1 }
	for doc := range docCount {
		var pairs []uint32
		for pair := range 1 + doc%pairsPerDoc {
			pairs = append(pairs, hash(doc, pair))
		}
		memory.appendPairs(pairs)
	}
	var file bytes.Buffer
	w := pagefile.NewWriter(&file)
	w.Write([]byte("head"))
	w.FinishPage()
	for doc := range docCount {
		w.AppendEncodedRow(binary.LittleEndian.AppendUint16(nil, uint16(memory.unitCount(uint32(doc)))))
	}
	w.FinishPage()
	for _, unit := range memory.units {
		w.AppendUint32Row(unit)
	}
	w.FinishPage()
	docs, err := pagefile.Open(bytes.NewReader(file.Bytes()), func([]byte) ([]pagefile.TableSize, error) {
		tables := make([]pagefile.TableSize, tableNumberSignatures+1)
		for i := range tables {
			tables[i].RowSize = 1
		}
		tables[tableNumberSignatureSizes] = pagefile.TableSize{RowSize: signatureSizeRowBytes, RowCount: docCount}
		tables[tableNumberSignatures] = pagefile.TableSize{RowSize: signatureRowBytes, RowCount: len(memory.units)}
		return tables, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	stored := signatureColumn{snapshot: &storedSignatures{docs: docs}}
	for doc := range docCount {
		for pair := range 2 * pairsPerDoc {
			wanted := []uint32{hash(doc, 0), hash(doc, pair)}
			got, want := stored.mayContain(uint32(doc), wanted), memory.mayContain(uint32(doc), wanted)
			if got != want || (pair <= doc%pairsPerDoc && !got) {
				t.Fatalf("document %d may contain pair %d: %v in the file, %v in memory", doc, pair, got, want)
			}
		}
	}
	if err := docs.Err(); err != nil {
		t.Error(err)
	}
}
