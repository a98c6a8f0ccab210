// This file finds out whether a text repeats earlier texts.

package fingerprint

import (
	"math/bits"
	"slices"
)

// A Match lists the earlier texts whose words a text repeats. Each earlier text is represented by its labels, such as
// its source.
type Match struct {
	Foreign   []string // labels of the earlier texts that are repeated and that neither the agent nor the person wrote
	Unvouched []string // labels of the earlier texts that are repeated and whose author is unknown

	commonPrints []fingerprintHash
}

// IsRepeat reports whether the text repeats an earlier text that is foreign, or that nobody vouches for.
func (m *Match) IsRepeat() bool { return len(m.Foreign) > 0 || len(m.Unvouched) > 0 }

// batchSize is the approximate number of fingerprints that are searched for while the fingerprint file is read once.
const batchSize = 1 << 18

// hashNumber is a hash of a few words, with the home's key (a fingerprint) or without a key.
type hashNumber interface{ ~uint64 }

// repeatSearch contains the hashes of some texts that were written now. It is used to find out which earlier texts
// contain the same hashes.
type repeatSearch[P hashNumber] struct {
	texts map[P][]int32 // for each hash, the indexes of the written texts that contain it
	// bits for a quick test; the bit of a hash is set if texts contains the hash (the number of bits is a power of
	// two)
	filter []uint64
	mask   P // selects the part of a hash that is the number of its bit in filter
}

// filterBitsPerPrint is the number of bits in the filter for each hash. It is large enough that few other hashes pass,
// and small enough that the filter fits into the processor's cache.
const filterBitsPerPrint = 64

// buildFilter sets the bit of each hash in texts in the filter, for the quick test mayContain.
func (w *repeatSearch[P]) buildFilter() {
	size := 1 << bits.Len(uint(len(w.texts)*filterBitsPerPrint))
	w.mask = P(max(size, 64) - 1)
	w.filter = make([]uint64, (w.mask+1)/64)
	for p := range w.texts {
		w.filter[p&w.mask/64] |= 1 << (p % 64)
	}
}

// mayContain returns false for most hashes that no written text contains. It always returns true if a text contains
// the hash.
func (w *repeatSearch[P]) mayContain(p P) bool { return w.filter[p&w.mask/64]&(1<<(p%64)) != 0 }

// addText adds the hashes of the written text number i, except hashes that the text ignored also contains. The
// function print converts a hash to the form in which hashes are compared.
func (w *repeatSearch[P]) addText(i int, text, ignored string, print func(hash uint64) P) {
	ignoredHashes := map[uint64]bool{}
	if ignored != "" {
		eachWrittenHash(ignored, func(h uint64) { ignoredHashes[h] = true })
	}
	eachWrittenHash(text, func(h uint64) {
		if ignoredHashes[h] {
			return
		}
		p := print(h)
		if indexes := w.texts[p]; len(indexes) == 0 || indexes[len(indexes)-1] != int32(i) {
			w.texts[p] = append(indexes, int32(i))
		}
	})
}

// printOrigin describes an earlier text, one of whose fingerprints was found in a written text.
type printOrigin struct {
	level  Level
	labels []string
}

// FindRepeats returns a Match for each text, which lists the earlier texts that the text repeats. The slice ignored
// contains, for each text, another text whose words are ignored, such as an earlier version. It may be shorter than
// texts. After a damaged file has lost fingerprints, each text that contains words is for some time treated as a
// repetition of a text by an unknown author.
func (f File) FindRepeats(texts, ignored []string) []Match {
	matches := make([]Match, len(texts))
	_, isLost := f.LastLoss()
	for first := 0; first < len(texts); {
		end, err := f.findBatch(texts, ignored, matches, first)
		if err != nil {
			f.repairFile(printsFile)
			isLost = true
			break
		}
		first = end
	}
	for i := range matches {
		m := &matches[i]
		if isLost && isLongEnoughToMatch(texts[i]) {
			m.Unvouched = append(m.Unvouched, lossLabel)
		}
		m.Foreign, m.Unvouched = limitLabels(m.Foreign), limitLabels(m.Unvouched)
	}
	return matches
}

// limitLabels returns the labels sorted and without duplicates, but at most maxLabels labels.
func limitLabels(all []string) []string {
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), maxLabels)]
}

// isLongEnoughToMatch reports whether a text contains enough words to be recognized as a repetition.
func isLongEnoughToMatch(text string) (ok bool) {
	eachWrittenHash(text, func(uint64) { ok = true })
	return ok
}

