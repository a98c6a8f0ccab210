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
	"unicode/utf8"
)

// Passage is one of the texts that are compared.
type Passage struct {
	Text string
	// Heading is what the text stands below. Texts of fewer than three words, and
	// in scripts without spaces of fewer than six characters, have duplicates
	// under the same one only.
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
	// compared by its words; all counted, of one that has equals under other
	// headings. fewRunes is that of a text in a script without spaces.
	fewWords, fewRunes = 3, 6

	// Of the words of the longer text, the shorter has at least this part.
	// With less in common the longer is about more than the shorter.
	partOf, partBase = 3, 5

	// Of the longer texts that hold its rarest word, a text looks at the
	// signatures of so many, and is compared with so many: texts made by one
	// pattern all hold it.
	mostLooked   = 4096
	mostCompared = 256
)

// sample is a text as it is compared.
type sample struct {
	index   int
	passage Passage
	same    string   // what equal texts have in common
	words   []uint32 // stems in order by number, without stop words; nil when it is not compared by them
	few     bool     // equals another under the same heading only
	sharps  string   // what must be equal to the letter
}

// signature has a bit for each of the words, which may share one. That of a text
// has all bits of a text whose words it has.
func (s *sample) signature() (bits uint64) {
	for _, w := range s.words {
		bits |= 1 << (w * 0x9e3779b1 >> 26)
	}
	return bits
}

// duplicates collects, by the text that goes, the text that stays.
type duplicates struct {
	keep  map[int]int
	exact map[int]bool

	looked, compared int // pairs, by their signatures and by their words
}

// NearDuplicates returns the texts that can go, in order of Drop. The result
// depends on the texts only.
//
// Next to equal texts, a text is the duplicate of a longer one when its words,
// as stems and without stop words, all stand in that one, in their order, at
// least three of them and three fifths of the longer one's, and when both have
// the same numbers, the same words with symbols in them, and the same
// negations. Texts of scripts that are written without spaces between words have
// equal duplicates only. Of very many texts that share their rarest word, not
// all pairs are compared. The error is that of a context that is done. After each
// text that is analyzed, progress, which may be nil, gets how many are.
func NearDuplicates(ctx context.Context, texts []Passage, progress func(done int)) ([]nearDuplicate, error) {
	d := duplicates{keep: map[int]int{}, exact: map[int]bool{}}
	err := d.find(ctx, texts, progress)
	return d.list(), err
}

func (d *duplicates) find(ctx context.Context, texts []Passage, progress func(done int)) error {
	c := cutter{NewAnalyzer(), map[string]uint32{}, map[string]cutWord{}}
	samples := make([]*sample, len(texts))
	for i, t := range texts {
		samples[i] = c.sample(ctx, i, t)
		if err := ctx.Err(); err != nil {
			return err
		}
		if progress != nil {
			progress(i + 1)
		}
	}
	return d.findContained(ctx, d.findEqual(samples), len(c.numbers))
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
	keys, number := rarest(samples, frequency)
	clear(last)
	signatures := make([]uint64, len(samples))
	holders := make([][]int32, len(number)) // by the number of a key: the samples that have it, the longest first
	for i, s := range samples {
		if err := ctx.Err(); err != nil {
			return err
		}
		signatures[i] = s.signature()
		d.findLonger(i, samples, signatures, holders[number[keys[i]]])
		k := keys[i]
		for _, k.word = range s.words {
			if last[k.word] == i+1 {
				continue
			}
			last[k.word] = i + 1
			if n, ok := number[k]; ok {
				holders[n] = append(holders[n], int32(i))
			}
		}
	}
	return nil
}

// rareWord is the rarest word of a text, and what must be equal to the letter, as
// a number: the text is as long as the sample.
type rareWord struct{ word, sharps uint32 }

