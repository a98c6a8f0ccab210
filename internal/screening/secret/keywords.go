// This file implements the Aho-Corasick automaton for the keywords of all rules.

package secret

// keyword is a word in lower case, and the number of the rule to try where it occurs.
type keyword struct {
	word string
	rule int
}

// maxPrefix is the number of bytes of each word in the automaton, to keep it small. The
// rest of the word is compared afterwards.
const maxPrefix = 4

// automaton finds many words in one pass, ignoring case. See Aho and Corasick, Efficient
// string matching, 1975.
type automaton struct {
	class  [256]uint8 // class of each byte; the same for upper and lower case, 0 for bytes of no word
	width  int        // classes
	next   []uint16   // by state: index of its first word; its words end at that of the next state
	starts []uint32   // state → its words, up to those of the next
	words  []keyword
}

// each calls fn for every word in a text, with its position.
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
