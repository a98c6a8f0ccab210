// This file finds which texts repeat what was read.

package fingerprint

import (
	"slices"
	"strings"
)

// Match is what a text repeats.
type Match struct {
	Foreign   []string // labels of texts by others
	Unvouched []string // labels of texts that nobody vouches for

	shared []Print
}

// Any reports whether the text repeats anything.
func (m *Match) Any() bool { return len(m.Foreign) > 0 || len(m.Unvouched) > 0 }

const (
	filterBits = 20
	filterMask = 1<<filterBits - 1

	// batch is about how many prints are looked for in one pass over the file.
	batch = 1 << 18
)

// asked are the prints of texts that are looked for.
type asked struct {
	filter [1 << filterBits / 64]uint64
	texts  map[Print][]int32 // the numbers of the texts that have the print
	found  map[Print][]origin
}

// origin is where a print was read.
type origin struct {
	level  Level
	labels []string
}

// Find returns what each text repeats. Apart is, for each text, a text whose words do not
// count, such as an earlier version of it; it may be shorter than texts.
func (f File) Find(texts, apart []string) ([]Match, error) {
	matches := make([]Match, len(texts))
	c, err := f.read()
	if err != nil || len(c.file) == 0 {
		return matches, err
	}
	seed := le.Uint64(c.key)
	q := asked{texts: map[Print][]int32{}}
	for i := range texts {
		q.add(i, texts[i], textAt(apart, i), seed)
		if len(q.texts) > batch || i == len(texts)-1 {
			if err := q.search(&c, matches); err != nil {
				return matches, err
			}
			q = asked{texts: map[Print][]int32{}}
		}
	}
	return matches, nil
}

func textAt(texts []string, i int) string {
	if i < len(texts) {
		return texts[i]
	}
	return ""
}

// add adds the prints of a text, without those of another.
func (q *asked) add(i int, text, apart string, seed uint64) {
	old := map[Print]bool{}
	if apart != "" {
		ofWritten(apart, seed, func(p Print) { old[p] = true })
	}
	ofWritten(text, seed, func(p Print) {
		if old[p] {
			return
		}
		if has := q.texts[p]; len(has) == 0 || has[len(has)-1] != int32(i) {
			q.texts[p] = append(has, int32(i))
		}
		q.filter[p&filterMask/64] |= 1 << (p % 64)
	})
}

// Comparison compares texts that are written with others, one after the other.
type Comparison struct{ q asked }

// Compare returns a comparison of texts that are written. Apart is as in [File.Find].
func Compare(texts, apart []string) *Comparison {
	c := &Comparison{asked{texts: map[Print][]int32{}}}
	for i := range texts {
		c.q.add(i, texts[i], textAt(apart, i), 0)
	}
	return c
}

// With returns the numbers of the texts that repeat another text.
func (c *Comparison) With(other string) (numbers []int) {
	for _, p := range ofRead(other, 0) {
		if c.q.filter[p&filterMask/64]&(1<<(p%64)) == 0 {
			continue
		}
		for _, i := range c.q.texts[p] {
			if !slices.Contains(numbers, int(i)) {
				numbers = append(numbers, int(i))
			}
		}
	}
	return numbers
}

// search sets what the texts repeat.
func (q *asked) search(c *content, matches []Match) error {
	q.found = map[Print][]origin{}
	err := c.each(func(_ *sealedBlock, level Level, labels []string, prints []byte) {
		if level > Vouched {
			return
		}
		for ; len(prints) >= printSize; prints = prints[printSize:] {
			p := printAt(prints)
			if q.filter[p&filterMask/64]&(1<<(p%64)) == 0 || q.texts[p] == nil {
				continue
			}
			if level == Vouched {
				delete(q.found, p)
				continue
			}
			q.found[p] = append(q.found[p], origin{level, labels})
		}
	})
	for p, origins := range q.found {
		for _, i := range q.texts[p] {
			m := &matches[i]
			m.shared = append(m.shared, p)
			for _, o := range origins {
				to := &m.Foreign
				if o.level == Unvouched {
					to = &m.Unvouched
				}
				for _, l := range o.labels {
					if !slices.Contains(*to, l) {
						*to = append(*to, l)
					}
				}
			}
		}
	}
	for i := range matches {
		for _, ls := range []*[]string{&matches[i].Foreign, &matches[i].Unvouched} {
			slices.Sort(*ls)
			*ls = (*ls)[:min(len(*ls), maxLabels)]
		}
	}
	return err
}

// Vouch makes the words that texts were found to repeat count no more, until they are read
// again.
func (f File) Vouch(matches ...Match) error {
	var all []Print
	for i := range matches {
		all = append(all, matches[i].shared...)
	}
	if len(all) == 0 {
		return nil
	}
	_, err := f.add(Vouched, nil, func(uint64) []Print { return all })
	return err
}

// AddPaths adds the paths of files that were written: by the agent, or by a program that
// wrote what is not the agent's.
func (f File) AddPaths(byAgent bool, paths ...string) error {
	if len(paths) == 0 {
		return nil
	}
	level := foreignPath
	if byAgent {
		level = ownPath
	}
	_, err := f.add(level, nil, func(seed uint64) (prints []Print) {
		for _, p := range paths {
			prints = append(prints, pathPrint(p, seed))
		}
		return prints
	})
	return err
}

// pathPrint returns the print of a path.
func pathPrint(path string, seed uint64) Print {
	h := hashBasis ^ seed
	for _, c := range []byte(strings.TrimSuffix(path, "/")) {
		h = (h ^ uint64(c)) * hashPrime
	}
	return finish(h * runFactor)
}

// Writer tells who wrote a file last, as far as it is known.
type Writer int

// The writers of files.
const (
	Unknown Writer = iota
	Agent
	Other // a program that wrote what is not the agent's
)

// Writers returns who wrote each file last.
func (f File) Writers(paths []string) []Writer {
	writers := make([]Writer, len(paths))
	c, err := f.read()
	if err != nil || len(c.file) == 0 {
		return writers
	}
	seed := le.Uint64(c.key)
	at := map[Print][]int{}
	for i, p := range paths {
		at[pathPrint(p, seed)] = append(at[pathPrint(p, seed)], i)
	}
	_ = c.each(func(_ *sealedBlock, level Level, _ []string, prints []byte) { // else they stay unknown
		if level != ownPath && level != foreignPath {
			return
		}
		for ; len(prints) >= printSize; prints = prints[printSize:] {
			for _, i := range at[printAt(prints)] {
				writers[i] = Agent
				if level == foreignPath {
					writers[i] = Other
				}
			}
		}
	})
	return writers
}
