// Package growth tests that an operation costs at most 2.6 times as much if its text is twice as long,
// whatever the text contains.
package growth

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
	"github.com/oxbow-memory/oxbow/internal/base/termtext"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/screening/personal"
	"github.com/oxbow-memory/oxbow/internal/search/analysis"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/search/sametext"
	"github.com/oxbow-memory/oxbow/internal/tree/exchange"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/query"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"

	"go.yaml.in/yaml/v3"
)

// timed enables the comparison of processor time, which is the only measure for code that does not
// allocate. It needs a machine without other load.
var timed = flag.Bool("timed", false, "compare processor time, too")

const (
	smallest = 16 << 10 // bytes
	doubled  = 2        // The text is doubled this number of times, up to 64 KiB.
	most     = 2.6      // maximum factor of the cost if the text is twice as long

	// Costs below these limits are not compared.
	floorBytes = 8 << 20
	floorTime  = 250 * time.Millisecond
)

// shapes contains short texts, by name. The tests repeat a short text until it has the necessary length. The short
// texts are in many scripts, and some are hostile, which means that they could make an operation slow. A counter
// replaces %d.
var shapes = map[string]string{
	"Latin": "the harbor master ", "Cyrillic": "гавань и маяк ", "Greek": "λιμάνι και φάρος ", "Arabic": "ميناء ",
	"Hebrew":     "נמל ",
	"Devanagari": "बंदरगाह ", "Thai": "ท่าเรือและประภาคาร", "Han": "漢字東京港", "kana": "みなとカタカナ", "Hangul": "항구등대",
	"Georgian": "ნავსადგური ", "Armenian": "նավահանգիստ ",
	"one long word": "a", "combining marks": "\u0301", "punctuation": ".,;:!", "alternating": "a漢",
	"joined emoji": "👩\u200d",
	"URL":          "/path%%20a?b=c&d", "base64": "aGVsbG8gd29ybGQgdGhpcyBpcyBiYXNlNjQ", "bad bytes": "\xff\xe9",
	"filter terms": "tag:a%d ", "misspelt filter terms": "projct:a%d ", "one filter term": "a%d,",
	"unknown words": "zq%dx ", "letters": "zqx%[1]dq%[1]c ",
	"numbers": "%d ", "negations": "not never ", "dates": "last 3 days ago ", "quotes": `"`, "quoted": `"a" `,
	"escaped quotes": `\" `, "quotes that open": `-"\`,
	"brackets": "[", "braces": `{"a":`, "parentheses": "(", "equal lines": "a\n", "two lines": "a\nb\n",
	"lines": "line %d\n", "empty lines": "\n",
	"headings": "# a\n", "deep headings": "## a%d\n\ntext\n\n", "list": "- a\n", "nested list": "  ",
	"fences": "```\n", "tags": "#a ", "code": "`",
	"keys": "key%d: value\n", "anchors": "a: &a [*a]\n", "stars": "*a",
	"cards": "4111 ", "accounts": "DE89 ", "addresses": "a@b.", "signs": "@", "local parts": "a.",
	"JSON keys": `"a%d":1,`, "escapes": `\u00e9`,
}

// fill returns a text of at least size bytes that repeats unit. If unit contains "%", it is a format, and the number of
// the repetition is inserted.
func fill(unit string, size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		if strings.Contains(unit, "%") {
			fmt.Fprintf(&b, unit, i)
		} else {
			b.WriteString(unit)
		}
	}
	return b.String()
}

// cost is the cost of a call.
type cost struct {
	bytes uint64        // allocated bytes
	time  time.Duration // processor time of the process, or elapsed time if that is unknown
}

