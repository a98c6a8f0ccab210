// This file finds phrases in the fields of items.

package ranking

import (
	"context"
	"slices"
)

// fieldWordPositions contains the words in a field and the positions of each word.
type fieldWordPositions struct {
	words           []string
	positionsByWord map[string][]int
}

// containsSequence reports whether the list words occurs in the field, in the same order and without other words in
// between. It returns false if ctx is done before the sequence is found.
func (f *fieldWordPositions) containsSequence(ctx context.Context, words []string) bool {
	rarest := 0
	for i, w := range words {
		if len(f.positionsByWord[w]) < len(f.positionsByWord[words[rarest]]) {
			rarest = i
		}
	}
	for n, at := range f.positionsByWord[words[rarest]] {
		if n%256 == 255 && ctx.Err() != nil {
			return false
		}
		i := at - rarest
		if i < 0 || i+len(words) > len(f.words) {
			continue
		}
		if slices.Equal(f.words[i:i+len(words)], words) {
			return true
		}
	}
	return false
}
