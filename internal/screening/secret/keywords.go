// This file implements the Aho-Corasick automaton for the keywords of all rules.

package secret

// keyword is a lower-case word, and the index of the rule to try at its occurrences.
type keyword struct {
	word string
	rule int
}

// maxStoredPrefix is the number of bytes that the automaton stores per word, to stay small. A match of
// this prefix is then compared with the whole word.
const maxStoredPrefix = 4

// automaton finds many words in one pass, ignoring case. See Aho and Corasick, Efficient
// string matching, 1975.
type automaton struct {
	byteClass   [256]uint8 // class of each byte; equal for upper and lower case; 0 for bytes that are in no word
	classCount  int        // number of classes
	transitions []uint16   // next state, at index state*width+class
	wordStarts  []uint32   // words[starts[s]:starts[s+1]] are the words that end in state s
	words       []keyword
}

// eachKeyword calls fn with every word in the text and its position.
func (a *automaton) eachKeyword(text string, fn func(w keyword, start int)) {
	state := 0
	for i := range len(text) {
		state = int(a.transitions[state*a.classCount+int(a.byteClass[text[i]])])
		if a.wordStarts[state] == a.wordStarts[state+1] {
			continue
		}
		for _, w := range a.words[a.wordStarts[state]:a.wordStarts[state+1]] {
			if start := i + 1 - min(len(w.word), maxStoredPrefix); hasPrefixFold(text[start:], w.word) {
				fn(w, start)
			}
		}
	}
}