// measure calls fn several times. It returns the lowest number of allocated bytes and the lowest processor time, which
// may be from different calls. If the flag timed is set, the time does not include garbage collection.
func measure(calls int, fn func()) cost {
	least := cost{math.MaxUint64, math.MaxInt64}
	if *timed {
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
	}
	for range calls {
		if *timed {
			runtime.GC()
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := testenv.ProcessorTime()
		fn()
		spent := testenv.ProcessorTime() - start
		runtime.ReadMemStats(&after)
		least = cost{min(least.bytes, after.TotalAlloc-before.TotalAlloc), min(least.time, spent)}
	}
	return least
}

// grows describes the growth if the cost grows faster than the input, and returns "" otherwise.
func grows(work func(size int) func()) string {
	// Skip operations that allocate little even for the largest text.
	var largest cost
	if !*timed {
		largest = measure(1, work(smallest<<doubled))
		if largest.bytes <= floorBytes {
			return ""
		}
	}
	why := ""
	for calls := range 6 { // measure more calls each time, because a collection empties pools
		one := measure(1+calls, work(smallest))
		why = ""
		for size := smallest << 1; size <= smallest<<doubled; size <<= 1 {
			two := largest // the cost of one call was already measured
			if *timed || calls > 0 || size < smallest<<doubled {
				two = measure(1+calls, work(size))
			}
			if two.bytes > floorBytes && float64(two.bytes) > most*float64(one.bytes) {
				why = fmt.Sprintf("%d bytes allocate %d, half as many %d", size, two.bytes, one.bytes)
			}
			if *timed && two.time > floorTime && two.time.Seconds() > most*one.time.Seconds() {
				why = fmt.Sprintf("%d bytes take %v, half as many %v", size, two.time, one.time)
			}
			if why != "" && *timed && two.time > 4*floorTime && two.time > 7*one.time/2 {
				return why // the difference is clear
			}
			one = two
		}
		if why == "" {
			break
		}
	}
	return why
}

var kept string // keeps the compiler and linters from removing the work

// memory returns a memory with 20 entries. The operations on queries search in it.
var memory = sync.OnceValue(func() *oxbow.Memory {
	m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	for i := range 20 {
		if err == nil {
			_, err = m.Remember(
				context.Background(),
				oxbow.Entry{
					Name:    fmt.Sprint("entry ", i),
					Content: "the harbor master of the lighthouse",
					Labels:  []oxbow.Label{{Key: "tag", Value: fmt.Sprint("a", i)}},
				},
			)
		}
	}
	if err != nil {
		panic(err)
	}
	return m
})

// The map works contains the operations whose cost is tested, by name. The argument s is the text that an operation
// processes. The cost must not grow much faster than this text.
var works = map[string]func(ctx context.Context, s string){
	"analyzer": func(ctx context.Context, s string) {
		var doc index.Document
		analysis.NewAnalyzer().SetDoc(ctx, &doc, []analysis.Field{{Text: s, Weight: 16}})
		analysis.NewAnalyzer().TermSequence(ctx, s)
	},
	"crabtalk": func(_ context.Context, s string) { text.CrabtalkTerms(s); text.OldCrabtalkTerms(s) },
	"snippet": func(_ context.Context, s string) {
		text.Snippet(s, text.CrabtalkTerms(s), 300)
		text.Snippet(s, nil, len(s)/2)
	},
	"excerpt": func(_ context.Context, s string) { text.Excerpt(s, text.CrabtalkTerms(s), 300) },
	"screen": func(_ context.Context, s string) {
		for _, line := range termtext.WrapAtWords(termtext.EscapeHarmfulRunes(s), 40) {
			kept = termtext.ShortenToColumns(line, 20)
		}
	},
	"clip": func(_ context.Context, s string) {
		kept = text.TruncateWithEllipsis(s, len(s)/2) + text.TruncateBytes(s, len(s)/2)
		text.MakeSlug(s)
	},
	"tokens": func(_ context.Context, s string) {
		text.EstimateTokens(s)
		prompt.EstimateTokens(s)
		prompt.FenceText("x", s)
	},
	"nearest": func(_ context.Context, s string) {
		text.FindSimilar("x"+s+"x", slices.Values([]string{"y" + s + "y", "yx" + s}), 2)
	},
	"nearest of words": func(_ context.Context, s string) {
		text.FindSimilar("lantern", slices.Values(strings.Fields(s)), 2)
	},
	"correction": func(_ context.Context, s string) { analysis.CorrectSpelling(s, func(string) int { return 0 }) },
	"near-duplicates": func(ctx context.Context, s string) {
		_, _ = sametext.FindNearDuplicates(ctx, []sametext.Passage{{Text: s}, {Text: s + " more"}, {Text: "some " +
			s}}, nil)
	},
	"near-duplicates of lines": func(ctx context.Context, s string) {
		var ps []sametext.Passage
		for l := range strings.Lines(s) {
			ps = append(ps, sametext.Passage{Text: "three words more of " + l})
		}
		_, _ = sametext.FindNearDuplicates(ctx, ps, nil)
	},
	"query": func(_ context.Context, s string) { _, _ = query.Parse(s, time.Unix(0, 0)) },
	"personal data": func(_ context.Context, s string) {
		personal.FindPersonalData(s)
		personal.FindKinds(s)
		kept = personal.Redact(s, personal.AllKinds())
	},
	"filter": func(_ context.Context, s string) { _, _ = query.ParseFilter(s, time.Unix(0, 0)) },
	"recall": func(ctx context.Context, s string) {
		if q, err := query.Parse(s, time.Unix(0, 0)); err == nil {
			_, _ = memory().Recall(ctx, q)
			_, _ = memory().Diagnose(ctx, q)
		}
	},
	"front matter": func(_ context.Context, s string) {
		frontmatter.SplitFrontMatter("---\n" + s + "\n---\n")
		r := frontmatter.MappingReader{File: "x"}
		if n := r.ReadMapping(s); n != nil {
			frontmatter.EditKeys(s, "\n", n, []string{"a"}, func(string, *yaml.Node) (string, bool) {
				return "a: b\n", true
			})
		}
	},
	"Markdown": func(_ context.Context, s string) {
		for range exchange.ReadMarkdown(
			strings.NewReader(s),
			"x.md",
			&exchange.ReadOptions{Format: exchange.Obsidian},
		) {
		}
	},
	"arguments": func(ctx context.Context, s string) {
		w := &verb.Workspace{Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) {
			return nil, oxbow.ErrClosed
		}}
		quoted, _ := json.Marshal(s)
		for _, t := range verb.Tools() {
			if t.Name == "recall" || t.Name == "list" {
				for _, args := range []string{s, "{" + s + `"z":1}`, `{"tags":` + s, `{"query":` + string(quoted) +
					`}`, `{"tags":` + string(quoted) + `}`} {
					_, _ = t.CallForModel(ctx, w, json.RawMessage(args))
				}
			}
		}
	},
	"merge": func(_ context.Context, s string) {
		lines := slices.Collect(strings.Lines(s))
		slices.Reverse(lines)
		diff.MergeLines(s, s+"ours\n", "theirs\n"+s)
		diff.MergeLines(s, strings.Join(lines, ""), strings.ReplaceAll(s, "a", "b"))
	},
}

