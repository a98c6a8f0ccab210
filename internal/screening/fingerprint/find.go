// This file finds out whether a text repeats earlier texts.

package fingerprint

import (
	"math/bits"
	"slices"
)

// A Match lists the earlier texts whose words a text repeats. Each earlier text is represented by its labels, such as
// its source.
type Match struct {
	// labels of the earlier texts that are repeated and that others than the agent and the person wrote
	ForeignTextLabels   []string
	UnknownAuthorLabels []string // labels of the earlier texts that are repeated and whose author is unknown

	commonFingerprints []textFingerprint
}

// IsRepeat reports whether the text repeats an earlier text that is foreign, or that nobody vouches for.
func (m *Match) IsRepeat() bool {
	return len(m.ForeignTextLabels) > 0 || len(m.UnknownAuthorLabels) > 0
}

// batchSize is the approximate number of fingerprints that are searched for while the fingerprint file is read once.
const batchSize = 1 << 18

// hashNumber is a hash of a few words, with the home's key (a fingerprint) or without a key.
type hashNumber interface{ ~uint64 }

// writtenTextHashes contains the hashes of some texts that were written now. It is used to find out which earlier texts
// contain the same hashes.
type writtenTextHashes[P hashNumber] struct {
	textIndexesByHash map[P][]int32 // for each hash, the indexes of the written texts that contain it
	// bits for a quick test; the bit of a hash is set if texts contains the hash (the number of bits is a power of
	// two)
	hashFilter     []uint64
	hashFilterMask P // selects the part of a hash that is the number of its bit in filter
}

// filterBitsPerHash is the number of bits in the filter for each hash. It is large enough that few other hashes pass,
// and small enough that the filter fits into the processor's cache.
const filterBitsPerHash = 64

// buildFilter builds hashFilter, with which mayContainHash quickly tests whether a written text may contain a hash. It
// sets the bit of each hash in textIndexesByHash.
func (w *writtenTextHashes[P]) buildFilter() {
	size := 1 << bits.Len(uint(len(w.textIndexesByHash)*filterBitsPerHash))
	w.hashFilterMask = P(max(size, 64) - 1)
	w.hashFilter = make([]uint64, (w.hashFilterMask+1)/64)
	for p := range w.textIndexesByHash {
		w.hashFilter[p&w.hashFilterMask/64] |= 1 << (p % 64)
	}
}

// mayContainHash returns false for most hashes that no written text contains. It always returns true if a text contains
// the hash.
func (w *writtenTextHashes[P]) mayContainHash(p P) bool {
	return w.hashFilter[p&w.hashFilterMask/64]&(1<<(p%64)) != 0
}

// addText adds the hashes of a written text, which has the index i. It leaves out the hashes that the string ignored
// also contains, for example because this string is an earlier version of the text. The function convertHash converts a
// hash to the form in which hashes are compared.
func (w *writtenTextHashes[P]) addText(i int, text, ignored string, convertHash func(hash uint64) P) {
	ignoredHashes := map[uint64]bool{}
	if ignored != "" {
		eachWrittenTextHash(ignored, func(h uint64) { ignoredHashes[h] = true })
	}
	eachWrittenTextHash(text, func(h uint64) {
		if ignoredHashes[h] {
			return
		}
		p := convertHash(h)
		if indexes := w.textIndexesByHash[p]; len(indexes) == 0 || indexes[len(indexes)-1] != int32(i) {
			w.textIndexesByHash[p] = append(indexes, int32(i))
		}
	})
}

// fingerprintOrigin describes an earlier text, one of whose fingerprints was found in a written text.
type fingerprintOrigin struct {
	blockKind BlockKind
	labels    []string
}

