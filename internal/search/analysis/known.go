// This file implements the cache of an Analyzer.

package analysis

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// maxCachedChunks is the maximum number of chunks in the cache. It limits the cache to about 10 MB.
const maxCachedChunks = 1 << 16

// chunkTermCache is a cache that maps chunks to their search terms. A chunk is a sequence of letters, digits and marks
// in a text. The cache is a special hash table, because most of the time for filling an index is spent in look-ups.
// Usually, a chunk is a single word of at most 16 bytes, and a look-up needs three memory accesses:
//
//	slots           by hash      ──► number of a chunk; linear probing
//	chunks          by number    ──► its bytes, and its first term
//	terms           by number    ──► text, and its index in the current document
//
// Other data is stored separately:
//
//	longChunkTexts  by chunk     ──► its bytes, if it has more than 16 bytes
//	allChunkTerms   from ‥ to    ──► the terms of all chunks, one after the other
//	termByText      by text      ──► number of a term
type chunkTermCache struct {
	hashSeed1, hashSeed2 uint64
	longChunkSeed        maphash.Seed

	slots          []cacheSlot // The length is a power of two. At least half of the slots are free.
	chunks         []cachedChunk
	terms          []cachedTerm
	longChunkTexts []string
	allChunkTerms  []chunkTerm
	termByText     map[string]uint32
	// If termsToFind is set, the cache stores only the terms in this set, without numbers. If it is nil, the cache
	// stores all terms, with numbers.
	termsToFind *TermSet
	wordRoot    func(word string) string
	reusedTerms []chunkTerm // slice that is reused for the terms of the chunk that is being analyzed

	// numbers that the terms in this cache have in the search index that is being built
	indexTermNumbers *index.TermNumberCache
}

type cacheSlot struct {
	chunkHash          uint32 // upper part of the hash of the chunk's text (the lower part selects the slot)
	chunkNumberPlusOne uint32 // number of the chunk in this slot plus one (0 if the slot is free)
}

// cachedChunk is a chunk in the cache.
type cachedChunk struct {
	firstAndLastBytes      firstAndLastBytes
	firstStoredTermNumber  uint32 // index in chunkTermCache.terms of the chunk's first stored term
	firstTermIndex         uint32 // index in chunkTermCache.allChunkTerms of the chunk's first term
	length                 uint8
	termCount              uint8 // number of the chunk's terms in chunkTermCache.allChunkTerms
	startsWithCombinedTerm bool  // The first stored term combines several words, such as getusername.
	partCount              uint8 // number of words in the chunk, with or without a stored term
	hasTerms               bool  // The chunk has at least one term, stored or not.
}

// cachedTerm is a term in the cache, with its index in the document that is being built.
type cachedTerm struct {
	text           string
	hash           uint32 // see hashTerm
	documentNumber uint64 // number of the last analyzed document that contains the term
	documentIndex  int    // index of the term in that document's Terms
}

// firstAndLastBytes contains the first and the last bytes of a text. If the text has at most 16 bytes, it contains all
// bytes.
type firstAndLastBytes [2]uint64

func packFirstAndLastBytes(s string) firstAndLastBytes {
	switch n := len(s); {
	case n >= 8:
		return firstAndLastBytes{readUint64(s), readUint64(s[n-8:])}
	case n >= 4:
		return firstAndLastBytes{uint64(readUint32(s)) | uint64(readUint32(s[n-4:]))<<32}
	default:
		return firstAndLastBytes{uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16}
	}
}

func readUint64(s string) uint64 { return uint64(readUint32(s)) | uint64(readUint32(s[4:]))<<32 }

