// This file tests which pairs of texts are recognized as near-duplicates, and which pairs must not be recognized as
// near-duplicates.

package sametext

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

func TestNearDuplicates(t *testing.T) {
	for _, tt := range []struct {
		name  string
		texts []string
		want  []nearDuplicate
	}{
		{"nothing", nil, nil},
		{"the same", []string{"Tabs, not spaces.", "x", "tabs,  not\nspaces"}, []nearDuplicate{{2, 0, true}}},
		{
			"the same thrice",
			[]string{"We ship on Tuesdays", "We ship on Tuesdays.", "WE SHIP ON TUESDAYS"},
			[]nearDuplicate{{1, 0, true}, {2, 0, true}},
		},
		{
			"the shorter goes",
			[]string{"The user prefers dark mode", "The user prefers the dark mode in every editor"},
			[]nearDuplicate{{0, 1, false}},
		},
		{
			"whatever its place",
			[]string{"The user prefers the dark mode in every editor", "User prefers dark mode"},
			[]nearDuplicate{{1, 0, false}},
		},
		{
			"stop words and forms",
			[]string{"Anna likes walking her dogs", "Anna liked to walk the dog"},
			[]nearDuplicate{{1, 0, false}},
		},
		{
			"a chain ends at the longest",
			[]string{"Luna sees the vet", "Luna sees the vet Thursdays", "Luna sees the good vet Thursdays at noon"},
			[]nearDuplicate{{0, 2, false}, {1, 2, false}},
		},
		{
			"the same as what goes",
			[]string{"Luna sees the vet", "luna sees the vet.", "Luna sees the vet Thursdays"},
			[]nearDuplicate{{0, 2, false}, {1, 2, false}},
		},

		{
			"another day",
			[]string{
				"We ship the billing service on every Tuesday morning",
				"We ship the billing service on every Thursday morning",
			},
			nil,
		},
		{"another order", []string{"Luna chases Rex daily", "Rex chases Luna daily"}, nil},
		{"a negation", []string{"Commits are squashed before merge", "Commits are not squashed before merge"}, nil},
		{"a contraction", []string{"Builds run tests nightly", "Builds don't run tests nightly"}, nil},
		{"a negation in German", []string{"Anna trinkt morgens Kaffee", "Anna trinkt morgens nicht Kaffee"}, nil},
		{"a number", []string{"The server listens on port 8080", "The server listens on port 8081"}, nil},
		{"a number more", []string{"The server listens on port", "The server listens on port 80"}, nil},
		{"a symbol", []string{"Push main branch with force", "Push main branch with --force"}, nil},
		{"C and C++", []string{"Parser code stays in C forever", "Parser code stays in C++ forever"}, nil},
		{"a box that is ticked", []string{"[ ] Renew the passport online", "[x] Renew the passport online"}, nil},
		{"a minus", []string{"Default level value is 1", "Default level value is -1"}, nil},
		{
			"about more",
			[]string{"Anna likes tea", "Anna likes tea, lives in Oslo and has two dogs called Rex and Luna"},
			nil,
		},
		{"too few words", []string{"likes tea", "likes green tea"}, nil},
		{"no words", []string{"", "---", "", "***"}, nil},
		{"Han, only the same", []string{"我喜欢猫和狗", "我不喜欢猫和狗", "我喜欢猫和狗"}, []nearDuplicate{{2, 0, true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var texts []Passage
			for _, s := range tt.texts {
				texts = append(texts, Passage{Text: s})
			}
			if got := near(t, texts); !slices.Equal(got, tt.want) {
				t.Errorf("NearDuplicates(%q) = %+v, want %+v", tt.texts, got, tt.want)
			}
		})
	}
}

// TestNearDuplicatesHeading checks that short texts are duplicates only if they have the same heading.
func TestNearDuplicatesHeading(t *testing.T) {
	texts := []Passage{
		{Text: "none", Heading: "Allergies"},
		{Text: "none", Heading: "Projects"},
		{Text: "None.", Heading: "Projects"},
		{Text: "Prefers dark mode always", Heading: "User"}, {Text: "prefers dark mode always", Heading: "Editor"},
		// five words, of which three are stop words
		{Text: "the same text here now", Heading: "a"}, {Text: "The same text here now.", Heading: "b"},
		{Text: "dark mode", Heading: "a"}, {Text: "dark mode", Heading: "b"},
		{Text: "我喜欢猫和狗", Heading: "a"}, {Text: "我喜欢猫和狗", Heading: "b"}, {Text: "猫和狗", Heading: "a"},
		{Text: "猫和狗", Heading: "b"},
	}
	if got, want := near(t, texts), []nearDuplicate{
		{2, 1, true},
		{4, 3, true},
		{6, 5, true},
		{10, 9, true},
	}; !slices.Equal(got, want) {
		t.Errorf("NearDuplicates() = %+v, want %+v", got, want)
	}
}

func TestNearDuplicatesWeight(t *testing.T) {
	texts := []Passage{
		{Text: "We ship on Tuesdays"},
		{Text: "we ship on tuesdays", KeepPriority: 1},
		{Text: "We ship on Tuesdays."},
	}
	if got, want := near(t, texts), []nearDuplicate{{0, 1, true}, {2, 1, true}}; !slices.Equal(got, want) {
		t.Errorf("NearDuplicates() = %+v, want %+v", got, want)
	}
}

// TestNearDuplicatesByChance tests findAllDuplicates with texts of random words and a last text that is a part of text
// 17. The numbers of comparisons must not exceed their limits. If few pairs of texts need a comparison of their words,
// as in the first case, the part must be found, although many texts have the same rarest word.
func TestNearDuplicatesByChance(t *testing.T) {
	testenv.SkipInShortMode(t)
	for _, tt := range []struct {
		name                 string
		texts, length, words int
		compared             int // maximum number of pairs whose words are compared
	}{
		{"of many words", 8_000, 40, 500, 80},
		{"of few words", 40_000, 10, 20, 40_000 * maxComparisonsPerText},
		{"of the same words", 4_000, 40, 10, 4_000 * maxComparisonsPerText},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			texts := make([]Passage, tt.texts)
			for i := range texts {
				for range tt.length {
					n := r.IntN(tt.words)
					texts[i].Text += string([]byte{'k' + byte(n/100), 'k' + byte(n/10%10), 'k' + byte(n%10), ' '})
				}
			}
			texts = append(texts, Passage{Text: texts[17].Text[4:]})
			d := duplicateSearch{replacementByDroppedText: map[int]int{}, isExactByDroppedText: map[int]bool{}}
			if err := d.findAllDuplicates(t.Context(), texts, nil); err != nil {
				t.Fatal(err)
			}
			if at, ok := d.replacementByDroppedText[tt.texts]; tt.compared < tt.texts && (!ok || at != 17) {
				t.Errorf("the part of text 17 keeps %d, %t", at, ok)
			}
			if d.bitSetComparisons > tt.texts*maxBitSetComparisons || d.wordComparisons > tt.compared {
				t.Errorf(
					"looked at %d pairs, compared %d; at most %d and %d",
					d.bitSetComparisons,
					d.wordComparisons,
					tt.texts*maxBitSetComparisons,
					tt.compared,
				)
			}
		})
	}
}

