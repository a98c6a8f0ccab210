// This file finds texts that repeat earlier texts.

package fingerprint

import (
	"math/bits"
	"slices"
)

// A Match describes the earlier texts that a text repeats.
type Match struct {
	Foreign   []string // labels of foreign texts
	Unvouched []string // labels of texts that nobody vouches for

	shared []printHash
}

// Any reports whether the text repeats an earlier text.
func (m *Match) Any() bool { return len(m.Foreign) > 0 || len(m.Unvouched) > 0 }

// batch is the approximate number of prints that are searched for in one pass over the file.
const batch = 1 << 18

// number is the type of a hash: a keyed hash of a file, or a plain hash.
type number interface{ ~uint64 }

// wanted contains the prints of the texts that are searched.
type wanted[P number] struct {
	texts  map[P][]int32 // by print: the indexes of the texts that have it
	filter []uint64      // bit set that excludes most other prints; the number of bits is a power of two
	mask   P             // selects the bits of a print that are an index into filter
}

// filterShare is the number of filter bits for each print. With this number, few other prints pass
// the filter, and the filter fits into the processor's cache.
const filterShare = 64

// makeFilter builds the filter from the prints.
func (w *wanted[P]) makeFilter() {
	size := 1 << bits.Len(uint(len(w.texts)*filterShare))
	w.mask = P(max(size, 64) - 1)
	w.filter = make([]uint64, (w.mask+1)/64)
	for p := range w.texts {
		w.filter[p&w.mask/64] |= 1 << (p % 64)
	}
}

// has reports whether a text may have the print. It may return true for other prints.
func (w *wanted[P]) has(p P) bool { return w.filter[p&w.mask/64]&(1<<(p%64)) != 0 }

// add adds the prints of text i. It omits the prints that also occur in the text apart.
func (w *wanted[P]) add(i int, text, apart string, print func(hash uint64) P) {
	old := map[uint64]bool{}
	if apart != "" {
		ofWritten(apart, func(h uint64) { old[h] = true })
	}
	ofWritten(text, func(h uint64) {
		if old[h] {
			return
		}
		p := print(h)
		if has := w.texts[p]; len(has) == 0 || has[len(has)-1] != int32(i) {
			w.texts[p] = append(has, int32(i))
		}
	})
}

// origin describes the text to which a matching print belongs.
type origin struct {
	level  Level
	labels []string
}

// Find returns a Match for each text. apart contains, for each text, another text whose words are
// ignored, such as an earlier version. It may be shorter than texts. While fingerprints are
// missing, each text with words counts as a repetition of a text that nobody vouches for.
func (f File) Find(texts, apart []string) []Match {
	matches := make([]Match, len(texts))
	_, isLost := f.Lost()
	for from := 0; from < len(texts); {
		to, err := f.findSome(texts, apart, matches, from)
		if err != nil {
			f.repair(printsFile)
			isLost = true
			break
		}
		from = to
	}
	for i := range matches {
		m := &matches[i]
		if isLost && hasPrints(texts[i]) {
			m.Unvouched = append(m.Unvouched, lossLabel)
		}
		m.Foreign, m.Unvouched = someLabels(m.Foreign), someLabels(m.Unvouched)
	}
	return matches
}

// someLabels sorts labels and removes duplicates. It returns at most maxLabels.
func someLabels(all []string) []string {
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), maxLabels)]
}

// hasPrints reports whether a text is long enough to be recognized as a repetition.
func hasPrints(text string) (ok bool) {
	ofWritten(text, func(uint64) { ok = true })
	return ok
}

// findSome searches for the texts from index from on, in one pass over the file. It returns the
// index of the first text for which it did not search.
func (f File) findSome(texts, apart []string, matches []Match, from int) (to int, err error) {
	var w *wanted[printHash] // created when scan passes the key
	found := map[printHash][]origin{}
	to = len(texts)
	err = f.scan(printsFile, func(key *cipherKey, h *head, sealed, prints []byte) error {
		if w == nil {
			w = &wanted[printHash]{texts: map[printHash][]int32{}}
			for i := from; i < len(texts); i++ {
				w.add(i, texts[i], textAt(apart, i), key.print)
				if len(w.texts) > batch {
					to = i + 1
					break
				}
			}
			w.makeFilter()
			if err := f.searchDropped(key, w, found); err != nil {
				return err
			}
		}
		return w.search(key, h, sealed, prints, found)
	})
	for p, origins := range found {
		for _, i := range w.texts[p] {
			matches[i].add(p, origins)
		}
	}
	return to, err
}

// searchDropped adds to found the wanted prints that may have been dropped. It must be called
// before the blocks of the file are searched, because a person may have vouched for a text in a
// newer block.
func (f File) searchDropped(key *cipherKey, w *wanted[printHash], found map[printHash][]origin) error {
	sets, err := f.dropped(key)
	if err != nil {
		return err
	}
	for _, d := range sets {
		for p := range w.texts {
			if d.has(p) {
				found[p] = append(found[p], origin{Unvouched, []string{droppedLabel}})
			}
		}
	}
	return nil
}

func textAt(texts []string, i int) string {
	if i < len(texts) {
		return texts[i]
	}
	return ""
}

// search adds to found the wanted prints of a block. For a vouched block, it removes them.
func (w *wanted[P]) search(key *cipherKey, h *head, sealed, prints []byte, found map[P][]origin) error {
	if h.level > vouched {
		return nil
	}
	var o *origin // the labels are decrypted for the first wanted print
	for ; len(prints) >= printSize; prints = prints[printSize:] {
		p := P(printAt(prints))
		if !w.has(p) || w.texts[p] == nil {
			continue
		}
		if h.level == vouched {
			delete(found, p)
			continue
		}
		if o == nil {
			labels, err := key.openLabels(h, sealed)
			if err != nil {
				return err
			}
			o = &origin{h.level, labels}
		}
		found[p] = append(found[p], *o)
	}
	return nil
}

// add adds a print that the text has in common with earlier texts.
func (m *Match) add(p printHash, origins []origin) {
	if len(origins) > 0 {
		m.shared = append(m.shared, p)
	}
	for _, o := range origins {
		if o.level == Unvouched {
			m.Unvouched = append(m.Unvouched, o.labels...)
		} else {
			m.Foreign = append(m.Foreign, o.labels...)
		}
	}
}

// Vouch records that a person vouches for the words that the matches have in common with earlier
// texts. These words are ignored until they are read again.
func (f File) Vouch(matches ...Match) error {
	var all []printHash
	for i := range matches {
		all = append(all, matches[i].shared...)
	}
	if len(all) == 0 {
		return nil
	}
	_, err := f.addPrints(printsFile, vouched, nil, func(*cipherKey) []printHash { return all })
	return err
}

// A Comparison finds which of several written texts repeat another text.
type Comparison struct{ w wanted[uint64] }

// Compare returns a Comparison of written texts. apart has the same meaning as for [File.Find].
func Compare(texts, apart []string) *Comparison {
	c := &Comparison{wanted[uint64]{texts: map[uint64][]int32{}}}
	for i := range texts {
		c.w.add(i, texts[i], textAt(apart, i), func(hash uint64) uint64 { return hash })
	}
	c.w.makeFilter()
	return c
}

// With returns the indexes of the written texts that repeat the other text.
func (c *Comparison) With(other string) (numbers []int) {
	printsOf(other, func(h uint64) {
		if !c.w.has(h) {
			return
		}
		for _, i := range c.w.texts[h] {
			if !slices.Contains(numbers, int(i)) {
				numbers = append(numbers, int(i))
			}
		}
	})
	return numbers
}
