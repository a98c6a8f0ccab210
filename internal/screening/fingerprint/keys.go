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

// A Key is a number computed from a part of a text. If a written text repeats a text by others, both have a key in
// common. The converse is not true, so the result must be checked by [Comparison.FindRepeats]. The lower 64 -
// keyHashBits bits of a key are zero. Keys are the same in each run of the program, so they can be stored.
type Key uint64

// keyHashBits is the number of upper bits of a Key that are set from a hash. The other bits are zero.
const keyHashBits = 40

// KeyRevision must be incremented if a change makes the function Keys return other keys for a text than before. An
// index with the older keys would then miss repeated texts. Such a change is a new form in which texts are compared,
// or a new character in the table of look-alikes. TestKeyRevision detects it.
const KeyRevision = 1

func keyFromHash(hash uint64) Key { return Key(hash >> (64 - keyHashBits) << (64 - keyHashBits)) }

// eachKeyedRun calls fn with the hash and the key of each run, which is a sequence of wordsPerRun consecutive words.
// Neighbouring runs often have the same key, so a text has only about half as many keys as runs.
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

// eachKeyedWrittenHash calls fn with each hash of a written text that may equal an earlier text's stored hash, and
// with the index key of this hash.
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

// wordsPool contains word slices that AppendKeys uses again, because a caller that indexes many texts needs the words
// of each text only for a short time.
var wordsPool = sync.Pool{New: func() any { return new([]word) }}

// appendKey appends k, unless it equals the last element of keys.
func appendKey(keys []Key, k Key) []Key {
	if n := len(keys); n > 0 && keys[n-1] == k {
		return keys
	}
	return append(keys, k)
}

// appendRunKeys appends the key of each sequence of wordsPerRun consecutive words. It computes the same keys as
// eachKeyedRun, but faster.
func appendRunKeys(keys []Key, words []word) []Key {
	// number of words in the overlapping parts of a run from whose hashes keyOfRun computes the run's key
	const partWords = wordsPerRun * 2 / 3
	isSpaced := !slices.ContainsFunc(words, func(w word) bool { return w.units != unitsPerWord })
	if !isSpaced {
		eachKeyedRun(words, func(_ uint64, k Key) { keys = appendKey(keys, k) })
		return keys
	}
	// A run is a sequence of wordsPerRun words. Its key is computed from the hashes of three parts, which begin at its
	// first, second and third word. The last two of these parts also belong to the next run.
	// hashes of two earlier parts of the text: older begins two words before word i, and old begins one word before
	// word i
	var older, old uint64
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

// Keys returns the keys of the written texts in c. It maps each key to the ascending indexes of the texts that have
// this key. If text i repeats a foreign text, one of the foreign text's keys is mapped to a list with i.
func (c *Comparison) Keys() map[Key][]int32 {
	keys := map[Key][]int32{}
	for i := range c.texts {
		eachKeyedWrittenHash(c.texts[i], func(h uint64, k Key) {
			if !slices.Contains(c.search.texts[h], int32(i)) {
				return // Skip these words, which the caller of NewComparison asked to ignore.
			}
			if indexes := keys[k]; len(indexes) == 0 || indexes[len(indexes)-1] != int32(i) {
				keys[k] = append(indexes, int32(i))
			}
		})
	}
	return keys
}

// KeyUnicode is the version of Unicode by which texts are divided into words. With another version, a text may get
// other keys, so stored keys cannot be used.
const KeyUnicode = unicode.Version + " " + norm.Version