// FindRepeats returns a Match for each text in texts. The Match lists the earlier texts that this text repeats. The
// slice named ignored contains another text for each text, for example its earlier version. Words of this other text do
// not count as repeated. The slice may be shorter than texts. If fingerprints were lost in the last 14 days, for
// example because the file was damaged, each text that is long enough counts as a repetition of a text by an unknown
// author.
func (f File) FindRepeats(texts, ignored []string) []Match {
	matches := make([]Match, len(texts))
	_, isLost := f.LastFingerprintLoss()
	for first := 0; first < len(texts); {
		end, err := f.findBatch(texts, ignored, matches, first)
		if err != nil {
			f.repairFile(fingerprintsFile)
			isLost = true
			break
		}
		first = end
	}
	for i := range matches {
		m := &matches[i]
		if isLost && isLongEnoughToMatch(texts[i]) {
			m.UnknownAuthorLabels = append(m.UnknownAuthorLabels, lostFingerprintsLabel)
		}
		m.ForeignTextLabels, m.UnknownAuthorLabels = limitLabels(
			m.ForeignTextLabels,
		), limitLabels(
			m.UnknownAuthorLabels,
		)
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
	eachWrittenTextHash(text, func(uint64) { ok = true })
	return ok
}

// findBatch searches for earlier texts that the given texts repeat, and adds them to matches. It reads the fingerprint
// file once. The argument first is the index of the first text to search for. If the texts have more than batchSize
// fingerprints, findBatch does not search for all texts. end is the index of the first text for which it has not
// searched.
func (f File) findBatch(texts, ignored []string, matches []Match, first int) (end int, err error) {
	var w *writtenTextHashes[textFingerprint] // created with the first block, when the home's key is known
	found := map[textFingerprint][]fingerprintOrigin{}
	end = len(texts)
	err = f.scanBlocks(fingerprintsFile, func(key *cipherKey, h *blockHeader, sealed, prints []byte) error {
		if w == nil {
			w = &writtenTextHashes[textFingerprint]{textIndexesByHash: map[textFingerprint][]int32{}}
			for i := first; i < len(texts); i++ {
				w.addText(i, texts[i], textOrEmpty(ignored, i), key.encryptWordRunHash)
				if len(w.textIndexesByHash) > batchSize {
					end = i + 1
					break
				}
			}
			w.buildFilter()
			if err := f.searchRemovedFingerprints(key, w, found); err != nil {
				return err
			}
		}
		return w.searchBlock(key, h, sealed, prints, found)
	})
	for p, origins := range found {
		for _, i := range w.textIndexesByHash[p] {
			matches[i].addCommonFingerprint(p, origins)
		}
	}
	return end, err
}

// searchRemovedFingerprints searches for the written texts' fingerprints among the fingerprints that were removed from
// the main file. It adds each match to the map found, as text of unknown origin. A match may be a mistake, because a
// Bloom filter is searched. Call searchRemovedFingerprints before the blocks of the main file are searched, because a
// block may record that a person has vouched for a text. The search then removes the fingerprints of this text from the
// map.
func (f File) searchRemovedFingerprints(
	key *cipherKey,
	w *writtenTextHashes[textFingerprint],
	found map[textFingerprint][]fingerprintOrigin,
) error {
	sets, err := f.readRemovedFingerprints(key)
	if err != nil {
		return err
	}
	for _, d := range sets {
		for p := range w.textIndexesByHash {
			if d.mayContain(p) {
				found[p] = append(
					found[p],
					fingerprintOrigin{UnknownAuthorTextBlock, []string{removedFingerprintLabel}},
				)
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
func (w *writtenTextHashes[P]) searchBlock(
	key *cipherKey,
	h *blockHeader,
	sealed, prints []byte,
	found map[P][]fingerprintOrigin,
) error {
	if h.blockKind > vouchedWordsBlock {
		return nil
	}
	var blockOrigin *fingerprintOrigin // set when the first fingerprint matches, because decrypting the labels is slow
	for ; len(prints) >= bytesPerFingerprint; prints = prints[bytesPerFingerprint:] {
		p := P(decodeFingerprint(prints))
		if !w.mayContainHash(p) || w.textIndexesByHash[p] == nil {
			continue
		}
		if h.blockKind == vouchedWordsBlock {
			delete(found, p)
			continue
		}
		if blockOrigin == nil {
			labels, err := key.openLabels(h, sealed)
			if err != nil {
				return err
			}
			blockOrigin = &fingerprintOrigin{h.blockKind, labels}
		}
		found[p] = append(found[p], *blockOrigin)
	}
	return nil
}

// addCommonFingerprint records that the written text has the fingerprint p in common with earlier texts, which origins
// describes.
func (m *Match) addCommonFingerprint(p textFingerprint, origins []fingerprintOrigin) {
	if len(origins) > 0 {
		m.commonFingerprints = append(m.commonFingerprints, p)
	}
	for _, o := range origins {
		if o.blockKind == UnknownAuthorTextBlock {
			m.UnknownAuthorLabels = append(m.UnknownAuthorLabels, o.labels...)
		} else {
			m.ForeignTextLabels = append(m.ForeignTextLabels, o.labels...)
		}
	}
}

// VouchForWords records that a person vouches for the words that the matches have in common with earlier texts. These
// words are then ignored, until another foreign text that contains them is read.
func (f File) VouchForWords(matches ...Match) error {
	var prints []textFingerprint
	for i := range matches {
		prints = append(prints, matches[i].commonFingerprints...)
	}
	if len(prints) == 0 {
		return nil
	}
	_, err := f.addFileBlocks(
		fingerprintsFile,
		unwrittenFileBlock{vouchedWordsBlock, nil, func(*cipherKey) []textFingerprint { return prints }},
	)
	return err
}

// A RepeatComparison finds out which of several written texts repeat another text.
type RepeatComparison struct {
	writtenTexts  []string
	writtenHashes writtenTextHashes[uint64]
}

// NewRepeatComparison returns a RepeatComparison that finds out which of the given texts repeat an earlier text. The
// slice named ignored has the same meaning as in [File.FindRepeats].
func NewRepeatComparison(texts, ignored []string) *RepeatComparison {
	c := &RepeatComparison{
		writtenTexts:  texts,
		writtenHashes: writtenTextHashes[uint64]{textIndexesByHash: map[uint64][]int32{}},
	}
	for i := range texts {
		c.writtenHashes.addText(i, texts[i], textOrEmpty(ignored, i), func(hash uint64) uint64 { return hash })
	}
	c.writtenHashes.buildFilter()
	return c
}

// FindRepeats returns the indexes of the texts in c that repeat words of the given text.
func (c *RepeatComparison) FindRepeats(text string) (indexes []int) {
	eachStoredHash(text, func(h uint64) {
		if !c.writtenHashes.mayContainHash(h) {
			return
		}
		for _, i := range c.writtenHashes.textIndexesByHash[h] {
			if !slices.Contains(indexes, int(i)) {
				indexes = append(indexes, int(i))
			}
		}
	})
	return indexes
}
