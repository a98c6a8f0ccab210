// This file finds texts that say what another one says.

// Package alike finds, among short texts, those that another of them makes
// superfluous. It knows words and no meaning, and is careful: a text is never
// taken for the twin of one that lacks any of its words, that has them in
// another order, or that differs from it in a number, a symbol or a negation.
package alike

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/oxbow-memory/oxbow/internal/analysis"
)

// Text is one of the texts.
type Text struct {
	Text string
	// Under is what it stands below, such as a heading. Texts of fewer than
	// three words mean something there only: they have twins under the same
	// one alone.
	Under string
	// Weight decides which of two texts that are the same stays: the heavier,
	// and of equal ones the first.
	Weight int
}

// NearDuplicate is a text that can go because another stays.
type NearDuplicate struct {
	Drop, Keep int  // indices; what is kept is never dropped itself
	Exact      bool // the same but for white space, letter case, and a period at the end
}

const (
	// fewWords is the least words, stop words not counted, of a text that is
	// compared by its words, and across what texts stand under.
	fewWords = 3

	// Of the words of the longer text, the shorter has at least this part.
	// With less in common the longer is about more than the shorter.
	partOf, partBase = 3, 5
)

// sample is a text as it is compared.
type sample struct {
	index  int
	text   Text
	same   string   // what texts that are the same have in common
	words  []string // stems in order, without stop words; nil when it is not compared by them
	few    bool     // of fewer than fewWords words
	sharps string   // what must be equal to the letter
}

// NearDuplicates returns the texts that can go, in order of Drop. The same texts give the
// same twins.
//
// Beside those that are the same, a text is the twin of a longer one when its
// words, as stems and without stop words, all stand in that one, in their order,
// at least three of them and three fifths of the longer one's, and when both
// have the same numbers, the same words with symbols in them, and the same
// negations. Texts of scripts that are written without spaces between words have
// only twins that are the same.
func NearDuplicates(texts []Text) []NearDuplicate {
	a := analysis.NewAnalyzer()
	samples := make([]*sample, len(texts))
	for i, t := range texts {
		samples[i] = read(a, i, t)
	}
	keep := make(map[int]int) // by the one that goes
	exact := make(map[int]bool)

	// The same ones first: what is left has one text of each.
	first := map[string]*sample{}
	var left []*sample
	for _, s := range byWeight(samples) {
		key := s.same
		if s.few {
			key += "\x00" + s.text.Under
		}
		if f := first[key]; f != nil && s.same != "" {
			keep[s.index], exact[s.index] = f.index, true
			continue
		}
		first[key] = s
		left = append(left, s)
	}

	// The longest first, so that what a text is the twin of is settled.
	slices.SortFunc(left, func(a, b *sample) int {
		return cmp.Or(cmp.Compare(len(b.words), len(a.words)), cmp.Compare(len(b.same), len(a.same)), cmp.Compare(a.index, b.index))
	})
	frequency := map[string]int{}
	for _, s := range left {
		for w := range distinct(s.words) {
			frequency[w]++
		}
	}
	holders := map[string][]*sample{}
	for _, s := range left {
		if s.words == nil {
			continue
		}
		rarest := slices.MinFunc(s.words, func(a, b string) int { return cmp.Compare(frequency[a], frequency[b]) })
		for _, longer := range holders[rarest] {
			if s.inside(longer) {
				keep[s.index] = longer.index
				break
			}
		}
		for w := range distinct(s.words) {
			holders[w] = append(holders[w], s)
		}
	}

	var twins []NearDuplicate
	for drop, k := range keep {
		for next, gone := keep[k]; gone; next, gone = keep[k] {
			k, exact[drop] = next, exact[drop] && exact[k]
		}
		twins = append(twins, NearDuplicate{drop, k, exact[drop]})
	}
	slices.SortFunc(twins, func(a, b NearDuplicate) int { return cmp.Compare(a.Drop, b.Drop) })
	return twins
}

// byWeight returns the samples, the heaviest first.
func byWeight(samples []*sample) []*sample {
	sorted := slices.Clone(samples)
	slices.SortStableFunc(sorted, func(a, b *sample) int { return cmp.Compare(b.text.Weight, a.text.Weight) })
	return sorted
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

func read(a *analysis.Analyzer, index int, t Text) *sample {
	s := &sample{index: index, text: t}
	chunks := strings.Fields(strings.ToLower(t.Text))
	s.same = strings.TrimRight(strings.Join(chunks, " "), ".")
	s.few = true
	for _, r := range t.Text {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
			return s
		}
	}
	var words, sharps []string
	for _, c := range strings.Fields(t.Text) {
		c = strings.Trim(c, around)
		plain := strings.Map(func(r rune) rune {
			if r == '\'' || r == '’' {
				return -1
			}
			return r
		}, analysis.Fold(c))
		switch {
		case negations[plain] || strings.HasSuffix(plain, "nt") && plain != analysis.Fold(c):
			sharps = append(sharps, plain)
		case isSharp(c):
			sharps = append(sharps, c)
		}
		words = append(words, a.Sequence(c)...)
	}
	words = slices.DeleteFunc(words, analysis.IsStopWord)
	s.few = len(words) < fewWords
	if !s.few {
		s.words = words
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

// inside reports whether the longer text says all that s does.
func (s *sample) inside(longer *sample) bool {
	if len(s.words)*partBase < len(longer.words)*partOf || s.sharps != longer.sharps {
		return false
	}
	n := 0
	for _, w := range longer.words {
		if n < len(s.words) && w == s.words[n] {
			n++
		}
	}
	return n == len(s.words)
}