func TestWorkGrowsWithTheText(t *testing.T) {
	if testing.Short() {
		t.Skip("go test without -short runs it: it is for one goroutine, and the race detector allocates by itself")
	}
	for name, work := range works {
		t.Run(name, func(t *testing.T) {
			for shape, unit := range shapes {
				why := grows(func(size int) func() {
					s := fill(unit, size)
					return func() { work(t.Context(), s) }
				})
				if why != "" {
					t.Errorf("%s: %s", shape, why)
				}
			}
		})
	}
}

// TestNearDuplicatesGrowWithTheTexts tests that the cost of FindNearDuplicates grows linearly with the number of
// passages, if the words of the passages are chosen at random.
func TestNearDuplicatesGrowWithTheTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("go test without -short runs it, as TestWorkGrowsWithTheText")
	}
	why := grows(func(size int) func() {
		r, ps := rand.New(rand.NewPCG(1, 2)), make([]sametext.Passage, size/2)
		for i := range ps {
			for range 20 {
				ps[i].Text += fmt.Sprintf("%c%c ", 'a'+r.IntN(20), 'a'+r.IntN(10))
			}
		}
		return func() { _, _ = sametext.FindNearDuplicates(t.Context(), ps, nil) }
	})
	if why != "" {
		t.Error(why)
	}
}

// The measurement detects quadratic cost, with and without allocations.
func TestQuadraticWorkIsSeen(t *testing.T) {
	for name, work := range map[string]func(s string) int{
		"concatenation": func(s string) int {
			all := ""
			for part := range slices.Chunk([]byte(s), 64) {
				all += string(part)
			}
			return len(all)
		},
		"comparison": func(s string) (n int) {
			for i := range len(s) {
				for j := range i / 4 {
					n += cmp.Compare(s[i], s[j])
				}
			}
			return n
		},
	} {
		if name == "comparison" && !*timed {
			continue // it does not allocate
		}
		sum := 0
		if grows(func(size int) func() { s := fill("abc", size); return func() { sum += work(s) } }) == "" {
			t.Errorf("quadratic %s is taken for linear (%d)", name, sum)
		}
	}
}
