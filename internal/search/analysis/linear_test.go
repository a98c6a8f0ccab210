// Tests that the work grows only linearly with the size of a text: chunks are short, memory is linear, and an ended
// context is noticed soon.

package analysis

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/search/index"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// shapes contains the parts that the test texts repeat. They belong to texts of many scripts and to hostile texts.
var shapes = map[string]string{
	"Latin": "the harbor master ", "Cyrillic": "гавань и маяк ", "Greek": "λιμάνι και φάρος ", "Arabic": "ميناء ",
	"Hebrew":     "נמל ",
	"Devanagari": "बंदरगाह ", "Thai": "ท่าเรือและประภาคาร", "Han": "漢字東京港", "kana": "みなとカタカナ", "Hangul": "항구등대",
	"Georgian": "ნავსადგური ", "Armenian": "նավահանգիստ ",
	"one long word": "a", "camel": "fooBar", "camel with dots": "fooBar.", "hyphens": "a-", "apostrophes": "a'",
	"numbers": "1,", "slashes": "a/b.c/",
	"combining marks": "\u0301", "marks on letters": "a\u0301", "punctuation": ".,;:!", "alternating": "a漢",
	"emoji": "👩\u200d", "base64": "aGVsbG8gd29ybGQgdGhpcyBpcyBiYXNlNjQ", "bad bytes": "\xff\xe9",
}

func TestWorkIsLinear(t *testing.T) {
	testenv.SkipInShortMode(t)
	allocated := func(s string) uint64 {
		var before, after runtime.MemStats
		a := NewAnalyzer()
		runtime.ReadMemStats(&before)
		a.Doc([]Field{{"body", s, 16}})
		a.TermSequence(t.Context(), s)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for name, unit := range shapes {
		t.Run(name, func(t *testing.T) {
			small := strings.Repeat(unit, 2*maxChunkBytes/len(unit))
			large := small + small
			// The length of a chunk limits the work that is done for each chunk.
			for from, to := findNextChunk(large, 0); from < to; from, to = findNextChunk(large, to) {
				if to-from > maxChunkBytes+8 {
					t.Fatalf("a chunk has %d bytes, want at most about %d", to-from, maxChunkBytes)
				}
			}
			if one, two := allocated(small), allocated(large); float64(two) > 2.6*float64(one)+1<<16 {
				t.Errorf("%d bytes of text take %d bytes, twice as many take %d", len(small), one, two)
			}
		})
	}
}

// looked is a context whose method Err returns nil at the first call and context.Canceled at all later calls. The field
// looks is the number of calls.
type looked struct {
	context.Context
	looks int
}

func (c *looked) Err() error {
	c.looks++
	if c.looks > 1 {
		return context.Canceled
	}
	return nil
}

func TestCanceledAnalysisEnds(t *testing.T) {
	testenv.SkipInShortMode(t)
	for name, unit := range shapes {
		text := strings.Repeat(unit, 8*maxChunkBytes/len(unit))
		var part, all index.Document
		NewAnalyzer().SetDoc(&looked{Context: t.Context()}, &part, []Field{{"body", text, 16}})
		NewAnalyzer().SetDoc(t.Context(), &all, []Field{{"body", text, 16}})
		if all.WeightedLength > 100 && part.WeightedLength > all.WeightedLength/2 {
			t.Errorf("%s: a canceled analysis counts %d of %d words", name, part.WeightedLength, all.WeightedLength)
		}
	}
}
