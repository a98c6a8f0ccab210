// This file tests the search for words that are similar to an unknown word.

package ranking

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/idset"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// wordMaker makes random words of a dictionary.
type wordMaker struct {
	name    string
	letters string
	prefix  string // beginning of most words
	length  int    // maximum number of random letters
}

var wordMakers = []wordMaker{
	{"few letters", "abn", "", 9},
	{"many letters", "abcdefghijklmnopqrstuvwxyz", "", 5},
	{"numbers and words", "0123456789aei", "", 8},
	{"common prefix", "abcde", "constantinople", 4},
	{"long words", "ab", strings.Repeat("xyz", 60), 150},
	{"long common prefix", "ab", strings.Repeat("q", 63), 4},
	{"Chinese", "世界中国人民大学的一是", "", 3},
	{"several scripts", "aébñ世界дДÉAİKk\u212a", "", 6},
	{"Cyrillic", "абвгдежз", "", 7},
}

func (w wordMaker) word(rng *rand.Rand) string {
	letters := []rune(w.letters)
	var b strings.Builder
	if rng.IntN(10) > 0 {
		b.WriteString(w.prefix)
	}
	for range rng.IntN(w.length + 1) {
		b.WriteRune(letters[rng.IntN(len(letters))])
	}
	return b.String()
}

// misspell returns a word with a few changes, or parts of two words.
func misspell(rng *rand.Rand, word, other string) string {
	r := []rune(word)
	for range rng.IntN(4) {
		i := rng.IntN(len(r) + 1)
		switch {
		case i == len(r) || rng.IntN(3) == 0:
			r = slices.Insert(r, i, []rune("aq世")[rng.IntN(3)])
		case rng.IntN(2) == 0:
			r = slices.Delete(r, i, i+1)
		case i > 0:
			r[i-1], r[i] = r[i], r[i-1]
		}
	}
	switch rng.IntN(8) {
	case 0:
		return string(r[:rng.IntN(len(r)+1)])
	case 1:
		return string(r[rng.IntN(len(r)+1):])
	case 2:
		return string(r) + other
	}
	return string(r)
}

// TestSimilarWords compares the similar words with those that a comparison with each word finds, in random
// dictionaries. The index is built in memory, opened from a snapshot, changed, and searched for an earlier state.
func TestSimilarWords(t *testing.T) {
	for i, w := range wordMakers {
		t.Run(w.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, uint64(i)))
			words := []string{KeywordTerm("tag", "aaa"), datePrefix + "2026-01-01"}
			for range 3000 {
				if word := w.word(rng); word != "" {
					words = append(words, word)
				}
			}
			document := func(id int) *index.Document {
				d := index.DocumentOfWords(0, words[id%len(words):min(id%len(words)+2, len(words))])
				d.ID = uint64(id)
				return &d
			}
			x := index.New(BM25Params(OxbowRanking))
			x.FillEmptyIndex(func(yield func(*index.Document) bool) {
				for id := range len(words) {
					yield(document(id))
				}
			}, nil)
			found := compareSimilarWords(t, rng, x.Searcher(), words)

			var file memoryFile
			size, err := x.Searcher().WriteSnapshot(&file, 0)
			if err != nil {
				t.Fatal(err)
			}
			y, err := index.OpenSnapshot(bytes.NewReader(file), size, BM25Params(OxbowRanking))
			if err != nil {
				t.Fatal(err)
			}
			found += compareSimilarWords(t, rng, y.Searcher(), words)

			var changes []index.Change
			for id := range len(words) {
				switch rng.IntN(3) {
				case 0:
					changes = append(changes, index.Change{ID: uint64(id), Old: document(id)})
				case 1:
					d := index.DocumentOfWords(0, []string{w.word(rng) + "q"})
					changes = append(changes, index.Change{ID: uint64(len(words) + id), Document: &d})
					d.ID = uint64(len(words) + id)
				}
			}
			y.Apply(changes...)
			y.WaitForMerges()
			found += compareSimilarWords(t, rng, y.Searcher(), words)

			var changed idset.Set
			for id := range 1000 {
				changed.Add(uint64(id * 2))
			}
			earlier := y.Searcher().EarlierSearcher(index.EarlierState{
				ChangedIDs: &changed,
				Documents:  func(yield func(*index.Document) bool) { yield(document(4)) },
			})
			found += compareSimilarWords(t, rng, earlier, words)
			if found < 100 {
				t.Errorf("only %d similar words", found)
			}
		})
	}
}