// TestNearDuplicatesAfterCanceledSearch tests that a search whose context is done does not affect later
// searches, which use the cached words of earlier searches.
func TestNearDuplicatesAfterCanceledSearch(t *testing.T) {
	texts := []Passage{{Text: "Seven canceled zebras crossed rivers"}, {Text: "seven canceled zebras crossed"}}
	want := []nearDuplicate{{1, 0, false}}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		if _, err := FindNearDuplicates(canceled, texts, nil); err == nil {
			t.Error("a canceled search succeeded")
		}
		if got := near(t, texts); !slices.Equal(got, want) {
			t.Errorf("NearDuplicates() = %+v, want %+v", got, want)
		}
	}
}

// TestNearDuplicatesWithFullWidthDigits tests that the digits of a negation may be full-width digits in one of the
// texts, because negations are compared without character width.
func TestNearDuplicatesWithFullWidthDigits(t *testing.T) {
	texts := []Passage{{Text: "release ５isn't for old boxes"}, {Text: "release 5isn't for old boxes"}}
	if got, want := near(t, texts), []nearDuplicate{{1, 0, false}}; !slices.Equal(got, want) {
		t.Errorf("NearDuplicates() = %+v, want %+v", got, want)
	}
}

// TestConcurrentSearches makes many searches at the same time. They share the analyzers of finished searches, and must
// find the same duplicates as a single search.
func TestConcurrentSearches(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	inputs := make([][]Passage, 40)
	want := make([][]nearDuplicate, len(inputs))
	for i := range inputs {
		for range 2 + rng.IntN(40) {
			words := make([]string, 20)
			for k := range words {
				words[k] = fmt.Sprintf("w%d", rng.IntN(4+i))
			}
			inputs[i] = append(inputs[i], Passage{Text: strings.Join(words, " ")})
		}
		inputs[i] = append(inputs[i], Passage{Text: strings.ToUpper(inputs[i][0].Text)})
		want[i] = near(t, inputs[i])
	}
	var searches sync.WaitGroup
	for worker := range 16 {
		searches.Go(func() {
			for k := range 200 {
				i := (worker*7 + k) % len(inputs)
				if got := near(t, inputs[i]); !slices.Equal(got, want[i]) {
					t.Errorf("input %d has the duplicates %+v, want %+v", i, got, want[i])
					return
				}
			}
		})
	}
	searches.Wait()
}

