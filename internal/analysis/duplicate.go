// Near-duplicates: of short texts, the ones that another makes superfluous. Words
// count and meaning does not, and the rule is careful: a text is never the
// duplicate of one that lacks any of its words, has them in another order, or
// differs in a number, a symbol or a negation.

package analysis

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"unicode"
)

// Passage is one of the texts that are compared.
type Passage struct {
	Text string
	// Heading is what the text stands below. Texts of fewer than three words
	// have duplicates under the same one only.
	Heading string
	// Weight decides which of two equal texts stays: the heavier, and of equal
	// weights the first.
	Weight int
}

// nearDuplicate is a text that can go because another stays.
type nearDuplicate struct {
	Drop, Keep int  // indices; what is kept is never dropped itself
	Exact      bool // the same but for white space, letter case, and a period at the end
}

const (
	// fewWords is the least words, stop words not counted, of a text that is
	// compared by its words, and across headings.
	fewWords = 3

	// Of the words of the longer text, the shorter has at least this part.
	// With less in common the longer is about more than the shorter.
	partOf, partBase = 3, 5

	// mostCompared is how many longer texts a text is compared with, of those
	// that hold its rarest word: texts made by one pattern all do.
	mostCompared = 256
)

// sample is a text as it is compared.
type sample struct {
	index   int
	passage Passage
	same    string // what equal texts have in common
	words   []int  // stems in order by number, without stop words; nil when it is not compared by them
	few     bool   // of fewer than fewWords words
	sharps  string // what must be equal to the letter
}

// duplicates collects, by the text that goes, the text that stays.
type duplicates struct {
	keep  map[int]int
	exact map[int]bool
}