// compareSimilarWords compares the words that are similar to random words, and returns how many there are.
func compareSimilarWords(t *testing.T, rng *rand.Rand, x *index.Searcher, words []string) (found int) {
	t.Helper()
	v := NewScorer(OxbowRanking, nil).ViewOfSearcher(t.Context(), x, nil)
	vocabulary := make([]string, 0, len(words))
	for word := range v.Vocabulary("") {
		vocabulary = append(vocabulary, word)
	}
	for range 60 {
		word := misspell(rng, words[rng.IntN(len(words))], words[rng.IntN(len(words))])
		limit := 1 + rng.IntN(4)
		got, want := v.SimilarWords(word, limit), compareAll(word, slices.Values(vocabulary), limit)
		if !slices.Equal(got, want) {
			t.Errorf("%d words similar to %q: %q, want %q", limit, word, got, want)
		}
		found += len(want)
	}
	if x.Err() != nil {
		t.Fatal(x.Err())
	}
	return found
}

// compareAll is like text.FindSimilar, but compares each candidate completely.
func compareAll(word string, candidates iter.Seq[string], limit int) []string {
	similar := text.NewSimilarTexts(word, limit)
	for candidate := range candidates {
		similar.Add(candidate)
	}
	return similar.Texts()
}

// memoryFile is a file that exists only in memory.
type memoryFile []byte

func (f *memoryFile) WriteAt(b []byte, at int64) (int, error) {
	if at < 0 {
		return 0, fmt.Errorf("%w: offset %d", io.ErrShortWrite, at)
	}
	if more := int(at) + len(b) - len(*f); more > 0 {
		*f = append(*f, make([]byte, more)...)
	}
	return copy((*f)[at:], b), nil
}

// readCounter counts the reads from a file, and calls afterRead after each.
type readCounter struct {
	io.ReaderAt
	reads     int
	afterRead func()
}

func (r *readCounter) ReadAt(b []byte, at int64) (int, error) {
	r.reads++
	n, err := r.ReaderAt.ReadAt(b, at)
	r.afterRead()
	return n, err
}

// TestSimilarWordsEnd cancels a search for similar words after the first read from the index file. The search must not
// read further batches of terms, although no term of these batches is compared with the word. A listing of all words
// must end, too.
func TestSimilarWordsEnd(t *testing.T) {
	x := index.New(BM25Params(OxbowRanking))
	x.FillEmptyIndex(func(yield func(*index.Document) bool) {
		for id := range 4000 {
			d := index.DocumentOfWords(0, []string{fmt.Sprint("word", id, strings.Repeat("z", 200))})
			d.ID = uint64(id)
			yield(&d)
		}
	}, nil)
	var file memoryFile
	size, err := x.Searcher().WriteSnapshot(&file, 0)
	if err != nil {
		t.Fatal(err)
	}
	reader := &readCounter{ReaderAt: bytes.NewReader(file)}
	reader.afterRead = func() {}
	y, err := index.OpenSnapshot(reader, size, BM25Params(OxbowRanking))
	if err != nil {
		t.Fatal(err)
	}
	for _, use := range []func(*View){
		func(v *View) { v.SimilarWords("harbour", 3) },
		func(v *View) {
			for range v.Vocabulary("") {
			}
		},
	} {
		reads := func(ctx context.Context, afterRead func()) int {
			reader.reads, reader.afterRead = 0, afterRead
			use(NewScorer(OxbowRanking, nil).ViewOfSearcher(ctx, y.Searcher(), nil))
			return reader.reads
		}
		all := reads(t.Context(), func() {})
		ctx, cancel := context.WithCancel(t.Context())
		if n := reads(ctx, cancel); n > all/2 || n == 0 {
			t.Errorf("%d reads after the context was canceled, %d without", n, all)
		}
	}
	if y.Searcher().Err() != nil {
		t.Fatal(y.Searcher().Err())
	}
}
