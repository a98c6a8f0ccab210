// This file computes keys, by which an index finds the foreign texts that a written text may repeat.

package fingerprint

import (
	"math"
	"slices"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A Key is a number that a written text and each foreign text that it repeats have in common. The lower 64 - keyBits
// bits are zero. Keys are the same in each run of the program, so they can be stored. Two texts with a common key
// need not repeat each other, so the result must be compared with [Comparison.FindRepeats].
type Key uint64

// keyBits is the number of bits in which keys differ.
const keyBits = 40

// KeyRevision is the revision of the keys. It must be incremented if texts get other keys than before, because an
// index with the older keys would then miss repetitions. This includes changes of the forms in which a text is
// compared, and of the table of look-alikes. TestKeyRevision detects such a change.
const KeyRevision = 1

func newKey(hash uint64) Key { return Key(hash >> (64 - keyBits) << (64 - keyBits)) }

// eachKeyedRun is like eachRun, and also passes the key of each word sequence. Neighbouring sequences often have the
// same key. Therefore a text has only about half as many keys as sequences.
func eachKeyedRun(words []word, fn func(hash uint64, k Key)) {
	for i := range words {
		hash := uint64(0)
		units := 0
		last := i
		for ; last < len(words); last++ {
			hash = hash*runFactor + words[last].hash
			units += int(words[last].units)
			if units >= unitsPerRun {
				break
			}
		}
		if units < unitsPerRun {
			return // later sequences have even fewer words
		}
		fn(mixBits(hash), keyOfRun(words[i:last+1]))
	}
}

// keyOfRun computes the key of a word sequence: the smallest hash of all its subsequences of consecutive words that
// have two thirds of its length, such as four of six words. Equal sequences have equal keys, because the key depends
// only on the hashes of the words.
func keyOfRun(run []word) Key {
	length := len(run) * 2 / 3
	least := uint64(math.MaxUint64)
	for from := range len(run) - length + 1 {
		hash := uint64(0)
		for _, w := range run[from : from+length] {
			hash = hash*runFactor + w.hash
		}
		least = min(least, mixBits(hash))
	}
	return newKey(least)
}

// eachKeyedWrittenHash calls fn with the hashes of eachWrittenHash and their keys.
func eachKeyedWrittenHash(text string, fn func(hash uint64, k Key)) {
	keyLine := func(h uint64) { fn(h, newKey(h)) }
	for _, form := range textForms(text) {
		words := splitWords(form)
		eachKeyedRun(words, fn)
		eachShortLine(words, keyLine)
		eachInnerLine(words, keyLine)
	}
}

// AppendKeys appends the keys of a foreign text to keys. A key may occur several times.
func AppendKeys(keys []Key, text string) []Key {
	pooled, ok := wordsPool.Get().(*[]word)
	if !ok {
		pooled = new([]word)
	}
	words := *pooled
	addLine := func(hash uint64) { keys = appendKey(keys, newKey(hash)) }
	for _, form := range textForms(text) {
		words = appendWords(words[:0], form)
		keys = appendRunKeys(keys, words)
		eachShortLine(words, addLine)
	}
	if lines := linesWithPrefix(text); lines != "" {
		words = appendWords(words[:0], lines)
		eachShortLine(words, addLine)
	}
	*pooled = words
	wordsPool.Put(pooled)
	return keys
}

// wordsPool contains slices for AppendKeys, because an index of many texts needs the words of each text only once.
var wordsPool = sync.Pool{New: func() any { return new([]word) }}

// appendKey appends a key that differs from the last of keys.
func appendKey(keys []Key, k Key) []Key {
	if n := len(keys); n > 0 && keys[n-1] == k {
		return keys
	}
	return append(keys, k)
}

// appendRunKeys appends the key of each word sequence. The keys are those of eachKeyedRun.
func appendRunKeys(keys []Key, words []word) []Key {
	const partWords = wordsPerRun * 2 / 3 // number of words in a shorter sequence of keyOfRun
	isSpaced := !slices.ContainsFunc(words, func(w word) bool { return w.units != unitsPerWord })
	if !isSpaced {
		eachKeyedRun(words, func(_ uint64, k Key) { keys = appendKey(keys, k) })
		return keys
	}
	// Each sequence has wordsPerRun words, and three shorter sequences. Neighbours have two of these in common.
	var older, old uint64 // hashes of the two shorter sequences before
	for i := 0; i+partWords <= len(words); i++ {
		hash := uint64(0)
		for _, w := range words[i : i+partWords] {
			hash = hash*runFactor + w.hash
		}
		part := mixBits(hash)
		if i >= wordsPerRun-partWords {
			keys = appendKey(keys, newKey(min(older, old, part)))
		}
		older, old = old, part
	}
	return keys
}

// Keys returns the keys of the written texts, each with the ascending indexes of the texts that have it. If text i
// repeats a foreign text, then a key of the foreign text has the index i.
func (c *Comparison) Keys() map[Key][]int32 {
	keys := map[Key][]int32{}
	for i := range c.texts {
		eachKeyedWrittenHash(c.texts[i], func(h uint64, k Key) {
			if !slices.Contains(c.search.texts[h], int32(i)) {
				return // words that the comparison ignores
			}
			if indexes := keys[k]; len(indexes) == 0 || indexes[len(indexes)-1] != int32(i) {
				keys[k] = append(indexes, int32(i))
			}
		})
	}
	return keys
}

// KeyUnicode is the version of Unicode by which texts are divided into words. With another version, texts may get
// other keys.
const KeyUnicode = unicode.Version + " " + norm.Version