// TestReusedAnalyzer tests that the numbers that an analyzer gives to stems depend only on the texts of the current
// search, so that earlier searches need no memory in it.
func TestReusedAnalyzer(t *testing.T) {
	c := textAnalyzers.New().(*textAnalyzer)
	c.beginSearch()
	c.analyzeText(t.Context(), 0, Passage{Text: "alpha beta gamma delta"})
	c.beginSearch()
	s := c.analyzeText(t.Context(), 0, Passage{Text: "delta epsilon beta delta"})
	if want := []uint32{0, 1, 2, 0}; !slices.Equal(s.stemNumbers, want) || c.searchStemCount != 3 {
		t.Errorf("the stems have the numbers %d of %d, want %d of 3", s.stemNumbers, c.searchStemCount, want)
	}
}

// FuzzNearDuplicates checks the pairs of a dropped text and the text that is kept for it. No text may be dropped twice.
// A text that is kept must not be dropped by another pair. Both texts of a pair must contain each digit equally often.
// A second call must return the same pairs.
func FuzzNearDuplicates(f *testing.F) {
	f.Add("a b c d\na b c\nA B C d.\nnot a b c d\n")
	f.Add("We ship on Tuesdays\nwe ship on tuesdays\nWe ship on Tuesdays and Fridays\nport 80\nport 81\n猫\n猫")
	f.Fuzz(func(t *testing.T, s string) {
		lines := strings.Split(s, "\n")
		texts := make([]Passage, len(lines))
		for i, l := range lines {
			texts[i] = Passage{Text: l, Heading: fmt.Sprint(i % 2), KeepPriority: i % 3}
		}
		dups := near(t, texts)
		gone := map[int]bool{}
		for _, w := range dups {
			if gone[w.DroppedIndex] {
				t.Fatalf("%d is dropped twice", w.DroppedIndex)
			}
			gone[w.DroppedIndex] = true
		}
		for _, w := range dups {
			if gone[w.KeptIndex] || w.KeptIndex == w.DroppedIndex {
				t.Fatalf("%d is dropped for %d, which is dropped", w.DroppedIndex, w.KeptIndex)
			}
			for _, digit := range "0123456789" {
				if strings.Count(
					lines[w.DroppedIndex],
					string(digit),
				) != strings.Count(
					lines[w.KeptIndex],
					string(digit),
				) {
					t.Fatalf("%q is dropped for %q", lines[w.DroppedIndex], lines[w.KeptIndex])
				}
			}
		}
		if again := near(t, texts); !slices.Equal(again, dups) {
			t.Fatalf("once %v, then %v", dups, again)
		}
	})
}

func BenchmarkNearDuplicates(b *testing.B) {
	var texts []Passage
	for i := range 10_000 {
		texts = append(
			texts,
			Passage{
				Text: fmt.Sprintf(
					"Fact %d about project%c and word%d that person%d told somebody at place%d",
					i,
					'a'+i%26,
					i%97,
					i%31,
					i%11,
				),
			},
		)
	}
	for b.Loop() {
		near(b, texts)
	}
}

func near(t testing.TB, texts []Passage) []nearDuplicate {
	t.Helper()
	dups, err := FindNearDuplicates(context.Background(), texts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return dups
}

func TestFold(t *testing.T) {
	for _, pair := range [][2]string{
		{"We ship\n on  Tuesdays ", "we ship on tuesdays"},
		{"Straße\tÄ", "straße ä"},
		{" \n", ""},
		{"We ship.", "we ship."},
	} {
		if got := NormalizeText(pair[0]); got != pair[1] {
			t.Errorf("Fold(%q) = %q, want %q", pair[0], got, pair[1])
		}
	}
}