// NearDuplicates returns the texts that can go, in order of Drop. The result
// depends on the texts only.
//
// Next to equal texts, a text is the duplicate of a longer one when its words,
// as stems and without stop words, all stand in that one, in their order, at
// least three of them and three fifths of the longer one's, and when both have
// the same numbers, the same words with symbols in them, and the same
// negations. Texts of scripts that are written without spaces between words have
// equal duplicates only. Of very many texts that share all of their words, not
// all pairs are compared. The error is that of a context that is done.
func NearDuplicates(ctx context.Context, texts []Passage) ([]nearDuplicate, error) {
	a, numbers := NewAnalyzer(), map[string]int{}
	samples := make([]*sample, len(texts))
	for i, t := range texts {
		samples[i] = newSample(ctx, a, numbers, i, t)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	d := duplicates{map[int]int{}, map[int]bool{}}
	if err := d.findContained(ctx, d.findEqual(samples), len(numbers)); err != nil {
		return nil, err
	}
	return d.list(), nil
}

// findEqual finds equal texts and returns one of each.
func (d *duplicates) findEqual(samples []*sample) []*sample {
	samples = slices.Clone(samples)
	slices.SortStableFunc(samples, func(a, b *sample) int { return cmp.Compare(b.passage.Weight, a.passage.Weight) })
	first := map[string]*sample{}
	var left []*sample
	for _, s := range samples {
		key := s.same
		if s.few {
			key += "\x00" + s.passage.Heading
		}
		if f := first[key]; f != nil && s.same != "" {
			d.keep[s.index], d.exact[s.index] = f.index, true
			continue
		}
		first[key] = s
		left = append(left, s)
	}
	return left
}

// findContained finds the texts whose words a longer one has. The longest come
// first, so that the fate of every longer text is known. The words are numbers
// below count.
func (d *duplicates) findContained(ctx context.Context, samples []*sample, count int) error {
	samples = slices.DeleteFunc(samples, func(s *sample) bool { return s.words == nil })
	slices.SortFunc(samples, func(a, b *sample) int {
		return cmp.Or(cmp.Compare(len(b.words), len(a.words)), cmp.Compare(len(b.same), len(a.same)), cmp.Compare(a.index, b.index))
	})
	frequency, last := make([]int, count), make([]int, count) // last: the sample that had the word last, from 1
	for i, s := range samples {
		for _, w := range s.words {
			if last[w] != i+1 {
				last[w] = i + 1
				frequency[w]++
			}
		}
	}
	type key struct{ word, sharps int } // a number each, as the text is as long as the sample
	keys := make([]key, len(samples))   // of each sample: its rarest word
	asked := make([]bool, count)
	numbers := map[string]int{}
	for i, s := range samples {
		keys[i].word = slices.MinFunc(s.words, func(a, b int) int { return cmp.Compare(frequency[a], frequency[b]) })
		asked[keys[i].word] = frequency[keys[i].word] > 1
		sharps, ok := numbers[s.sharps]
		if !ok {
			sharps = len(numbers)
			numbers[s.sharps] = sharps
		}
		keys[i].sharps = sharps
	}
	clear(last)
	holders := map[key][]*sample{} // of the words that are asked for, the longest first
	for i, s := range samples {
		if err := ctx.Err(); err != nil {
			return err
		}
		longer := holders[keys[i]]
		longer = longer[sort.Search(len(longer), func(i int) bool { return len(s.words)*partBase >= len(longer[i].words)*partOf }):]
		for _, l := range longer[:min(len(longer), mostCompared)] {
			if s.inside(l) {
				d.keep[s.index] = l.index
				break
			}
		}
		for _, w := range s.words {
			if asked[w] && last[w] != i+1 {
				last[w] = i + 1
				k := key{w, keys[i].sharps}
				holders[k] = append(holders[k], s)
			}
		}
	}
	return nil
}

// list follows the chains of duplicates to the texts that stay.
func (d *duplicates) list() []nearDuplicate {
	var all []nearDuplicate
	for drop, k := range d.keep {
		for next, gone := d.keep[k]; gone; next, gone = d.keep[k] {
			k, d.exact[drop] = next, d.exact[drop] && d.exact[k]
		}
		all = append(all, nearDuplicate{drop, k, d.exact[drop]})
	}
	slices.SortFunc(all, func(a, b nearDuplicate) int { return cmp.Compare(a.Drop, b.Drop) })
	return all
}

func distinct(words []string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// around is what is cut off at both ends of a word: marks of sentences, quotes
// and emphasis.
const around = ".,;:!?\"'()*_`“”‘’«»…"

// negations turn what a text says into its opposite. Each counts.
var negations = distinct(strings.Fields(`not no never none nobody nothing neither nor without except unless cannot cant dont
	isnt arent wasnt doesnt didnt wont shouldnt mustnt nt stop stopped instead
	nicht kein keine keinen nie ohne pas jamais sans ne non nunca sin geen niet ikke inte bez не нет без`))

// unspaced are scripts that are written without spaces between words, all of
// them at or above firstUnspaced.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

const firstUnspaced = 0xe00

// newSample analyzes a text. Numbers are those of the words that came before.
func newSample(ctx context.Context, a *Analyzer, numbers map[string]int, index int, t Passage) *sample {
	s := &sample{index: index, passage: t}
	chunks := strings.Fields(strings.ToLower(t.Text))
	s.same = strings.TrimRight(strings.Join(chunks, " "), ".")
	s.few = true
	for _, r := range t.Text {
		if r >= firstUnspaced && unicode.In(r, unspaced...) {
			return s
		}
	}
	var words, sharps []string
	for c := range strings.FieldsSeq(t.Text) {
		if ctx.Err() != nil {
			return s
		}
		c = strings.Trim(c, around)
		plain := strings.Map(func(r rune) rune {
			if r == '\'' || r == '’' {
				return -1
			}
			return r
		}, Fold(c))
		switch {
		case negations[plain] || strings.HasSuffix(plain, "nt") && plain != Fold(c):
			sharps = append(sharps, plain)
		case isSharp(c):
			sharps = append(sharps, c)
		}
		words = append(words, a.Sequence(ctx, c)...)
	}
	words = slices.DeleteFunc(words, IsStopWord)
	s.few = len(words) < fewWords
	for _, w := range words {
		if s.few {
			break
		}
		n, ok := numbers[w]
		if !ok {
			n = len(numbers)
			numbers[strings.Clone(w)] = n
		}
		s.words = append(s.words, n)
	}
	slices.Sort(sharps)
	s.sharps = strings.Join(sharps, " ")
	return s
}

// isSharp reports whether a word must be the same to the letter: it holds a
// digit or a symbol. A hyphen and an apostrophe between letters are none.
func isSharp(word string) bool {
	letter := false // the rune before was one
	for i, r := range word {
		switch {
		case unicode.IsLetter(r) || unicode.IsMark(r):
			letter = true
			continue
		case letter && (r == '-' || r == '\'' || r == '’') && i+len(string(r)) < len(word):
			// Another letter must follow; a second sign is a symbol.
		default:
			return true
		}
		letter = false
	}
	return false
}

// inside reports whether the longer text has the words of s in their order.
func (s *sample) inside(longer *sample) bool {
	n := 0
	for _, w := range longer.words {
		if n < len(s.words) && w == s.words[n] {
			n++
		}
	}
	return n == len(s.words)
}
