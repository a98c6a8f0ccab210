// This file computes keys. With an index of the keys, the foreign texts that a written text may repeat are found
// quickly.

package fingerprint

import (
	"math"
	"slices"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A Key is a number computed from a part of a text. If a written text repeats a foreign text, both have a key in
// common. The converse is not true, so the result must be checked by [Comparison.FindRepeats]. The lower 64 -
// keyHashBits bits of a key are zero. Keys are the same in each run of the program, so they can be stored.
type Key uint64

// keyHashBits is the number of upper bits in which keys may differ.
const keyHashBits = 40

// KeyRevision must be incremented if texts get other keys than before, because an index with the older keys would then
// miss repetitions. This includes changes in the forms in which a text is compared, and in the table of look-alikes.
// TestKeyRevision detects such a change.
const KeyRevision = 1

func keyFromHash(hash uint64) Key { return Key(hash >> (64 - keyHashBits) << (64 - keyHashBits)) }

// eachKeyedRun is like eachRun, but also passes the key of each run. Neighbouring runs often have the same key, so a
// text has only about half as many keys as runs.
func eachKeyedRun(words []word, fn func(hash uint64, k Key)) {
	for i := range words {
		hash := uint64(0)
		units := 0
		last := i
		for ; last < len(words); last++ {
			hash = hash*runHashFactor + words[last].hash
			units += int(words[last].units)
			if units >= unitsPerRun {
				break
			}
		}
		if units < unitsPerRun {
			return // the runs after this one have even fewer words
		}
		fn(mixBits(hash), keyOfRun(words[i:last+1]))
	}
}

// keyOfRun computes the key of a run. It hashes all parts of consecutive words that are two thirds as long as the run,
// such as four words if the run has six. The key is the smallest hash. Equal runs have equal keys, because the key
// depends only on the words.
func keyOfRun(run []word) Key {
	length := len(run) * 2 / 3
	least := uint64(math.MaxUint64)
	for from := range len(run) - length + 1 {
		hash := uint64(0)
		for _, w := range run[from : from+length] {
			hash = hash*runHashFactor + w.hash
		}
		least = min(least, mixBits(hash))
	}
	return keyFromHash(least)
}

// eachKeyedWrittenHash is like eachWrittenHash, but also passes the key of each hash.
func eachKeyedWrittenHash(text string, fn func(hash uint64, k Key)) {
	keyLine := func(h uint64) { fn(h, keyFromHash(h)) }
	for _, form := range equivalentForms(text) {
		words := splitWords(form)
		eachKeyedRun(words, fn)
		eachShortLine(words, keyLine)
		eachInnerLine(words, keyLine)
	}
}

// AppendKeys appends the keys of a foreign text to keys. A key may be appended several times.
func AppendKeys(keys []Key, text string) []Key {
	pooled, ok := wordsPool.Get().(*[]word)
	if !ok {
		pooled = new([]word)
	}
	words := *pooled
	addLine := func(hash uint64) { keys = appendKey(keys, keyFromHash(hash)) }
	for _, form := range equivalentForms(text) {
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

// wordsPool contains slices for AppendKeys. A caller that indexes many texts needs the words of each text only once.
var wordsPool = sync.Pool{New: func() any { return new([]word) }}

// appendKey appends k, unless it equals the last element of keys.
func appendKey(keys []Key, k Key) []Key {
	if n := len(keys); n > 0 && keys[n-1] == k {
		return keys
	}
	return append(keys, k)
}

// appendRunKeys appends the key of each run. It computes the same keys as eachKeyedRun, but faster.
func appendRunKeys(keys []Key, words []word) []Key {
	const partWords = wordsPerRun * 2 / 3 // number of words in the parts that keyOfRun hashes
	isSpaced := !slices.ContainsFunc(words, func(w word) bool { return w.units != unitsPerWord })
	if !isSpaced {
		eachKeyedRun(words, func(_ uint64, k Key) { keys = appendKey(keys, k) })
		return keys
	}
	// Each run has wordsPerRun words and three parts. Two of the parts also belong to the next run.
	var older, old uint64 // hashes of the two parts that also belong to the next run
	for i := 0; i+partWords <= len(words); i++ {
		hash := uint64(0)
		for _, w := range words[i : i+partWords] {
			hash = hash*runHashFactor + w.hash
		}
		part := mixBits(hash)
		if i >= wordsPerRun-partWords {
			keys = appendKey(keys, keyFromHash(min(older, old, part)))
		}
		older, old = old, part
	}
	return keys
}

// Keys returns the keys of the written texts. Each key's value is an ascending list of the indexes that the texts with
// this key have. If text i repeats a foreign text, the list for one of the foreign text's keys contains i.
func (c *Comparison) Keys() map[Key][]int32 {
	keys := map[Key][]int32{}
	for i := range c.texts {
		eachKeyedWrittenHash(c.texts[i], func(h uint64, k Key) {
			if !slices.Contains(c.search.texts[h], int32(i)) {
				return // the comparison ignores these words
			}
			if indexes := keys[k]; len(indexes) == 0 || indexes[len(indexes)-1] != int32(i) {
				keys[k] = append(indexes, int32(i))
			}
		})
	}
	return keys
}

// KeyUnicode is the version of Unicode that determines how texts are divided into words. With another version, texts
// may get other keys.
const KeyUnicode = unicode.Version + " " + norm.Version