// findBatch searches for earlier texts that the given texts repeat, from index first on, in one pass over the
// fingerprint file. end is the index of the first text that was left for the next pass, because this pass already
// searches for enough fingerprints.
func (f File) findBatch(texts, ignored []string, matches []Match, first int) (end int, err error) {
	var w *repeatSearch[fingerprintHash] // created with the first block, when the home's key is known
	found := map[fingerprintHash][]printOrigin{}
	end = len(texts)
	err = f.scanBlocks(printsFile, func(key *cipherKey, h *blockHead, sealed, prints []byte) error {
		if w == nil {
			w = &repeatSearch[fingerprintHash]{texts: map[fingerprintHash][]int32{}}
			for i := first; i < len(texts); i++ {
				w.addText(i, texts[i], textOrEmpty(ignored, i), key.hashPrint)
				if len(w.texts) > batchSize {
					end = i + 1
					break
				}
			}
			w.buildFilter()
			if err := f.searchDropped(key, w, found); err != nil {
				return err
			}
		}
		return w.searchBlock(key, h, sealed, prints, found)
	})
	for p, origins := range found {
		for _, i := range w.texts[p] {
			matches[i].addCommonPrint(p, origins)
		}
	}
	return end, err
}

// searchDropped searches for the written texts' fingerprints among the fingerprints that were removed from the main
// file. It adds the matches to found, as text of unknown origin. A match may be a mistake, because a Bloom filter is
// searched. Call searchDropped before the blocks of the file are searched. If a person has vouched for a text, a block
// then removes the text's fingerprints from found.
func (f File) searchDropped(
	key *cipherKey,
	w *repeatSearch[fingerprintHash],
	found map[fingerprintHash][]printOrigin,
) error {
	sets, err := f.readDroppedSets(key)
	if err != nil {
		return err
	}
	for _, d := range sets {
		for p := range w.texts {
			if d.mayContain(p) {
				found[p] = append(found[p], printOrigin{LevelUnvouched, []string{droppedLabel}})
			}
		}
	}
	return nil
}

func textOrEmpty(texts []string, i int) string {
	if i < len(texts) {
		return texts[i]
	}
	return ""
}

// searchBlock searches one block of the fingerprint file for the fingerprints of the written texts, and adds the
// matches to found. If a person vouched for the words of the block, searchBlock instead removes their fingerprints
// from found.
func (w *repeatSearch[P]) searchBlock(
	key *cipherKey,
	h *blockHead,
	sealed, prints []byte,
	found map[P][]printOrigin,
) error {
	if h.level > levelVouched {
		return nil
	}
	var blockOrigin *printOrigin // set when the first fingerprint matches, because decrypting the labels is slow
	for ; len(prints) >= bytesPerFingerprint; prints = prints[bytesPerFingerprint:] {
		p := P(decodePrint(prints))
		if !w.mayContain(p) || w.texts[p] == nil {
			continue
		}
		if h.level == levelVouched {
			delete(found, p)
			continue
		}
		if blockOrigin == nil {
			labels, err := key.openLabels(h, sealed)
			if err != nil {
				return err
			}
			blockOrigin = &printOrigin{h.level, labels}
		}
		found[p] = append(found[p], *blockOrigin)
	}
	return nil
}

// addCommonPrint records that the written text has the fingerprint p in common with earlier texts, which origins
// describes.
func (m *Match) addCommonPrint(p fingerprintHash, origins []printOrigin) {
	if len(origins) > 0 {
		m.commonPrints = append(m.commonPrints, p)
	}
	for _, o := range origins {
		if o.level == LevelUnvouched {
			m.Unvouched = append(m.Unvouched, o.labels...)
		} else {
			m.Foreign = append(m.Foreign, o.labels...)
		}
	}
}

// VouchFor records that a person vouches for the words that the matches have in common with earlier texts. These words
// are then ignored, until another foreign text that contains them is read.
func (f File) VouchFor(matches ...Match) error {
	var prints []fingerprintHash
	for i := range matches {
		prints = append(prints, matches[i].commonPrints...)
	}
	if len(prints) == 0 {
		return nil
	}
	_, err := f.addBlocks(
		printsFile,
		unwrittenBlock{levelVouched, nil, func(*cipherKey) []fingerprintHash { return prints }},
	)
	return err
}

// A Comparison finds out which of several written texts repeat another text.
type Comparison struct {
	texts  []string
	search repeatSearch[uint64]
}

// NewComparison returns a Comparison that finds out which of these texts repeat an earlier text. ignored has the same
// meaning as in [File.FindRepeats].
func NewComparison(texts, ignored []string) *Comparison {
	c := &Comparison{texts: texts, search: repeatSearch[uint64]{texts: map[uint64][]int32{}}}
	for i := range texts {
		c.search.addText(i, texts[i], textOrEmpty(ignored, i), func(hash uint64) uint64 { return hash })
	}
	c.search.buildFilter()
	return c
}

// FindRepeats returns the indexes of the texts in c that repeat words of the given text.
func (c *Comparison) FindRepeats(text string) (indexes []int) {
	eachStoredHash(text, func(h uint64) {
		if !c.search.mayContain(h) {
			return
		}
		for _, i := range c.search.texts[h] {
			if !slices.Contains(indexes, int(i)) {
				indexes = append(indexes, int(i))
			}
		}
	})
	return indexes
}
