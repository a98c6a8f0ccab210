// Aho and Corasick's automaton over the keywords of all rules.

package secret

// hit is a keyword that ends at a place: its rule, and its size in bytes.
type hit struct{ rule, size int }

// automaton finds any number of words in one pass, whatever their case. See Aho and
// Corasick, Efficient string matching, 1975.
type automaton struct {
	class  [256]uint8 // of a byte; upper case is that of lower case, 0 is no letter of a word
	width  int        // classes
	next   []uint16   // state × class → state
	starts []uint32   // state → its hits, up to those of the next
	hits   []hit
}

// newAutomaton makes the automaton of words in lower case.
func newAutomaton(words []string, rules []int) *automaton {
	a := &automaton{width: 1}
	for _, w := range words {
		for i := range len(w) {
			if c := w[i]; a.class[c] == 0 {
				a.class[c] = uint8(a.width)
				a.width++
			}
		}
	}
	for c := 'a'; c <= 'z'; c++ {
		a.class[c-'a'+'A'] = a.class[c]
	}
	letters := 1
	for _, w := range words {
		letters += len(w)
	}
	a.next = make([]uint16, a.width, a.width*letters)
	ends := [][]hit{nil}
	for i, w := range words {
		s := 0
		for j := range len(w) {
			to := &a.next[s*a.width+int(a.class[w[j]])]
			if *to == 0 {
				*to = uint16(len(ends))
				ends = append(ends, nil)
				a.next = a.next[:len(a.next)+a.width]
				s = len(ends) - 1
				continue
			}
			s = int(*to)
		}
		ends[s] = append(ends[s], hit{rules[i], len(w)})
	}
	a.link(ends)
	for _, hs := range ends {
		a.starts = append(a.starts, uint32(len(a.hits)))
		a.hits = append(a.hits, hs...)
	}
	a.starts = append(a.starts, uint32(len(a.hits)))
	return a
}

// link gives each state the moves and the hits of its longest suffix that is a
// state, in order of depth.
func (a *automaton) link(ends [][]hit) {
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

// each calls fn with every word in a text and where it ends.
func (a *automaton) each(text string, fn func(h hit, end int)) {
	s := 0
	for i := range len(text) {
		s = int(a.next[s*a.width+int(a.class[text[i]])])
		if a.starts[s] != a.starts[s+1] {
			for _, h := range a.hits[a.starts[s]:a.starts[s+1]] {
				fn(h, i+1)
			}
		}
	}
}
