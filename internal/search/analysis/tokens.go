// This file implements Tokens, a compact list of the words in a text. Terms can be searched for in the list repeatedly
// without reading the text again.

package analysis

import (
	"context"
	"hash/fnv"
	"sync"
)

// Tokens is the list of the words in a text. It is immutable and keeps a reference to the text.
type Tokens struct {
	text string

	// The words of the text, each encoded as a number. A chunk is a sequence of letters, digits and marks. The
	// signature of a chunk is a set of 64 bits in which each term of the chunk sets one or two bits, as in a Bloom
	// filter. The lower 16 bits of the number are the distance in bytes from the start of the previous word. The upper
	// 16 bits depend on the word:
	//   - For a word in lower-case letters, with or without a first capital, they are its first three letters (see
	//     packThreeLetters).
	//   - For a number, they are numberTokenCode.
	//   - For any other chunk, they are chunkTokenCode. Three more numbers follow: the number of words in the chunk,
	//     and the lower and the upper half of the chunk's signature.
	//   - For spaceTokenCode, no word begins here. The number only increases the distance to the next word.
	encodedWords []uint32
}

const (
	wordDistanceBits = 16
	maxWordDistance  = 1<<wordDistanceBits - 1

	// packThreeLetters never returns these values, so they can mark tokens that are not plain words.
	spaceTokenCode  = 1<<15 - 1
	numberTokenCode = 1<<15 - 2
	chunkTokenCode  = 1<<15 - 3
)

// termSignature returns the signature of a search term: a number in which one or two of 64 bits are set, as in a Bloom
// filter. Signatures are used to skip chunks. A chunk is a sequence of letters, digits and marks in a text. It consists
// of one or more terms. The signature of a chunk is the union of the signatures of its terms. If a chunk's signature
// lacks a bit of a term's signature, the chunk does not contain the term.
func termSignature(term string) uint64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(term))
	sum := h.Sum32()
	return 1<<(sum&63) | 1<<(sum>>6&63)
}

// spareChunkTermCaches contains caches with terms from earlier texts for reuse. Reusing a cache saves work, because
// texts have most of their words in common.
var spareChunkTermCaches = sync.Pool{New: func() any { return new(chunkTermCache) }}

// borrowChunkTermCache returns a cache from spareChunkTermCaches. The caller must return the cache to
// spareChunkTermCaches.
func borrowChunkTermCache() *chunkTermCache {
	k := spareChunkTermCaches.Get().(*chunkTermCache)
	if k.slots == nil || k.isFull() {
		*k = newChunkTermCache(TermOfWord, initialCacheSlots)
	}
	return k
}

// Tokenize returns the tokens of a text, which can be used with any [TermFinder]. If ctx is done, Tokenize returns
// early, and the caller must not use the result.
func Tokenize(ctx context.Context, s string) *Tokens {
	k := borrowChunkTermCache()
	defer spareChunkTermCaches.Put(k)
	words := make([]uint32, 0, len(s)/5)
	before, w := 0, contextChecker{ctx: ctx}
	add := func(what uint32, at int) {
		for ; at-before > maxWordDistance; before += maxWordDistance {
			words = append(words, spaceTokenCode<<wordDistanceBits|maxWordDistance)
		}
		words = append(words, what<<wordDistanceBits|uint32(at-before))
		before = at
	}
	for i := 0; i < len(s) && !w.isContextDoneAt(i); {
		switch c := s[i]; {
		case isLower(c | 0x20):
			if n, end, first := measurePlainWord(s[i:]); n > 0 {
				add(packThreeLetters(first), i)
				i += end
				if i < len(s) && s[i] == ' ' {
					i++
				}
				continue
			}
		case isDigit(c):
			if n := leadingNumberLength(s[i:]); n > 0 {
				add(numberTokenCode, i)
				i += n
				continue
			}
		case c < 0x80:
			i++
			continue
		}
		from, to := findNextChunk(s, i)
		if from == to {
			break
		}
		add(chunkTokenCode, from)
		parts, signature := k.chunkTermSignature(s[from:to])
		words = append(words, uint32(parts), uint32(signature), uint32(signature>>32))
		i = to
	}
	return &Tokens{s, append([]uint32(nil), words...)} // Copy the tokens to a slice without spare capacity.
}

// chunkTermSignature returns the number of words in a chunk, and a 64-bit Bloom filter for the terms in the chunk.
func (k *chunkTermCache) chunkTermSignature(c string) (wordCount int, signature uint64) {
	for _, u := range k.termsOfChunk(c) {
		signature |= termSignature(u.text)
		if !u.combinesWords {
			wordCount++
		}
	}
	return wordCount, signature
}

// FindOccurrences calls fn for each occurrence of one of the finder's terms in the text. The second argument of fn is
// the number of words up to the end of the occurrence. FindOccurrences returns the number of words in the text.
func (f *TermFinder) FindOccurrences(t *Tokens, fn func(term string, at int)) (words int) {
	k := borrowChunkTermCache()
	defer spareChunkTermCaches.Put(k)
	at := 0
	take := func(chunk string) {
		us := k.termsOfChunk(chunk)
		for i := range us {
			if f.termsToFind.Has(us[i].text) {
				fn(us[i].text, words)
			}
		}
	}
	for i := 0; i < len(t.encodedWords); i++ {
		token := t.encodedWords[i]
		at += int(token & maxWordDistance)
		switch token >>= wordDistanceBits; token {
		case spaceTokenCode:
		case chunkTokenCode:
			words += int(t.encodedWords[i+1])
			if signature := uint64(t.encodedWords[i+2]) | uint64(t.encodedWords[i+3])<<32; f.matchesChunkSignature(
				signature,
			) {
				_, to := findNextChunk(t.text, at)
				take(t.text[at:to])
			}
			i += 3
		case numberTokenCode:
			words++
			if f.wantsDigits {
				take(t.text[at : at+leadingNumberLength(t.text[at:])])
			}
		default:
			words++
			if !f.hasThreeLetterStart(token) {
				continue
			}
			if n, _, first := measurePlainWord(t.text[at:]); f.matchesFirstLetters(first) {
				take(t.text[at : at+n])
			}
		}
	}
	return words
}

// matchesChunkSignature reports whether a chunk may contain one of the terms that the TermFinder searches for.
// signature is the Bloom filter of the chunk's terms.
func (f *TermFinder) matchesChunkSignature(signature uint64) bool {
	if f.termSignatures == nil {
		return true
	}
	for _, s := range f.termSignatures {
		if signature&s == s {
			return true
		}
	}
	return false
}

// FindInText is like [TermFinder.FindOccurrences], but its argument is a text that was not split into tokens yet. If
// ctx is done, FindInText returns early.
func (f *TermFinder) FindInText(ctx context.Context, s string, fn func(term string, at int)) (wordCount int) {
	return f.FindOccurrences(Tokenize(ctx, s), fn)
}

// FindTerms returns those of the finder's terms that occur in a text.
func (f *TermFinder) FindTerms(s string) map[string]bool {
	found := map[string]bool{}
	f.FindInText(context.Background(), s, func(term string, _ int) { found[term] = true })
	return found
}
