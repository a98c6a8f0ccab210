// This file remembers the identifiers of the texts that were added last. An entry is often shown many times, and its
// fingerprints need not be computed each time.

package fingerprint

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
)

// TextReadByTool is a text that a tool read. It is an argument of [Store.AddAll].
type TextReadByTool struct {
	BlockKind BlockKind
	Text      string
	Labels    []string
}

// maxCachedTextIDs is the maximum number of identifiers in a textIDCache. If a further text is added, all identifiers
// are dropped.
const maxCachedTextIDs = 4096

// cachedTextIDBytes is the approximate memory for one identifier in a textIDCache.
const cachedTextIDBytes = 64

// textHash identifies a text with its kind and its labels in this process. It has 128 bits, so that it is practically
// impossible that two texts have the same textHash.
type textHash [2]uint64

var textHashSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func hashText(t *TextReadByTool) textHash {
	var sums textHash
	for i, seed := range textHashSeeds {
		var h maphash.Hash
		h.SetSeed(seed)
		var number [binary.MaxVarintLen64]byte
		writeNumber := func(n int) { _, _ = h.Write(number[:binary.PutUvarint(number[:], uint64(n))]) }
		writeNumber(int(t.BlockKind))
		writeNumber(len(t.Labels))
		for _, l := range t.Labels {
			writeNumber(len(l))
			_, _ = h.WriteString(l)
		}
		_, _ = h.WriteString(t.Text)
		sums[i] = h.Sum64()
	}
	return sums
}

// textIDCache contains the identifiers of the blocks of texts. The zero value is empty.
type textIDCache struct {
	mu  sync.Mutex
	key *cipherKey // key of the home, on which the identifiers depend
	ids map[textHash]uint64
}

// findAll returns the identifiers of the texts' blocks, and the key with which they were computed. If the identifier of
// a text is unknown, the result blockIDs is nil.
func (c *textIDCache) findAll(texts []TextReadByTool) (key *cipherKey, blockIDs []uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ids) == 0 {
		return nil, nil
	}
	blockIDs = make([]uint64, len(texts))
	for i := range texts {
		id, ok := c.ids[hashText(&texts[i])]
		if !ok {
			return nil, nil
		}
		blockIDs[i] = id
	}
	return c.key, blockIDs
}

// addAll adds the identifiers of the texts' blocks, which were computed with the key. If the key is another key than
// before, or if the cache would contain more than maxCachedTextIDs identifiers, addAll first drops all identifiers.
// More than maxCachedTextIDs texts at once are not added.
func (c *textIDCache) addAll(key *cipherKey, texts []TextReadByTool, blockIDs []uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.key != key || len(c.ids)+len(texts) > maxCachedTextIDs {
		c.key = key
		c.ids = map[textHash]uint64{}
	}
	if len(texts) > maxCachedTextIDs {
		return
	}
	for i := range texts {
		c.ids[hashText(&texts[i])] = blockIDs[i]
	}
}
