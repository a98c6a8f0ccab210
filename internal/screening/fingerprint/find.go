// This file finds out whether a text repeats earlier texts.

package fingerprint

import (
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A Match lists the earlier texts whose words a text repeats. Each earlier text is represented by its labels, such as
// its source.
type Match struct {
	// Labels of those repeated earlier texts that neither the agent nor the person wrote.
	ForeignTextLabels   []string
	UnknownAuthorLabels []string // labels of the earlier texts that are repeated and whose author is unknown

	commonFingerprints []textFingerprint
}

// IsRepeat reports whether the text repeats an earlier text that is foreign (written by others) or whose author is
// unknown.
func (m *Match) IsRepeat() bool {
	return len(m.ForeignTextLabels) > 0 || len(m.UnknownAuthorLabels) > 0
}

// fingerprintsPerBatch is the approximate number of fingerprints that are searched for while the fingerprint file is
// read once.
const fingerprintsPerBatch = 1 << 18

// hashNumber is a hash of a few words. It is either a fingerprint, which was encrypted with the secret key of an oxbow
// home, or a hash without a key.
type hashNumber interface{ ~uint64 }

// writtenTextHashes contains the hashes of some texts that were written now. It is used to find out which earlier texts
// contain the same hashes.
type writtenTextHashes[P hashNumber] struct {
	textIndexesByHash map[P][]int32 // for each hash, the indexes of the written texts that contain it
	// Bits for a quick test. The bit of a hash is set if textIndexesByHash contains the hash. The number of bits is a
	// power of two.
	hashFilter     []uint64
	hashFilterMask P // selects the low bits of a hash, which are the number of its bit in hashFilter
}

// filterBitsPerHash is how many bits hashFilter has for each hash of the written texts. It is large enough that the
// filter rejects most hashes that no written text contains, and small enough that the filter fits into the processor's
// cache.
const filterBitsPerHash = 64

// buildHashFilter creates hashFilter and sets one bit in it for each hash in textIndexesByHash. Function mayContainHash
// uses the bits to test quickly whether a hash may be in the written texts.
func (w *writtenTextHashes[P]) buildHashFilter() {
	size := 1 << bits.Len(uint(len(w.textIndexesByHash)*filterBitsPerHash))
	w.hashFilterMask = P(max(size, 64) - 1)
	w.hashFilter = make([]uint64, (w.hashFilterMask+1)/64)
	for p := range w.textIndexesByHash {
		w.hashFilter[p&w.hashFilterMask/64] |= 1 << (p % 64)
	}
}

// mayContainHash returns true if a written text contains the hash p. If no written text contains p, it returns false in
// most cases.
func (w *writtenTextHashes[P]) mayContainHash(p P) bool {
	return w.hashFilter[p&w.hashFilterMask/64]&(1<<(p%64)) != 0
}

// addText adds the hashes of a written text, which has the index textIndex. It leaves out the hashes that the string
// ignoredText also contains, for example because this string is an earlier version of the text. The function
// convertHash converts a hash to the form in which hashes are compared.
func (w *writtenTextHashes[P]) addText(textIndex int, text, ignoredText string, convertHash func(hash uint64) P) {
	ignoredHashes := map[uint64]bool{}
	if ignoredText != "" {
		eachWrittenTextHash(ignoredText, func(h uint64) { ignoredHashes[h] = true })
	}
	eachWrittenTextHash(text, func(h uint64) {
		if ignoredHashes[h] {
			return
		}
		p := convertHash(h)
		if indexes := w.textIndexesByHash[p]; len(indexes) == 0 || indexes[len(indexes)-1] != int32(textIndex) {
			w.textIndexesByHash[p] = append(indexes, int32(textIndex))
		}
	})
}

// foundFingerprints contains the origins of the fingerprints that were found in written texts. The origins of a
// fingerprint are different from each other, although many earlier texts may have the same origin.
type foundFingerprints struct {
	byFingerprint map[textFingerprint]originSet
	originsByKey  map[originKey]*fingerprintOrigin // to use the same pointer for equal origins
}

// originSet is a set of origins. A set is needed because tens of thousands of earlier texts may contain the same words.
type originSet map[*fingerprintOrigin]struct{}

// origin returns the pointer for an origin.
func (f *foundFingerprints) origin(kind BlockKind, labels []string) *fingerprintOrigin {
	key := makeOriginKey(kind, labels)
	o := f.originsByKey[key]
	if o == nil {
		o = &fingerprintOrigin{kind, labels}
		f.originsByKey[key] = o
	}
	return o
}

func (f *foundFingerprints) add(p textFingerprint, o *fingerprintOrigin) {
	all := f.byFingerprint[p]
	if all == nil {
		all = originSet{}
		f.byFingerprint[p] = all
	}
	all[o] = struct{}{}
}

// FindRepeats returns a Match for each element of texts. The Match describes the earlier texts that this element
// repeats.
//
// The slice ignoredTexts can contain, at the same index as an element of texts, a second text, for example the earlier
// version of the element. Words that also occur in the second text do not count as repeated. The slice ignoredTexts may
// be shorter than texts. The remaining elements of texts then have no second text.
//
// Fingerprints may have been lost in the last 14 days, for example because the file was damaged. In this case, each
// element of texts that is long enough counts as a repetition of a text by an unknown author.
func (f Store) FindRepeats(texts, ignoredTexts []string) []Match {
	matches := make([]Match, len(texts))
	_, isLost := f.LastFingerprintLoss()
	for first := 0; first < len(texts); {
		end, err := f.findRepeatsInBatch(texts, ignoredTexts, matches, first)
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

// findRepeatsInBatch finds the earlier texts that the given texts repeat, and adds them to matches. It examines the
// texts from the index first on. The slice matches has one element for each text, and ignoredTexts has the same meaning
// as in [Store.FindRepeats].
//
// findRepeatsInBatch reads the fingerprint file at most once. As soon as the examined texts have more than
// fingerprintsPerBatch fingerprints, it examines no further text. The result end is the index of the first text that
// was not examined, or len(texts).
func (f Store) findRepeatsInBatch(texts, ignoredTexts []string, matches []Match, first int) (end int, err error) {
	var w *writtenTextHashes[textFingerprint] // created by begin, when the home's key is known
	found := &foundFingerprints{map[textFingerprint]originSet{}, map[originKey]*fingerprintOrigin{}}
	end = len(texts)
	begin := func(key *cipherKey) error {
		w = &writtenTextHashes[textFingerprint]{textIndexesByHash: map[textFingerprint][]int32{}}
		for i := first; i < len(texts); i++ {
			w.addText(i, texts[i], textOrEmpty(ignoredTexts, i), key.encryptWordRunHash)
			if len(w.textIndexesByHash) > fingerprintsPerBatch {
				end = i + 1
				break
			}
		}
		w.buildHashFilter()
		return f.searchRemovedFingerprints(key, w, found)
	}
	isDone, key, err := f.searchIndex(begin, &w, found)
	if err == nil && !isDone {
		err = f.scanBlocks(fingerprintsFile, func(key *cipherKey, h *blockHeader, sealed, prints []byte) error {
			if w == nil {
				if err := begin(key); err != nil {
					return err
				}
			}
			return w.searchBlock(key, h, sealed, prints, found)
		})
	}
	if err == nil && w == nil && key != nil {
		// All blocks of the file are too old, but removed fingerprints may be newer.
		err = begin(key)
	}
	for p, origins := range found.byFingerprint {
		for _, i := range w.textIndexesByHash[p] {
			matches[i].addCommonFingerprint(p, origins)
		}
	}
	return end, err
}

// searchIndex searches the index in memory for the written texts' fingerprints, and adds the origins of each one to
// found. Before the search, searchIndex calls initHashes, which sets w. The result key is the home's key.
//
// If no index is in memory, isDone is false and initHashes was not called. The caller must then scan the file. If no
// text's fingerprints were ever added, isDone is true, the key is nil, and initHashes was not called either.
func (f Store) searchIndex(
	initHashes func(*cipherKey) error,
	w **writtenTextHashes[textFingerprint],
	found *foundFingerprints,
) (isDone bool, key *cipherKey, err error) {
	defer dropOldCaches()
	c := cacheOfDir(f.Dir)
	index, key, err := f.lookUpIndex(c)
	if err != nil || key == nil {
		return true, nil, err
	}
	if index == nil {
		return false, key, nil
	}
	if err := initHashes(key); err != nil {
		return true, key, err
	}
	now := f.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range (*w).textIndexesByHash {
		origins, isVouched := index.findOrigins(p, now)
		if isVouched {
			delete(found.byFingerprint, p)
		}
		for _, o := range origins {
			found.add(p, found.origin(o.blockKind, o.labels))
		}
	}
	return true, key, nil
}

// lookUpIndex returns the index of the file with fingerprints, and the home's key. The index is nil if the file must be
// scanned. If no text's fingerprints were ever added, both are nil.
func (f Store) lookUpIndex(c *fileCache) (*fingerprintIndex, *cipherKey, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if key := c.checkedFiles.cachedKey(); key != nil && c.isIndexCurrent(f, key) {
		return c.index, key, nil
	}
	defer c.updateSize()
	file, key, validSize, err := f.openFile(fingerprintsFile)
	if file == nil || err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() != validSize {
		// The scan will report the error. Or another process has written blocks, but not yet the header with the valid
		// size. The header changes neither the file's size nor, within a tick of the clock, its modification time.
		return nil, key, nil
	}
	return f.findOrBuildIndex(c, key, info), key, nil
}

// isIndexCurrent reports whether the index certainly contains the same blocks as the file with fingerprints, and key is
// the key of the home. It only examines the descriptions of the files. The caller must hold c.mu.
func (c *fileCache) isIndexCurrent(f Store, key *cipherKey) bool {
	if c.index == nil || c.isIndexUnusable(key, f.Now()) {
		return false
	}
	info, err := f.lstat(fingerprintsFile)
	return err == nil && c.version.isSame(info) && c.checkedFiles.isUnchanged(key, fingerprintKeyFile, f.lstat)
}

// isIndexUnusable reports whether the index must not be used for a lookup with this key at the time now. The index
// lacks the blocks that were too old when the index was built. If the computer's clock was set back since then, some of
// these blocks are not too old any more, and the index must be built again.
func (c *fileCache) isIndexUnusable(key *cipherKey, now time.Time) bool {
	// Round removes the monotonic clock reading from the time, because a change of the clock does not affect this
	// reading.
	return c.index.key != string(key.key) || now.Round(0).Before(c.index.buildTime)
}

// lookupsBeforeIndexing is the number of lookups, in a file that no other process changes meanwhile, after which its
// fingerprints are indexed in memory. A process that compares only few texts, such as a hook, scans the file, because
// that is faster than to index it.
const lookupsBeforeIndexing = 3

// findOrBuildIndex returns the index of the file with fingerprints, or nil if there is no index. The caller must then
// scan the file. An index is built only after more than lookupsBeforeIndexing lookups. The argument info describes the
// file, which must be open. The caller must hold c.mu during the call, and also whenever it uses the index.
func (f Store) findOrBuildIndex(c *fileCache, key *cipherKey, info fs.FileInfo) *fingerprintIndex {
	now := f.Now().Round(0)
	isUnusable := c.index != nil && c.isIndexUnusable(key, now)
	if !c.version.isSame(info) || isUnusable {
		c.version = fileVersion{info}
		c.lookupCount = 0
		c.index = nil
		c.cannotBeIndexed = false
	}
	c.lookupCount++
	if c.index == nil && c.lookupCount > lookupsBeforeIndexing && !c.cannotBeIndexed {
		x := newFingerprintIndex(key)
		x.buildTime = now
		err := f.scanBlocks(fingerprintsFile, x.addBlock)
		newInfo, statErr := os.Stat(filepath.Join(f.Dir, fingerprintsFile))
		switch {
		case err != nil: // A block is damaged, or a fingerprint has too many origins for a fast index.
			c.cannotBeIndexed = true
		case statErr == nil && c.version.isSame(newInfo):
			c.index = x
		default: // A block was added during the scan, so it is unknown whether x contains the block.
			c.lookupCount = 0
		}
	}
	return c.index
}

// searchRemovedFingerprints looks up the fingerprints of the written texts among the fingerprints that were removed
// from the main file. It adds each match to the parameter found, as text of unknown origin. A match may be a mistake,
// because the removed fingerprints are stored in a Bloom filter. Call searchRemovedFingerprints before the blocks of
// the main file are searched. A block of the main file may record that a person has vouched for a text, and the search
// of the main file then removes the text's fingerprints from found.
func (f Store) searchRemovedFingerprints(
	key *cipherKey,
	w *writtenTextHashes[textFingerprint],
	found *foundFingerprints,
) error {
	sets, err := f.readRemovedFingerprints(key)
	if err != nil {
		return err
	}
	origin := found.origin(UnknownAuthorTextBlock, []string{removedFingerprintLabel})
	for _, d := range sets {
		for p := range w.textIndexesByHash {
			if d.mayContain(p) {
				found.add(p, origin)
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

// searchBlock searches one block of the fingerprint file for the written texts' fingerprints, and adds the matches to
// found. If a person vouched for the words of the block, searchBlock instead removes their fingerprints from found.
func (w *writtenTextHashes[P]) searchBlock(
	key *cipherKey,
	h *blockHeader,
	encryptedLabels, fingerprintBytes []byte,
	found *foundFingerprints,
) error {
	if h.blockKind > acceptedWordsBlock {
		return nil
	}
	var blockOrigin *fingerprintOrigin // set when the first fingerprint matches, because decrypting the labels is slow
	for ; len(fingerprintBytes) >= bytesPerFingerprint; fingerprintBytes = fingerprintBytes[bytesPerFingerprint:] {
		p := decodeFingerprint(fingerprintBytes)
		if !w.mayContainHash(P(p)) || w.textIndexesByHash[P(p)] == nil {
			continue
		}
		if h.blockKind == acceptedWordsBlock {
			delete(found.byFingerprint, p)
			continue
		}
		if blockOrigin == nil {
			labels, err := key.openLabels(h, encryptedLabels)
			if err != nil {
				return err
			}
			blockOrigin = found.origin(h.blockKind, labels)
		}
		found.add(p, blockOrigin)
	}
	return nil
}

// addCommonFingerprint records that the written text and earlier texts have the fingerprint p in common. The set
// origins describes these earlier texts. Their labels are added to UnknownAuthorLabels or ForeignTextLabels.
func (m *Match) addCommonFingerprint(p textFingerprint, origins originSet) {
	if len(origins) > 0 {
		m.commonFingerprints = append(m.commonFingerprints, p)
	}
	for o := range origins {
		if o.blockKind == UnknownAuthorTextBlock {
			m.UnknownAuthorLabels = append(m.UnknownAuthorLabels, o.labels...)
		} else {
			m.ForeignTextLabels = append(m.ForeignTextLabels, o.labels...)
		}
	}
}

// AcceptMatchedWords records that a person accepts the words that the matches have in common with foreign texts, such
// as web pages. These words are then no longer reported as copied, until a session reads another foreign text that
// contains them.
func (f Store) AcceptMatchedWords(matches ...Match) error {
	var prints []textFingerprint
	for i := range matches {
		prints = append(prints, matches[i].commonFingerprints...)
	}
	if len(prints) == 0 {
		return nil
	}
	slices.Sort(prints)
	prints = slices.Compact(prints) // The matches may have words in common.
	_, _, err := f.addFileBlocks(
		fingerprintsFile,
		unwrittenFileBlock{acceptedWordsBlock, nil, func(*cipherKey) []textFingerprint { return prints }},
	)
	return err
}

// A RepeatFinder finds out which of several written texts repeat another text.
type RepeatFinder struct {
	writtenTexts  []string
	writtenHashes writtenTextHashes[uint64]
}

// NewRepeatFinder returns a RepeatFinder that finds out which of the given texts repeat an earlier text. The slice
// named ignoredTexts has the same meaning as in [Store.FindRepeats].
func NewRepeatFinder(texts, ignoredTexts []string) *RepeatFinder {
	c := &RepeatFinder{
		writtenTexts:  texts,
		writtenHashes: writtenTextHashes[uint64]{textIndexesByHash: map[uint64][]int32{}},
	}
	for i := range texts {
		c.writtenHashes.addText(i, texts[i], textOrEmpty(ignoredTexts, i), func(hash uint64) uint64 { return hash })
	}
	c.writtenHashes.buildHashFilter()
	return c
}

// FindRepeats returns the indexes of the texts in c that repeat words from the given text, without duplicates. The
// indexes are in no particular order.
func (c *RepeatFinder) FindRepeats(text string) (textIndexes []int) {
	eachReadTextHash(text, func(h uint64) {
		if !c.writtenHashes.mayContainHash(h) {
			return
		}
		for _, i := range c.writtenHashes.textIndexesByHash[h] {
			if !slices.Contains(textIndexes, int(i)) {
				textIndexes = append(textIndexes, int(i))
			}
		}
	})
	return textIndexes
}
