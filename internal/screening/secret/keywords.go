// This file implements the Aho-Corasick automaton for the keywords of all rules.

package secret

// keyword is a lower-case word, and the index of the rule to try at its occurrences.
type keyword struct {
	word string
	rule int
}

// maxPrefix is the number of bytes of each word that the automaton stores, which keeps it small. A
// match of this prefix is then compared with the whole word.
const maxPrefix = 4

// automaton finds many words in one pass, ignoring case. See Aho and Corasick, Efficient
// string matching, 1975.
type automaton struct {
	class  [256]uint8 // class of each byte; equal for upper and lower case; 0 for bytes that are in no word
	width  int        // number of classes
	next   []uint16   // next state, at index state*width+class
	starts []uint32   // words[starts[s]:starts[s+1]] are the words that end in state s
	words  []keyword
}

// each calls fn with every word in the text and its position.
func (a *automaton) each(text string, fn func(w keyword, start int)) {
	s := 0
	for i := range len(text) {
		s = int(a.next[s*a.width+int(a.class[text[i]])])
		if a.starts[s] == a.starts[s+1] {
			continue
		}
		for _, w := range a.words[a.starts[s]:a.starts[s+1]] {
			if start := i + 1 - min(len(w.word), maxPrefix); hasPrefixFold(text[start:], w.word) {
				fn(w, start)
			}
		}
	}
}