func readUint32(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// newChunkTermCache returns an empty cache for pieces of text (chunks) and their terms. The hash table's slot count
// must be a power of two. The function wordRoot must return the term of a word. The hash seeds are random, so that
// nobody can construct a text whose chunks all have the same hash. The seeds do not affect results.
func newChunkTermCache(wordRoot func(word string) string, slotCount int) chunkTermCache {
	return chunkTermCache{
		hashSeed1: rand.Uint64(), hashSeed2: rand.Uint64(), longChunkSeed: maphash.MakeSeed(),
		slots: make(
			[]cacheSlot,
			slotCount,
		), termByText: map[string]uint32{}, indexTermNumbers: new(index.TermNumberCache), wordRoot: wordRoot,
	}
}

func (k *chunkTermCache) hashText(s string, e firstAndLastBytes) uint64 {
	if len(s) > 16 {
		return maphash.String(k.longChunkSeed, s)
	}
	hi, lo := bits.Mul64(e[0]^k.hashSeed1, e[1]^k.hashSeed2^uint64(len(s)))
	return hi ^ lo
}

// removeAll removes all chunks from the cache but keeps the allocated memory.
func (k *chunkTermCache) removeAll() {
	clear(k.slots)
	clear(k.longChunkTexts)
	clear(k.allChunkTerms)
	clear(k.termByText)
	k.chunks = k.chunks[:0]
	k.terms = k.terms[:0]
	k.longChunkTexts = k.longChunkTexts[:0]
	k.allChunkTerms = k.allChunkTerms[:0]
	k.indexTermNumbers = new(index.TermNumberCache)
}

// isFull reports whether the cache contains more than maxCachedChunks chunks, or more than twice this number of terms.
func (k *chunkTermCache) isFull() bool {
	return len(k.chunks) > maxCachedChunks || len(k.terms) > 2*maxCachedChunks
}

// findOrAnalyzeChunk returns the cached data of a chunk. If the chunk is not in the cache, findOrAnalyzeChunk analyzes
// the chunk. The chunk must have at most maxCombinedTermBytes bytes. The result is valid until the next call of
// findOrAnalyzeChunk.
func (k *chunkTermCache) findOrAnalyzeChunk(c string) *cachedChunk {
	e := packFirstAndLastBytes(c)
	hash := k.hashText(c, e)
	mask := uint32(len(k.slots) - 1)
	i, part := uint32(hash)&mask, uint32(hash>>32)
	for ; k.slots[i].chunkNumberPlusOne != 0; i = (i + 1) & mask {
		if s := k.slots[i]; s.chunkHash == part {
			known := &k.chunks[s.chunkNumberPlusOne-1]
			if known.firstAndLastBytes == e && int(known.length) == len(c) {
				if len(c) <= 16 || k.longChunkTexts[s.chunkNumberPlusOne-1] == c {
					return known
				}
			}
		}
	}
	// Copy the chunk, so that the cache does not keep the whole text in memory. A TermFinder, which sets termsToFind,
	// keeps the text anyway.
	if k.termsToFind == nil {
		c = strings.Clone(c)
	}
	n, from := uint32(len(k.chunks)), len(k.allChunkTerms)
	s := cachedChunk{firstAndLastBytes: e, length: uint8(len(c)), firstTermIndex: uint32(from)}
	var parts int
	k.allChunkTerms, parts, s.hasTerms = k.appendNumberedTerms(k.allChunkTerms, c)
	s.termCount, s.partCount = uint8(len(k.allChunkTerms)-from), uint8(parts)
	if s.termCount > 0 {
		s.firstStoredTermNumber, s.startsWithCombinedTerm = k.allChunkTerms[from].termNumber,
			k.allChunkTerms[from].combinesWords
	}
	k.chunks = append(k.chunks, s)
	k.longChunkTexts = append(k.longChunkTexts, c)
	k.slots[i] = cacheSlot{part, n + 1}
	if 2*len(k.chunks) > len(k.slots) {
		k.growSlots()
	}
	return &k.chunks[n]
}

// termsOfChunk returns the terms for a chunk, which is a sequence of letters, digits and marks in a text. If the chunk
// is too long for the cache, it is analyzed each time.
func (k *chunkTermCache) termsOfChunk(c string) []chunkTerm {
	if len(c) <= maxCombinedTermBytes {
		return k.storedTermsOfChunk(k.findOrAnalyzeChunk(c))
	}
	us, _, _ := k.appendNumberedTerms(nil, strings.Clone(c))
	return us
}

// storedTermsOfChunk returns the terms that the cache stores for the chunk s.
func (k *chunkTermCache) storedTermsOfChunk(s *cachedChunk) []chunkTerm {
	return k.allChunkTerms[s.firstTermIndex:][:s.termCount]
}

// appendNumberedTerms appends the terms of the chunk c to the slice terms, and returns the extended slice. If
// k.termsToFind is nil, it appends all terms, each with its number in the cache. Otherwise it appends only the terms in
// the set k.termsToFind, without numbers.
//
// The result parts is the number of words in the chunk. A term that consists of several words is not counted. The
// result hasUnits reports whether the chunk has any terms.
func (k *chunkTermCache) appendNumberedTerms(terms []chunkTerm, c string) (_ []chunkTerm, parts int, hasUnits bool) {
	k.reusedTerms = appendChunkTerms(k.reusedTerms[:0], c, k.wordRoot)
	for _, u := range k.reusedTerms {
		if !u.combinesWords {
			parts++
		}
		if k.termsToFind != nil {
			if k.termsToFind.Has(u.text) {
				terms = append(terms, u)
			}
			continue
		}
		n, ok := k.termByText[u.text]
		if !ok {
			// Copy the text of the term, because a substring would keep the whole long chunk in memory.
			if len(c) > maxCombinedTermBytes {
				u.text = strings.Clone(u.text)
			}
			n = k.addTerm(u.text)
		}
		u.termNumber, u.isStopWord = n, IsStopWord(u.word)
		terms = append(terms, u)
	}
	return terms, parts, len(k.reusedTerms) > 0
}

// addTerm adds a term that the cache does not contain yet, and returns the term's number.
func (k *chunkTermCache) addTerm(text string) (number uint32) {
	number = uint32(len(k.terms))
	k.terms = append(k.terms, cachedTerm{text: text, hash: hashTerm(text)})
	k.termByText[text] = number
	return number
}

// appendTermNumbers appends the numbers of the terms to the slice numbers, and returns the extended slice. Terms that
// are not in the cache are added, so that the numbers remain valid while further texts are analyzed.
func (k *chunkTermCache) appendTermNumbers(numbers []uint32, terms []string) []uint32 {
	for _, t := range terms {
		n, ok := k.termByText[t]
		if !ok {
			n = k.addTerm(strings.Clone(t)) // do not keep the whole text of a query in memory
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// growSlots doubles the number of slots in the hash table and inserts all chunks again.
func (k *chunkTermCache) growSlots() {
	k.slots = make([]cacheSlot, 2*len(k.slots))
	mask := uint32(len(k.slots) - 1)
	for n, e := range k.chunks {
		hash := k.hashText(k.longChunkTexts[n], e.firstAndLastBytes)
		i := uint32(hash) & mask
		for k.slots[i].chunkNumberPlusOne != 0 {
			i = (i + 1) & mask
		}
		k.slots[i] = cacheSlot{uint32(hash >> 32), uint32(n + 1)}
	}
}
