// Aho and Corasick's automaton over the keywords of all rules.

package secret

// keyword is a word in lower case, and a rule that is tried where it is.
type keyword struct {
	word string
	rule int
}

// maxPrefix is how many bytes of a word are in the automaton. More would make it
// large; what follows is compared.
const maxPrefix = 4

// automaton finds any number of words in one pass, whatever their case. See Aho and
// Corasick, Efficient string matching, 1975.
type automaton struct {
	class  [256]uint8 // of a byte; upper case is that of lower case, 0 is no letter of a word
	width  int        // classes
	next   []uint16   // state × class → state
	starts []uint32   // state → its words, up to those of the next
	words  []keyword
}

// each calls fn with every word in a text and where it begins.
func (a *automaton) each(text string, fn func(w keyword, start int)) {
	s := 0
	for i := range len(text) {
		s = int(a.next[s*a.width+int(a.class[text[i]])])
		if a.starts[s] == a.starts[s+1] {
			continue
		}
		for _, w := range a.words[a.starts[s]:a.starts[s+1]] {
			if start := i + 1 - min(len(w.word), maxPrefix); hasPrefix(text[start:], w.word, true) {
				fn(w, start)
			}
		}
	}
}