// rarest returns the key of each sample, and numbers for the keys.
func rarest(samples []*sample, frequency []int) (keys []rareWord, number map[rareWord]int) {
	keys, number = make([]rareWord, len(samples)), map[rareWord]int{}
	sharps := map[string]uint32{}
	for i, s := range samples {
		n, ok := sharps[s.sharps]
		if !ok {
			n = uint32(len(sharps))
			sharps[s.sharps] = n
		}
		word := slices.MinFunc(s.words, func(a, b uint32) int { return cmp.Compare(frequency[a], frequency[b]) })
		keys[i] = rareWord{word, n}
		if _, ok := number[keys[i]]; !ok {
			number[keys[i]] = len(number)
		}
	}
	return keys, number
}

// findLonger finds one of the samples at longer, the longest first, that has the
// words of the sample at i.
func (d *duplicates) findLonger(i int, samples []*sample, signatures []uint64, longer []int32) {
	s, compared := samples[i], d.compared
	longer = longer[sort.Search(len(longer), func(i int) bool { return len(s.words)*partBase >= len(samples[longer[i]].words)*partOf }):]
	for _, l := range longer[:min(len(longer), mostLooked)] {
		d.looked++
		if signatures[i]&^signatures[l] != 0 {
			continue
		}
		d.compared++
		if s.inside(samples[l]) {
			d.keep[s.index] = samples[l].index
			return
		}
		if d.compared == compared+mostCompared {
			return
		}
	}
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

// cutter analyzes texts. It keeps what it made of short words.
type cutter struct {
	analyzer *Analyzer
	numbers  map[string]uint32
	seen     map[string]cutWord
}

// cutWord is what a cutter made of a word, spaces around it.
type cutWord struct {
	words []uint32
	sharp string // "" for none
}

// sample analyzes a text.
func (c *cutter) sample(ctx context.Context, index int, t Passage) *sample {
	s := &sample{index: index, passage: t, few: true}
	s.same = strings.TrimRight(strings.Join(strings.Fields(strings.ToLower(t.Text)), " "), ".")
	for _, r := range t.Text {
		if r >= firstUnspaced && unicode.In(r, unspaced...) {
			s.few = utf8.RuneCountInString(s.same) < fewRunes
			return s
		}
	}
	var words []uint32
	var sharps []string
	for w := range strings.FieldsSeq(t.Text) {
		if ctx.Err() != nil {
			return s
		}
		cut, ok := c.seen[w]
		if !ok {
			cut = c.cut(ctx, w)
			if len(c.seen) > maxChunks {
				clear(c.seen)
			}
			if len(w) <= maxWhole {
				c.seen[w] = cut
			}
		}
		words = append(words, cut.words...)
		if cut.sharp != "" {
			sharps = append(sharps, cut.sharp)
		}
	}
	s.few = len(strings.Fields(s.same)) < fewWords
	if len(words) >= fewWords {
		s.words = slices.Clip(words)
	}
	slices.Sort(sharps)
	s.sharps = strings.Join(sharps, " ")
	return s
}

// cut analyzes a word.
func (c *cutter) cut(ctx context.Context, w string) (cut cutWord) {
	w = strings.Trim(w, around)
	folded := Fold(w)
	plain := strings.Map(func(r rune) rune {
		if r == '\'' || r == '’' {
			return -1
		}
		return r
	}, folded)
	switch {
	case negations[plain] || (strings.HasSuffix(plain, "nt") && plain != folded):
		cut.sharp = plain
	case isSharp(w):
		cut.sharp = w
	}
	for _, stem := range c.analyzer.Sequence(ctx, w) {
		if IsStopWord(stem) {
			continue
		}
		n, ok := c.numbers[stem]
		if !ok {
			n = uint32(len(c.numbers))
			c.numbers[strings.Clone(stem)] = n
		}
		cut.words = append(cut.words, n)
	}
	return cut
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
	n, more := 0, len(longer.words)-len(s.words) // words that the longer text may have besides
	for _, w := range longer.words {
		if n < len(s.words) && w == s.words[n] {
			n++
		} else {
			more--
			if more < 0 {
				return false
			}
		}
	}
	return true
}
