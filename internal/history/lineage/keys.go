// This file computes the keys in a key file, which is an index of a memory's history. Two texts that have six
// consecutive words in common also have a key in common, so the file finds such texts quickly.

package lineage

import (
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// A key file is an index that finds texts with six consecutive words in common. A file with the hashes of all six-word
// sequences would be larger than the log. Therefore the file contains hashes of four-word sequences. Six words contain
// three such sequences, and only the smallest of their three hashes is stored, as the key for the six words. Because
// neighbouring sequences often have the same key, only about half of all hashes are stored. The key depends only on the
// six words, so each text that contains the words has the same key.
const (
	wordsPerVersionKey = 4
	keyHashesPerGram   = wordsPerGram - wordsPerVersionKey + 1
)

// A versionKey is a hash of either wordsPerVersionKey consecutive words or an entry's name. Its lower bits are zero,
// because only the upper storedKeyBits bits are stored. Keys are the same in each run of the program.
type versionKey uint64

const (
	storedKeyBits     = 40
	versionNumberBits = 64 - storedKeyBits
)

func newVersionKey(hash uint64) versionKey {
	return versionKey(hash >> versionNumberBits << versionNumberBits)
}

// nameKey returns the key for the name of an entry or a turn.
func nameKey(name string) versionKey {
	b := append([]byte(name), make([]byte, maxShortWordBytes)...)
	return newVersionKey(mixHashes(stableHash(b, len(name)), 1))
}

// appendWordSequenceKeys appends a key to keys for each sequence of wordsPerGram consecutive words in the text. The key
// is computed from smaller sequences: each sequence of wordsPerVersionKey words in the sequence has a hash, and the key
// is the smallest of these hashes. A key is not appended if it equals the last key in keys.
func (s *wordGramHasher) appendWordSequenceKeys(keys []versionKey, text string) []versionKey {
	if !s.tryHashASCII(text) {
		s.hashWords(splitWords(text))
	}
	var last [keyHashesPerGram]uint64 // hashes of the last three four-word sequences
	for i := wordsPerVersionKey; i <= len(s.wordHashes); i++ {
		h := uint64(0)
		for _, word := range s.wordHashes[i-wordsPerVersionKey : i] {
			h = mixHashes(h, word)
		}
		last[i%keyHashesPerGram] = h
		if i < wordsPerGram {
			continue
		}
		k := newVersionKey(slices.Min(last[:]))
		if len(keys) == 0 || keys[len(keys)-1] != k {
			keys = append(keys, k)
		}
	}
	return keys
}

// eachVersionKey calls the function add with each key of each version in the change c. The argument i of add is the
// index of the version in c.Versions. In an index of the history, versions are found by these keys. A version has keys
// for its words, its entry's name, and the names in its source labels. If the change merged two entries, the version of
// each entry also has a key for the name of the other entry.
func (s *wordGramHasher) eachVersionKey(c *oxbow.Change, add func(i int, k versionKey)) {
	var keys []versionKey
	for i := range c.Versions {
		v := &c.Versions[i]
		keys = append(s.appendWordSequenceKeys(keys[:0], v.Entry.Content), nameKey(v.Entry.Name))
		for _, k := range append(keys, versionKeysForSourceLabels(v)...) {
			add(i, k)
		}
	}
	eachEntryMerge(c, func(gone, kept int) {
		add(gone, nameKey(c.Versions[kept].Entry.Name))
		add(kept, nameKey(c.Versions[gone].Entry.Name))
	})
}

// versionKeysForSourceLabels returns a key for each source label of the version v. The key is made from the name of the
// entry or turn that the label names as the source of v.
func versionKeysForSourceLabels(v *oxbow.Version) (keys []versionKey) {
	for _, l := range v.Entry.Values(SourceLabel) {
		name, _, ok := ParseSource(l)
		if !ok {
			name = l
		}
		keys = append(keys, nameKey(name))
	}
	return keys
}
