// This file numbers lines and words, so that comparing them is cheap, and knows
// what is to be known of a line whatever page it stands on.

package annotate

import "github.com/oxbow-memory/oxbow/internal/diff"

// lexicon is what pages of one file, as it is at different times, share.
type lexicon struct {
	in    diff.Interner // lines
	words vocabulary    // words
	said  [][]int32     // by number of the line, the words in it; nil until they are needed
	bares diff.Interner // lines without their white space
	bare  []int32       // by number of the line, one more than that of the line without white space; 0 until it is needed
}

func newLexicon() *lexicon {
	return &lexicon{in: diff.Interner{}, words: vocabulary{}, bares: diff.Interner{}}
}

// wordsOf returns the words of a line, which has that number.
func (x *lexicon) wordsOf(n int32, line string) []int32 {
	if int(n) >= len(x.said) {
		x.said = append(x.said, make([][]int32, len(x.in)-len(x.said))...)
	}
	if x.said[n] == nil {
		x.said[n] = x.words.numbers([]int32{}, line)
	}
	return x.said[n]
}

// bareOf returns the number of a line without its white space.
func (x *lexicon) bareOf(n int32, line string) int32 {
	if int(n) >= len(x.bare) {
		x.bare = append(x.bare, make([]int32, len(x.in)-len(x.bare))...)
	}
	if x.bare[n] == 0 {
		b := bareLine(line)
		id, ok := x.bares[b]
		if !ok {
			id = int32(len(x.bares))
			x.bares[b] = id
		}
		x.bare[n] = id + 1
	}
	return x.bare[n] - 1
}

// places says where numbers stand in a list.
type places struct {
	first []int32 // of each number, where it begins in where
	where []int32 // places, from 0, by number and then in order
}

// placesOf returns where each of the numbers, which are less than most, stands.
func placesOf(num []int32, most int) places {
	p := places{make([]int32, most+1), make([]int32, len(num))}
	for _, n := range num {
		p.first[n+1]++
	}
	for n := range most {
		p.first[n+1] += p.first[n]
	}
	next := make([]int32, most)
	copy(next, p.first)
	for i, n := range num {
		p.where[next[n]] = int32(i)
		next[n]++
	}
	return p
}

// of returns where the number stands; one that came later stands nowhere.
func (p places) of(n int32) []int32 {
	if int(n) >= len(p.first)-1 {
		return nil
	}
	return p.where[p.first[n]:p.first[n+1]]
}
