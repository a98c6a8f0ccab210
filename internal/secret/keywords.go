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

// newAutomaton makes the automaton of words in lower case.
func newAutomaton(words []keyword) *automaton {
	a := &automaton{width: 1}
	letters := 1
	for _, w := range words {
		letters += min(len(w.word), maxPrefix)
		for i := range min(len(w.word), maxPrefix) {
			if c := w.word[i]; a.class[c] == 0 {
				a.class[c] = uint8(a.width)
				a.width++
			}
		}
	}
	for c := 'a'; c <= 'z'; c++ {
		a.class[c-'a'+'A'] = a.class[c]
	}
	a.next = make([]uint16, a.width, a.width*letters)
	ends := [][]keyword{nil}
	for _, w := range words {
		s := 0
		for i := range min(len(w.word), maxPrefix) {
			to := &a.next[s*a.width+int(a.class[w.word[i]])]
			if *to == 0 {
				*to = uint16(len(ends))
				ends = append(ends, nil)
				a.next = a.next[:len(a.next)+a.width]
				s = len(ends) - 1
				continue
			}
			s = int(*to)
		}
		ends[s] = append(ends[s], w)
	}
	a.link(ends)
	for _, ws := range ends {
		a.starts = append(a.starts, uint32(len(a.words)))
		a.words = append(a.words, ws...)
	}
	a.starts = append(a.starts, uint32(len(a.words)))
	return a
}

// link gives each state the moves and the words of its longest suffix that is a
// state, in order of depth.
func (a *automaton) link(ends [][]keyword) {
	fail := make([]uint16, len(ends))
	var queue []uint16
	for _, s := range a.next[:a.width] {
		if s != 0 {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		ends[s] = append(ends[s], ends[fail[s]]...)
		for c := range a.width {
			to := &a.next[int(s)*a.width+c]
			suffix := a.next[int(fail[s])*a.width+c]
			if *to == 0 {
				*to = suffix
				continue
			}
			fail[*to] = suffix
			queue = append(queue, *to)
		}
	}
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
