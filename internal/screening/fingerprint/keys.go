// This file computes index keys from texts. If an agent writes a text that repeats a foreign text, both have a key in
// common. Therefore an index by key quickly finds the foreign texts that may be repeated.

package fingerprint

import (
	"math"
	"slices"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A TextKey is a number computed from a part of a text. If a written text repeats a text by others, both have a key in
// common. The converse is not true, so the result must be checked by [RepeatFinder.FindRepeats]. The lower 64 -
// textKeyHashBits bits of a key are zero. Keys are the same in each run of the program, so they can be stored.
type TextKey uint64

// textKeyHashBits is the number of upper bits in a [TextKey] that are set from a hash. The other bits are zero.
const textKeyHashBits = 40

// TextKeyRevision must be incremented if a change of the program makes AppendTextKeys return other keys for a text than
// before. An index with the older keys would otherwise miss repeated texts. An example of such a change is a new
// character in the table of look-alikes, or another way to normalize texts before they are compared. TestKeyRevision
// detects such a change.
const TextKeyRevision = 1

func textKeyFromHash(hash uint64) TextKey {
	return TextKey(hash >> (64 - textKeyHashBits) << (64 - textKeyHashBits))
}

// eachWordRunWithKey calls fn with the hash and the key of each word run. A word run is a sequence of consecutive
// words. The length of a run is measured in half words: a word counts as two half words, and a letter in a script
// without spaces counts as one. A run begins at each word, and ends as soon as it has at least halfWordsPerWordRun half
// words. A key is computed from a part of the run. Neighbouring runs overlap, so they often have the same key.
// Therefore a text has only about half as many different keys as runs.
func eachWordRunWithKey(words []word, fn func(hash uint64, k TextKey)) {
	for i := range words {
		hash := uint64(0)
		units := 0
		last := i
		for ; last < len(words); last++ {
			hash = hash*wordRunHashFactor + words[last].hash
			units += int(words[last].halfWords)
			if units >= halfWordsPerWordRun {
				break
			}
		}
		if units < halfWordsPerWordRun {
			return // the runs after this one have even fewer words
		}
		fn(mixBits(hash), wordRunKey(words[i:last+1]))
	}
}

// wordRunKey computes the key of a run of words. It divides the run into overlapping parts of consecutive words. Each
// part is two thirds as long as the run: if the run has six words, there are three parts with four words each. The key
// is the smallest hash of a part. Neighbouring runs have parts in common, so they often have the same key.
func wordRunKey(run []word) TextKey {
	length := len(run) * 2 / 3
	least := uint64(math.MaxUint64)
	for from := range len(run) - length + 1 {
		hash := uint64(0)
		for _, w := range run[from : from+length] {
			hash = hash*wordRunHashFactor + w.hash
		}
		least = min(least, mixBits(hash))
	}
	return textKeyFromHash(least)
}

// eachWrittenTextHashWithKey calls fn with the hashes of short sequences of words in the text, and with the key of each
// hash in an index. The same hashes are stored for the texts that an agent reads. If the text repeats words of such a
// text, some hashes of both are equal.
func eachWrittenTextHashWithKey(text string, fn func(hash uint64, k TextKey)) {
	keyLine := func(h uint64) { fn(h, textKeyFromHash(h)) }
	for _, form := range textVariants(text) {
		words := splitWords(form)
		eachWordRunWithKey(words, fn)
		eachShortLineHash(words, keyLine)
		eachShortWordSequence(words, keyLine)
	}
}

// AppendTextKeys appends the keys of a text to the list keys. The keys are hashes of the text's word sequences and
// short lines. They are used to recognize later that a new text repeats this text. AppendTextKeys may append the same
// key several times.
func AppendTextKeys(keys []TextKey, text string) []TextKey {
	pooled, ok := wordsPool.Get().(*[]word)
	if !ok {
		pooled = new([]word)
	}
	words := *pooled
	addLine := func(hash uint64) { keys = appendTextKey(keys, textKeyFromHash(hash)) }
	for _, form := range textVariants(text) {
		words = appendWords(words[:0], form)
		keys = appendWordRunKeys(keys, words)
		eachShortLineHash(words, addLine)
	}
	if lines := extractPrefixedLines(text); lines != "" {
		words = appendWords(words[:0], lines)
		eachShortLineHash(words, addLine)
	}
	*pooled = words
	wordsPool.Put(pooled)
	return keys
}

// wordsPool contains word slices that AppendTextKeys uses again, because a caller that indexes many texts needs the
// words of each text only for a short time.
var wordsPool = sync.Pool{New: func() any { return new([]word) }}

// appendTextKey appends k, unless it equals the last element of keys.
func appendTextKey(keys []TextKey, k TextKey) []TextKey {
	if n := len(keys); n > 0 && keys[n-1] == k {
		return keys
	}
	return append(keys, k)
}

// appendWordRunKeys appends the key of each run of words to keys. It leaves out a key that equals the key before it. It
// computes the same keys as eachWordRunWithKey, but faster, unless some words are single letters of a script without
// spaces.
func appendWordRunKeys(keys []TextKey, words []word) []TextKey {
	// number of words in each of the three overlapping parts from which a key is computed
	const partWords = wordsPerWordRun * 2 / 3
	isSpaced := !slices.ContainsFunc(words, func(w word) bool { return w.halfWords != halfWordsPerWord })
	if !isSpaced {
		eachWordRunWithKey(words, func(_ uint64, k TextKey) { keys = appendTextKey(keys, k) })
		return keys
	}
	// A run is a sequence of wordsPerWordRun words. Its key is computed from the hashes of three parts, which begin at
	// the run's first, second and third word. The last two of these parts also belong to the next run, so keep their
	// hashes. The variable older is the hash of the part that begins two words before word i. The variable old is the
	// hash of the part that begins one word before word i.
	var older, old uint64
	for i := 0; i+partWords <= len(words); i++ {
		hash := uint64(0)
		for _, w := range words[i : i+partWords] {
			hash = hash*wordRunHashFactor + w.hash
		}
		part := mixBits(hash)
		if i >= wordsPerWordRun-partWords {
			keys = appendTextKey(keys, textKeyFromHash(min(older, old, part)))
		}
		older, old = old, part
	}
	return keys
}

// TextIndexesByKey returns a map from a key to the indexes of the texts in c.writtenTexts that have this key. The
// indexes are in ascending order. A key is made from a hash of words. If a written text repeats words of a foreign text
// (a text by others), the two texts share at least one key. Therefore a caller can look up the keys of a foreign text
// in this map to find the written texts that may repeat it.
func (c *RepeatFinder) TextIndexesByKey() map[TextKey][]int32 {
	keys := map[TextKey][]int32{}
	for i := range c.writtenTexts {
		eachWrittenTextHashWithKey(c.writtenTexts[i], func(h uint64, k TextKey) {
			if !slices.Contains(c.writtenHashes.textIndexesByHash[h], int32(i)) {
				return // The hash belongs to words that the caller of NewRepeatFinder asked to ignore.
			}
			if indexes := keys[k]; len(indexes) == 0 || indexes[len(indexes)-1] != int32(i) {
				keys[k] = append(indexes, int32(i))
			}
		})
	}
	return keys
}

// TextKeyUnicodeVersion is the version of Unicode by which texts are divided into words. With another version, a text
// may get other keys, so stored keys cannot be used.
const TextKeyUnicodeVersion = unicode.Version + " " + norm.Version
