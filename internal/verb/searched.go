// This file remembers during a call which texts contain no secret, so that each text is searched once.

package verb

import (
	"context"
	"sync"
)

// maxSearchedBytes is the maximum size in bytes of the texts that a call remembers as searched. Further
// texts are searched as often as they are passed on.
const maxSearchedBytes = 4 << 20

// searchedTexts is a set of texts in which no secret was found. A verb searches the arguments of a
// call, and [Secrets.ScreenOp] searches the changes that result from them. Most texts are the same in
// both. A text that differs in a single byte, such as a name derived from the content, is not in the
// set and is searched. Therefore the set cannot let a secret pass. It is safe for concurrent use.
type searchedTexts struct {
	mu    sync.Mutex
	texts map[string]struct{}
	size  int // in bytes
}

type searchedKey struct{}

// withSearched returns a context that records the texts that were searched. If ctx already records them, withSearched
// returns ctx.
func withSearched(ctx context.Context) context.Context {
	if contextSearched(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, searchedKey{}, &searchedTexts{texts: map[string]struct{}{}})
}

func contextSearched(ctx context.Context) *searchedTexts {
	s, _ := ctx.Value(searchedKey{}).(*searchedTexts)
	return s
}

// contains reports whether the text was searched and contains no secret. A nil set is empty.
func (s *searchedTexts) contains(text string) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.texts[text]
	return ok
}

// add adds a text that contains no secret, if there is room. It does nothing if the set is nil.
func (s *searchedTexts) add(text string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size+len(text) <= maxSearchedBytes {
		s.texts[text] = struct{}{}
		s.size += len(text)
	}
}
